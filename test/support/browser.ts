/** Globals of a browser in a test: timers on a fake clock, and those that the test replaces. */
import { FakeClock } from './clock.ts';

/** @returns the clock, and a function that restores the globals */
export function withGlobals(stubs: Readonly<Record<string, unknown>>): {
  readonly clock: FakeClock;
  readonly restore: () => void;
} {
  const clock = new FakeClock();
  const all = {
    setTimeout: (run: () => void, ms = 0) => clock.at(clock.now() + ms, run),
    clearTimeout: (cancel?: () => void) => cancel?.(),
    ...stubs,
  };
  const before = Object.keys(all).map(
    (name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)] as const,
  );
  for (const [name, value] of Object.entries(all))
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  const restore = (): void => {
    for (const [name, old] of before)
      if (old) Object.defineProperty(globalThis, name, old);
      else Reflect.deleteProperty(globalThis, name);
  };
  return { clock, restore };
}
