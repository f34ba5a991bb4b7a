/** Several requests at a time, answers in the order of the questions. */

/** How many requests one item has under way on a target. */
const CONCURRENCY = 8;

/**
 * `fn` for every item, at most `limit` at a time. Waits for all that were begun even when one fails.
 * @throws the first error of `fn` in the order of the items
 */
export async function inParallel<T, R>(
  items: readonly T[],
  fn: (item: T, index: number) => Promise<R>,
  limit: number = CONCURRENCY,
): Promise<R[]> {
  const results = new Array<PromiseSettledResult<R>>(items.length);
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let i = next++; i < items.length; i = next++) {
      const [result] = await Promise.allSettled([fn(items[i] as T, i)]);
      results[i] = result;
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, lane));
  return results.map((result) => {
    if (result.status === 'fulfilled') return result.value;
    throw result.reason;
  });
}
