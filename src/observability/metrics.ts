/**
 * Numbers for Prometheus. The names are those of controller-runtime, so that existing dashboards work.
 * @see kubernetes-sigs/controller-runtime pkg/internal/controller/metrics/metrics.go
 */
import { largest } from '../lib/lists.ts';
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';

/** Labels of a series, with their values. */
export type Labels = Readonly<Record<string, string | number>>;

/** Series that only grow. */
export interface CounterOf {
  inc(labels?: Labels, by?: number): void;
  remove(labels: Labels): void;
}
/** Series that are set. */
export interface GaugeOf {
  set(labels: Labels, value: number): void;
  remove(labels: Labels): void;
}
/** Series that count how often a value fell into each bucket. */
export interface HistogramOf {
  /** @param value in the unit that the name ends with */
  observe(labels: Labels, value: number): void;
}

/** What a metric is called and what it says; `labels` are the names of its labels. */
export interface Series {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
  /** Label sets that exist with value 0 from the start. */
  readonly zero?: readonly Labels[];
}

/** All metrics of a process. Asking for a name again answers with the one that exists. */
export interface Metrics {
  readonly registry: Registry;
  counter(series: Series): CounterOf;
  gauge(series: Series): GaugeOf;
  /** @param series.buckets upper bounds, default from 5 ms to 10 min */
  histogram(series: Series & { readonly buckets?: readonly number[] }): HistogramOf;
  /** A gauge that is asked for its values when somebody looks. */
  observed(series: Series, read: () => Iterable<readonly [Labels, number]>): void;
  /** The text that Prometheus reads. */
  text(): Promise<string>;
}

const DURATION_BUCKETS = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600,
] as const;

/**
 * The metrics of a process, with a registry of their own.
 * @param options.process numbers about the process itself too: memory, CPU, garbage collection
 */
export function createMetrics(options: { readonly process?: boolean } = {}): Metrics {
  const registry = new Registry();
  if (options.process) collectDefaultMetrics({ register: registry });
  const readers = new Map<string, (() => Iterable<readonly [Labels, number]>)[]>();
  const known = <M>(name: string, make: () => M): M =>
    (registry.getSingleMetric(name) as M | undefined) ?? make();
  const base = ({ name, help, labels = [] }: Series) => ({
    name,
    help,
    labelNames: [...labels],
    registers: [registry],
  });
  return {
    registry,
    counter(series) {
      const counter = known(series.name, () => new Counter(base(series)));
      for (const labels of series.zero ?? []) counter.inc({ ...labels }, 0);
      return {
        inc: (labels = {}, by = 1) => {
          counter.inc(labels, by);
        },
        remove: (labels) => {
          counter.remove({ ...labels });
        },
      };
    },
    gauge(series) {
      const gauge = known(series.name, () => new Gauge(base(series)));
      for (const labels of series.zero ?? []) gauge.set({ ...labels }, 0);
      return {
        set: (labels, value) => {
          gauge.set(labels, value);
        },
        remove: (labels) => {
          gauge.remove({ ...labels });
        },
      };
    },
    histogram(series) {
      const buckets = [...(series.buckets ?? DURATION_BUCKETS)];
      const histogram = known(series.name, () => new Histogram({ ...base(series), buckets }));
      for (const labels of series.zero ?? []) histogram.zero({ ...labels });
      return {
        observe: (labels, value) => {
          histogram.observe(labels, value);
        },
      };
    },
    observed(series, read) {
      const list = readers.get(series.name) ?? [];
      readers.set(series.name, [...list, read]);
      if (list.length > 0) return;
      new Gauge({
        ...base(series),
        collect() {
          this.reset();
          for (const each of readers.get(series.name) ?? []) {
            for (const [labels, value] of each()) this.inc({ ...labels }, value);
          }
        },
      });
    },
    text: () => registry.metrics(),
  };
}

export type RunOutcome = 'success' | 'error' | 'requeue' | 'requeue_after';

/** What one controller counts. */
export interface ControllerMetrics {
  run(outcome: RunOutcome, seconds: number): void;
  error(): void;
  terminalError(): void;
  panic(): void;
  timeout(): void;
  attempt(): void;
  added(): void;
  waited(seconds: number): void;
  event(source: string, action: string, outcome: 'queued' | 'merged' | 'filtered' | 'echo'): void;
}

/** What is looked at when somebody asks, instead of being counted. */
export interface ControllerGauges {
  readonly maxConcurrent: number;
  activeWorkers(): number;
  depths(): ReadonlyMap<number, number>;
  /** Seconds for which each run has been going on. */
  running(): Iterable<number>;
}

/** Registers the series of a controller, all at 0, and hands out the means to count. */
export function controllerMetrics(
  metrics: Metrics,
  controller: string,
  gauges: ControllerGauges,
): ControllerMetrics {
  const own = { controller };
  const queue = { name: controller, controller };
  const count = (name: string, help: string): CounterOf =>
    metrics.counter({ name: `controller_runtime_${name}`, help, labels: ['controller'], zero: [own] });
  const outcomes: readonly RunOutcome[] = ['success', 'error', 'requeue', 'requeue_after'];
  const total = metrics.counter({
    name: 'controller_runtime_reconcile_total',
    help: 'Runs by outcome.',
    labels: ['controller', 'result'],
    zero: outcomes.map((result) => ({ controller, result })),
  });
  const seconds = metrics.histogram({
    name: 'controller_runtime_reconcile_time_seconds',
    help: 'How long runs take.',
    labels: ['controller'],
    zero: [own],
  });
  const errors = count('reconcile_errors_total', 'Runs that failed.');
  const terminal = count('terminal_reconcile_errors_total', 'Failures that are not tried again.');
  const panics = count('reconcile_panics_total', 'Runs that threw something that is not an error.');
  const timeouts = count('reconcile_timeouts_total', 'Runs that exceeded their deadline.');
  const attempts = metrics.counter({
    name: 'espalier_reconcile_attempts_total',
    help: 'Runs that repeat a failed one.',
    labels: ['controller'],
    zero: [own],
  });
  const events = metrics.counter({
    name: 'espalier_events_total',
    help: 'Events by source, action and what became of them.',
    labels: ['controller', 'source', 'action', 'outcome'],
    zero: ['queued', 'merged', 'filtered', 'echo'].map((outcome) => ({
      controller,
      source: 'primary',
      action: 'update',
      outcome,
    })),
  });
  const queueMetrics = registerQueue(metrics, queue, gauges);
  registerWorkers(metrics, own, gauges);
  return {
    run(outcome, duration) {
      total.inc({ controller, result: outcome });
      seconds.observe(own, duration);
      queueMetrics.worked(duration);
    },
    error: () => {
      errors.inc(own);
    },
    terminalError: () => {
      terminal.inc(own);
    },
    panic: () => {
      panics.inc(own);
    },
    timeout: () => {
      timeouts.inc(own);
    },
    attempt() {
      attempts.inc(own);
      queueMetrics.retried();
    },
    added: () => {
      queueMetrics.added();
    },
    waited: (duration) => {
      queueMetrics.waited(duration);
    },
    event: (source, action, outcome) => {
      events.inc({ controller, source, action, outcome });
    },
  };
}

/** Priorities are chosen by authors, so there is a limit to those that get a series of their own. */
const MAX_PRIORITIES = 25;

/** Keys by priority; those of priorities beyond the limit are summed up as `other`. */
function byPriority(depths: ReadonlyMap<number, number>): (readonly [string, number])[] {
  const all = [...depths].map(([priority, n]) => [String(priority), n] as const);
  if (all.length <= MAX_PRIORITIES) return all;
  const others = all.slice(MAX_PRIORITIES - 1).reduce((sum, [, n]) => sum + n, 0);
  return [...all.slice(0, MAX_PRIORITIES - 1), ['other', others]];
}

function registerWorkers(metrics: Metrics, own: Labels, gauges: ControllerGauges): void {
  const labels = ['controller'];
  metrics.observed(
    { name: 'controller_runtime_max_concurrent_reconciles', help: 'How many runs may overlap.', labels },
    () => [[own, gauges.maxConcurrent]],
  );
  metrics.observed(
    { name: 'controller_runtime_active_workers', help: 'How many runs are going on.', labels },
    () => [[own, gauges.activeWorkers()]],
  );
}

function registerQueue(
  metrics: Metrics,
  queue: Labels,
  gauges: ControllerGauges,
): { added(): void; waited(s: number): void; worked(s: number): void; retried(): void } {
  const labels = ['name', 'controller'];
  const zero = [queue];
  const adds = metrics.counter({ name: 'workqueue_adds_total', help: 'Keys queued.', labels, zero });
  const retries = metrics.counter({
    name: 'workqueue_retries_total',
    help: 'Keys queued again.',
    labels,
    zero,
  });
  const waits = metrics.histogram({
    name: 'workqueue_queue_duration_seconds',
    help: 'How long keys wait for a worker.',
    labels,
    zero,
  });
  const works = metrics.histogram({
    name: 'workqueue_work_duration_seconds',
    help: 'How long workers keep a key.',
    labels,
    zero,
  });
  metrics.observed(
    { name: 'workqueue_depth', help: 'Keys that are ready.', labels: [...labels, 'priority'] },
    () => {
      const depths = gauges.depths();
      if (depths.size === 0) return [[{ ...queue, priority: '0' }, 0]];
      return byPriority(depths).map(([priority, n]) => [{ ...queue, priority }, n] as const);
    },
  );
  metrics.observed(
    { name: 'workqueue_unfinished_work_seconds', help: 'Sum of the ages of all runs.', labels },
    () => [[queue, [...gauges.running()].reduce((sum, age) => sum + age, 0)]],
  );
  metrics.observed(
    { name: 'workqueue_longest_running_processor_seconds', help: 'Age of the oldest run.', labels },
    () => [[queue, Math.max(0, largest(gauges.running()))]],
  );
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
