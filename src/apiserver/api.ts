/** What a request is once it is read, what an answer is before it is written, and the world between the two. */
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
  /** Sentences for Warning headers. */
  readonly warnings: string[];
  /** Checks that the user may do this with another verb too. @throws ApiError 403 */
  readonly demand: (verb: string) => void;
  /** What the audit log shall know beyond the URL. */
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
  /** `open` starts the stream and answers with what to call when the client has gone. */
  | { readonly type: 'watch'; readonly open: (sink: Sink) => () => void };

/** Decides once a write is ready to be committed; may refuse it, or change it when mutating. */
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
  /** Names and namespaces of the audience of tokens, and the like. */
  readonly issuer: string;
}
