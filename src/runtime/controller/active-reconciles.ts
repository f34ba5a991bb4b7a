/** The active reconciles of a controller: their signals, deadlines and ages. */
import { setMaxListeners } from 'node:events';
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
  readonly #onTimeout: () => void;
  readonly #reconciles = new Map<Key, TimedReconcile>();
  readonly #onEnd = new Set<() => void>();

  constructor(clock: Clock, timeoutMs: number | undefined, onTimeout: () => void) {
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
    this.#onTimeout = onTimeout;
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
            this.#onTimeout();
            run.abort(new Error(`reconcile took longer than ${String(timeoutMs)} ms`));
          });
    const run = new TimedReconcile(since, dirty, () => {
      disarm?.();
      this.#reconciles.delete(key);
      for (const notify of this.#onEnd) notify();
      this.#onEnd.clear();
    });
    this.#reconciles.set(key, run);
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

  abortAll(reason: Error): void {
    for (const run of this.#reconciles.values()) run.abort(reason);
  }

  /** Seconds since the start of each reconcile. */
  ages(): number[] {
    const now = this.#clock.now();
    return [...this.#reconciles.values()].map(({ since }) => (now - since) / 1_000);
  }
}
