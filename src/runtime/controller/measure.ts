/** Counts a run that has ended. */
import type { ControllerMetrics, RunOutcome } from '../../observability/metrics.ts';
import type { RunResult } from './decide.ts';

/** @returns how it ended, as metrics call it */
export function measure(metrics: ControllerMetrics, result: RunResult, ms: number): RunOutcome {
  const outcome = outcomeOf(result);
  if (!result.ok) {
    metrics.error();
    if (!result.retry) metrics.terminalError();
  }
  metrics.run(outcome, ms / 1_000);
  return outcome;
}

function outcomeOf(result: RunResult): RunOutcome {
  if (!result.ok) return 'error';
  if (result.again === undefined) return 'success';
  return result.again > 0 ? 'requeue_after' : 'requeue';
}
