/**
 * When a watch opens its next connection: immediately after one that delivered something, otherwise after a pause.
 * Pauses grow while connections deliver nothing. A connection that delivers something and breaks within a second is
 * followed by the shortest pause, so a server that breaks every connection after one event gets one request per
 * second.
 */
import type { Rng } from '../../lib/rng.ts';
import { exponential, type RetryPolicy } from '../queue/retry.ts';

const pauses: RetryPolicy = exponential({ initialMs: 800, factor: 2, maxMs: 30_000, jitter: 0.2 });

/** A connection that ends sooner was not ended by the server's timeout: the server has a problem. */
export const SHORTEST_WATCH_MS = 1_000;
/** Bookmarks arrive about once a minute, so a connection without events that lasts this long also counts as working. */
const QUIET_BUT_WELL_MS = 10_000;

/** What a connection has delivered so far; times are those of the clock, in milliseconds. */
export interface Connection {
  readonly openedAt: number;
  /** When the server accepted the watch; a list on the same connection is complete. */
  readonly watchingSince: number | undefined;
  /** An event or a bookmark increased the version from which the next watch resumes. */
  readonly hasAdvanced: boolean;
}

export interface Reopening {
  /** Number of consecutive connections that delivered nothing. */
  readonly failures: number;
  /** Milliseconds until the next connection; undefined: it is opened immediately. */
  readonly ms: number | undefined;
}

/** After the server closed the connection normally. */
export const afterEnd = (connection: Connection, failures: number, now: number, rng: Rng): Reopening =>
  now - connection.openedAt < SHORTEST_WATCH_MS
    ? afterFailure(connection, failures, now, rng)
    : { failures: 0, ms: undefined };

/**
 * After the connection broke or could not be opened.
 * @param askedMs the server's Retry-After, in milliseconds
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
