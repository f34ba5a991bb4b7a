/**
 * Critical problems: a pass that ends with what only a bug throws is put on record, for a person to read with
 * kubectl. The pass itself is tried again like any other that failed.
 */
import { API_VERSION } from '../api/labels.ts';
import {
  criticalProblemsKind,
  type CriticalProblem,
  type CriticalProblems,
} from '../api/kinds/criticalproblems.ts';
import { timestamp, type Clock } from '../lib/clock.ts';
import type { Logger } from '../observability/log.ts';
import { AlreadyExists, Conflict } from '../runtime/errors.ts';
import { keyOf } from '../runtime/keys.ts';
import type { ControllerSpec } from '../runtime/controller/controller.ts';
import { getIfThere } from '../runtime/transport/read.ts';
import type { Client, Context, Obj, View, Writer } from '../runtime/types.ts';
import { lockedPatch } from './apply.ts';
import { NotNow } from './run.ts';

/** Puts one problem on record; never fails. */
export type ReportProblem = (description: string) => Promise<void>;

/** Runs a pass of a controller and puts on record what goes wrong in the program itself; the failure goes on its way. */
export const noteBugs =
  (controller: string, report: ReportProblem) =>
  async <R>(primary: View<Obj>, pass: () => Promise<R>): Promise<R> => {
    try {
      return await pass();
    } catch (error) {
      const bug = bugIn(error);
      if (bug) await report(describeBug(bug, controller, primary));
      throw error;
    }
  };

/** The same controller, with a record of what goes wrong in itself. */
export function withCriticalProblems<P extends Obj>(
  spec: ControllerSpec<P>,
  report: ReportProblem,
): ControllerSpec<P> {
  const noting = noteBugs(spec.name, report);
  const { reconciler } = spec;
  const cleanup = reconciler.cleanup?.bind(reconciler);
  return {
    ...spec,
    reconciler: {
      ...reconciler,
      reconcile: (primary, ctx) => noting(primary as View<Obj>, () => reconciler.reconcile(primary, ctx)),
      ...(cleanup && {
        cleanup: (primary: View<P>, ctx: Context<P>) =>
          noting(primary as View<Obj>, () => cleanup(primary, ctx)),
      }),
    },
  };
}

const bugClasses = [TypeError, RangeError, ReferenceError, SyntaxError, EvalError, URIError];

/** What only a bug throws, also where the loop over phases has wrapped it; undefined for every failure that is foreseen. */
export function bugIn(error: unknown): Error | undefined {
  if (error instanceof NotNow) return bugIn(error.cause);
  return bugClasses.some((Class) => error instanceof Class) ? (error as Error) : undefined;
}

const FRAMES = 4;
const MAX_LENGTH = 1_000;

/** Where it happened and what; a parser's message is left out, for it quotes what was parsed. */
export function describeBug(bug: Error, controller: string, primary: View<Obj>): string {
  const message = bug instanceof SyntaxError ? '' : `: ${bug.message}`;
  const frames = (bug.stack ?? '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line.startsWith('at '))
    .slice(0, FRAMES);
  const where = `${primary.kind} ${keyOf(primary)} in controller ${controller}`;
  return [`${bug.name} at ${where}${message}`, ...frames].join(' | ').slice(0, MAX_LENGTH);
}

// ---------------------------------------------------------------- the record

const NAME = 'critical-problems';
/** Older ones give way. */
const MAX_PROBLEMS = 10;
/** A pass that fails again and again for the same reason is noted this often. */
const REPEAT_MS = 5 * 60_000;

/** The list with one more problem; undefined when it says so already. Pure. */
export function withProblem(
  problems: readonly CriticalProblem[],
  problem: { readonly podName: string; readonly creationTime: string; readonly description: string },
): CriticalProblem[] | undefined {
  const now = Date.parse(problem.creationTime);
  const isKnown = problems.some(
    (known) =>
      known.podName === problem.podName &&
      known.description === problem.description &&
      now - Date.parse(known.creationTime ?? '') < REPEAT_MS,
  );
  return isKnown ? undefined : [...problems, problem].slice(-MAX_PROBLEMS);
}

interface RecordPorts {
  readonly client: Client;
  readonly write: Writer;
  readonly clock: Clock;
  readonly log: Logger;
  readonly pod: { readonly name: string; readonly namespace: string };
}

const MAX_TRIES = 5;

/** Keeps the record in the namespace of the pod. */
export function criticalProblemsRecord({ client, write, clock, log, pod }: RecordPorts): ReportProblem {
  const key = `${pod.namespace}/${NAME}`;
  let last = Promise.resolve();

  const note = async (description: string): Promise<void> => {
    const problem = { podName: pod.name, creationTime: timestamp(clock), description };
    const existing = await getIfThere(client, criticalProblemsKind, key);
    const problems = withProblem(existing?.spec?.criticalProblem ?? [], problem);
    if (!problems) return;
    const spec = { criticalProblem: problems };
    if (existing) await lockedPatch(criticalProblemsKind, existing, { spec }, write);
    else await write({ verb: 'create', kind: criticalProblemsKind, object: empty(pod.namespace, spec) });
  };
  const noteStubbornly = async (description: string): Promise<void> => {
    for (let tries = 1; ; tries++) {
      try {
        await note(description);
        return;
      } catch (error) {
        const isRace = error instanceof Conflict || error instanceof AlreadyExists;
        if (isRace && tries < MAX_TRIES) continue;
        log.error({ err: error, problem: description }, 'recording a critical problem failed');
        return;
      }
    }
  };
  return (description) => {
    log.error({ problem: description }, 'unexpected error, probably a bug');
    last = last.then(() => noteStubbornly(description));
    return last;
  };
}

const empty = (namespace: string, spec: CriticalProblems['spec']): CriticalProblems => ({
  apiVersion: API_VERSION,
  kind: criticalProblemsKind.kind,
  metadata: { name: NAME, namespace },
  spec,
});
