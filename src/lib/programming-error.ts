/** Errors that are mistakes of the program: their message rarely says where, so logs show their stack. */

import { isNestedTooDeeply } from './message-of.ts';

/** A failure because of a mistake of the program, with the stack of the mistake. */
export class ProgrammingError extends Error {
  override readonly name = 'ProgrammingError';
}

/** The mistake of the program in an error or in its causes, such as a change of a frozen object. */
export function programmingErrorIn(error: unknown): Error | undefined {
  for (let each = error; each instanceof Error; each = each.cause) if (isMistake(each)) return each;
  return undefined;
}

/** `fetch` reports failures of the network as TypeErrors. */
export const isMistake = (error: Error): boolean =>
  (error instanceof TypeError && error.message !== 'fetch failed') ||
  (error instanceof RangeError && !isNestedTooDeeply(error)) ||
  error instanceof ReferenceError;
