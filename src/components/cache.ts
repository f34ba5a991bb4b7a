/** A cache of fetched contents with a size limit; evicts the least recently used ones. */

export interface ContentCache {
  /**
   * The cached content of the key, or the result of `load`. Failures are not cached; parallel calls share one load.
   */
  get(key: string, load: () => Promise<Uint8Array>): Promise<Uint8Array>;
  readonly facts: CacheFacts;
}

export interface CacheFacts {
  /** Total bytes in the cache. */
  readonly size: number;
  readonly items: number;
}

/** @param maxBytes 0 disables the cache */
export function createContentCache(maxBytes: number): ContentCache {
  const kept = new Map<string, Uint8Array>();
  const loading = new Map<string, Promise<Uint8Array>>();
  let size = 0;

  const keep = (key: string, bytes: Uint8Array): void => {
    if (bytes.length > maxBytes) return;
    kept.set(key, bytes);
    size += bytes.length;
    for (const [oldest, content] of kept) {
      if (size <= maxBytes) return;
      kept.delete(oldest);
      size -= content.length;
    }
  };

  return {
    get facts() {
      return { size, items: kept.size };
    },
    get(key, load) {
      const known = kept.get(key);
      if (known) {
        kept.delete(key);
        kept.set(key, known);
        return Promise.resolve(known);
      }
      const underWay = loading.get(key);
      if (underWay) return underWay;
      const started = load()
        .then((bytes) => {
          keep(key, bytes);
          return bytes;
        })
        .finally(() => loading.delete(key));
      loading.set(key, started);
      return started;
    },
  };
}
