/**
 * Numbers for Prometheus. The names are those of controller-runtime, so that existing dashboards work.
 * @see kubernetes-sigs/controller-runtime pkg/internal/controller/metrics/metrics.go
 */
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
    counter: (series) =>
      counterOf(
        known(series.name, () => new Counter(base(series))),
        series,
      ),
    gauge: (series) =>
      gaugeOf(
        known(series.name, () => new Gauge(base(series))),
        series,
      ),
    histogram(series) {
      const buckets = [...(series.buckets ?? DURATION_BUCKETS)];
      return histogramOf(
        known(series.name, () => new Histogram({ ...base(series), buckets })),
        series,
      );
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

function counterOf(counter: Counter, { zero = [] }: Series): CounterOf {
  for (const labels of zero) counter.inc({ ...labels }, 0);
  return {
    inc: (labels = {}, by = 1) => {
      counter.inc(labels, by);
    },
    remove: (labels) => {
      counter.remove({ ...labels });
    },
  };
}

function gaugeOf(gauge: Gauge, { zero = [] }: Series): GaugeOf {
  for (const labels of zero) gauge.set({ ...labels }, 0);
  return {
    set: (labels, value) => {
      gauge.set(labels, value);
    },
    remove: (labels) => {
      gauge.remove({ ...labels });
    },
  };
}

function histogramOf(histogram: Histogram, { zero = [] }: Series): HistogramOf {
  for (const labels of zero) histogram.zero({ ...labels });
  return {
    observe: (labels, value) => {
      histogram.observe(labels, value);
    },
  };
}
