/**
 * The loop that drives one object through its phases: gather, decide, apply, until a phase has to wait.
 *
 * The subtle point is when the status is stored. A reconcile keeps the new status in memory and stores it when it has to
 * wait, when the phase table requires that a phase is visible, and at the end. So a job without obstacles needs few writes,
 * and after a crash every phase can run again from the stored status.
 */
import { failedPhase, isBeingDeleted, type MetaView } from '../api/job.ts';
import { equal } from '../lib/json.ts';
import { isNestedTooDeeply, messageOf } from '../lib/message-of.ts';
import type { Logger } from '../observability/log.ts';
import { ApiError, isFinal, ResponseTooLarge, ShutdownError, TransportError } from '../runtime/errors.ts';
import type { Kind, Obj, View } from '../runtime/types.ts';
import { announceEnd, announceObstacle, announceRetry, announceWarnings } from './announce.ts';
import { Applier } from './apply.ts';
import {
  asFailure,
  PhaseError,
  type Confirmation,
  type Decision,
  type Effect,
  type Problem,
} from './decision.ts';
import { Draft, type DraftPorts } from './draft.ts';
import { decide, gatherOnce, type Gatherers, type Get, type PhaseRow, type StatusOf } from './phase.ts';
import { DEFAULT_REMOTE_RETRY_MS, judgeRemote } from './remote.ts';
import type { Status } from './status.ts';
import { judgeWrite, nameOf } from './verdict.ts';

export interface Machine<Self extends Obj, Snapshot extends object> {
  readonly kind: Kind<Self>;
  /** Working phases by name; where each may lead was checked where the table is written. */
  readonly table: Readonly<Record<string, PhaseRow<Snapshot, string>>>;
  /** How to gather each fact of the snapshot. */
  readonly gather: (self: View<Self>, now: string) => Gatherers<Snapshot>;
  /** Facts that every step gets without naming them in `needs`. */
  readonly always: readonly (keyof Snapshot)[];
  /** Whether events report a job that succeeds, and errors below; a failed job is always reported. Default: no. */
  readonly reportsJobs?: (self: View<Self>) => boolean;
  /** Whether a child is still working on the job of `self`. Until it has finished, even a failure does not end the job. */
  readonly isChildAtWork?: (self: View<Self>) => boolean;
  /**
   * Writes to children that do not have the job of `self`, carried out before the job fails. They change the version of the
   * children, so a write of the job id that timed out and arrives later ends in a conflict.
   */
  readonly fence?: (self: View<Self>) => readonly Effect[] | Promise<readonly Effect[]>;
  /** How long a job retries while a server that it needs is unavailable, in milliseconds; default 10 minutes. */
  readonly remoteRetryMs?: number;
  /** Completes the status that ends the job, for example with the dependents to trigger. */
  readonly completeStatus?: (
    self: View<Self>,
    status: StatusOf<Snapshot>,
    removed: ReadonlySet<string>,
  ) => StatusOf<Snapshot>;
}

export interface PhasePorts extends DraftPorts {
  readonly log: Logger;
  readonly event: (type: 'Normal' | 'Warning', reason: string, note: string) => void;
  /** Number of retries since the last reconcile that succeeded. */
  readonly attempt: number;
}

/** `finished`: the job ended. `released`: this controller no longer manages the object. `waiting`: an event resumes it. */
type PhasesEnd<Self> =
  | { readonly end: 'finished'; readonly self: Self }
  | { readonly end: 'waiting'; readonly self: Self; readonly requeueAfterMs?: number | undefined }
  | { readonly end: 'released' };

/** The phase cannot be completed now; the queue retries it with back-off. */
export class RequeueError extends Error {
  readonly problem: Problem;
  constructor(problem: Problem, options?: ErrorOptions) {
    super(problem.message, options);
    this.problem = problem;
  }
}

/**
 * Runs the phases of `self`, whose job is unfinished, starting from `status` (which may be newer than the stored one).
 * @throws RequeueError when another attempt is due; the errors of runtime/errors.ts when a write failed for now
 */
export async function runPhases<Self extends Obj, Snapshot extends object>(
  machine: Machine<Self, Snapshot>,
  self: View<Self>,
  status: StatusOf<Snapshot>,
  ports: PhasePorts,
): Promise<PhasesEnd<View<Self>>> {
  const draft = new Draft(machine.kind, self, status, ports);
  for (;;) {
    const row = rowOf(machine, draft);
    if (!row) {
      const { metadata } = draft.self;
      return end(machine, draft, failedPhase(metadata), misplaced(draft.status.phase, metadata), ports);
    }
    if (row.readsSpec) draft.observe();
    const found = await decideOrExplain(row, machine.gather(draft.object, ports.now()), machine.always);
    const decision = withinLimit(found, draft.status, ports.now(), machine.remoteRetryMs);

    const problem = isHeld(decision)
      ? await hold(machine, row, decision, draft, ports)
      : await proceed(machine, row, decision, draft, ports);
    if (!problem && isHeld(decision)) {
      const requeueAfterMs = nextLook(decision, draft);
      return { end: 'waiting', self: draft.self, ...(requeueAfterMs !== undefined && { requeueAfterMs }) };
    }
    if (!problem && decision.do === 'release') return { end: 'released' };

    const to = problem || decision.do !== 'advance' ? row.onFail : decision.to;
    if (!Object.hasOwn(machine.table, to)) return end(machine, draft, to, problem, ports);
    draft.explain(problem);
    draft.enter(to, false);
  }
}

/** The row of the phase. Undefined for an unknown phase, and for a phase of deletions if the object is not being deleted. */
function rowOf<Self extends Obj, Snapshot extends object>(
  { table }: Machine<Self, Snapshot>,
  { status, self }: Draft<Self, StatusOf<Snapshot>>,
): PhaseRow<Snapshot, string> | undefined {
  const { phase = '' } = status;
  const row = Object.hasOwn(table, phase) ? table[phase] : undefined;
  return row?.onFail === 'DeleteFailed' && !isBeingDeleted(self.metadata) ? undefined : row;
}

/** Ends the job. While a child is still working on it, a problem is only shown, and the job waits for that child. */
async function end<Self extends Obj, Snapshot extends object>(
  machine: Machine<Self, Snapshot>,
  draft: Draft<Self, StatusOf<Snapshot>>,
  phase: string,
  problem: Problem | undefined,
  ports: PhasePorts,
): Promise<PhasesEnd<View<Self>>> {
  if (problem && machine.isChildAtWork?.(draft.object)) {
    draft.wait(problem, undefined);
    await draft.store();
    return { end: 'waiting', self: draft.self };
  }
  if (problem) await fenceChildren(machine, draft, ports);
  draft.explain(problem && asFailure(problem));
  draft.enter(phase, true);
  if (machine.completeStatus) draft.status = machine.completeStatus(draft.self, draft.status, draft.removed);
  await draft.store();
  announceEnd(draft, problem, machine.reportsJobs?.(draft.self) ?? false, ports);
  return { end: 'finished', self: draft.self };
}

/**
 * Only for jobs that fail: after a success every child has finished the job. If the API server refuses such a write
 * permanently, the job ends without it.
 */
async function fenceChildren<Self extends Obj, Snapshot extends object>(
  { fence }: Machine<Self, Snapshot>,
  draft: Draft<Self, StatusOf<Snapshot>>,
  ports: PhasePorts,
): Promise<void> {
  for (const effect of (await fence?.(draft.object)) ?? []) {
    const refusal = await applyEffects({}, [effect], draft, ports);
    if (refusal) ports.log.warn({ effect: nameOf(effect), reason: refusal.message }, 'fencing failed');
  }
}

type Held<S extends Status = Status> = Extract<Decision<string, S>, { readonly do: 'wait' | 'retry' }>;
const isHeld = <S extends Status>(decision: Decision<string, S>): decision is Held<S> =>
  decision.do === 'wait' || decision.do === 'retry';

/** When to decide again without an event: at the time that the decision names, or when the wait has to be shown. */
function nextLook<Self extends Obj, S extends Status>(
  decision: Held<S>,
  draft: Draft<Self, S>,
): number | undefined {
  const named = decision.do === 'wait' ? decision.requeueAfterMs : undefined;
  const { storableLaterMs: shown } = draft;
  return shown === 0 ? named : Math.min(named ?? shown, shown);
}

/** Stores why the job waits or retries, then carries out the effects. Returns the problem that ends the job, if any. */
async function hold<Self extends Obj, S extends Status>(
  { reportsJobs }: Pick<Machine<Self, never>, 'reportsJobs'>,
  row: RefusalRule,
  decision: Held<S>,
  draft: Draft<Self, S>,
  ports: PhasePorts,
): Promise<Problem | undefined> {
  announceWarnings(decision.status, draft, ports);
  const before = draft.stored;
  draft.change(decision.status);
  if (decision.do === 'wait') draft.wait(decision.why, decision.awaited);
  else draft.fail(decision.problem);
  if (decision.do === 'retry' || draft.storableLaterMs === 0) await draft.store();
  if (decision.do === 'retry') announceRetry(before, decision.problem, ports);
  else if (reportsJobs?.(draft.self)) announceObstacle(before, draft.stored, ports);
  const failure = await applyEffects(row, decision.effects, draft, ports);
  if (decision.do === 'retry' && !failure) {
    throw new RequeueError(decision.problem, { cause: decision.cause });
  }
  return failure;
}

/** Carries out the effects of a decision that leaves the phase. Returns the problem that ends the job, if any. */
async function proceed<Self extends Obj, Snapshot extends object>(
  machine: Machine<Self, Snapshot>,
  row: PhaseRow<Snapshot, string>,
  decision: Exclude<Decision<string, StatusOf<Snapshot>>, Held<StatusOf<Snapshot>>>,
  draft: Draft<Self, StatusOf<Snapshot>>,
  ports: PhasePorts,
): Promise<Problem | undefined> {
  const mustBeSeen = row.seen === 'always' || (row.seen === 'before-effects' && decision.effects.length > 0);
  if (mustBeSeen && !draft.isPhaseStored) {
    draft.explain(undefined);
    await draft.store();
  }
  const failure = await applyEffects(row, decision.effects, draft, ports);
  if (failure) return failure;
  if (decision.do === 'advance') {
    await confirm(decision.confirm, gatherOnce(machine.gather(draft.object, ports.now())), draft);
  }
  announceWarnings(decision.status, draft, ports);
  draft.change(decision.status);
  return decision.do === 'fail' ? decision.problem : undefined;
}

async function decideOrExplain<Snapshot extends object, Name extends string>(
  row: PhaseRow<Snapshot, Name>,
  gatherers: Gatherers<Snapshot>,
  always: readonly (keyof Snapshot)[],
): Promise<Decision<Name, StatusOf<Snapshot>>> {
  try {
    return await decide(row.phase, gatherOnce(gatherers), always);
  } catch (error) {
    if (error instanceof PhaseError) {
      const { outcome, problem, conditions } = error;
      return { do: outcome, problem, effects: [], status: { conditions } };
    }
    if (error instanceof ShutdownError || (error instanceof Error && error.name === 'AbortError'))
      throw error;
    const nothing = { effects: [], status: {} };
    // The next answer of the same server would be as large, so retrying does not help.
    if (ResponseTooLarge.in(error)?.isFinal()) {
      const problem = { ...gatherFailed(error), reason: 'ReadFailed' };
      return { do: 'fail', problem, ...nothing };
    }
    if (isFinal(error)) return { do: 'fail', problem: impossible(error), ...nothing };
    return { do: 'retry', problem: gatherFailed(error), cause: error, ...nothing };
  }
}

/** An object contains a reference that can never be resolved, or a value that nothing can process. */
const impossible = (error: unknown): Problem => ({
  ...gatherFailed(error),
  reason: isNestedTooDeeply(error) ? 'NestedTooDeeply' : 'InvalidReference',
  codes: ['ERR_CONFIGURATION_PROBLEM'],
});

/** Ends a job that has retried an external server up to the limit; until then, notes in a condition since when it retries. */
function withinLimit<S extends Status>(
  decision: Decision<string, S>,
  status: S,
  now: string,
  limitMs: number = DEFAULT_REMOTE_RETRY_MS,
): Decision<string, S> {
  if (decision.do !== 'retry' || !decision.problem.remote) return decision;
  const { remote } = decision.problem;
  const judged = judgeRemote(status, { ...decision.problem, remote }, now, limitMs);
  if (judged.isOver) {
    return { do: 'fail', problem: judged.problem, effects: decision.effects, status: decision.status };
  }
  const conditions = [...(decision.status.conditions ?? []), judged.condition];
  return { ...decision, status: { ...decision.status, conditions } };
}

/** An error of unknown cause. It is shown to the user and retried. */
const gatherFailed = (error: unknown): Problem => ({
  operation: 'reconcile',
  reason: error instanceof ApiError || error instanceof TransportError ? 'ReadFailed' : 'UnexpectedError',
  message: messageOf(error),
});

/** If a fact that the decision relied on has changed meanwhile, the phase is decided again. */
async function confirm<Self extends Obj, Snapshot extends object>(
  facts: Confirmation,
  get: Get<Snapshot>,
  draft: Draft<Self, StatusOf<Snapshot>>,
): Promise<void> {
  for (const [name, before] of Object.entries(facts)) {
    if (equal(before, await get(name as keyof Snapshot))) continue;
    const message = `${name} changed while they were in use`;
    const problem = { operation: 'confirm', reason: name, message, codes: ['ERR_FOR_INFO_ONLY'] } as const;
    draft.fail(problem);
    await draft.store();
    throw new RequeueError(problem);
  }
}

type RefusalRule = Pick<PhaseRow<never, string>, 'onRefusal'>;

/** Returns the problem if a write is refused permanently. @throws whatever is worth a retry */
async function applyEffects<Self extends Obj, S extends Status>(
  { onRefusal }: RefusalRule,
  effects: readonly Effect[],
  draft: Draft<Self, S>,
  ports: PhasePorts,
): Promise<Problem | undefined> {
  const applier = new Applier(ports, draft.self);
  for (const effect of effects) {
    try {
      await applier.carryOut(effect);
      if (effect.do === 'delete') draft.removed.add(effect.target.metadata.uid ?? '');
    } catch (error) {
      const verdict = judgeWrite(error, effect, draft.self.metadata, ports.attempt);
      if (verdict.outcome === 'fail' && onRefusal !== 'retry') return refused(effect, verdict.problem, draft);
      if (verdict.outcome !== 'repeat') {
        draft.fail(verdict.problem);
        await draft.store();
        throw new RequeueError(verdict.problem, { cause: error });
      }
      ports.log.info({ effect: nameOf(effect) }, 'object changed concurrently, repeating the step');
      throw error;
    }
  }
  return undefined;
}

/** The problem and the condition that the phase has named for a refusal of this write, if any. */
function refused<Self extends Obj, S extends Status>(
  { ifRefused }: Effect,
  found: Problem,
  draft: Draft<Self, S>,
): Problem {
  if (!ifRefused) return found;
  const { condition, ...problem } = ifRefused;
  draft.change({ conditions: [condition] });
  const codes = [...(problem.codes ?? []), ...(found.codes ?? [])];
  return { ...problem, message: `${problem.message}: ${found.message}`, codes };
}

const misplaced = (phase: string | undefined, metadata: MetaView): Problem => ({
  operation: 'reconcile',
  reason: 'UnknownPhase',
  message:
    `phase "${phase ?? ''}" is not valid for an object that is ${isBeingDeleted(metadata) ? '' : 'not '}being deleted: ` +
    'the status was edited, or another version wrote it; start another job',
});
