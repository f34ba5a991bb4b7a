/**
 * The loop that drives one object through its phases: gather, decide, apply, as far as it goes without waiting.
 *
 * The one subtle idea is what is stored when. A pass holds the status it is heading for and stores it when it has to
 * wait, when the table says a phase must be seen, and at the end: a job that meets no obstacle costs few writes, and
 * after a crash every phase can run again from what is stored.
 */
import { failedPhase, isBeingDeleted, type MetaView } from '../api/job.ts';
import { equal } from '../lib/json.ts';
import type { Logger } from '../observability/log.ts';
import { ApiError, isFinal, ResponseTooLarge, ShutdownError, TransportError } from '../runtime/errors.ts';
import type { Kind, Obj, View } from '../runtime/types.ts';
import { Applier } from './apply.ts';
import { PhaseError, type Confirmation, type Decision, type Effect, type Problem } from './decision.ts';
import { Draft, type DraftPorts } from './draft.ts';
import { decide, gatherOnce, type Gatherers, type Get, type PhaseRow, type StatusOf } from './phase.ts';
import { DEFAULT_REMOTE_RETRY_MS, judgeRemote } from './remote.ts';
import type { Status } from './status.ts';
import { judgeWrite, nameOf } from './verdict.ts';

export interface Machine<Self extends Obj, Snapshot extends object> {
  readonly kind: Kind<Self>;
  /** Working phases by name; where each may lead was checked where the table is written. */
  readonly table: Readonly<Record<string, PhaseRow<Snapshot, string>>>;
  /** How to find out each fact, for an object in the given phase. */
  readonly gather: (self: View<Self>, now: string) => Gatherers<Snapshot>;
  /** Facts that every step may look at without asking. */
  readonly always: readonly (keyof Snapshot)[];
  /** Whether the good end of a job is worth an event; a bad one always is. Default: no. */
  readonly celebrates?: (self: View<Self>) => boolean;
  /** Whether something below is at work for the job of `self`: then even a failure does not end it yet. */
  readonly isBelowAtWork?: (self: View<Self>) => boolean;
  /**
   * Writes to what lies below and has not got the job of `self`, before a failure ends it: a write with the job whose answer
   * never came is refused when it arrives after these.
   */
  readonly fence?: (self: View<Self>) => readonly Effect[] | Promise<readonly Effect[]>;
  /** How long servers that the job needs are tried again, in milliseconds; default 10 minutes. */
  readonly remoteRetryMs?: number;
  /** Last touches to a status that ends the job, such as whom to trigger next. */
  readonly atEnd?: (
    self: View<Self>,
    status: StatusOf<Snapshot>,
    removed: ReadonlySet<string>,
  ) => StatusOf<Snapshot>;
}

export interface PhasePorts extends DraftPorts {
  readonly log: Logger;
  readonly event: (type: 'Normal' | 'Warning', reason: string, note: string) => void;
}

/** `finished`: the job ended. `released`: the object is no longer ours. `waiting`: an event will wake it. */
type PhasesEnd<Self> =
  | { readonly end: 'finished'; readonly self: Self }
  | { readonly end: 'waiting'; readonly self: Self; readonly requeueAfterMs?: number | undefined }
  | { readonly end: 'released' };

/** The phase could not be completed now. Thrown so that the queue tries again after a growing interval. */
export class NotNow extends Error {
  readonly problem: Problem;
  constructor(problem: Problem, options?: ErrorOptions) {
    super(problem.message, options);
    this.problem = problem;
  }
}

/**
 * Runs the phases of `self`, whose job is unfinished, starting from `status` (which may be ahead of what is stored).
 * @throws NotNow when another attempt is due; the errors of runtime/errors.ts when a write failed for now
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
    const found = await decideOrExplain(row, machine.gather(draft.picture, ports.now()), machine.always);
    const decision = withinLimit(found, draft.status, ports.now(), machine.remoteRetryMs);

    const problem = isHeldUp(decision)
      ? await holdUp(row, decision, draft, ports)
      : await carryOn(machine, row, decision, draft, ports);
    if (!problem && isHeldUp(decision)) {
      return {
        end: 'waiting',
        self: draft.self,
        ...(decision.do === 'wait' && { requeueAfterMs: decision.requeueAfterMs }),
      };
    }
    if (!problem && decision.do === 'release') return { end: 'released' };

    const to = problem || decision.do !== 'advance' ? row.onFail : decision.to;
    if (!(to in machine.table)) return end(machine, draft, to, problem, ports);
    draft.explain(problem);
    draft.enter(to, false);
  }
}

/** The row of the phase. None for a phase that we have not, or that is for deletions where nothing is being deleted. */
function rowOf<Self extends Obj, Snapshot extends object>(
  { table }: Machine<Self, Snapshot>,
  { status, self }: Draft<Self, StatusOf<Snapshot>>,
): PhaseRow<Snapshot, string> | undefined {
  const row = table[status.phase ?? ''];
  return row?.onFail === 'DeleteFailed' && !isBeingDeleted(self.metadata) ? undefined : row;
}

/** Ends the job, unless something below is still at work for it: then the problem is shown, and waits for that. */
async function end<Self extends Obj, Snapshot extends object>(
  machine: Machine<Self, Snapshot>,
  draft: Draft<Self, StatusOf<Snapshot>>,
  phase: string,
  problem: Problem | undefined,
  ports: PhasePorts,
): Promise<PhasesEnd<View<Self>>> {
  if (problem && machine.isBelowAtWork?.(draft.picture)) {
    draft.await(problem, undefined);
    await draft.store();
    return { end: 'waiting', self: draft.self };
  }
  if (problem) await putUpFence(machine, draft, ports);
  draft.explain(problem);
  draft.enter(phase, true);
  if (machine.atEnd) draft.status = machine.atEnd(draft.self, draft.status, draft.removed);
  await draft.store();
  announceEnd(draft, problem, machine.celebrates?.(draft.self) ?? false, ports);
  return { end: 'finished', self: draft.self };
}

/**
 * For a job that fails: when one ends well, every object below has finished it. What is refused for good must not keep
 * the job from its end.
 */
async function putUpFence<Self extends Obj, Snapshot extends object>(
  { fence }: Machine<Self, Snapshot>,
  draft: Draft<Self, StatusOf<Snapshot>>,
  ports: PhasePorts,
): Promise<void> {
  for (const effect of (await fence?.(draft.picture)) ?? []) {
    const refusal = await applyEffects({}, [effect], draft, ports);
    if (refusal) ports.log.warn({ effect: nameOf(effect), reason: refusal.message }, 'fencing failed');
  }
}

type HeldUp<S extends Status = Status> = Extract<Decision<string, S>, { readonly do: 'wait' | 'retry' }>;
const isHeldUp = <S extends Status>(decision: Decision<string, S>): decision is HeldUp<S> =>
  decision.do === 'wait' || decision.do === 'retry';

/** Stores why it goes no further; what is started meanwhile comes after that. Answers a problem that ends the job. */
async function holdUp<Self extends Obj, S extends Status>(
  row: RefusalRule,
  decision: HeldUp<S>,
  draft: Draft<Self, S>,
  ports: PhasePorts,
): Promise<Problem | undefined> {
  draft.change(decision.status);
  if (decision.do === 'wait') draft.await(decision.why, decision.awaited);
  else draft.stumble(decision.problem);
  await draft.store();
  const failure = await applyEffects(row, decision.effects, draft, ports);
  if (decision.do === 'retry' && !failure) {
    throw new NotNow(decision.problem, { cause: decision.cause });
  }
  return failure;
}

/** Does what leads out of the phase. Answers a problem that ends the job. */
async function carryOn<Self extends Obj, Snapshot extends object>(
  machine: Machine<Self, Snapshot>,
  row: PhaseRow<Snapshot, string>,
  decision: Exclude<Decision<string, StatusOf<Snapshot>>, HeldUp<StatusOf<Snapshot>>>,
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
    await confirm(decision.confirm, gatherOnce(machine.gather(draft.picture, ports.now())), draft);
  }
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
    // The answer of a tenant's server will be no smaller; the job says so, and ends.
    if (ResponseTooLarge.in(error)?.isFinal()) {
      const problem = { ...couldNotFindOut(error), reason: 'ReadFailed' };
      return { do: 'fail', problem, ...nothing };
    }
    if (isFinal(error)) return { do: 'fail', problem: impossible(error), ...nothing };
    return { do: 'retry', problem: couldNotFindOut(error), cause: error, ...nothing };
  }
}

/** What somebody wrote can never be carried out. */
const impossible = (error: unknown): Problem => ({
  ...couldNotFindOut(error),
  reason: 'InvalidReference',
  codes: ['ERR_CONFIGURATION_PROBLEM'],
});

/** Ends a job that has tried a server outside for as long as it may; notes since when it does. */
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

/** Nobody's fault that we know of; shown to the user all the same, and tried again. */
const couldNotFindOut = (error: unknown): Problem => ({
  operation: 'reconcile',
  reason: error instanceof ApiError || error instanceof TransportError ? 'ReadFailed' : 'UnexpectedError',
  message: error instanceof Error ? error.message : String(error),
});

/** What was decided on a picture that has changed since must be decided again. */
async function confirm<Self extends Obj, Snapshot extends object>(
  facts: Confirmation,
  get: Get<Snapshot>,
  draft: Draft<Self, StatusOf<Snapshot>>,
): Promise<void> {
  for (const [name, before] of Object.entries(facts)) {
    if (equal(before, await get(name as keyof Snapshot))) continue;
    const message = `${name} changed while they were in use`;
    const problem = { operation: 'confirm', reason: name, message, codes: ['ERR_FOR_INFO_ONLY'] } as const;
    draft.stumble(problem);
    await draft.store();
    throw new NotNow(problem);
  }
}

type RefusalRule = Pick<PhaseRow<never, string>, 'onRefusal'>;

/** The problem that a definite refusal amounts to; anything that may pass by itself is thrown. */
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
      const verdict = judgeWrite(error, effect, draft.self.metadata);
      if (verdict.outcome === 'fail' && onRefusal !== 'retry') return refused(effect, verdict.problem, draft);
      if (verdict.outcome !== 'again') {
        draft.stumble(verdict.problem);
        await draft.store();
        throw new NotNow(verdict.problem, { cause: error });
      }
      ports.log.info({ effect: nameOf(effect) }, 'object changed concurrently, repeating the step');
      throw error;
    }
  }
  return undefined;
}

/** The phase's own words for it, if it has some, and the condition that goes with them. */
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

function announceEnd<Self extends Obj, S extends Status>(
  { status: { phase, jobID } }: Draft<Self, S>,
  problem: Problem | undefined,
  celebrates: boolean,
  ports: PhasePorts,
): void {
  if (problem) ports.event('Warning', problem.reason, problem.message);
  else if (celebrates) ports.event('Normal', phase ?? '', `job ${jobID ?? ''} has finished`);
  ports.log.info({ phase, jobID, ...(problem && { reason: problem.reason }) }, 'job finished');
}

const misplaced = (phase: string | undefined, metadata: MetaView): Problem => ({
  operation: 'reconcile',
  reason: 'UnknownPhase',
  message:
    `phase "${phase ?? ''}" is not valid for an object that is ${isBeingDeleted(metadata) ? '' : 'not '}being deleted: ` +
    'the status was edited, or another version wrote it; start another job',
});
