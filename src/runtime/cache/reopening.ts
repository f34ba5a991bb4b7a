/**
 * When a watch opens its next connection: at once after one that served, otherwise after a pause. Pauses grow over
 * connections that bring nothing; one that brings something and breaks within a second costs the shortest pause, so
 * that a server which breaks every connection after one event is asked about once a second, and never in a hot loop.
 */
import type { Rng } from '../../lib/rng.ts';
import { exponential, type RetryPolicy } from '../queue/retry.ts';

const pauses: RetryPolicy = exponential({ initialMs: 800, factor: 2, maxMs: 30_000, jitter: 0.2 });

/** A connection that ends sooner than this is not a server's timeout but a server in trouble. */
export const SHORTEST_WATCH_MS = 1_000;
/** Bookmarks come about once a minute: a connection without any event has served too when it holds this long. */
const QUIET_BUT_WELL_MS = 10_000;

/** What a connection has been good for so far; times are those of the clock, in milliseconds. */
export interface Connection {
  readonly openedAt: number;
  /** When the server accepted the watch; a list that came on the same connection is complete. */
  readonly watchingSince: number | undefined;
  /** An event or a bookmark moved the version from which the next watch resumes. */
  readonly hasAdvanced: boolean;
}

export interface Reopening {
  /** Connections in a row that were good for nothing. */
  readonly failures: number;
  /** Milliseconds until the next one; undefined: none. */
  readonly ms: number | undefined;
}

/** After the server ended the connection in order. */
export const afterEnd = (connection: Connection, failures: number, now: number, rng: Rng): Reopening =>
  now - connection.openedAt < SHORTEST_WATCH_MS
    ? afterFailure(connection, failures, now, rng)
    : { failures: 0, ms: undefined };

/**
 * After the connection broke, or could not be opened.
 * @param askedMs how long the server asks us to stay away
 */
export function afterFailure(
  connection: Connection,
  failures: number,
  now: number,
  rng: Rng,
  askedMs?: number,
): Reopening {
  if (hasServed(connection, now)) return { failures: 0, ms: askedMs };
  const inRow = (connection.hasAdvanced ? 0 : failures) + 1;
  return { failures: inRow, ms: Math.max(askedMs ?? 0, pauses.delay(inRow, rng) ?? 0) };
}

function hasServed({ watchingSince, hasAdvanced }: Connection, now: number): boolean {
  if (watchingSince === undefined) return false;
  return now - watchingSince >= (hasAdvanced ? SHORTEST_WATCH_MS : QUIET_BUT_WELL_MS);
}
