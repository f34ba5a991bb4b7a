/** Shapes shared by the whole runtime. Objects are plain JSON; `View` is the promise not to change them. */
import type { Clock } from '../lib/clock.ts';
import type { ObjectMeta, View } from '../lib/objects.ts';
import type { Logger } from '../observability/log.ts';

export type { ObjectMeta as Meta, OwnerReference, View } from '../lib/objects.ts';

/** `namespace/name`, or `name` for a cluster-scoped object. */
export type Key = string;

/** Group, version and kind; the group is empty for the core group. */
export interface Gvk {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** A kind together with its place in the API; `T` exists only for the compiler. */
export interface Kind<T = Obj> extends Gvk {
  readonly plural: string;
  readonly namespaced: boolean;
  readonly type?: T;
}

/** Any object, of which no more is known than that it is one. */
export interface Obj {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
}

// ---------------------------------------------------------------- requests

/** What to list, or a part of it; selectors are written as for `kubectl`. */
export interface Query {
  readonly namespace?: string;
  readonly labels?: string;
  readonly fields?: string;
  readonly limit?: number;
  /** Resource version the list must be at least as new as; absent asks for the most recent. */
  readonly resourceVersion?: string;
  /** Ask for the metadata alone (PartialObjectMetadata); spec and status do not travel. */
  readonly metadataOnly?: boolean;
}

/** One page of a list. `resourceVersion` is that of the whole list. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly resourceVersion: string;
}

/** What to watch, and from where on. */
export interface WatchQuery extends Omit<Query, 'limit'> {
  readonly timeoutSeconds?: number;
  readonly sendInitialEvents?: boolean;
}

/** One line of a watch as the server sent it; `OPEN` says that the server has agreed to the watch. */
export type Frame<T> =
  | { readonly type: 'OPEN' }
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T }
  | { readonly type: 'BOOKMARK'; readonly resourceVersion: string; readonly initialEventsEnd: boolean }
  | { readonly type: 'ERROR'; readonly status: unknown };

/** One operation of a JSON patch (RFC 6902); paths are JSON pointers. */
export interface JsonOp {
  op: 'add' | 'remove' | 'replace' | 'test';
  path: string;
  value?: unknown;
}

/**
 * One write. `lock: true` promises that the body carries `metadata.resourceVersion` (or that the operation is
 * certain to change the object), so that the answer's version is ours alone; see overlay.ts.
 */
export type Write<T extends Obj = Obj> = {
  readonly sub?: 'status';
  readonly lock?: boolean;
  /** The server answers as if, and stores nothing. */
  readonly isDryRun?: boolean;
} & (
  | { readonly verb: 'create' | 'replace'; readonly kind: Kind<T>; readonly object: T }
  | { readonly verb: 'merge'; readonly kind: Kind<T>; readonly key: Key; readonly body: object }
  | { readonly verb: 'json'; readonly kind: Kind<T>; readonly key: Key; readonly ops: readonly JsonOp[] }
  | {
      readonly verb: 'apply';
      readonly kind: Kind<T>;
      readonly object: T;
      readonly manager: string;
      readonly force: boolean;
    }
  | {
      readonly verb: 'delete';
      readonly kind: Kind<T>;
      readonly key: Key;
      readonly uid?: string;
      readonly propagation?: 'Background' | 'Foreground' | 'Orphan';
      /** How long a pod gets to end; default: as the pod says. */
      readonly gracePeriodSeconds?: number;
    }
);

/** Raw JSON verbs on one cluster. Every method rejects with the errors of errors.ts. */
export interface Client {
  get<T extends Obj>(kind: Kind<T>, key: Key, signal?: AbortSignal): Promise<T>;
  list<T extends Obj>(kind: Kind<T>, query: Query, signal?: AbortSignal): AsyncIterable<Page<T>>;
  watch<T extends Obj>(kind: Kind<T>, query: WatchQuery, signal: AbortSignal): AsyncIterable<Frame<T>>;
  /** The object the server answered with; for a delete whatever it answered, a Status or the object. */
  send<T extends Obj>(write: Write<T>, signal?: AbortSignal): Promise<T>;
  /** A request outside the verbs above (discovery, token subresource, health): parsed JSON, or text. */
  raw(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<unknown>;
  close(): Promise<void>;
}

// ---------------------------------------------------------------- caches

/**
 * What has become of an object in a cache. `initial`: it was there before the cache looked; `relisted`: a list
 * found it out, no event; `finalStateUnknown`: its end was missed, and `obj` is what was seen last.
 */
export type Change<T> =
  | { readonly type: 'add'; readonly obj: View<T>; readonly initial: boolean }
  | { readonly type: 'update'; readonly old: View<T>; readonly obj: View<T>; readonly relisted: boolean }
  | { readonly type: 'delete'; readonly obj: View<T>; readonly finalStateUnknown: boolean };

/**
 * Objects that can be read without a request. What is read must not be changed; `byIndex` costs as much as it
 * answers.
 */
export interface Store<T extends Obj> {
  get(key: Key): View<T> | undefined;
  list(namespace?: string): Iterable<View<T>>;
  byIndex(index: string, value: string): readonly View<T>[];
  readonly size: number;
}

/** Who hears of the changes in a cache. */
export interface Subscriber<T extends Obj> {
  /** Who listens; a write made under this name is its own. */
  readonly name: string;
  /** Whether echoes of own conditional writes are dropped. Writes of others in this process always arrive. */
  readonly ownEvents: 'filter' | 'deliver';
  on(change: Change<T>): void;
  /** Told instead of `on` of a change that is kept away, for it is the echo of an own write. */
  onEcho?(change: Change<T>): void;
}

/** Brackets one own write; exactly one of the two must be called. */
export interface WriteTicket<T extends Obj> {
  /** @param conditional the answer's version is certain to be ours (see Write.lock) */
  done(answer: T, conditional: boolean): void;
  /** The write failed, or its answer holds no newer object (a delete): only the watch can tell what is there. */
  failed(): void;
}

/**
 * One watched kind, shared by all controllers of a process: what the server said (store) and what this
 * process wrote since (overlay). Reads return whichever is newer.
 */
export interface Cache<T extends Obj> extends Store<T> {
  readonly kind: Kind<T>;
  /** For logs, metrics and readiness: the plural, or the plural with its selector. */
  readonly name: string;
  readonly isSynced: boolean;
  /** Why the watch is not healthy at the moment, for readiness; undefined when it is. */
  readonly problem: string | undefined;
  /** Whether what is read tells which fields `manager` has applied, next to the fields themselves. */
  showsFieldsOf(manager: string): boolean;
  /** Adds a named index; must be called before start, calling again with the same name changes nothing. */
  index(name: string, keysOf: (obj: View<T>) => readonly string[]): void;
  /** Existing objects arrive first, as initial adds, when the cache is filled already. */
  subscribe(subscriber: Subscriber<T>): () => void;
  begin(key: Key, writer: string): WriteTicket<T>;
  /**
   * Starts the watch; resolves when the first list is stored. Ends when the signal aborts. Calling it again
   * while it runs starts nothing and waits for the same first list.
   */
  start(signal: AbortSignal): Promise<void>;
}

/**
 * Which objects of a kind a cache holds, and how much of each.
 */
export interface CacheOptions<T extends Obj> {
  readonly namespaces?: readonly string[];
  readonly labels?: string;
  readonly fields?: string;
  /** Keep the metadata alone: spec and status of what is read are undefined. */
  readonly metadataOnly?: boolean;
  /** Versions of this source cannot be ordered, only told apart: an aggregated API with its own storage. */
  readonly incomparableVersions?: boolean;
  /** Applied once to every object before it is stored. Default: drop managedFields. */
  readonly transform?: (obj: T) => T;
}

/** Hands out caches: one per kind and selector, started when the manager starts. */
export interface Caches {
  /** With `metadataOnly` what is read has no spec and no status, and the compiler knows. */
  of(kind: Kind, options: CacheOptions<Obj> & { readonly metadataOnly: true }): Cache<Obj>;
  of<T extends Obj>(kind: Kind<T>, options?: CacheOptions<T>): Cache<T>;
  /** Every cache handed out so far: what the manager starts, and what own writes have to be told to. */
  all(): Iterable<Cache<Obj>>;
  /**
   * A cache that nobody else gets, for a source that comes and goes: its watch ends with the signal given to `start`.
   * Own writes are told to it until `release`.
   */
  separate<T extends Obj>(
    kind: Kind<T>,
    options?: CacheOptions<T>,
  ): { readonly cache: Cache<T>; readonly release: () => void };
}

// ---------------------------------------------------------------- controllers

/** Sends a write under the controller's name, with the fence in front and the overlay around it. */
export type Writer = <T extends Obj>(write: Write<T>, signal?: AbortSignal) => Promise<T>;

/**
 * How a run of `reconcile` ends: what is written, computed from `object`, and after how many milliseconds
 * (`requeueAfterMs`) the next run follows at the latest. `both` writes the resource first, then the status; nothing is sent
 * when nothing differs.
 */
export type UpdateControl<P> =
  | { readonly write: 'none'; readonly requeueAfterMs?: number }
  | {
      readonly write: 'status' | 'resource' | 'both';
      readonly object: P;
      /** Whether a status write carries the version it was computed from; default true. Others always do. */
      readonly lock?: boolean;
      /** How the difference travels; default `merge`. */
      readonly strategy?: WriteStrategy;
      readonly requeueAfterMs?: number;
    };
/** `merge` and `json` send the difference, `replace` the whole object, `apply` the object as our intent. */
export type WriteStrategy = 'merge' | 'json' | 'replace' | 'apply';
/**
 * How a run of `cleanup` ends: the finalizer goes, or stays, to be asked again after `requeueAfterMs` milliseconds or at
 * the next event.
 */
export type DeleteControl =
  { readonly finalizer: 'remove' } | { readonly finalizer: 'keep'; readonly requeueAfterMs?: number };
/**
 * What is to follow a failed run: the default, or whether it is retried, a status to be written, and, without a
 * retry, milliseconds to the next run.
 */
export type ErrorControl<P> =
  'default' | { readonly retry: boolean; readonly status?: P; readonly requeueAfterMs?: number };

/** What a controller is called, on which primaries it works, and under which name it applies. */
export interface ControllerFacts<P extends Obj> {
  readonly name: string;
  /** Kind of the primary. */
  readonly kind: Kind<P>;
  /** Who server-side apply notes as the owner of fields. */
  readonly fieldManager: string;
}

/**
 * What a run has to work with besides its primary. `signal` aborts when the run takes too long or the process
 * ends, `interrupt` when an event makes the rest of the run pointless.
 */
export interface Context<P extends Obj> {
  readonly key: Key;
  /** Whose run this is. */
  readonly controller: ControllerFacts<P>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly interrupt: AbortSignal;
  /** Retries made since the last success, this run included if it is one. */
  readonly attempt: number;
  readonly lastAttempt: boolean;
  readonly log: Logger;
  readonly write: Writer;
  /** Reads past all caches, a request each. */
  readonly live: Pick<Client, 'get' | 'list'>;
  /** A private deep copy of the primary. */
  draft(): P;
  /**
   * What the sources of this kind hold for the primary, without a request.
   * @param source narrows to one source when several deliver the kind
   */
  secondaries<R extends Obj>(kind: Kind<R>, source?: string): readonly View<R>[];
  /** The only one of `secondaries`; undefined when there is none. */
  secondary<R extends Obj>(kind: Kind<R>, source?: string): View<R> | undefined;
  /** What the source of that name holds for the primary, whatever it is. */
  valuesOf(source: string): readonly unknown[];
  event(type: 'Normal' | 'Warning', reason: string, note: string): void;
}
