/** How the caches of a process are doing, for Prometheus. */
import { Counter, Gauge, type Registry } from 'prom-client';

const PHASES = ['listing', 'watching', 'waiting'] as const;

/** Hears how the caches of a process are doing. */
export interface CacheMetrics {
  /** @param size asked when the metrics are read */
  know(source: string, size: () => number): void;
  relisted(source: string, reason: string): void;
  state(source: string, phase: (typeof PHASES)[number]): void;
}

export function createCacheMetrics(registry: Registry): CacheMetrics {
  const sizes = new Map<string, () => number>();
  const registers = [registry];
  new Gauge<'source'>({
    name: 'espalier_cache_objects',
    help: 'Objects kept in memory, by source.',
    labelNames: ['source'],
    registers,
    collect() {
      for (const [source, size] of sizes) this.set({ source }, size());
    },
  });
  const states = new Gauge({
    name: 'espalier_watch_state',
    help: 'Whether a source is listing, watching or waiting to try again.',
    labelNames: ['source', 'state'],
    registers,
  });
  const relists = new Counter({
    name: 'espalier_watch_relists_total',
    help: 'Complete lists after the first, by source and reason.',
    labelNames: ['source', 'reason'],
    registers,
  });
  return {
    know(source, size) {
      sizes.set(source, size);
      for (const state of PHASES) states.set({ source, state }, 0);
      for (const reason of ['expired', 'missing', 'stale', 'oversized']) relists.inc({ source, reason }, 0);
    },
    relisted(source, reason) {
      relists.inc({ source, reason });
    },
    state(source, phase) {
      for (const state of PHASES) states.set({ source, state }, state === phase ? 1 : 0);
    },
  };
}
