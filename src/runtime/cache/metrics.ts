/** Metrics of caches, for Prometheus. */
import type { Metrics } from '../../observability/metrics.ts';

const PHASES = ['listing', 'watching', 'waiting'] as const;
const RELIST_REASONS = ['expired', 'missing', 'stale', 'oversized'] as const;

/** Counts what happens to the caches of a process. */
export interface CacheMetrics {
  /** @param size called when the metrics are scraped */
  know(source: string, size: () => number): void;
  relisted(source: string, reason: string): void;
  state(source: string, phase: (typeof PHASES)[number]): void;
}

export function createCacheMetrics(metrics: Metrics): CacheMetrics {
  const sizes = new Map<string, () => number>();
  metrics.observed(
    { name: 'espalier_cache_objects', help: 'Objects kept in memory, by source.', labels: ['source'] },
    () => [...sizes].map(([source, size]) => [{ source }, size()] as const),
  );
  const states = metrics.gauge({
    name: 'espalier_watch_state',
    help: 'Whether a source is listing, watching or waiting to try again.',
    labels: ['source', 'state'],
  });
  const relists = metrics.counter({
    name: 'espalier_watch_relists_total',
    help: 'Complete lists after the first, by source and reason.',
    labels: ['source', 'reason'],
  });
  return {
    know(source, size) {
      sizes.set(source, size);
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
