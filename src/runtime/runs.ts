/** The runs of a controller that are under way: their signals, their deadlines, their ages. */
import type { Clock } from '../lib/clock.ts';
import type { Key } from './types.ts';

export interface ActiveRun {
  /** Aborts when the run takes too long or the process cannot wait any longer. */
  readonly signal: AbortSignal;
  /** Aborts when something has happened that makes the rest of the run pointless. */
  readonly interrupt: AbortSignal;
  end(): void;
}

interface Entry {
  readonly since: number;
  readonly abort: AbortController;
  readonly interrupt: AbortController;
}

export class ActiveRuns {
  readonly #clock: Clock;
  readonly #timeoutMs: number | undefined;
  readonly #onTimeout: () => void;
  readonly #runs = new Map<Key, Entry>();

  constructor(clock: Clock, timeoutMs: number | undefined, onTimeout: () => void) {
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
    this.#onTimeout = onTimeout;
  }

  get size(): number {
    return this.#runs.size;
  }

  has(key: Key): boolean {
    return this.#runs.has(key);
  }

  begin(key: Key): ActiveRun {
    const since = this.#clock.now();
    const entry: Entry = { since, abort: new AbortController(), interrupt: new AbortController() };
    this.#runs.set(key, entry);
    const timeoutMs = this.#timeoutMs;
    const disarm =
      timeoutMs === undefined
        ? undefined
        : this.#clock.at(since + timeoutMs, () => {
            this.#onTimeout();
            entry.abort.abort(new Error(`the run took longer than ${String(timeoutMs)} ms`));
          });
    return {
      signal: entry.abort.signal,
      interrupt: entry.interrupt.signal,
      end: () => {
        disarm?.();
        this.#runs.delete(key);
      },
    };
  }

  /** Interrupts the run of a key if there is one that has not been, and `isCause` says so. */
  interrupt(key: Key, isCause: () => boolean): void {
    const run = this.#runs.get(key);
    if (!run || run.interrupt.signal.aborted || !isCause()) return;
    run.interrupt.abort(new Error(`${key} has changed in a way that interrupts the run`));
  }

  abortAll(reason: Error): void {
    for (const run of this.#runs.values()) run.abort.abort(reason);
  }

  /** Seconds since the beginning of each. */
  ages(): number[] {
    const now = this.#clock.now();
    return [...this.#runs.values()].map(({ since }) => (now - since) / 1_000);
  }
}
