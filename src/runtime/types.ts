/** Types that the whole runtime uses, in addition to those of requests. */
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../observability/log.ts';
import type { NamespaceScope } from './cache/namespace-scope.ts';
import type { Client, Key, Kind, Obj, View, Write } from './request-types.ts';

export type * from './request-types.ts';

// ---------------------------------------------------------------- caches

/**
 * A change of an object in a cache. `initial`: the object existed when the cache started; `relisted`: found by a
 * list, without an event; `finalStateUnknown`: the deletion was not seen, and `obj` is the last known state.
 */
export type Change<T> =
  | { readonly type: 'add'; readonly obj: View<T>; readonly initial: boolean }
  | { readonly type: 'update'; readonly old: View<T>; readonly obj: View<T>; readonly relisted: boolean }
  | { readonly type: 'delete'; readonly obj: View<T>; readonly finalStateUnknown: boolean };

/**
 * Objects that can be read without a request. They must not be changed; the cost of `byIndex` is proportional to its
 * result. `list` reads each object of a namespace, so no reconcile may call it where a tenant determines their number.
 */
export interface Store<T extends Obj> {
  get(key: Key): View<T> | undefined;
  list(namespace?: string): Iterable<View<T>>;
  byIndex(index: string, value: string): readonly View<T>[];
  /** The keys of the same objects, one after the other: nothing is read, and the caller can stop early. */
  keysByIndex(index: string, value: string): Iterable<Key>;
  readonly size: number;
}

/** Receives the changes of a cache. */
export interface Subscriber<T extends Obj> {
  /** Name of the subscriber; writes with the same name are its own. */
  readonly name: string;
  /** Whether echoes of own conditional writes are dropped. Writes of others in this process are always delivered. */
  readonly ownEvents: 'filter' | 'deliver';
  on(change: Change<T>): void;
  /** Called instead of `on` for a change that is dropped because it is the echo of an own write. */
  onEcho?(change: Change<T>): void;
  /** Called with an object that is not visible any more because its namespace was removed. It was not deleted. */
  onLeave?(obj: View<T>): void;
}

/** Accompanies one own write; exactly one of the two methods must be called. */
export interface WriteTicket<T extends Obj> {
  /** @param conditional the returned version is certainly ours (see Write.lock) */
  done(answer: T, conditional: boolean): void;
  /** The write failed, or its response contains no newer object (a delete): the watch delivers the current state. */
  failed(): void;
}

/**
 * One watched kind, shared by all controllers of a process: the state that the watch delivered (store) and newer
 * writes of this process (overlay). Reads return the newer one.
 */
export interface Cache<T extends Obj> extends Store<T> {
  readonly kind: Kind<T>;
  /** For logs, metrics and readiness: the plural, or the plural with its selector. */
  readonly name: string;
  /** Which objects it contains: those of these namespaces that the selectors match. */
  readonly options?: Pick<CacheOptions<T>, 'namespaces' | 'labels' | 'fields' | 'incomparableVersions'>;
  readonly isSynced: boolean;
  /** Why the watch is not healthy at the moment, for readiness; undefined if it is healthy. */
  readonly problem: string | undefined;
  /**
   * Undefined if the objects of a namespace have been listed, or the cache contains none of them. Otherwise it resolves when
   * they have been listed, or when the namespace leaves the cache.
   */
  whenRead(namespace: string): Promise<unknown> | undefined;
  /** Keys of all objects. */
  keys(): Iterable<Key>;
  /** As `get`, for callers that look at many objects: does not count as use, so idle objects stay compressed. */
  peek(key: Key): View<T> | undefined;
  /** The resource version of an object. */
  versionOf(key: Key): string | undefined;
  /** Whether its objects contain the managed fields of `manager`. */
  showsFieldsOf(manager: string): boolean;
  /** Adds a named index. Must be called before `start`; calling it again with the same name has no effect. */
  index(name: string, keysOf: (obj: View<T>) => readonly string[]): void;
  /** If the cache is synced, existing objects are delivered first, as initial adds. */
  subscribe(subscriber: Subscriber<T>): () => void;
  /** @param echo what the writer said about the event of the write */
  begin(key: Key, writer: string, echo?: Write['echo']): WriteTicket<T>;
  /**
   * Starts the watch, until the signal aborts; resolves when the first list is stored. Calling it again while it runs
   * waits for the same first list.
   */
  start(signal: AbortSignal): Promise<void>;
}

/** Which objects of a kind a cache contains, and which of their fields. */
export interface CacheOptions<T extends Obj> {
  /** Absent or an empty list: all. A scope can be changed while the cache runs. */
  readonly namespaces?: readonly string[] | NamespaceScope;
  readonly labels?: string;
  readonly fields?: string;
  /** Keeps only the metadata: spec and status are undefined. */
  readonly metadataOnly?: boolean;
  /** Versions of this source can be compared for equality only: an aggregated API with its own storage. */
  readonly incomparableVersions?: boolean;
  /** Called once for every object before it is stored; must return plain JSON. Default: removes managedFields. */
  readonly transform?: (obj: T) => T;
}

/** Which objects a bounded cache reads, and how many complete ones it keeps. */
export interface BoundedCacheOptions<T extends Obj> extends Pick<
  CacheOptions<T>,
  'namespaces' | 'labels' | 'fields' | 'transform'
> {
  /** Maximum number of complete objects; those not used for the longest time are dropped first. Default 1000. */
  readonly maxObjects?: number;
  /** Complete objects that were not used for so long are dropped at the next read or event. Default: no limit. */
  readonly maxIdleMs?: number;
}

/**
 * The metadata of all objects, and some complete objects. It has no list and no index of complete objects.
 *
 * *Guarantees*: `read` returns a state at least as new as `metadata` had when it was called; readers of one object share a
 * request; an object that `metadata` does not contain costs no request.
 */
export interface BoundedCache<T extends Obj> {
  readonly kind: Kind<T>;
  /** Of all objects, from a watch: for sources, indices and lists. */
  readonly metadata: Cache<Obj>;
  /** Number of complete objects in memory. */
  readonly size: number;
  /** Whether its complete objects contain the managed fields of `manager`. */
  showsFieldsOf(manager: string): boolean;
  /** From memory if it is up to date, otherwise from the server. @throws errors of the request */
  read(key: Key, signal?: AbortSignal): Promise<View<T> | undefined>;
}

/** The caches of a process: one per kind and selector, started with the manager. */
export interface Caches {
  /** With `metadataOnly`, objects have no spec and no status, also for the compiler. */
  of(kind: Kind, options: CacheOptions<Obj> & { readonly metadataOnly: true }): Cache<Obj>;
  of<T extends Obj>(kind: Kind<T>, options?: CacheOptions<T>): Cache<T>;
  /** For kinds with very many or large objects, of which few are needed at a time. @throws DefinitionError */
  bounded<T extends Obj>(kind: Kind<T>, options?: BoundedCacheOptions<T>): BoundedCache<T>;
  /** All caches, which the manager starts and own writes are reported to. */
  all(): Iterable<Cache<Obj>>;
  /**
   * A cache that is not shared, for a source that is added and removed: its watch ends with the signal given to
   * `start`. Own writes are reported to it until `release`.
   */
  separate<T extends Obj>(
    kind: Kind<T>,
    options?: CacheOptions<T>,
  ): { readonly cache: Cache<T>; readonly release: () => void };
}

// ---------------------------------------------------------------- controllers

/** Sends a write in the controller's name; checks the fence and updates the overlay. */
export type Writer = <T extends Obj>(write: Write<T>, signal?: AbortSignal) => Promise<T>;

/**
 * The result of `reconcile`: what to write, computed from `object`, and the maximum time until the next reconcile
 * (`requeueAfterMs`). `both` writes the resource first, then the status. Nothing is sent if nothing differs.
 */
export type UpdateControl<P> =
  | { readonly write: 'none'; readonly requeueAfterMs?: number }
  | {
      readonly write: 'status' | 'resource' | 'both';
      readonly object: P | View<P>;
      /** Whether a status write contains the version on which it is based; default true. Other writes always do. */
      readonly lock?: boolean;
      /** How the difference is sent; default `merge`. */
      readonly strategy?: WriteStrategy;
      /** What the events of these writes do; see `Write.echo`. */
      readonly echo?: Write['echo'];
      readonly requeueAfterMs?: number;
    };
/** `merge` and `json` send the difference, `replace` the whole object, `apply` the object as our intent. */
export type WriteStrategy = 'merge' | 'json' | 'replace' | 'apply';
/**
 * The result of `cleanup`: the finalizer is removed or kept. If it is kept, `cleanup` is called again after
 * `requeueAfterMs` milliseconds or at the next event.
 */
export type DeleteControl =
  { readonly finalizer: 'remove' } | { readonly finalizer: 'keep'; readonly requeueAfterMs?: number };
/**
 * What happens after a failed reconcile: the default, or whether it is retried, a status to write, and, without a
 * retry, milliseconds until the next reconcile.
 */
export type ErrorControl<P> =
  'default' | { readonly retry: boolean; readonly status?: P | View<P>; readonly requeueAfterMs?: number };

/** Name, kind and field manager of a controller. */
export interface ControllerFacts<P extends Obj> {
  readonly name: string;
  /** Kind of the primary. */
  readonly kind: Kind<P>;
  /** The field manager of server-side apply. */
  readonly fieldManager: string;
}

/** What can be read about a primary without a request. */
export interface CacheReads {
  /**
   * The objects of this kind that belong to the primary, from all sources, without a request.
   * @param source restricts the result to one of several sources
   */
  secondaries<R extends Obj>(this: void, kind: Kind<R>, source?: string): readonly View<R>[];
  /** The only one of `secondaries`; undefined if there is none. */
  secondary<R extends Obj>(this: void, kind: Kind<R>, source?: string): View<R> | undefined;
  /** The values that the source of that name has for the primary. */
  valuesOf(this: void, source: string): readonly unknown[];
}

/** A condition that a reconciler waits for. */
export interface Expectation<P extends Obj> {
  /**
   * Whether the condition holds. Called in reconciles that ask for the result, and with each event of the primary and of
   * its sources, also with those that a filter drops; so it only reads, and must be fast.
   */
  until(primary: View<P>, reads: CacheReads): boolean;
  /** After this time the expectation has timed out. */
  readonly timeoutMs: number;
}

/**
 * `pending`: the condition was not true yet, and there is time left. `fulfilled`: it was true at least once. `none`: there
 * is no expectation of that name.
 */
export type ExpectationResult = 'none' | 'pending' | 'fulfilled' | 'timed out';

/**
 * The expectations of one primary, in memory: they end with the process, and with the primary.
 *
 * *Guarantees*: a primary is reconciled when one of its expectations is fulfilled or times out. A result is kept until a
 * reconcile that read it succeeds.
 */
export interface ExpectationManager<P extends Obj> {
  /**
   * Expects something from now on. A pending expectation of the same name keeps its time limit, so that every reconcile
   * can call this.
   * @throws DefinitionError if the timeout is not a positive number
   */
  expect(name: string, expectation: Expectation<P>): void;
  /** The condition is evaluated now if it is pending. @throws errors of `until` */
  resultOf(name: string): ExpectationResult;
  /** Ends an expectation without a result. */
  drop(name: string): void;
}

/** How an Event is stored. */
export interface EventOptions {
  /** One Event for all notes of the reason, which has the last note. Default `false`: one for each note. */
  readonly keepsLast?: boolean;
  /** Name of the Event, which has the last note recorded under this name. Default: generated. */
  readonly name?: string;
  /** The primary owns the Event, which is then deleted with it. Default `false`. */
  readonly isOwned?: boolean;
}

/**
 * What a reconcile can use besides its primary. `signal` aborts when the reconcile takes too long or the process
 * ends, `interrupt` when an event makes the rest of the reconcile pointless.
 */
export interface Context<P extends Obj> extends CacheReads {
  readonly key: Key;
  /** The controller of this reconcile. */
  readonly controller: ControllerFacts<P>;
  /** `wall()` is the time of day, and `timestamp(clock)` writes it; `now()` is for durations only. */
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly interrupt: AbortSignal;
  /** Whether an event has arrived since the reconcile started, so that another reconcile follows at once. */
  readonly hasNewEvents: boolean;
  /** Number of retries since the last success, including this reconcile if it is one. */
  readonly attempt: number;
  readonly lastAttempt: boolean;
  readonly log: Logger;
  readonly write: Writer;
  /** Reads from the server, not from caches; one request for each call. */
  readonly live: Pick<Client, 'get' | 'list'>;
  /** A private deep copy of the primary. */
  draft(): P;
  /** Conditions that the reconciler waits for, over several reconciles. */
  readonly expectations: ExpectationManager<P>;
  event(type: 'Normal' | 'Warning', reason: string, note: string, options?: EventOptions): void;
}
