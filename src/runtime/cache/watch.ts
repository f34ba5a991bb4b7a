/**
 * List and watch as one endless generator. Errors are states, not exceptions: it ends only when its signal aborts,
 * and after every wait it looks at the signal first, so nothing is opened after the stop.
 *
 *     start → streaming list | paged list → watching → resume (from the last version) | relist (after 410) → …
 */
import { setImmediate as turn } from 'node:timers/promises';
import { sleep, type Clock } from '../../lib/clock.ts';
import type { Rng } from '../../lib/rng.ts';
import { errorInFrame } from '../transport/client.ts';
import { ApiError, Gone, Invalid, NotFound, ResponseTooLarge } from '../errors.ts';
import { isVersionTooLarge } from '../transport/failure.ts';
import { Pace } from '../queue/pace.ts';
import { Reopening, SHORTEST_WATCH_MS } from './reopening.ts';
import type { Client, Frame, Kind, Obj, Query, WatchQuery } from '../types.ts';
import type { CompareVersions } from './versions.ts';
import { framesOf, NoStreaming, Overdue } from './watch-connection.ts';

/** Why everything is listed again. */
export type RelistReason = 'start' | 'expired' | 'missing' | 'stale' | 'oversized';

export type WatchEvent<T> =
  /** A full picture begins. `isAnew`: older versions are to be believed, the server's history went back. */
  | { readonly type: 'init'; readonly reason: RelistReason; readonly isAnew: boolean }
  | { readonly type: 'object'; readonly object: T }
  /** The picture is complete as of `version`; what it did not show is gone. */
  | { readonly type: 'initDone'; readonly version: string }
  | { readonly type: 'change'; readonly change: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T }
  | { readonly type: 'bookmark'; readonly version: string }
  | { readonly type: 'state'; readonly state: WatchState };

export type WatchState = { readonly phase: 'listing' | 'watching' } | ({ readonly phase: 'waiting' } & Pause);

/** What is watched. */
interface Scope {
  readonly namespace?: string | undefined;
  readonly labels?: string | undefined;
  readonly fields?: string | undefined;
  readonly metadataOnly?: boolean | undefined;
}

export interface WatchOptions extends Scope {
  readonly clock: Clock;
  readonly rng: Rng;
  readonly compare: CompareVersions;
  /** Whether to ask for the list as a stream first; default true. */
  readonly streaming?: boolean;
}

/** Consistent lists in a row that are older than what was seen, before we believe that history went back. */
const MAX_STALE_LISTS = 3;

/** Why nothing is open, and for how long. */
interface Pause {
  readonly trouble: string;
  readonly ms: number;
  /** Whether the next attempt will come to the same end. */
  readonly isFinal?: boolean;
}

/** A list was older than something already seen. */
class StaleList extends Error {}

export async function* watchKind<T extends Obj>(
  client: Client,
  kind: Kind<T>,
  options: WatchOptions,
  signal: AbortSignal,
): AsyncGenerator<WatchEvent<T>, void, void> {
  const machine = new Machine(client, kind, options, signal);
  try {
    while (!signal.aborted) yield* machine.step();
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

class Machine<T extends Obj> {
  readonly #client: Client;
  readonly #kind: Kind<T>;
  readonly #options: WatchOptions;
  readonly #signal: AbortSignal;
  readonly #reopening: Reopening;
  #isStreaming: boolean;
  /** Where to resume; undefined: a list is due. */
  #from: string | undefined;
  /** The newest version ever seen; no list may be older. */
  #newest: string | undefined;
  #reason: RelistReason = 'start';
  #staleLists = 0;
  #listedAt = -Infinity;

  constructor(client: Client, kind: Kind<T>, options: WatchOptions, signal: AbortSignal) {
    this.#client = client;
    this.#kind = kind;
    this.#options = options;
    this.#signal = signal;
    this.#reopening = new Reopening(options.clock, options.rng);
    this.#isStreaming = options.streaming ?? true;
  }

  /** One list, or one watch, or one list that goes on as a watch; then perhaps a pause. */
  async *step(): AsyncGenerator<WatchEvent<T>, void, void> {
    let pause: Pause | undefined;
    this.#reopening.opens();
    try {
      if (this.#from === undefined && !this.#isStreaming) {
        yield* this.#pageList();
        return;
      }
      if (this.#from === undefined) yield* this.#streamList();
      else yield* this.#watch(this.#from);
      pause = this.#afterOrderlyEnd();
    } catch (error) {
      if (this.#signal.aborted) return;
      pause = this.#afterError(error);
    }
    if (this.#signal.aborted || !pause) return;
    yield { type: 'state', state: { phase: 'waiting', ...pause } };
    await sleep(this.#options.clock, pause.ms, this.#signal);
  }

  // -------------------------------------------------------------- what a step does

  async *#pageList(): AsyncGenerator<WatchEvent<T>, void, void> {
    yield { type: 'state', state: { phase: 'listing' } };
    let version: string | undefined;
    const query: Query = {
      ...scopeOf(this.#options),
      ...(this.#floor() !== undefined && { resourceVersion: this.#floor() as string }),
    };
    for await (const page of this.#client.list(this.#kind, query, this.#signal)) {
      if (version === undefined) {
        this.#refuseStale(page.resourceVersion);
        yield this.#init();
      }
      version = page.resourceVersion;
      // The page has been parsed in one piece; what follows begins in a turn of its own, and takes no more than its share.
      await turn();
      const pace = new Pace(this.#options.clock);
      for (const object of page.items) {
        const rest = pace.rest();
        if (rest) await rest;
        yield { type: 'object', object };
      }
    }
    if (this.#signal.aborted) return;
    yield* this.#initDone(version ?? '');
  }

  async *#streamList(): AsyncGenerator<WatchEvent<T>, void, void> {
    yield { type: 'state', state: { phase: 'listing' } };
    const floor = this.#floor();
    const query: WatchQuery = {
      sendInitialEvents: true,
      ...(floor !== undefined && { resourceVersion: floor }),
    };
    let hasBegun = false;
    let isComplete = false;
    for await (const frame of this.#open(query, () => !isComplete)) {
      if (isComplete) {
        yield* this.#live(frame);
        continue;
      }
      if (!hasBegun && frame.type !== 'OPEN' && frame.type !== 'ERROR') {
        hasBegun = true;
        yield this.#init();
      }
      switch (frame.type) {
        case 'OPEN':
          break;
        case 'ERROR':
          throw this.#errorIn(frame.status);
        case 'ADDED':
        case 'MODIFIED':
          yield { type: 'object', object: frame.object };
          break;
        case 'DELETED':
          yield { type: 'change', change: 'DELETED', object: frame.object };
          break;
        case 'BOOKMARK':
          if (!frame.initialEventsEnd) break;
          this.#refuseStale(frame.resourceVersion);
          isComplete = true;
          yield* this.#initDone(frame.resourceVersion);
          this.#reopening.watches();
          yield { type: 'state', state: { phase: 'watching' } };
      }
    }
  }

  async *#watch(from: string): AsyncGenerator<WatchEvent<T>, void, void> {
    for await (const frame of this.#open({ resourceVersion: from }, () => false)) yield* this.#live(frame);
  }

  #open(query: WatchQuery, isListing: () => boolean): AsyncGenerator<Frame<T>, void, void> {
    const { clock, rng } = this.#options;
    const open = (timeoutSeconds: number, signal: AbortSignal): AsyncIterable<Frame<T>> =>
      this.#client.watch(this.#kind, { ...query, ...scopeOf(this.#options), timeoutSeconds }, signal);
    return framesOf({ open, clock, rng, isListing, signal: this.#signal });
  }

  *#live(frame: Frame<T>): Generator<WatchEvent<T>, void, void> {
    switch (frame.type) {
      case 'OPEN':
        this.#reopening.watches();
        yield { type: 'state', state: { phase: 'watching' } };
        return;
      case 'ERROR':
        throw this.#errorIn(frame.status);
      case 'BOOKMARK':
        // Resuming from a version that the server has not reached yet, it would just keep silent.
        this.#refuseStale(frame.resourceVersion);
        this.#advance(frame.resourceVersion);
        yield { type: 'bookmark', version: frame.resourceVersion };
        return;
      default:
        // First hand on, then advance: whoever stops in between gets it again.
        yield { type: 'change', change: frame.type, object: frame.object };
        this.#advance(frame.object.metadata.resourceVersion);
    }
  }

  // -------------------------------------------------------------- versions

  #init(): WatchEvent<T> {
    const isAnew = this.#staleLists >= MAX_STALE_LISTS;
    if (isAnew) this.#newest = undefined;
    return { type: 'init', reason: this.#reason, isAnew };
  }

  *#initDone(version: string): Generator<WatchEvent<T>, void, void> {
    yield { type: 'initDone', version };
    this.#staleLists = 0;
    this.#listedAt = this.#options.clock.now();
    this.#from = version;
    this.#newest = version;
  }

  #advance(version: string | undefined): void {
    if (version === undefined) return;
    if (version !== this.#from) this.#reopening.advances();
    this.#from = version;
    const order = this.#options.compare(version, this.#newest);
    if (order === undefined || order > 0) this.#newest = version;
  }

  /** What a list has to be at least as new as, once a list turned out to be older. */
  #floor(): string | undefined {
    return this.#staleLists > 0 && this.#staleLists < MAX_STALE_LISTS ? this.#newest : undefined;
  }

  #refuseStale(version: string): void {
    const order = this.#options.compare(version, this.#newest);
    if (order === undefined || order >= 0 || this.#staleLists >= MAX_STALE_LISTS) return;
    throw new StaleList(
      `the server listed version ${version}, older than ${String(this.#newest)} seen before`,
    );
  }

  // -------------------------------------------------------------- what follows

  #errorIn(status: unknown): Error {
    return errorInFrame(status, {
      verb: 'watch',
      kind: this.#kind.kind,
      namespace: this.#options.namespace,
    });
  }

  #relist(reason: RelistReason): void {
    this.#from = undefined;
    this.#reason = reason;
  }

  /** A server that ends a watch in time is healthy: go on at once. */
  #afterOrderlyEnd(): Pause | undefined {
    return pauseOf('the server ends every watch at once', this.#reopening.afterEnd());
  }

  #afterError(error: unknown): Pause | undefined {
    if (error instanceof Overdue) return undefined;
    if (
      error instanceof NoStreaming ||
      (error instanceof Invalid && this.#from === undefined && this.#isStreaming)
    ) {
      this.#isStreaming = false;
      return undefined;
    }
    if (error instanceof StaleList || isVersionTooLarge(error)) {
      this.#staleLists++;
      this.#relist('stale');
      return pauseOf(messageOf(error), this.#reopening.afterFailure());
    }
    if (error instanceof Gone) {
      this.#relist('expired');
      // Now and then it is quite normal; a server whose lists expire at once is asked more and more slowly.
      const isNormal = this.#options.clock.now() - this.#listedAt >= SHORTEST_WATCH_MS;
      if (isNormal) return undefined;
    }
    if (error instanceof ResponseTooLarge) {
      // The same event would come again from here, and again in a streamed list; pages show the object or its limit.
      const isFinal = error.isFinal() && !this.#isStreaming && this.#from === undefined;
      this.#isStreaming = false;
      this.#relist('oversized');
      const ms = Math.max(this.#reopening.afterFailure() ?? 0, SHORTEST_WATCH_MS);
      return { trouble: messageOf(error), ms, isFinal };
    }
    // The kind itself is gone; when it comes back, it comes back empty.
    if (error instanceof NotFound) this.#relist('missing');
    const askedMs = error instanceof ApiError ? error.retryAfterMs : undefined;
    return pauseOf(messageOf(error), this.#reopening.afterFailure(askedMs));
  }
}

const pauseOf = (trouble: string, ms: number | undefined): Pause | undefined =>
  ms === undefined ? undefined : { trouble, ms };

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

function scopeOf(scope: Scope): Pick<Query, keyof Scope> {
  return {
    ...(scope.namespace !== undefined && { namespace: scope.namespace }),
    ...(scope.labels !== undefined && { labels: scope.labels }),
    ...(scope.fields !== undefined && { fields: scope.fields }),
    ...(scope.metadataOnly !== undefined && { metadataOnly: scope.metadataOnly }),
  };
}
