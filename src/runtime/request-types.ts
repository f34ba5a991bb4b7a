/** Objects as plain JSON, and requests on one cluster. `View` is read-only. */
import type { ObjectMeta } from '../lib/objects.ts';

export type { ObjectMeta as Meta, OwnerReference, View } from '../lib/objects.ts';

/** `namespace/name`, or `name` for a cluster-scoped object. */
export type Key = string;

/** Group, version and kind; the group is empty for the core group. */
export interface Gvk {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/**
 * A kind with its URL path; `T`, the type of its objects, exists only for the compiler. Requests take the type from the
 * kind. If `kind` of `T` is the name of the kind instead of `string`, the compiler accepts no kind and no object of
 * another name.
 */
export interface Kind<T = Obj> extends Gvk {
  readonly plural: string;
  readonly namespaced: boolean;
  readonly type?: T;
}

/** Any Kubernetes object. */
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
  /** The list must be at least as new as this resource version; absent requests the most recent one. */
  readonly resourceVersion?: string;
  /** Requests only the metadata (PartialObjectMetadata), without spec and status. */
  readonly metadataOnly?: boolean;
}

/** One page of a list. `resourceVersion` is that of the whole list. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly resourceVersion: string;
}

/** What to watch, and from which version. */
export interface WatchQuery extends Omit<Query, 'limit'> {
  readonly timeoutSeconds?: number;
  readonly sendInitialEvents?: boolean;
}

/** One event of a watch as the server sent it; `OPEN` means that the server has accepted the watch. */
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
 * One write. `lock: true` guarantees that the body contains `metadata.resourceVersion` (or that the operation
 * certainly changes the object), so the returned version is ours; see overlay.ts.
 */
export type Write<T extends Obj = Obj> = {
  readonly sub?: 'status';
  readonly lock?: boolean;
  /** Dry run: the server validates the request and stores nothing. */
  readonly isDryRun?: boolean;
  /**
   * What the event of this write does for the controller that sends it: `ignore` nothing, `reconcile` the same as an event
   * of another client. Default: as its `ownEvents` says. A deletion is never ignored.
   */
  readonly echo?: 'ignore' | 'reconcile';
} & (
  | { readonly verb: 'create' | 'replace'; readonly kind: Kind<T>; readonly object: NoInfer<T> }
  | { readonly verb: 'merge'; readonly kind: Kind<T>; readonly key: Key; readonly body: object }
  /** A strategic merge patch; servers support it for built-in kinds only. */
  | { readonly verb: 'strategic'; readonly kind: Kind<T>; readonly key: Key; readonly body: object }
  | { readonly verb: 'json'; readonly kind: Kind<T>; readonly key: Key; readonly ops: readonly JsonOp[] }
  | {
      readonly verb: 'apply';
      readonly kind: Kind<T>;
      readonly object: NoInfer<T>;
      readonly manager: string;
      readonly force: boolean;
    }
  | {
      readonly verb: 'delete';
      readonly kind: Kind<T>;
      readonly key: Key;
      readonly uid?: string;
      /** The delete is refused with a conflict if the object has another version. */
      readonly resourceVersion?: string;
      readonly propagation?: 'Background' | 'Foreground' | 'Orphan';
      /** Time for a pod to terminate; default: that of the pod. */
      readonly gracePeriodSeconds?: number;
    }
);

/** Raw JSON verbs on one cluster. Every method rejects with the errors of errors.ts. */
export interface Client {
  get<T extends Obj>(kind: Kind<T>, key: Key, signal?: AbortSignal): Promise<T>;
  list<T extends Obj>(kind: Kind<T>, query: Query, signal?: AbortSignal): AsyncIterable<Page<T>>;
  watch<T extends Obj>(kind: Kind<T>, query: WatchQuery, signal: AbortSignal): AsyncIterable<Frame<T>>;
  /** Returns the server's response: the object; for a delete, a Status or the object. */
  send<T extends Obj>(write: Write<T>, signal?: AbortSignal): Promise<T>;
  /** A request other than the verbs above (discovery, token subresource, health). Returns parsed JSON, or text. */
  raw(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<unknown>;
  close(): Promise<void>;
}
