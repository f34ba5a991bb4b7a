/** Metrics of caches, for Prometheus. */
import type { Metrics } from '../../observability/metrics.ts';

const PHASES = ['listing', 'watching', 'waiting'] as const;
const RELIST_REASONS = ['expired', 'missing', 'stale', 'oversized'] as const;

/** Number of objects, and how many of them are compressed. */
interface StoreSize {
  readonly size: number;
  readonly compressed: number;
}

/** Counts what happens to the caches of a process. */
export interface CacheMetrics {
  /** @param store read when the metrics are scraped */
  know(source: string, store: StoreSize): void;
  relisted(source: string, reason: string): void;
  state(source: string, phase: (typeof PHASES)[number]): void;
}

export function createCacheMetrics(metrics: Metrics): CacheMetrics {
  const stores = new Map<string, StoreSize>();
  metrics.observed(
    { name: 'espalier_cache_objects', help: 'Objects kept in memory, by source.', labels: ['source'] },
    () => [...stores].map(([source, { size }]) => [{ source }, size] as const),
  );
  metrics.observed(
    {
      name: 'espalier_cache_compressed_objects',
      help: 'Objects in memory that are compressed because they were not used for a while, by source.',
      labels: ['source'],
    },
    () => [...stores].map(([source, { compressed }]) => [{ source }, compressed] as const),
  );
  const states = metrics.gauge({
    name: 'espalier_watch_state',
    help: 'State of a watch by source: listing, watching or waiting for a retry.',
    labels: ['source', 'state'],
  });
  const relists = metrics.counter({
    name: 'espalier_watch_relists_total',
    help: 'Relists by source and reason.',
    labels: ['source', 'reason'],
  });
  return {
    know(source, store) {
      stores.set(source, store);
      for (const state of PHASES) states.set({ source, state }, 0);
      for (const reason of RELIST_REASONS) relists.inc({ source, reason }, 0);
    },
    relisted(source, reason) {
      relists.inc({ source, reason });
    },
    state(source, phase) {
      for (const state of PHASES) states.set({ source, state }, state === phase ? 1 : 0);
    },
  };
}
