/**
 * Metrics of single objects. There is one series per object, so a controller has to enable them, and the series of
 * a deleted object is removed.
 */
import type { ReconcileOutcome } from './controller-metrics.ts';
import type { Metrics } from './metrics.ts';

const RESULTS: readonly ReconcileOutcome[] = ['success', 'error', 'requeue', 'requeue_after'];
const LABELS = ['controller', 'namespace', 'name'] as const;

/** Counts the reconciles of each object of a controller. Keys are `namespace/name`, or `name`. */
export interface ObjectMetrics {
  /** @param attempt retries since the last success, including this reconcile if it is one */
  ran(key: string, outcome: ReconcileOutcome, attempt: number): void;
  /** Removes all series of an object; does nothing if there are none. */
  forget(key: string): void;
}

export function objectMetrics(metrics: Metrics, controller: string): ObjectMetrics {
  const runs = metrics.counter({
    name: 'espalier_object_reconcile_total',
    help: 'Reconciles of single objects by outcome.',
    labels: [...LABELS, 'result'],
  });
  const attempts = metrics.gauge({
    name: 'espalier_object_reconcile_attempts',
    help: 'Retries of single objects since their last success.',
    labels: LABELS,
  });
  const labelsOf = (key: string) => {
    const slash = key.indexOf('/');
    return { controller, namespace: key.slice(0, Math.max(0, slash)), name: key.slice(slash + 1) };
  };
  const known = new Set<string>();
  return {
    ran(key, outcome, attempt) {
      known.add(key);
      const labels = labelsOf(key);
      runs.inc({ ...labels, result: outcome });
      attempts.set(labels, outcome === 'error' ? attempt : 0);
    },
    forget(key) {
      if (!known.delete(key)) return;
      const labels = labelsOf(key);
      for (const result of RESULTS) runs.remove({ ...labels, result });
      attempts.remove(labels);
    },
  };
}
