/** Metrics of a reconcile that has ended. */
import type { ControllerMetrics, ReconcileOutcome } from '../../observability/controller-metrics.ts';
import type { ReconcileResult } from './decide.ts';

/** @returns the outcome, as the metrics name it */
export function measure(metrics: ControllerMetrics, result: ReconcileResult, ms: number): ReconcileOutcome {
  const outcome = outcomeOf(result);
  if (!result.ok) {
    metrics.error();
    if (!result.retry) metrics.terminalError();
  }
  metrics.run(outcome, ms / 1_000);
  return outcome;
}

function outcomeOf(result: ReconcileResult): ReconcileOutcome {
  if (!result.ok) return 'error';
  if (result.requeueAfterMs === undefined) return 'success';
  return result.requeueAfterMs > 0 ? 'requeue_after' : 'requeue';
}
