/**
 * What a phase may answer. A decision is data: what to write, where to go next, or why not yet. Nothing here
 * reads a clock or talks to anybody; apply.ts and run.ts carry decisions out.
 */
import type { ConditionReason } from '../api/conditions.ts';
import { TRUE, annotations } from '../api/labels.ts';
import type { Kind, Obj, View } from '../runtime/types.ts';

/** A reason in the form of `status.lastError`: what was attempted, what was found, a sentence, codes. */
export interface Problem {
  readonly operation: string;
  readonly reason: string;
  readonly message: string;
  readonly codes?: readonly string[];
  /** A server outside is the cause, and may be back: tried again until a limit. Not part of `status.lastError`. */
  readonly remote?: 'NameNotFound' | 'ServerUnavailable';
}

/** Ends the work on the present phase: `fail` ends the job, `retry` tries again after a growing interval. */
export class PhaseError extends Error {
  readonly outcome: 'fail' | 'retry' = 'fail';
  readonly operation: string;
  readonly reason: string;
  readonly codes: readonly string[];

  readonly conditions: readonly ConditionChange[];
  readonly remote: Problem['remote'];

  constructor(
    operation: string,
    reason: string,
    message: string,
    codes: readonly string[] = [],
    options: ErrorOptions & {
      readonly conditions?: readonly ConditionChange[];
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
  readonly condition: ConditionChange;
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
export interface ConditionChange {
  readonly type: string;
  /** `Progressing` while it is not decided yet. */
  readonly status: 'True' | 'False' | 'Progressing';
  readonly reason: string;
  readonly message: string;
}

/** Fields of the status besides phase, job ids, errors and times, as a merge patch. */
export interface StatusChange {
  readonly set?: Readonly<Record<string, unknown>>;
  readonly conditions?: readonly ConditionChange[];
  /** Types of conditions that only ever tell of a failure, and hold no more. */
  readonly settled?: readonly string[];
}

/** Facts of the snapshot, by name, that must still be the same once the effects are done; otherwise: not now. */
export type Confirmation = Readonly<Record<string, unknown>>;

interface Common {
  /** In order; the first that fails ends the pass. */
  readonly effects: readonly Effect[];
  readonly status: StatusChange;
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

export type Decision<Next extends string = string> =
  /** Go on in phase `to` within the same pass. */
  | (Common & { readonly do: 'advance'; readonly to: Next; readonly confirm: Confirmation })
  /** Something else must happen first; its event wakes us. */
  | (Common & {
      readonly do: 'wait';
      readonly why: Problem | undefined;
      readonly awaited?: Awaited;
      /** Look again then, event or not. */
      readonly againMs?: number;
    })
  /** The job ends without success. */
  | (Common & { readonly do: 'fail'; readonly problem: Problem })
  /** Not now; another attempt after a growing interval may help. */
  | (Common & { readonly do: 'retry'; readonly problem: Problem; readonly cause?: unknown })
  /** After the effects the object is no longer ours to look after. */
  | (Common & { readonly do: 'release' });

interface Extras {
  readonly effects?: readonly Effect[];
  readonly status?: StatusChange;
}
const common = (extras: Extras = {}): Common => ({
  effects: extras.effects ?? [],
  status: extras.status ?? {},
});

export const advance = <const Next extends string>(
  to: Next,
  extras?: Extras & { readonly confirm?: Confirmation },
): Decision<Next> => ({ do: 'advance', to, confirm: extras?.confirm ?? {}, ...common(extras) });
export const wait = (
  why?: Problem,
  extras: Extras & { readonly awaited?: Awaited; readonly againMs?: number | undefined } = {},
): Decision<never> => ({
  do: 'wait',
  why,
  ...(extras.awaited && { awaited: extras.awaited }),
  ...(extras.againMs !== undefined && { againMs: extras.againMs }),
  ...common(extras),
});
export const fail = (problem: Problem, extras?: Extras): Decision<never> => ({
  do: 'fail',
  problem,
  ...common(extras),
});
export const retry = (problem: Problem, extras?: Extras): Decision<never> => ({
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
export const patchStatus = (kind: Kind, target: View<Obj>, status: object): Effect => ({
  do: 'patch',
  kind,
  target,
  body: { status },
  sub: 'status',
});
