/**
 * Counts drifts: a resource that was up to date differs, although its object is the same. Differences after a change of the
 * object are not drifts.
 */
import type { Clock } from '../../lib/clock.ts';
import type { Metrics } from '../../observability/metrics.ts';
import type { Obj, View } from '../types.ts';

interface InSync {
  readonly at: number;
  readonly generation: number | undefined;
}

export class Drifts {
  readonly #clock: Clock;
  readonly #count: () => void;
  readonly #observe: (seconds: number) => void;
  /** When resources were last up to date, by uid. */
  readonly #inSync = new Map<string, InSync>();

  constructor(clock: Clock, metrics: Metrics, controller: string) {
    this.#clock = clock;
    const own = { controller };
    const common = { labels: ['controller'], zero: [own] };
    const total = metrics.counter({
      name: 'espalier_external_drifts_total',
      help: 'External resources that drifted: they differ from their unchanged object.',
      ...common,
    });
    const seconds = metrics.histogram({
      name: 'espalier_external_drift_seconds',
      help: 'Time between the last observation of a resource that was up to date and the detection of its drift.',
      ...common,
    });
    this.#count = () => {
      total.inc(own);
    };
    this.#observe = (duration) => {
      seconds.observe(own, duration);
    };
  }

  /** The resource is up to date. */
  inSync({ metadata }: View<Obj>): void {
    const { uid = '', generation } = metadata;
    this.#inSync.set(uid, { at: this.#clock.now(), generation });
  }

  /** The resource differs, or is missing. */
  differs({ metadata }: View<Obj>): void {
    const { uid = '', generation } = metadata;
    const last = this.#inSync.get(uid);
    this.#inSync.delete(uid);
    if (!last || last.generation !== generation) return;
    this.#count();
    this.#observe((this.#clock.now() - last.at) / 1_000);
  }

  forget({ metadata }: View<Obj>): void {
    this.#inSync.delete(metadata.uid ?? '');
  }
}
