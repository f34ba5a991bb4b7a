/** A cache of fetched contents with a size limit; evicts the least recently used ones. */
import { SizedMap, unshared } from '../lib/sized-map.ts';

export interface ContentCache {
  /**
   * The cached content of the key, or the result of `load`. Failures are not cached.
   * @param user parallel calls of the same user, such as a namespace, share one load. Others do not: it may wait for the
   *     turn of its user, and fail then
   */
  get(key: string, load: () => Promise<Uint8Array>, user?: string): Promise<Uint8Array>;
  readonly facts: CacheFacts;
}

export interface CacheFacts {
  /** Total bytes in the cache. */
  readonly size: number;
  readonly items: number;
}

/** @param maxBytes 0 disables the cache */
export function createContentCache(maxBytes: number): ContentCache {
  const kept = new SizedMap<Uint8Array>(maxBytes, (bytes) => bytes.length);
  const loading = new Map<string, Promise<Uint8Array>>();
  return {
    get facts() {
      return { size: kept.size, items: kept.items };
    },
    get(key, load, user = '') {
      const known = kept.get(key);
      if (known) return Promise.resolve(known);
      const loadKey = `${user} ${key}`;
      const underWay = loading.get(loadKey);
      if (underWay) return underWay;
      const started = load()
        .then((bytes) => {
          const own = unshared(bytes);
          kept.set(key, own);
          return own;
        })
        .finally(() => loading.delete(loadKey));
      loading.set(loadKey, started);
      return started;
    },
  };
}
