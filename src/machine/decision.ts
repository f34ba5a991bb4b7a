/**
 * What a phase may answer. A decision is data: what to write, where to go next, or why not yet. Nothing here
 * reads a clock or talks to anybody; apply.ts and run.ts carry decisions out.
 */
import type { ConditionReason, ConditionType } from '../api/conditions.ts';
import type { ErrorCode } from '../api/error-codes.ts';
import type { MergePatch } from '../lib/merge.ts';
import { TRUE, annotations } from '../api/labels.ts';
import type { Kind, Obj, View } from '../runtime/types.ts';
import type { Status } from './status.ts';

/** A reason in the form of `status.lastError`: what was attempted, what was found, a sentence, codes. */
export interface Problem {
  readonly operation: string;
  readonly reason: string;
  readonly message: string;
  readonly codes?: readonly ErrorCode[];
  /** A server outside is the cause, and may be back: tried again until a limit. Not part of `status.lastError`. */
  readonly remote?: 'NameNotFound' | 'ServerUnavailable';
}

/** Ends the work on the present phase: `fail` ends the job, `retry` tries again after a growing interval. */
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

/** Upstream's textual form of a problem inside another one's message. */
export const asText = (p: Problem): string =>
  `Op: ${p.operation} - Reason: ${p.reason} - Message: ${p.message}`;

/** One write. What changes an object carries the version of `target`, so a change we have not seen makes it fail. */
export type Effect = Write & { readonly ifRefused?: Refusal };

/** What a definite refusal means to the phase that asked for the write; what was refused and why is added to it. */
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
  /** The whole object, for what no patch can say: a merge patch takes null for "remove". */
  | { readonly do: 'replace'; readonly kind: Kind; readonly target: View<Obj>; readonly object: View<Obj> }
  | { readonly do: 'amend'; readonly kind: Kind; readonly target: View<Obj>; readonly change: Amendment }
  | { readonly do: 'delete'; readonly kind: Kind; readonly target: View<Obj> };

/**
 * A change of metadata that holds whatever else has changed: on a conflict it is worked out anew from the latest
 * version instead of repeating the pass, because what it completes cannot be done twice.
 */
export interface Amendment {
  readonly addFinalizer?: string;
  /** Annotations to take away, each only while it has this value. */
  readonly dropAnnotations?: Readonly<Record<string, string>>;
  /** Fields of the spec to fill in where they are empty. */
  readonly specDefaults?: Readonly<Record<string, unknown>>;
}

/** A condition as a phase wants it; time stamps are added when the status is written. */
export interface ConditionChange<Type extends string = string> {
  readonly type: Type;
  /** `Progressing` while it is not decided yet. */
  readonly status: 'True' | 'False' | 'Progressing';
  readonly reason: string;
  readonly message: string;
}

/** A condition of one of our own types. */
export type PhaseCondition = ConditionChange<ConditionType>;

/** Changes of a status `S` besides phase, job ids, errors and times. */
export interface StatusChange<S extends Status = Status> {
  readonly set?: MergePatch<S>;
  readonly conditions?: readonly PhaseCondition[];
  /** Types of conditions that only report a failure, and no longer hold. */
  readonly settled?: readonly ConditionType[];
}

/** Facts of the snapshot, by name, that must still be the same once the effects are done; otherwise: not now. */
export type Confirmation = Readonly<Record<string, unknown>>;

interface Common<S extends Status> {
  /** In order; the first that fails ends the pass. */
  readonly effects: readonly Effect[];
  readonly status: StatusChange<S>;
}

/** `installation stack-a-x1`: an object as it is called in a list of what is awaited. */
export const named = ({ kind, metadata }: View<Obj>): string =>
  `${kind === 'DeployItem' ? 'deploy item' : kind.toLowerCase()} ${metadata.name}`;

/** What a wait is for. Shown in the condition `Waiting` until the job goes on. */
export interface Awaited {
  readonly reason: ConditionReason;
  /** Kind and name of each object, as in `deploy item web-app-x1`. */
  readonly objects: readonly string[];
  /** What else a person should know. */
  readonly note?: string;
}

/** `Next`: the phases it may lead to; `S`: the status of the object it is about. */
export type Decision<Next extends string = string, S extends Status = Status> =
  /** Go on in phase `to` within the same pass. */
  | (Common<S> & { readonly do: 'advance'; readonly to: Next; readonly confirm: Confirmation })
  /** Something else must happen first; its event wakes us. */
  | (Common<S> & {
      readonly do: 'wait';
      readonly why: Problem | undefined;
      readonly awaited?: Awaited;
      /** Look again then, event or not. */
      readonly requeueAfterMs?: number;
    })
  /** The job ends without success. */
  | (Common<S> & { readonly do: 'fail'; readonly problem: Problem })
  /** Not now; another attempt after a growing interval may help. */
  | (Common<S> & { readonly do: 'retry'; readonly problem: Problem; readonly cause?: unknown })
  /** After the effects the object is no longer ours to look after. */
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
export const replace = (kind: Kind, target: View<Obj>, object: View<Obj>): Effect => ({
  do: 'replace',
  kind,
  target,
  object,
});
/** A write that changes nothing but the version: a write that was made for the version before and arrives later is refused. */
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
