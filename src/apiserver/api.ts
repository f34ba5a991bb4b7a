/** The types of a parsed request and of an answer, and the environment of the handlers between them. */
import type { Clock } from '../lib/clock.ts';
import type { Rng } from '../lib/rng.ts';
import type { Logger } from '../observability/log.ts';
import type { Accept } from './http/negotiate.ts';
import type { Kind, Registry } from './kinds/kinds.ts';
import type { RequestInfo } from './http/routes.ts';
import type { StatusBody } from './status.ts';
import type { Entry, Store } from './store/storage.ts';
import type { JsonObject, KubeObject, UserInfo } from './types.ts';
import type { Sink, WatchHub } from './store/watch-hub.ts';

export interface Call {
  readonly method: string;
  readonly info: RequestInfo;
  readonly query: URLSearchParams;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
  readonly user: UserInfo;
  readonly userAgent: string;
  readonly accept: Accept;
  /** Messages for Warning headers. */
  readonly warnings: string[];
  /** Checks that the user may also use another verb. @throws ApiError 403 */
  readonly demand: (verb: string) => void;
  /** Details for the audit log that the URL does not contain. */
  readonly noted: { name?: string };
}

export type Answer =
  | {
      readonly type: 'object';
      readonly code: number;
      readonly kind: Kind;
      readonly object: KubeObject;
      readonly entry?: Entry;
    }
  | {
      readonly type: 'list';
      readonly kind: Kind;
      readonly entries: readonly Entry[];
      readonly rev: number;
      readonly continue?: string;
      readonly remaining?: number;
    }
  | { readonly type: 'status'; readonly code: number; readonly body: StatusBody }
  | {
      readonly type: 'document';
      readonly code: number;
      readonly value: JsonObject;
      readonly headers?: Record<string, string>;
    }
  | {
      readonly type: 'bytes';
      readonly code: number;
      readonly body: Buffer;
      readonly headers: Record<string, string>;
    }
  /** `open` starts the stream and returns a function to call when the client has disconnected. */
  | { readonly type: 'watch'; readonly open: (sink: Sink) => () => void };

/** Called when a write is ready to be committed; may refuse it, or change it if mutating. */
export interface Admission {
  readonly active: boolean;
  admit(request: AdmissionRequest): Promise<KubeObject | undefined>;
}

export interface AdmissionRequest {
  readonly phase: 'mutating' | 'validating';
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE';
  readonly kind: Kind;
  readonly subresource: string;
  readonly name: string;
  readonly namespace: string;
  readonly object: KubeObject | undefined;
  readonly oldObject: KubeObject | undefined;
  readonly user: UserInfo;
  readonly dryRun: boolean;
  readonly options: JsonObject;
  readonly warnings: string[];
}

export interface World {
  readonly store: Store;
  readonly registry: Registry;
  readonly hub: WatchHub;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly log: Logger;
  newUid(): string;
  /** Names, namespaces, the audience of tokens and similar values. */
  readonly issuer: string;
}
