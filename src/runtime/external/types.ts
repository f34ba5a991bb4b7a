/**
 * What you implement for an external resource: how to connect to the service, and how to observe and change the
 * resource.
 *
 * A handler executes one step and returns; it does not wait for the service to finish. Every step may be repeated:
 * after a crash, after a lost response, or after a change of the object.
 */
import type { Obj, View } from '../types.ts';
import type { StatusCondition } from '../controller/status-condition.ts';

/** The status that the runtime manages. The handler sets additional fields itself. */
export interface ExternalStatus {
  /** The name of the resource in the service. */
  id?: string;
  /** The state as the service names it, or ours if the handler returns none. */
  state?: string;
  /** Properties of the resource, for users and other controllers. */
  attributes?: Record<string, unknown>;
  conditions?: StatusCondition[];
  /** The generation of the spec that was compared with the last observation. */
  observedGeneration?: number;
  /** The value of the annotation that requested the last reconcile. */
  lastRequest?: string;
}

/**
 * An object that represents a resource in another service. Its CRD needs `externalSpecProperties` and
 * `externalStatusProperties`.
 */
export interface ExternalObject extends Obj {
  spec?: object;
  status?: ExternalStatus;
}

/** Connection details: plain text by key. They are written to a Secret and nowhere else. */
export type ConnectionDetails = Readonly<Record<string, string>>;

/** `failed`: the service reports that the resource has failed. A failed request is an error instead. */
export type ExternalState = 'creating' | 'ready' | 'updating' | 'deleting' | 'failed' | 'unknown';

/** The observed state of the resource. */
export interface Observation {
  readonly exists: boolean;
  /** Whether the resource matches the spec. Ignored if it does not exist. */
  readonly upToDate: boolean;
  readonly state: ExternalState;
  /** The state as the service names it, shown instead of ours. */
  readonly providerState?: string;
  /** A sentence for users: what differs, or why it failed. */
  readonly message?: string;
  readonly connectionDetails?: ConnectionDetails;
  readonly attributes?: Readonly<Record<string, unknown>>;
  /** The handler set fields of `spec` that the user left open to the values that the service chose. */
  readonly lateInitialized?: boolean;
}

/** Result of a creation. */
export interface Created {
  readonly connectionDetails?: ConnectionDetails;
  /** The name of the created resource, if it differs from the requested one. */
  readonly externalName?: string;
}

/** What an interrupted creation created. */
export type Recovered =
  { readonly created: false } | { readonly created: true; readonly externalName: string };

/** Result of an update. */
export interface Updated {
  readonly connectionDetails?: ConnectionDetails;
}

/**
 * The steps for one object. A new handler is created for each reconcile.
 *
 * *Guarantees*: no two steps run at the same time for one object; `name` is never empty, except for `create` if the
 * service chooses names. The object is a copy, and changes of its spec are stored only with `lateInitialized`.
 *
 * *Assumptions*: all steps can be repeated; `observe` changes nothing in the service; no step waits for long work.
 *
 * *Errors*: the condition Failed shows them, and the step is retried after a growing delay; after a `NoRetryError`
 * only when something changes. `create` throws `OutcomeUnknown` if the service may have created something. Messages
 * are shown to users, so they must not contain secrets.
 */
export interface ExternalHandler<M extends ExternalObject> {
  observe(object: M, name: string): Promise<Observation>;
  create(object: M, name: string): Promise<Created>;
  update(object: M, name: string): Promise<Updated>;
  /** Starts the deletion; called again until `observe` does not find the resource. */
  delete(object: M, name: string): Promise<void>;
  /**
   * Looks for what a creation created whose end was never recorded, if the service chooses names: by a tag with the uid of
   * the object, or by an idempotency key. Changes nothing in the service. Without this method, a user has to look.
   * @param startedAt when the creation began, RFC 3339
   */
  recover?(object: M, startedAt: string): Promise<Recovered>;
  disconnect?(): Promise<void>;
}

/** Creates handlers: reads credentials. Tests replace it to work without a network. */
export interface Connector<M extends ExternalObject> {
  /** @param signal aborts when the reconcile takes too long or the process stops */
  connect(object: View<M>, signal: AbortSignal): Promise<ExternalHandler<M>>;
}
