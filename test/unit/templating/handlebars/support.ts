import { seededRng } from '../../../../src/lib/rng.ts';
import { fileTreeOf } from '../../../../src/lib/file-tree.ts';
import { renderText, type EngineOptions } from '../../../../src/templating/render.ts';
import { FakeClock } from '../../../support/clock.ts';

export const files = (tree: Readonly<Record<string, string>> = {}) =>
  fileTreeOf(new Map(Object.entries(tree).map(([path, text]) => [path, Buffer.from(text)])));

/** Renders with values as an execution of a blueprint gets them. */
export const render = (
  template: string,
  values: Readonly<Record<string, unknown>> = {},
  { tree, ...more }: { readonly tree?: Readonly<Record<string, string>> } & Partial<EngineOptions> = {},
): string =>
  renderText({ name: 'main', type: 'Handlebars', template }, values, {
    clock: new FakeClock('2026-01-02T03:04:05Z'),
    rng: seededRng(1),
    files: files(tree),
    ...more,
  });

/** The message of a failure, without the input of the template. */
export function complaint(...args: Parameters<typeof render>): string {
  try {
    render(...args);
  } catch (error) {
    return (error as Error).message.replace(/\ntemplate input:[\s\S]*/, '');
  }
  throw new Error('it succeeded');
}
