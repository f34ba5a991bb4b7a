/** Runs several requests in parallel and returns the results in order. */

/** Maximum number of parallel requests of one item to a target. */
const CONCURRENCY = 8;

/**
 * Calls `fn` for every item, at most `limit` at a time. If a call fails, waits for the started ones and starts no
 * others.
 * @throws the first error in the order of the items
 */
export async function inParallel<T, R>(
  items: readonly T[],
  fn: (item: T, index: number) => Promise<R>,
  limit: number = CONCURRENCY,
): Promise<R[]> {
  const results = new Array<PromiseSettledResult<R>>(items.length);
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let i = next++; i < items.length; i = next++) {
      const [result] = await Promise.allSettled([fn(items[i] as T, i)]);
      results[i] = result;
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker));
  return results.map((result) => {
    if (result.status === 'fulfilled') return result.value;
    throw result.reason;
  });
}
