/**
 * Metrics for Prometheus. The names are those of controller-runtime, so that existing dashboards work.
 * @see kubernetes-sigs/controller-runtime pkg/internal/controller/metrics/metrics.go
 */
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';

/** Label values of a series. */
export type Labels = Readonly<Record<string, string | number>>;

/** A counter with labels. */
export interface CounterOf {
  inc(labels?: Labels, by?: number): void;
  remove(labels: Labels): void;
}
/** A gauge with labels. */
export interface GaugeOf {
  set(labels: Labels, value: number): void;
  remove(labels: Labels): void;
}
/** A histogram with labels. */
export interface HistogramOf {
  /** @param value in the unit at the end of the name */
  observe(labels: Labels, value: number): void;
  /** Creates the series, without an observation. */
  zero(labels: Labels): void;
}

/** Name and help text of a metric; `labels` are its label names. */
export interface Series {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
  /** Label sets that exist with value 0 from the start. */
  readonly zero?: readonly Labels[];
}

/** All metrics of a process. Registering a name again returns the existing metric. */
export interface Metrics {
  /** Content type of `text`. */
  readonly contentType: string;
  counter(series: Series): CounterOf;
  gauge(series: Series): GaugeOf;
  /** @param series.buckets upper bounds, default from 5 ms to 10 min */
  histogram(series: Series & { readonly buckets?: readonly number[] }): HistogramOf;
  /** A gauge whose values are read when the metrics are scraped. */
  observed(series: Series, read: () => Iterable<readonly [Labels, number]>): void;
  /** The metrics in Prometheus text format. */
  text(): Promise<string>;
}

const DURATION_BUCKETS = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600,
] as const;

/**
 * Creates the metrics of a process, with a separate registry.
 * @param options.process whether to include metrics of the process itself: memory, CPU, garbage collection
 */
export function createMetrics(options: { readonly process?: boolean } = {}): Metrics {
  const registry = new Registry();
  const registries = options.process ? [processMetrics(), registry] : [registry];
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
    contentType: registry.contentType,
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
    text: async () => (await Promise.all(registries.map((each) => each.metrics()))).join(''),
  };
}

let ofProcess: Registry | undefined;

/** One registry for all: the observer of the garbage collection never releases a registry, nor what its metrics read. */
function processMetrics(): Registry {
  if (ofProcess) return ofProcess;
  ofProcess = new Registry();
  collectDefaultMetrics({ register: ofProcess });
  return ofProcess;
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
    zero: (labels) => {
      histogram.zero({ ...labels });
    },
  };
}
