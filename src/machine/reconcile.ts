/**
 * One reconcile of an object with jobs: first the intake rules, then the phases. Contains no rule itself; the installation and
 * the execution controller pass in theirs.
 */
import { isFinished, isJobUnstarted, type JobView } from '../api/job.ts';
import { timestamp, type Clock } from '../lib/clock.ts';
import { NotFound } from '../runtime/errors.ts';
import type { Reconciler } from '../runtime/controller/controller.ts';
import type { Cache, Client, Context, Obj, UpdateControl, View } from '../runtime/types.ts';
import { Applier } from './apply.ts';
import type { Effect, StatusChange } from './decision.ts';
import type { StatusOf } from './phase.ts';
import type { AddReadiness } from './readiness.ts';
import { runPhases, type Machine, type PhasePorts } from './run.ts';
import { changed, statusOf } from './status.ts';

/** The answer of a rule before the phases: effects, and whether the reconcile ends. */
export interface Intake {
  readonly effects: readonly Effect[];
  readonly then: 'stop' | 'continue';
  /** A warning event about the object, sent after the effects. */
  readonly event?: { readonly reason: string; readonly note: string };
}

export interface JobController<Self extends Obj, Snapshot extends object> {
  readonly cache: Cache<Self>;
  readonly client: Client;
  readonly clock: Clock;
  readonly machine: Machine<Self, Snapshot>;
  /** The answer of the first rule that applies. Called again after its effects, until no rule applies. */
  readonly intake: (self: View<Self>, now: string) => Intake | undefined;
  /** How the status changes at the start of a job that was handed down without a first phase. */
  readonly begin: (self: View<Self>, now: string) => StatusChange<StatusOf<Snapshot>>;
  /** When to reconcile a finished object again, for rules that depend on time. */
  readonly restMs?: (self: View<Self>, now: string) => number | undefined;
  /** Completes patches of a status. */
  readonly readiness?: AddReadiness;
  /** Called for every phase that is entered. */
  readonly entered?: (phase: string, from: string | undefined) => void;
}

/** Events end each wait; this interval is the safety net in case one is lost. */
const SAFETY_NET_MS = 5 * 60_000;
/** More answers in a row than there are rules: one of them has no effect. */
const MAX_RULES = 20;

export function jobReconciler<Self extends Obj & JobView, Snapshot extends object>(
  controller: JobController<Self, Snapshot>,
): Reconciler<Self> {
  return {
    reconcile: (primary, ctx) =>
      reconcileJob(controller, primary, ctx).catch((error: unknown) => {
        if (isGone(error, primary)) return { write: 'none' };
        throw error;
      }),
  };
}

async function reconcileJob<Self extends Obj & JobView, Snapshot extends object>(
  controller: JobController<Self, Snapshot>,
  primary: View<Self>,
  ctx: Context<Self>,
): Promise<UpdateControl<Self>> {
  const now = (): string => timestamp(controller.clock);
  const ports: PhasePorts = {
    write: ctx.write,
    read: (kind, key) => controller.client.get(kind, key, ctx.signal),
    signal: ctx.signal,
    now,
    log: ctx.log,
    attempt: ctx.attempt,
    event: (type, reason, note) => ctx.event(type, reason, note),
    ...(controller.readiness && { readiness: controller.readiness }),
    ...(controller.entered && { entered: controller.entered }),
  };
  let self: View<Self> | undefined = primary;
  for (let rules = 0; rules < MAX_RULES; rules++) {
    const intake = controller.intake(self, now());
    if (intake) {
      const applier = new Applier(ports);
      for (const effect of intake.effects) await applier.carryOut(effect);
      if (intake.event) ports.event('Warning', intake.event.reason, intake.event.note);
      if (intake.then === 'stop') return { write: 'none' };
    } else if (isFinished(self)) {
      const rest = controller.restMs?.(self, now());
      return { write: 'none', ...(rest !== undefined && { requeueAfterMs: rest }) };
    } else {
      const stored = statusOf<StatusOf<Snapshot>>(self);
      const status = isJobUnstarted(self) ? changed(stored, controller.begin(self, now()), now()) : stored;
      const end = await runPhases(controller.machine, self, status, ports);
      if (end.end === 'released') return { write: 'none' };
      if (end.end === 'waiting') {
        return {
          write: 'none',
          requeueAfterMs: Math.min(end.requeueAfterMs ?? SAFETY_NET_MS, SAFETY_NET_MS),
        };
      }
    }
    self = controller.cache.get(ctx.key);
    if (!self) return { write: 'none' };
  }
  throw new Error(`the rules before the phases do not terminate for ${ctx.key}`);
}

/** The object was deleted meanwhile, so there is no status left to write. */
const isGone = (error: unknown, self: View<Obj>): boolean =>
  error instanceof NotFound && error.ref.kind === self.kind && error.ref.name === self.metadata.name;
