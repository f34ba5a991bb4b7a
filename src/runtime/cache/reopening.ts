/**
 * When a watch opens its next connection: at once after one that served, otherwise after a pause. Pauses grow over
 * connections that bring nothing; one that brings something and breaks within a second costs the shortest pause, so
 * that a server which breaks every connection after one event is asked about once a second, and never in a hot loop.
 */
import type { Clock } from '../../lib/clock.ts';
import type { Rng } from '../../lib/rng.ts';
import { exponential, type RetryPolicy } from '../queue/retry.ts';

const pauses: RetryPolicy = exponential({ initialMs: 800, factor: 2, maxMs: 30_000, jitter: 0.2 });

/** A connection that ends sooner than this is not a server's timeout but a server in trouble. */
export const SHORTEST_WATCH_MS = 1_000;
/** Bookmarks come about once a minute: a connection without any event has served too when it holds this long. */
const QUIET_BUT_WELL_MS = 10_000;

export class Reopening {
  readonly #clock: Clock;
  readonly #rng: Rng;
  #failures = 0;
  #openedAt = 0;
  #watchingSince: number | undefined;
  #hasAdvanced = false;

  constructor(clock: Clock, rng: Rng) {
    this.#clock = clock;
    this.#rng = rng;
  }

  /** A connection is about to be opened. */
  opens(): void {
    this.#openedAt = this.#clock.now();
    this.#watchingSince = undefined;
    this.#hasAdvanced = false;
  }

  /** The server accepted the watch; a list that came on the same connection is complete. */
  watches(): void {
    this.#watchingSince ??= this.#clock.now();
  }

  /** An event or a bookmark moved the version from which the next watch resumes. */
  advances(): void {
    this.#hasAdvanced = true;
  }

  /** Milliseconds to wait after the server ended the connection in order; undefined: none. */
  afterEnd(): number | undefined {
    if (this.#clock.now() - this.#openedAt < SHORTEST_WATCH_MS) return this.afterFailure();
    this.#failures = 0;
    return undefined;
  }

  /**
   * Milliseconds to wait after the connection broke, or could not be opened; undefined: none.
   * @param askedMs how long the server asks us to stay away
   */
  afterFailure(askedMs?: number): number | undefined {
    const hasServed = this.#hasServed();
    if (hasServed || this.#hasAdvanced) this.#failures = 0;
    if (hasServed) return askedMs;
    const growing = pauses.delay(++this.#failures, this.#rng) ?? 0;
    return Math.max(askedMs ?? 0, growing);
  }

  #hasServed(): boolean {
    if (this.#watchingSince === undefined) return false;
    const lasted = this.#clock.now() - this.#watchingSince;
    return lasted >= (this.#hasAdvanced ? SHORTEST_WATCH_MS : QUIET_BUT_WELL_MS);
  }
}
