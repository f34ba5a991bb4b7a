/**
 * Caches charts for items whose annotation allows it. A chart whose tag is overwritten may be stale for up to a
 * day.
 */
import type { Clock } from '../../src/lib/clock.ts';
import { GROUP } from '../../src/api/labels.ts';

export const CACHE_ANNOTATION = `${GROUP}/cache-helm-charts`;
const MAX_AGE_MS = 24 * 3_600_000;
export const CACHE_BYTES = 100_000_000;

export interface ChartCache {
  /** Returns the cached chart of the key, or fetches and caches it. */
  get(key: string, fetch: () => Promise<Uint8Array>): Promise<Uint8Array>;
}

export function createChartCache(clock: Clock, maxBytes: number): ChartCache {
  const kept = new Map<string, { readonly bytes: Uint8Array; readonly at: number }>();
  let size = 0;
  const drop = (key: string): void => {
    size -= kept.get(key)?.bytes.length ?? 0;
    kept.delete(key);
  };
  return {
    async get(key, fetch) {
      const known = kept.get(key);
      if (known && clock.now() - known.at < MAX_AGE_MS) return known.bytes;
      drop(key);
      const bytes = await fetch();
      drop(key);
      kept.set(key, { bytes, at: clock.now() });
      size += bytes.length;
      for (const oldest of kept.keys()) {
        if (size <= maxBytes) break;
        drop(oldest);
      }
      return bytes;
    },
  };
}
