/** Processes long lists in portions, with turns for other tasks in between. */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';

/** Size of a portion, in characters or bytes of JSON: some milliseconds of work. */
const PORTION = 256 << 10;

/**
 * The results of `work` for each element, in order.
 * @param sizeOf size of an element, in characters or bytes of JSON
 * @throws errors of `work`
 */
export async function inPortions<T, R>(
  list: readonly T[],
  work: (element: T) => R,
  sizeOf: (element: T, result: R) => number,
): Promise<R[]> {
  const results: R[] = [];
  let portion = 0;
  for (const element of list) {
    const result = work(element);
    results.push(result);
    portion += sizeOf(element, result);
    if (portion < PORTION) continue;
    portion = 0;
    await yieldToEventLoop();
  }
  return results;
}
