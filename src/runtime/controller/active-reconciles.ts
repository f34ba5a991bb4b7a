/** The active reconciles of a controller: their signals, deadlines and ages. */
import { setMaxListeners } from 'node:events';
import { Alarm } from '../../lib/alarm.ts';
import type { Clock } from '../../lib/clock.ts';
import type { WorkItem } from '../queue/queue.ts';
import type { Key } from '../types.ts';

interface ActiveReconcile {
  /** Aborts when the reconcile takes too long, or when the process cannot wait any longer. */
  readonly signal: AbortSignal;
  /** Aborts when an event makes the rest of the reconcile pointless. */
  readonly interrupt: AbortSignal;
  /** Whether an event has arrived since it started. */
  readonly hasNewEvents: boolean;
  /** Aborts `signal`. */
  abort(reason: Error): void;
  end(): void;
}

/** What is reported about reconciles that take long. */
interface Observer {
  timedOut(key: Key, limitMs: number): void;
  /** It is still active; it may wait for something that never happens. */
  overdue(key: Key, ms: number): void;
}

/** Longer than any reconcile of a working operator. */
const OVERDUE_MS = 10 * 60_000;

/** Most reconciles use neither signal, and creating one takes longer than the rest of a short reconcile. */
class Signals {
  #controller: AbortController | undefined;

  get signal(): AbortSignal {
    return this.#created.signal;
  }

  get isAborted(): boolean {
    return this.#controller?.signal.aborted === true;
  }

  abort(reason: Error): void {
    this.#created.abort(reason);
  }

  get #created(): AbortController {
    if (!this.#controller) {
      this.#controller = new AbortController();
      // Each request adds a listener, and a workflow sends any number of them at the same time.
      setMaxListeners(0, this.#controller.signal);
    }
    return this.#controller;
  }
}

class TimedReconcile implements ActiveReconcile {
  readonly since: number;
  isReported = false;
  readonly abortion = new Signals();
  readonly interruption = new Signals();
  readonly #isDirty: () => boolean;
  readonly #end: () => void;

  constructor(since: number, isDirty: () => boolean, end: () => void) {
    this.since = since;
    this.#isDirty = isDirty;
    this.#end = end;
  }

  get hasNewEvents(): boolean {
    return this.#isDirty();
  }

  get signal(): AbortSignal {
    return this.abortion.signal;
  }

  get interrupt(): AbortSignal {
    return this.interruption.signal;
  }

  abort(reason: Error): void {
    this.abortion.abort(reason);
  }

  end(): void {
    this.#end();
  }
}

export class ActiveReconciles {
  readonly #clock: Clock;
  readonly #timeoutMs: number | undefined;
  readonly #observer: Observer;
  /** In the order in which they began. */
  readonly #reconciles = new Map<Key, TimedReconcile>();
  readonly #onEnd = new Set<() => void>();
  /** Set for the oldest reconcile that was not reported yet. */
  readonly #overdue: Alarm;

  constructor(clock: Clock, timeoutMs: number | undefined, observer: Observer) {
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
    this.#observer = observer;
    this.#overdue = new Alarm(clock, () => {
      this.#reportOverdue();
    });
  }

  get size(): number {
    return this.#reconciles.size;
  }

  get keys(): readonly Key[] {
    return [...this.#reconciles.keys()];
  }

  has(key: Key): boolean {
    return this.#reconciles.has(key);
  }

  begin({ key, dirty }: Pick<WorkItem, 'key' | 'dirty'>): ActiveReconcile {
    const since = this.#clock.now();
    const timeoutMs = this.#timeoutMs;
    const disarm =
      timeoutMs === undefined
        ? undefined
        : this.#clock.at(since + timeoutMs, () => {
            this.#observer.timedOut(key, timeoutMs);
            run.abort(new Error(`reconcile took longer than ${String(timeoutMs)} ms`));
          });
    const run = new TimedReconcile(since, dirty, () => {
      disarm?.();
      this.#reconciles.delete(key);
      if (this.#reconciles.size === 0) this.#overdue.cancel();
      for (const notify of this.#onEnd) notify();
      this.#onEnd.clear();
    });
    this.#reconciles.set(key, run);
    this.#overdue.by(since + OVERDUE_MS);
    return run;
  }

  /** Resolves when no key that `isConcerned` accepts is being reconciled. */
  async idle(isConcerned: (key: Key) => boolean): Promise<void> {
    while ([...this.#reconciles.keys()].some(isConcerned)) {
      await new Promise<void>((resolve) => this.#onEnd.add(resolve));
    }
  }

  /** Interrupts the reconcile of a key, once, if `isCause` returns true. */
  interrupt(key: Key, isCause: () => boolean): void {
    const run = this.#reconciles.get(key);
    if (!run || run.interruption.isAborted || !isCause()) return;
    run.interruption.abort(new Error(`${key} has changed in a way that interrupts the reconcile`));
  }

  /** The process may end although one of them never does. */
  abortAll(reason: Error): void {
    this.#overdue.cancel();
    for (const run of this.#reconciles.values()) run.abort(reason);
  }

  /** Each reconcile is reported once. */
  #reportOverdue(): void {
    const now = this.#clock.now();
    for (const [key, run] of this.#reconciles) {
      if (run.isReported) continue;
      if (now < run.since + OVERDUE_MS) {
        this.#overdue.by(run.since + OVERDUE_MS);
        return;
      }
      run.isReported = true;
      this.#observer.overdue(key, now - run.since);
    }
  }

  /** Seconds since the start of each reconcile. */
  ages(): number[] {
    const now = this.#clock.now();
    return [...this.#reconciles.values()].map(({ since }) => (now - since) / 1_000);
  }
}
