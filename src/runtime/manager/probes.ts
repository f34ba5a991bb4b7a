/** Checks for the health server: whether the sources are synced, and whether the event loop is blocked. */
import type { Clock } from '../../lib/clock.ts';
import type { Check } from '../../observability/health.ts';
import type { Logger } from '../../observability/log.ts';
import type { Metrics } from '../../observability/metrics.ts';
import type { Caches } from '../types.ts';

/** Ready if every cache has its first list and a healthy watch. */
export const sourcesCheck = (caches: Caches): Check => ({
  name: 'sources',
  probe: 'ready',
  problem() {
    const problems: string[] = [];
    for (const cache of caches.all()) {
      if (!cache.isSynced)
        problems.push(`${cache.name} is not synced${cache.problem ? `: ${cache.problem}` : ''}`);
      else if (cache.problem) problems.push(`${cache.name}: ${cache.problem}`);
    }
    return problems.length === 0 ? undefined : problems.join('; ');
  },
});

const PERIOD_MS = 500;
const DEFAULT_LIMIT_MS = 5_000;

/** Lag that is logged: watches and leases tolerate it, but code that takes so long should run in a worker thread. */
const NOTED_LAG_MS = 1_000;

interface LoopLag {
  readonly check: Check;
  stop(): void;
}

/**
 * Measures how late timers are, which is how long the event loop was blocked.
 * @param limitMs lag above which the process does not count as alive; default 5 s
 */
export function watchLoopLag(
  clock: Clock,
  metrics: Metrics,
  log: Logger,
  limitMs = DEFAULT_LIMIT_MS,
): LoopLag {
  let lastLagMs = 0;
  let due = clock.now() + PERIOD_MS;
  let cancel = (): void => undefined;
  const lagMs = (): number => Math.max(lastLagMs, clock.now() - due, 0);
  const arm = (): void => {
    due = clock.now() + PERIOD_MS;
    cancel = clock.at(due, () => {
      lastLagMs = Math.max(0, clock.now() - due);
      if (lastLagMs >= NOTED_LAG_MS)
        log.warn({ blockedMs: Math.round(lastLagMs) }, 'event loop was blocked, all controllers waited');
      arm();
    });
  };
  arm();
  metrics.observed(
    { name: 'espalier_event_loop_lag_seconds', help: 'Recent delay of the event loop.' },
    () => [[{}, lagMs() / 1_000]],
  );
  return {
    check: {
      name: 'event-loop',
      probe: 'live',
      problem() {
        const lag = lagMs();
        return lag > limitMs ? `the event loop was blocked for ${String(Math.round(lag))} ms` : undefined;
      },
    },
    stop() {
      cancel();
    },
  };
}
