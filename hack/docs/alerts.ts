/** Prometheus rules for Espalier, as a table; docs/observability/rules.yaml and the rules of the chart are written from it. */
import { toYaml } from '../../src/lib/yaml.ts';
import { HEADER } from './header.ts';

interface Alert {
  readonly name: string;
  readonly expr: string;
  readonly for: string;
  readonly severity: 'warning' | 'critical';
  readonly summary: string;
  readonly description: string;
}

/** Every replica exports the metrics about landscapes of all trees, so alerts use the maximum. */
export const alerts: readonly Alert[] = [
  {
    name: 'EspalierAbsent',
    expr: 'absent(controller_runtime_max_concurrent_reconciles{controller="installation"})',
    for: '5m',
    severity: 'critical',
    summary: 'No installation controller is running.',
    description: 'Landscapes stay as they are, and no job starts. See the pods of the deployment espalier.',
  },
  {
    name: 'EspalierInstallationsFailed',
    expr: 'sum(max by (phase) (espalier_landscape_objects{kind="Installation",phase=~"Failed|DeleteFailed"})) > 0',
    for: '15m',
    severity: 'warning',
    summary: '{{ $value }} installations have failed.',
    description: 'List them with: kubectl get installations -A | grep Failed',
  },
  {
    name: 'EspalierJobTakesLong',
    expr: 'max(espalier_landscape_oldest_unfinished_job_seconds{kind="Installation"}) > 3600',
    for: '5m',
    severity: 'warning',
    summary: 'The oldest job has been running for {{ $value | humanizeDuration }}.',
    description: 'espalier installations inspect NAME -n NAMESPACE shows what it waits for.',
  },
  {
    name: 'EspalierReconcilesFail',
    expr: 'sum by (controller) (rate(controller_runtime_reconcile_errors_total[10m])) > 0.5 * sum by (controller) (rate(controller_runtime_reconcile_total[10m]))',
    for: '15m',
    severity: 'warning',
    summary: 'Most reconciles of the controller {{ $labels.controller }} fail.',
    description: 'The log of the pods has the errors, with the object of each.',
  },
  {
    name: 'EspalierQueueGrows',
    expr: 'max by (controller) (workqueue_depth) > 100',
    for: '15m',
    severity: 'warning',
    summary: '{{ $value }} objects wait for a worker of the controller {{ $labels.controller }}.',
    description: 'The controller has too few workers or replicas, or the API server is slow.',
  },
  {
    name: 'EspalierWatchBroken',
    expr: 'max by (source) (espalier_watch_state{state="waiting"}) == 1',
    for: '5m',
    severity: 'critical',
    summary: 'The watch of {{ $labels.source }} does not work.',
    description: 'Changes of these objects have no effect until it works again. The log has the reason.',
  },
  {
    name: 'EspalierThrottled',
    expr: 'sum by (host) (rate(rest_client_requests_total{code="429"}[10m])) > 1',
    for: '15m',
    severity: 'warning',
    summary: 'The API server {{ $labels.host }} rejects requests because there are too many.',
    description: 'Fewer jobs at a time, or more capacity for the API server, help.',
  },
  {
    name: 'EspalierEventLoopBlocked',
    expr: 'max(espalier_event_loop_lag_seconds) > 1',
    for: '5m',
    severity: 'warning',
    summary: 'A process does not respond for {{ $value | humanizeDuration }} at a time.',
    description: 'The process has too little processor time, or too many objects for its memory.',
  },
];

/** A file for `rule_files` of Prometheus; the same groups are in the PrometheusRule of the chart. */
export const rulesFile = (): string => HEADER + toYaml({ groups: ruleGroups() });

const ruleGroups = (): readonly object[] => [
  {
    name: 'espalier',
    rules: alerts.map(({ name, expr, for: duration, severity, summary, description }) => ({
      alert: name,
      expr,
      for: duration,
      labels: { severity },
      annotations: { summary, description },
    })),
  },
];
