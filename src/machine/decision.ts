/**
 * The decisions a phase can return. A decision is data: which objects to write, and which phase follows or why the job has to
 * wait. Nothing here reads a clock or sends requests; apply.ts and run.ts carry decisions out.
 */
import type { ConditionReason, ConditionType, ObstacleReason } from '../api/conditions.ts';
import type { ErrorCode } from '../api/error-codes.ts';
import type { MergePatch } from '../lib/merge.ts';
import { withoutFinalizer } from '../api/job.ts';
import { TRUE, annotations } from '../api/labels.ts';
import type { Kind, Obj, View } from '../runtime/types.ts';
import type { Status } from './status.ts';

/** A problem in the form of `status.lastError`. */
export interface Problem {
  readonly operation: string;
  readonly reason: string;
  readonly message: string;
  readonly codes?: readonly ErrorCode[];
  /** Set if an external server is the cause: the job retries up to a time limit. Not part of `status.lastError`. */
  readonly remote?: 'NameNotFound' | 'ServerUnavailable';
  /** Set if only a few tries show whether it passes. Not part of `status.lastError`. */
  readonly outlook?: 'unknown';
}

/** Ends the current phase: `fail` ends the job, `retry` repeats the phase with back-off. */
export class PhaseError extends Error {
  readonly outcome: 'fail' | 'retry' = 'fail';
  readonly operation: string;
  readonly reason: string;
  readonly codes: readonly ErrorCode[];

  readonly conditions: readonly PhaseCondition[];
  readonly remote: Problem['remote'];

  constructor(
    operation: string,
    reason: string,
    message: string,
    codes: readonly ErrorCode[] = [],
    options: ErrorOptions & {
      readonly conditions?: readonly PhaseCondition[];
      readonly remote?: Problem['remote'];
    } = {},
  ) {
    super(message, options);
    this.conditions = options.conditions ?? [];
    this.remote = options.remote;
    this.operation = operation;
    this.reason = reason;
    this.codes = codes;
  }

  get problem(): Problem {
    const { operation, reason, message, codes, remote } = this;
    return { operation, reason, message, codes, ...(remote && { remote }) };
  }
}

/** The problem of a job that has failed: not for information only, although upstream marks many of them so. */
export function asFailure({ codes, ...problem }: Problem): Problem {
  const others = codes?.filter((code) => code !== 'ERR_FOR_INFO_ONLY') ?? [];
  return { ...problem, ...(others.length > 0 && { codes: others }) };
}

/** A problem as upstream quotes it in the message of another one. */
export const asText = (p: Problem): string =>
  `Op: ${p.operation} - Reason: ${p.reason} - Message: ${p.message}`;

/** One write. Changes of existing objects carry the version of `target`, so they fail if the object has changed meanwhile. */
export type Effect = Write & { readonly ifRefused?: Refusal };

/** How the phase reports a permanent refusal of its write; the server's reason is appended to the message. */
export interface Refusal extends Problem {
  readonly condition: PhaseCondition;
}

type Write =
  | { readonly do: 'create'; readonly kind: Kind; readonly object: Obj }
  | {
      readonly do: 'patch';
      readonly kind: Kind;
      readonly target: View<Obj>;
      readonly body: object;
      readonly sub?: 'status';
    }
  /** Replaces the whole object, for content with null: a merge patch would remove such fields. */
  | { readonly do: 'replace'; readonly kind: Kind; readonly target: View<Obj>; readonly object: View<Obj> }
  | { readonly do: 'amend'; readonly kind: Kind; readonly target: View<Obj>; readonly change: Amendment }
  | { readonly do: 'delete'; readonly kind: Kind; readonly target: View<Obj> };

/**
 * A change of metadata that is valid for every version of the object. After a conflict it is computed again from the latest
 * version; repeating the whole reconcile would start another job.
 */
export interface Amendment {
  readonly addFinalizer?: string;
  /** Annotations to remove, each only if it has this value. */
  readonly dropAnnotations?: Readonly<Record<string, string>>;
  /** Annotations to set. */
  readonly setAnnotations?: Readonly<Record<string, string>>;
  /** Fields of the spec to fill in where they are empty. */
  readonly specDefaults?: Readonly<Record<string, unknown>>;
}

/** A condition without timestamps; they are added when the status is written. */
export interface ConditionChange<Type extends string = string> {
  readonly type: Type;
  /** `Progressing` until the result is known. */
  readonly status: 'True' | 'False' | 'Unknown' | 'Progressing';
  readonly reason: string;
  readonly message: string;
  readonly observedGeneration?: number;
}

/** A condition of one of our own types. */
export type PhaseCondition = ConditionChange<ConditionType>;

/** Changes of a status `S`, except for phase, job ids, errors and times. */
export interface StatusChange<S extends Status = Status> {
  readonly set?: MergePatch<S>;
  readonly conditions?: readonly PhaseCondition[];
  /** Condition types to remove: they report only failures, and the failure is over. */
  readonly settled?: readonly ConditionType[];
}

/** Facts of the snapshot, by name, that must be unchanged after the effects; otherwise the phase is repeated. */
export type Confirmation = Readonly<Record<string, unknown>>;

interface Common<S extends Status> {
  /** Carried out in order; the first failure ends the reconcile. */
  readonly effects: readonly Effect[];
  readonly status: StatusChange<S>;
}

/** The name of an object in the list of awaited objects, such as `installation stack-a-x1`. */
export const named = ({ kind, metadata }: View<Obj>): string =>
  `${kind === 'DeployItem' ? 'deploy item' : kind.toLowerCase()} ${metadata.name}`;

/** What holds up the innermost object below; see obstacles.ts. */
export interface Obstacle {
  readonly reason: ObstacleReason;
  readonly message: string;
}

/** Why a job waits for the objects that it lists. */
export type WaitReason = Exclude<ConditionReason, ObstacleReason>;

/**
 * What the job waits for. Shown in the condition `Waiting` until the job continues. `objects`: kind and name of each object,
 * as in `deploy item web-app-x1`.
 */
export type Awaited = { readonly reason: WaitReason; readonly objects: readonly string[] } | Obstacle;

/** `Next`: the phases it may lead to; `S`: the status of the object it is about. */
export type Decision<Next extends string = string, S extends Status = Status> =
  /** Continue with phase `to` in the same reconcile. */
  | (Common<S> & { readonly do: 'advance'; readonly to: Next; readonly confirm: Confirmation })
  /** Wait for another object; its event starts the next reconcile. */
  | (Common<S> & {
      readonly do: 'wait';
      readonly why: Problem | undefined;
      readonly awaited?: Awaited;
      /** Reconcile again after this time even without an event. */
      readonly requeueAfterMs?: number;
    })
  /** The job ends without success. */
  | (Common<S> & { readonly do: 'fail'; readonly problem: Problem })
  /** Repeat the phase with back-off. */
  | (Common<S> & { readonly do: 'retry'; readonly problem: Problem; readonly cause?: unknown })
  /** After the effects, the controller no longer manages the object. */
  | (Common<S> & { readonly do: 'release' });

interface Extras<S extends Status> {
  readonly effects?: readonly Effect[];
  readonly status?: StatusChange<NoInfer<S>>;
}
const common = <S extends Status>(extras: Extras<S> = {}): Common<S> => ({
  effects: extras.effects ?? [],
  status: extras.status ?? {},
});

export const advance = <const Next extends string, S extends Status = Status>(
  to: Next,
  extras?: Extras<S> & { readonly confirm?: Confirmation },
): Decision<Next, S> => ({ do: 'advance', to, confirm: extras?.confirm ?? {}, ...common(extras) });
export const wait = <S extends Status = Status>(
  why?: Problem,
  extras: Extras<S> & { readonly awaited?: Awaited; readonly requeueAfterMs?: number | undefined } = {},
): Decision<never, S> => ({
  do: 'wait',
  why,
  ...(extras.awaited && { awaited: extras.awaited }),
  ...(extras.requeueAfterMs !== undefined && { requeueAfterMs: extras.requeueAfterMs }),
  ...common(extras),
});
export const fail = <S extends Status = Status>(
  problem: Problem,
  extras?: Extras<S>,
): Decision<never, S> => ({
  do: 'fail',
  problem,
  ...common(extras),
});
export const retry = <S extends Status = Status>(
  problem: Problem,
  extras?: Extras<S>,
): Decision<never, S> => ({
  do: 'retry',
  problem,
  ...common(extras),
});
export const release = (effects: readonly Effect[]): Decision<never> => ({
  do: 'release',
  ...common({ effects }),
});

export const create = (kind: Kind, object: Obj): Effect => ({ do: 'create', kind, object });
export const remove = (kind: Kind, target: View<Obj>): Effect => ({ do: 'delete', kind, target });
export const patch = (kind: Kind, target: View<Obj>, body: object): Effect => ({
  do: 'patch',
  kind,
  target,
  body,
});
/** Takes our finalizer off an object under deletion, which ends it unless others hold it. */
export const removeFinalizer = (kind: Kind, target: View<Obj>): Effect =>
  patch(kind, target, { metadata: { finalizers: withoutFinalizer(target.metadata) } });
export const replace = (kind: Kind, target: View<Obj>, object: View<Obj>): Effect => ({
  do: 'replace',
  kind,
  target,
  object,
});
/** A write that changes only the version of the object, so a delayed write to the previous version ends in a conflict. */
export const touch = (kind: Kind, target: View<Obj>): Effect => {
  const isTouched = target.metadata.annotations?.[annotations.touch] !== undefined;
  return patch(kind, target, { metadata: { annotations: { [annotations.touch]: isTouched ? null : TRUE } } });
};
export const amend = (kind: Kind, target: View<Obj>, change: Amendment): Effect => ({
  do: 'amend',
  kind,
  target,
  change,
});
/** An object with a status. */
type WithStatus = Obj & { readonly status?: unknown };

/** @param status a merge patch of the status */
export const patchStatus = <T extends WithStatus>(
  kind: Kind<T>,
  target: View<NoInfer<T>>,
  status: MergePatch<NonNullable<NoInfer<T>['status']>>,
): Effect => ({
  do: 'patch',
  kind,
  target,
  body: { status },
  sub: 'status',
});
