/** Runs hooks of the console's page in a component without elements. */
import type * as Preact from 'preact';
import type { ContainerNode } from 'preact';
import type { withGlobals } from '../../support/browser.ts';
import { settle } from '../../support/clock.ts';

/**
 * @param preact imported as the hooks import it: mocha may load the modules of a test file another way, and then there are
 * two
 * @returns what renders a component with some values, and again when its state changes
 */
export function hookHost<P extends object, R>(
  preact: typeof Preact,
  page: ReturnType<typeof withGlobals>,
  hook: (props: P) => R,
) {
  let latest: R | undefined;
  const Shown = (props: P): null => {
    latest = hook(props);
    return null;
  };
  const root = { childNodes: [], nodeType: 1 } as unknown as ContainerNode;
  const pass = async (ms = 0): Promise<void> => {
    await settle();
    await page.clock.advance(ms + 100); // effects run after the next frame
    await settle();
  };
  return {
    latest: () => latest as R,
    pass,
    show: (props: P) => {
      preact.render(preact.h(Shown, props), root);
      return pass();
    },
    end: () => {
      preact.render(null, root);
      return pass();
    },
  };
}
