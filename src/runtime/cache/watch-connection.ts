/** One connection of a watch: how long it may last, and how long the server may be silent. */
import { Alarm } from '../../lib/alarm.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Rng } from '../../lib/rng.ts';
import type { Frame } from '../types.ts';

/** The server does not support streamed lists; paged lists are used. */
export class NoStreaming extends Error {}
/** The stream stayed open beyond its time limit, or without the bookmarks that the server sends; the peer is gone. */
export class Overdue extends Error {}

const SILENCE_MS = 10_000;
const GRACE_MS = 5_000;
/** Servers that send bookmarks send one each minute, so this is a minute after the one that is missing. */
const WITHOUT_BOOKMARK_MS = 120_000;

interface ConnectionOptions<T> {
  readonly open: (timeoutSeconds: number, signal: AbortSignal) => AsyncIterable<Frame<T>>;
  readonly clock: Clock;
  readonly rng: Rng;
  /** Whether a list is still in progress: then silence means that it will not be completed. */
  readonly isListing: () => boolean;
  /** What is known about the server, for all connections of a watch. */
  readonly peer: Peer;
  readonly signal: AbortSignal;
}

interface Peer {
  /** Some aggregated APIs send none, and their watches may be silent. */
  sendsBookmarks: boolean;
}

/** @throws Overdue, NoStreaming; the signal's reason; errors of `open` */
export async function* framesOf<T>(options: ConnectionOptions<T>): AsyncGenerator<Frame<T>, void, void> {
  const { open, clock, rng, isListing, peer, signal } = options;
  const timeoutSeconds = 300 + Math.floor(rng.next() * 300);
  const attempt = new AbortController();
  const end = (): void => {
    attempt.abort(signal.reason);
  };
  signal.addEventListener('abort', end, { once: true });
  const cancelOverdue = clock.at(clock.now() + timeoutSeconds * 1000 + GRACE_MS, () => {
    attempt.abort(new Overdue());
  });
  // Delivering an event may take long if the receiver is busy; this does not count as silence of the server.
  let silentSince: number | undefined = clock.now();
  const limitMs = (): number =>
    isListing() ? SILENCE_MS : peer.sendsBookmarks ? WITHOUT_BOOKMARK_MS : Infinity;
  const silence = new Alarm(clock, () => {
    const now = clock.now();
    const until = (silentSince ?? now) + limitMs();
    if (until > now) silence.by(until);
    else attempt.abort(isListing() ? new NoStreaming() : new Overdue());
  });
  silence.by(silentSince + limitMs());
  try {
    for await (const frame of open(timeoutSeconds, attempt.signal)) {
      signal.throwIfAborted();
      silentSince = undefined;
      yield frame;
      signal.throwIfAborted();
      silentSince = clock.now();
      if (frame.type === 'BOOKMARK' && !frame.initialEventsEnd) peer.sendsBookmarks = true;
      silence.by(silentSince + limitMs());
    }
  } catch (error) {
    throw attempt.signal.aborted ? attempt.signal.reason : error;
  } finally {
    cancelOverdue();
    silence.cancel();
    signal.removeEventListener('abort', end);
    attempt.abort();
  }
}
