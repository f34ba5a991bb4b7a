/** What an error says to users. */

/** How V8 reports that functions call each other too deeply, for example over a value with thousands of levels. */
const STACK_OVERFLOW = 'Maximum call stack size exceeded';

/**
 * Whether the error comes from a value that is nested too deeply. Kubernetes stores up to 10,000 levels; how many of them a
 * function can follow depends on the function.
 */
export const isNestedTooDeeply = (error: unknown): boolean =>
  error instanceof RangeError && error.message === STACK_OVERFLOW;

/** Every function can follow this many levels: test/unit/lib/message-of.test.ts tries. */
export const SAFE_LEVELS = 1000;

const TOO_DEEP = `a value is nested too deeply: up to ${String(SAFE_LEVELS)} levels of maps and lists are processed; flatten the object that contains it`;

export function messageOf(error: unknown): string {
  if (isNestedTooDeeply(error)) return TOO_DEEP;
  return error instanceof Error ? error.message : String(error);
}
