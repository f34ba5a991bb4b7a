/**
 * List and watch as a table. Events and next state of a watch are a pure function of its state and its input.
 *
 *     start    – open → listing, or resuming if there is a version to resume from
 *     listing  – list complete → start (pages), resuming (stream) · failure → waiting, or start
 *     resuming – change, bookmark → resuming · end, failure → waiting, or start; 410 → start, with a list due
 *     waiting  – open → listing, resuming
 */
import { messageOf } from '../../lib/message-of.ts';
import type { Rng } from '../../lib/rng.ts';
import { ApiError, Gone, Invalid, NotFound, ResponseTooLarge } from '../errors.ts';
import { isVersionTooLarge } from '../transport/failure.ts';
import type { Frame, Obj } from '../types.ts';
import { afterEnd, afterFailure, SHORTEST_WATCH_MS, type Connection, type Reopening } from './reopening.ts';
import type { CompareVersions } from './versions.ts';
import { NoStreaming, Overdue } from './watch-connection.ts';

/** Why all objects are listed again. */
type RelistReason = 'start' | 'expired' | 'missing' | 'stale' | 'oversized';

/** Why no connection is open, and for how long. */
interface Pause {
  readonly problem: string;
  readonly ms: number;
  /** Whether the next attempt will fail in the same way. */
  readonly isFinal?: boolean;
}

export type WatchState = { readonly phase: 'listing' | 'watching' } | ({ readonly phase: 'waiting' } & Pause);

export type WatchEvent<T> =
  /** A complete list begins. `acceptsOlder`: older versions must be accepted, because the server's history went back. */
  | { readonly type: 'init'; readonly reason: RelistReason; readonly acceptsOlder: boolean }
  | { readonly type: 'object'; readonly object: T }
  /** The list is complete as of `version`; objects that it did not contain are gone. */
  | { readonly type: 'initDone'; readonly version: string }
  | { readonly type: 'change'; readonly change: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T }
  | { readonly type: 'bookmark'; readonly version: string }
  | { readonly type: 'state'; readonly state: WatchState };

/** State that is kept between connections. */
interface Knowledge {
  /** Whether lists are requested as streams. */
  readonly isStreaming: boolean;
  /** Version to resume from; undefined: a list is due. */
  readonly from: string | undefined;
  /** The newest version seen; a list must not be older. */
  readonly newest: string | undefined;
  readonly reason: RelistReason;
  /** Number of consecutive lists that were older than `newest`. */
  readonly staleLists: number;
  /** When the last list completed, by the clock. */
  readonly listedAt: number;
  /** Number of consecutive connections that delivered nothing. */
  readonly failures: number;
}

type Start = { readonly at: 'start' } & Knowledge;
type Listing = {
  readonly at: 'listing';
  readonly by: 'stream' | 'pages';
  /** The first object has arrived, or the list is empty. */
  readonly hasBegun: boolean;
} & Knowledge &
  Connection;
type Resuming = { readonly at: 'resuming'; readonly from: string } & Knowledge & Connection;
type Waiting = { readonly at: 'waiting'; readonly pause: Pause } & Knowledge;
type State = Start | Listing | Resuming | Waiting;
/** A state with an open connection. */
export type Open = Listing | Resuming;

/** Inputs of a watch. */
export type WatchInput<T> =
  /** It is time to open a connection. */
  | { readonly type: 'open' }
  /** A page of a list begins. */
  | { readonly type: 'page'; readonly version: string }
  | { readonly type: 'item'; readonly object: T }
  | { readonly type: 'lastPage'; readonly version: string }
  | { readonly type: 'frame'; readonly frame: Exclude<Frame<T>, { readonly type: 'ERROR' }> }
  /** The server closed the connection normally. */
  | { readonly type: 'end' }
  | { readonly type: 'failure'; readonly error: unknown };

/** Other inputs of a step: the time in milliseconds, random numbers, and the order of versions. */
interface Surroundings {
  readonly now: number;
  readonly rng: Rng;
  readonly compare: CompareVersions;
}

/** The events of a step, and the next state. */
type Step<T> = readonly [readonly WatchEvent<T>[], State];

/**
 * After this many consecutive lists that are older than the newest version, the server's history counts as gone back.
 */
const MAX_STALE_LISTS = 3;

/** A list was older than a version already seen. */
class StaleList extends Error {}

/** Requests the list as a stream until the server rejects that. */
export const start = (): State => ({
  at: 'start',
  isStreaming: true,
  reason: 'start',
  from: undefined,
  newest: undefined,
  staleLists: 0,
  listedAt: -Infinity,
  failures: 0,
});

export const isOpen = (state: State): state is Open => state.at === 'listing' || state.at === 'resuming';

/** The minimum version of the next list, after a list was too old; undefined if there is no minimum. */
export const floorOf = ({ staleLists, newest }: State): string | undefined =>
  staleLists > 0 && staleLists < MAX_STALE_LISTS ? newest : undefined;

export function step<T extends Obj>(state: State, input: WatchInput<T>, around: Surroundings): Step<T> {
  if (input.type === 'open') return opened(state, around);
  // Inputs that were in flight when the connection was closed are ignored.
  if (!isOpen(state)) return [[], state];
  switch (input.type) {
    case 'page':
      return begun(state, input.version, around);
    case 'item':
      return [[{ type: 'object', object: input.object }], state];
    case 'lastPage':
      return [
        [{ type: 'initDone', version: input.version }],
        { ...knowledgeOf(listed(state, input.version, around)), at: 'start' },
      ];
    case 'frame':
      return state.at === 'listing'
        ? whileListing(state, input.frame, around)
        : whileResuming(state, input.frame, around);
    case 'end':
      return closed(
        state,
        'the server ends every watch immediately',
        afterEnd(state, state.failures, around.now, around.rng),
      );
    case 'failure':
      return failed(state, input.error, around);
  }
}

// -------------------------------------------------------------- opening

function opened<T>(state: State, { now }: Surroundings): Step<T> {
  const connection: Connection = { openedAt: now, watchingSince: undefined, hasAdvanced: false };
  const known = knowledgeOf(state);
  if (known.from !== undefined) return [[], { ...known, ...connection, at: 'resuming', from: known.from }];
  const by = known.isStreaming ? 'stream' : 'pages';
  return [[phase('listing')], { ...known, ...connection, at: 'listing', by, hasBegun: false }];
}

// -------------------------------------------------------------- listing

function begun<T>(state: Open, version: string, around: Surroundings): Step<T> {
  if (state.at !== 'listing' || state.hasBegun) return [[], state];
  const stale = staleness(state, version, around);
  return stale ? failed(state, stale, around) : begin(state);
}

function begin<T>(state: Listing): readonly [readonly WatchEvent<T>[], Listing] {
  if (state.hasBegun) return [[], state];
  const acceptsOlder = state.staleLists >= MAX_STALE_LISTS;
  return [
    [{ type: 'init', reason: state.reason, acceptsOlder }],
    { ...state, hasBegun: true, newest: acceptsOlder ? undefined : state.newest },
  ];
}

const listed = <S extends Knowledge>(state: S, version: string, { now }: Surroundings): S => ({
  ...state,
  from: version,
  newest: version,
  staleLists: 0,
  listedAt: now,
});

type LiveFrame<T> = Extract<WatchInput<T>, { readonly type: 'frame' }>['frame'];

function whileListing<T extends Obj>(before: Listing, frame: LiveFrame<T>, around: Surroundings): Step<T> {
  if (frame.type === 'OPEN') return [[], before];
  const [events, state] = begin<T>(before);
  switch (frame.type) {
    case 'DELETED':
      return [[...events, { type: 'change', change: 'DELETED', object: frame.object }], state];
    case 'BOOKMARK': {
      const version = frame.resourceVersion;
      if (!frame.initialEventsEnd) return [events, state];
      const stale = staleness(state, version, around);
      if (stale) {
        const [failureEvents, next] = failed<T>(state, stale, around);
        return [[...events, ...failureEvents], next];
      }
      const next = listed(state, version, around);
      return [
        [...events, { type: 'initDone', version }, phase('watching')],
        { ...next, at: 'resuming', from: version, watchingSince: state.watchingSince ?? around.now },
      ];
    }
    default:
      return [[...events, { type: 'object', object: frame.object }], state];
  }
}

// -------------------------------------------------------------- resuming

function whileResuming<T extends Obj>(state: Resuming, frame: LiveFrame<T>, around: Surroundings): Step<T> {
  switch (frame.type) {
    case 'OPEN':
      return [[phase('watching')], { ...state, watchingSince: state.watchingSince ?? around.now }];
    case 'BOOKMARK': {
      const version = frame.resourceVersion;
      // If the server has not reached the version to resume from, the watch would receive nothing.
      const stale = staleness(state, version, around);
      if (stale) return failed(state, stale, around);
      return [[{ type: 'bookmark', version }], advanced(state, version, around)];
    }
    default:
      return [
        [{ type: 'change', change: frame.type, object: frame.object }],
        advanced(state, frame.object.metadata.resourceVersion, around),
      ];
  }
}

function advanced(state: Resuming, version: string | undefined, { compare }: Surroundings): Resuming {
  if (version === undefined) return state;
  const order = compare(version, state.newest);
  return {
    ...state,
    from: version,
    newest: order === undefined || order > 0 ? version : state.newest,
    hasAdvanced: state.hasAdvanced || version !== state.from,
  };
}

// -------------------------------------------------------------- what follows

function failed<T>(state: Open, error: unknown, { now, rng }: Surroundings): Step<T> {
  const problem = messageOf(error);
  const reopenLater = (askedMs?: number): Reopening => afterFailure(state, state.failures, now, rng, askedMs);
  if (error instanceof Overdue) return closed(state);
  if (error instanceof NoStreaming || (error instanceof Invalid && isStreamedList(state)))
    return closed({ ...state, isStreaming: false });
  if (error instanceof StaleList || isVersionTooLarge(error)) {
    const next = { ...relisting(state, 'stale'), staleLists: state.staleLists + 1 };
    return closed(next, problem, reopenLater());
  }
  if (error instanceof Gone) {
    const next = relisting(state, 'expired');
    // An expired version is normal from time to time; if the lists of a server expire at once, pauses grow.
    return now - state.listedAt >= SHORTEST_WATCH_MS ? closed(next) : closed(next, problem, reopenLater());
  }
  if (error instanceof ResponseTooLarge) {
    // The watch and a streamed list would deliver the same event again; a paged list contains the object or exceeds
    // its limit.
    const isFinal = error.isFinal() && state.at === 'listing' && state.by === 'pages';
    const { failures, ms } = reopenLater();
    const next = { ...relisting(state, 'oversized'), isStreaming: false };
    return closed(next, problem, { failures, ms: Math.max(ms ?? 0, SHORTEST_WATCH_MS) }, isFinal);
  }
  // The kind itself is gone; when it is served again, it has no objects.
  const next = error instanceof NotFound ? relisting(state, 'missing') : state;
  return closed(next, problem, reopenLater(error instanceof ApiError ? error.retryAfterMs : undefined));
}

const isStreamedList = (state: Open): boolean => state.at === 'listing' && state.by === 'stream';

const relisting = (state: Knowledge, reason: RelistReason): Knowledge => ({
  ...knowledgeOf(state),
  from: undefined,
  reason,
});

/**
 * After a connection: a pause if one is due, otherwise the next connection. A server that ends a watch at its timeout
 * is healthy.
 */
function closed<T>(state: Knowledge, problem = '', reopening?: Reopening, isFinal?: boolean): Step<T> {
  const known = { ...knowledgeOf(state), failures: reopening?.failures ?? state.failures };
  if (reopening?.ms === undefined) return [[], { ...known, at: 'start' }];
  const pause: Pause = { problem, ms: reopening.ms, ...(isFinal !== undefined && { isFinal }) };
  return [[{ type: 'state', state: { phase: 'waiting', ...pause } }], { ...known, at: 'waiting', pause }];
}

function staleness(state: Knowledge, version: string, { compare }: Surroundings): StaleList | undefined {
  const order = compare(version, state.newest);
  if (order === undefined || order >= 0 || state.staleLists >= MAX_STALE_LISTS) return undefined;
  return new StaleList(
    `the server listed version ${version}, older than ${String(state.newest)} seen before`,
  );
}

const phase = (name: 'listing' | 'watching'): WatchEvent<never> => ({
  type: 'state',
  state: { phase: name },
});

function knowledgeOf(state: Knowledge): Knowledge {
  const { isStreaming, from, newest, reason, staleLists, listedAt, failures } = state;
  return { isStreaming, from, newest, reason, staleLists, listedAt, failures };
}
