/** Entry point of the caches: a single one, or all of a process. */
import type { CacheOptions, Client, Kind, Obj } from '../types.ts';
import { WatchCache, type CacheDeps } from './watch-cache.ts';

export type { CacheDeps } from './watch-cache.ts';
export { createCaches, type CachesDeps, type StartableCaches } from './caches.ts';
export { dropManagedFields, keepAppliedBy } from './transforms.ts';

/**
 * A single cache; a process with several uses `createCaches`.
 * @throws DefinitionError when the label selector is invalid
 */
export const createCache = <T extends Obj>(
  client: Client,
  kind: Kind<T>,
  options: CacheOptions<T> & CacheDeps,
): WatchCache<T> => new WatchCache(client, kind, options, options);
