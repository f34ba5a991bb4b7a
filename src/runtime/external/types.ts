/**
 * What the author of an external resource brings: how to reach the service, how to look at the thing and change it.
 *
 * A handler does one step and answers; it does not wait for the service to finish. Every step may be repeated: after a
 * crash, after an answer that was lost, or because somebody touched the object.
 */
import type { Obj, View } from '../types.ts';
import type { Condition } from './conditions.ts';

/** The status that the runtime keeps. Fields of the author's own beside these are left as the handler sets them. */
export interface ExternalStatus {
  /** The name under which the service knows the thing. */
  id?: string;
  /** The service's own word for the state, or ours when the handler has none. */
  state?: string;
  /** What the service says about the thing, for people and other controllers to read. */
  attributes?: Record<string, unknown>;
  conditions?: Condition[];
  /** The generation of the spec that the last observation was compared with. */
  observedGeneration?: number;
  /** The token of the last run that somebody asked for. */
  lastRequest?: string;
}

/**
 * An object that stands for a thing elsewhere; its CRD needs `externalSpecProperties` and
 * `externalStatusProperties`.
 */
export interface ExternalObject extends Obj {
  spec?: object;
  status?: ExternalStatus;
}

/** Connection details: plain text by key. They are written to a Secret and to nowhere else. */
export type ConnectionDetails = Readonly<Record<string, string>>;

/** `failed` is the service's verdict on the thing; a call that fails is an error instead. */
export type ExternalState = 'creating' | 'ready' | 'updating' | 'deleting' | 'failed' | 'unknown';

/** What a look at the thing outside has shown. */
export interface Observation {
  readonly exists: boolean;
  /** Whether the thing is as the spec wants it. Means nothing when it does not exist. */
  readonly upToDate: boolean;
  readonly state: ExternalState;
  /** The service's word for the state, to be shown in place of ours. */
  readonly providerState?: string;
  /** A sentence for people: what differs, or why it failed. */
  readonly message?: string;
  readonly connectionDetails?: ConnectionDetails;
  readonly attributes?: Readonly<Record<string, unknown>>;
  /** The handler filled fields of `spec` that the user had left open with what the service chose. */
  readonly lateInitialized?: boolean;
}

/** What came of a creation. */
export interface Created {
  readonly connectionDetails?: ConnectionDetails;
  /** The name that the service gave, when that is not the one it was asked for. */
  readonly externalName?: string;
}

/** What came of an update. */
export interface Updated {
  readonly connectionDetails?: ConnectionDetails;
}

/**
 * The steps for one object, made anew for each run.
 *
 * *Guarantees*: never two steps of one object at a time; `name` is never empty, except for `create` when the service
 * chooses names. The object is a copy, and changes of its spec are kept only when `lateInitialized` says so.
 *
 * *Assumptions*: all steps can be repeated; `observe` changes nothing outside; nothing waits for the end of long work.
 *
 * *Errors*: what is thrown is shown in the condition Failed and tried again after a growing delay; `NoRetryError`: not
 * before something changes. `create` throws `OutcomeUnknown` when the service may have created something after all.
 * Messages are shown to users, so they must not contain secrets.
 */
export interface ExternalHandler<M extends ExternalObject> {
  observe(object: M, name: string): Promise<Observation>;
  create(object: M, name: string): Promise<Created>;
  update(object: M, name: string): Promise<Updated>;
  /** Starts the deletion; called again until `observe` finds nothing. */
  delete(object: M, name: string): Promise<void>;
  disconnect?(): Promise<void>;
}

/** Makes handlers: the place to read credentials, and what a test replaces to do without a network. */
export interface Connector<M extends ExternalObject> {
  /** @param signal aborts when the run takes too long or the process stops */
  connect(object: View<M>, signal: AbortSignal): Promise<ExternalHandler<M>>;
}
