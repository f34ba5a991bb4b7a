/**
 * A queue of keys for simulated controllers: runs one key at a time, and runs a key again if it was added
 * meanwhile.
 */
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../observability/log.ts';

/** Pause before a failed key is retried. */
const RETRY_MS = 200;

export class KeyQueue<K> {
  readonly #waiting = new Map<string, K>();
  readonly #timers = new Map<string, () => void>();
  readonly #run: (key: K) => Promise<void>;
  readonly #textOf: (key: K) => string;
  readonly #clock: Clock;
  readonly #log: Logger;
  #running = false;
  #stopped = false;

  constructor(parts: {
    run: (key: K) => Promise<void>;
    textOf: (key: K) => string;
    clock: Clock;
    log: Logger;
  }) {
    this.#run = parts.run;
    this.#textOf = parts.textOf;
    this.#clock = parts.clock;
    this.#log = parts.log;
  }

  add(key: K): void {
    if (this.#stopped) return;
    this.#waiting.set(this.#textOf(key), key);
    if (this.#running) return;
    this.#running = true;
    setImmediate(() => void this.#drain());
  }

  addAfter(key: K, delayMs: number): void {
    const text = this.#textOf(key);
    if (this.#stopped || this.#timers.has(text)) return;
    this.#timers.set(
      text,
      this.#clock.at(this.#clock.now() + delayMs, () => {
        this.#timers.delete(text);
        this.add(key);
      }),
    );
  }

  stop(): void {
    this.#stopped = true;
    this.#waiting.clear();
    for (const cancel of this.#timers.values()) cancel();
    this.#timers.clear();
  }

  async #drain(): Promise<void> {
    for (;;) {
      const next = this.#waiting.entries().next();
      if (next.done === true || this.#stopped) break;
      const [text, key] = next.value;
      this.#waiting.delete(text);
      try {
        await this.#run(key);
      } catch (error) {
        this.#log.warn({ err: error, key: text }, 'simulated controller failed, retrying');
        this.addAfter(key, RETRY_MS);
      }
    }
    this.#running = false;
  }
}
