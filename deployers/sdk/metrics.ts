/** Metrics of deployers. */
import { phaseLabel } from '../../src/api/job.ts';
import type { Metrics } from '../../src/observability/metrics.ts';
import type { DeployerMetrics } from './deployer.ts';

/** `espalier_deployer_job_duration_seconds` and `espalier_deployer_errors_total`. */
export function deployerMetrics(metrics: Metrics): DeployerMetrics {
  const jobs = metrics.histogram({
    name: 'espalier_deployer_job_duration_seconds',
    help: 'Time from the start to the end of a deploy item job, by deployer and final phase.',
    labels: ['deployer', 'phase'],
  });
  const failures = metrics.counter({
    name: 'espalier_deployer_errors_total',
    help: 'Failed reconciles of deploy items, by deployer and reason.',
    labels: ['deployer', 'reason'],
  });
  return {
    jobEnded(deployer, phase, seconds) {
      jobs.observe({ deployer, phase: phaseLabel(phase) }, seconds);
    },
    reconcileFailed(deployer, reason) {
      failures.inc({ deployer, reason });
    },
  };
}
