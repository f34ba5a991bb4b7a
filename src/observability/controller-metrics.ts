/** Metrics of each controller and its queue, with the names of controller-runtime. */
import { largest } from '../lib/lists.ts';
import type { Labels, Metrics } from './metrics.ts';

export type ReconcileOutcome = 'success' | 'error' | 'requeue' | 'requeue_after';

/** Counts the events of one controller. */
export interface ControllerMetrics {
  run(outcome: ReconcileOutcome, seconds: number): void;
  error(): void;
  terminalError(): void;
  panic(): void;
  timeout(): void;
  attempt(): void;
  added(): void;
  waited(seconds: number): void;
  event(source: string, action: string, outcome: 'queued' | 'merged' | 'filtered' | 'echo'): void;
}

/** Values that are read when the metrics are scraped. */
interface ControllerGauges {
  readonly maxConcurrent: number;
  activeWorkers(): number;
  depths(): ReadonlyMap<number, number>;
  /** Seconds since the start of each active reconcile. */
  running(): Iterable<number>;
}

const OUTCOMES: readonly ReconcileOutcome[] = ['success', 'error', 'requeue', 'requeue_after'];
const EVENT_OUTCOMES = ['queued', 'merged', 'filtered', 'echo'] as const;

/** Counters without additional labels: name and help text. */
const COUNTERS = {
  error: ['controller_runtime_reconcile_errors_total', 'Reconciles that failed.'],
  terminalError: [
    'controller_runtime_terminal_reconcile_errors_total',
    'Failed reconciles that are not retried.',
  ],
  panic: ['controller_runtime_reconcile_panics_total', 'Reconciles that threw a value that is not an Error.'],
  timeout: ['controller_runtime_reconcile_timeouts_total', 'Reconciles that exceeded their deadline.'],
  attempt: ['espalier_reconcile_attempts_total', 'Retries of failed reconciles.'],
} as const;

/** Registers the metrics of a controller with value 0, and returns an object that counts. */
export function controllerMetrics(
  metrics: Metrics,
  controller: string,
  gauges: ControllerGauges,
): ControllerMetrics {
  const own = { controller };
  const labels = ['controller'];
  const count = ([name, help]: readonly [string, string]): (() => void) => {
    const counter = metrics.counter({ name, help, labels, zero: [own] });
    return () => {
      counter.inc(own);
    };
  };
  const total = metrics.counter({
    name: 'controller_runtime_reconcile_total',
    help: 'Reconciles by outcome.',
    labels: ['controller', 'result'],
    zero: OUTCOMES.map((result) => ({ controller, result })),
  });
  const seconds = metrics.histogram({
    name: 'controller_runtime_reconcile_time_seconds',
    help: 'Duration of reconciles.',
    labels,
    zero: [own],
  });
  const events = metrics.counter({
    name: 'espalier_events_total',
    help: 'Events by source, action and outcome.',
    labels: ['controller', 'source', 'action', 'outcome'],
    zero: EVENT_OUTCOMES.map((outcome) => ({ controller, source: 'primary', action: 'update', outcome })),
  });
  const { worked, retried, added, waited } = registerQueue(metrics, { name: controller, controller }, gauges);
  registerWorkers(metrics, own, gauges);
  const attempt = count(COUNTERS.attempt);
  return {
    run(outcome, duration) {
      total.inc({ controller, result: outcome });
      seconds.observe(own, duration);
      worked(duration);
    },
    error: count(COUNTERS.error),
    terminalError: count(COUNTERS.terminalError),
    panic: count(COUNTERS.panic),
    timeout: count(COUNTERS.timeout),
    attempt() {
      attempt();
      retried();
    },
    added,
    waited,
    event: (source, action, outcome) => {
      events.inc({ controller, source, action, outcome });
    },
  };
}

/** Operators choose priorities, so the number of separate series is limited. */
const MAX_PRIORITIES = 25;

/** Number of keys by priority; priorities beyond the limit are summed up as `other`. */
function byPriority(depths: ReadonlyMap<number, number>): (readonly [string, number])[] {
  const all = [...depths].map(([priority, n]) => [String(priority), n] as const);
  if (all.length <= MAX_PRIORITIES) return all;
  const others = all.slice(MAX_PRIORITIES - 1).reduce((sum, [, n]) => sum + n, 0);
  return [...all.slice(0, MAX_PRIORITIES - 1), ['other', others]];
}

function registerWorkers(metrics: Metrics, own: Labels, gauges: ControllerGauges): void {
  const labels = ['controller'];
  metrics.observed(
    {
      name: 'controller_runtime_max_concurrent_reconciles',
      help: 'Maximum number of concurrent reconciles.',
      labels,
    },
    () => [[own, gauges.maxConcurrent]],
  );
  metrics.observed(
    { name: 'controller_runtime_active_workers', help: 'Number of active reconciles.', labels },
    () => [[own, gauges.activeWorkers()]],
  );
}

interface QueueMetrics {
  readonly added: () => void;
  readonly waited: (seconds: number) => void;
  readonly worked: (seconds: number) => void;
  readonly retried: () => void;
}

const QUEUE_LABELS = ['name', 'controller'];

function registerQueue(metrics: Metrics, queue: Labels, gauges: ControllerGauges): QueueMetrics {
  const series = (name: string, help: string) => ({
    name: `workqueue_${name}`,
    help,
    labels: QUEUE_LABELS,
    zero: [queue],
  });
  const adds = metrics.counter(series('adds_total', 'Keys queued.'));
  const retries = metrics.counter(series('retries_total', 'Keys requeued after a failure.'));
  const waits = metrics.histogram(series('queue_duration_seconds', 'Time that keys wait for a worker.'));
  const works = metrics.histogram(series('work_duration_seconds', 'Time that workers spend on a key.'));
  observeQueue(metrics, queue, gauges);
  return {
    added: () => {
      adds.inc(queue);
    },
    waited: (seconds) => {
      waits.observe(queue, seconds);
    },
    worked: (seconds) => {
      works.observe(queue, seconds);
    },
    retried: () => {
      retries.inc(queue);
    },
  };
}

function observeQueue(metrics: Metrics, queue: Labels, gauges: ControllerGauges): void {
  metrics.observed(
    { name: 'workqueue_depth', help: 'Keys that are ready.', labels: [...QUEUE_LABELS, 'priority'] },
    () => {
      const depths = gauges.depths();
      if (depths.size === 0) return [[{ ...queue, priority: '0' }, 0]];
      return byPriority(depths).map(([priority, n]) => [{ ...queue, priority }, n] as const);
    },
  );
  metrics.observed(
    {
      name: 'workqueue_unfinished_work_seconds',
      help: 'Sum of the ages of all active reconciles.',
      labels: QUEUE_LABELS,
    },
    () => [[queue, [...gauges.running()].reduce((sum, age) => sum + age, 0)]],
  );
  metrics.observed(
    {
      name: 'workqueue_longest_running_processor_seconds',
      help: 'Age of the oldest active reconcile.',
      labels: QUEUE_LABELS,
    },
    () => [[queue, Math.max(0, largest(gauges.running()))]],
  );
}
