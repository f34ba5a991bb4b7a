/**
 * Caches charts for items whose annotation allows it. A chart whose tag is overwritten may be stale for up to a
 * day.
 */
import type { Clock } from '../../src/lib/clock.ts';
import { SizedMap, unshared } from '../../src/lib/sized-map.ts';
import { GROUP } from '../../src/api/labels.ts';

export const CACHE_ANNOTATION = `${GROUP}/cache-helm-charts`;
const MAX_AGE_MS = 24 * 3_600_000;
export const CACHE_BYTES = 100_000_000;

export interface ChartCache {
  /** Returns the cached chart of the key, or fetches and caches it. */
  get(key: string, fetch: () => Promise<Uint8Array>): Promise<Uint8Array>;
}

interface Cached {
  readonly bytes: Uint8Array;
  readonly at: number;
}

export function createChartCache(clock: Clock, maxBytes: number): ChartCache {
  const kept = new SizedMap<Cached>(maxBytes, ({ bytes }) => bytes.length);
  return {
    async get(key, fetch) {
      const known = kept.get(key);
      if (known && clock.now() - known.at < MAX_AGE_MS) return known.bytes;
      kept.delete(key);
      const bytes = unshared(await fetch());
      kept.set(key, { bytes, at: clock.now() });
      return bytes;
    },
  };
}
