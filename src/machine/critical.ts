/**
 * Critical problems: if a reconcile throws an error that only a bug can cause, the error is recorded in a CriticalProblems object
 * that users read with kubectl. The reconcile is retried like any other that failed.
 */
import { API_VERSION } from '../api/labels.ts';
import {
  criticalProblemsKind,
  type CriticalProblem,
  type CriticalProblems,
} from '../api/kinds/criticalproblems.ts';
import { timestamp, type Clock } from '../lib/clock.ts';
import { isNestedTooDeeply } from '../lib/message-of.ts';
import type { Logger } from '../observability/log.ts';
import { AlreadyExists, Conflict } from '../runtime/errors.ts';
import { keyOf } from '../runtime/keys.ts';
import type { ControllerSpec } from '../runtime/controller/controller.ts';
import { getIfThere } from '../runtime/transport/read.ts';
import type { Client, Context, Obj, View, Writer } from '../runtime/types.ts';
import { lockedPatch } from './apply.ts';
import { RequeueError } from './run.ts';

/** Records one problem; never fails. */
export type ReportProblem = (description: string) => Promise<void>;

/** Runs a reconcile and records an error that is a bug; rethrows every error. */
export const recordBugs =
  (controller: string, report: ReportProblem) =>
  async <R>(primary: View<Obj>, reconcile: () => Promise<R>): Promise<R> => {
    try {
      return await reconcile();
    } catch (error) {
      const bug = bugIn(error);
      if (bug) await report(describeBug(bug, controller, primary));
      throw error;
    }
  };

/** The same controller; errors that are bugs are recorded. */
export function withCriticalProblems<P extends Obj>(
  spec: ControllerSpec<P>,
  report: ReportProblem,
): ControllerSpec<P> {
  const recording = recordBugs(spec.name, report);
  const { reconciler } = spec;
  const cleanup = reconciler.cleanup?.bind(reconciler);
  return {
    ...spec,
    reconciler: {
      ...reconciler,
      reconcile: (primary, ctx) => recording(primary as View<Obj>, () => reconciler.reconcile(primary, ctx)),
      ...(cleanup && {
        cleanup: (primary: View<P>, ctx: Context<P>) =>
          recording(primary as View<Obj>, () => cleanup(primary, ctx)),
      }),
    },
  };
}

const bugClasses = [TypeError, RangeError, ReferenceError, SyntaxError, EvalError, URIError];

/** The error if only a bug can cause it, also inside RequeueError; undefined for all expected failures. */
export function bugIn(error: unknown): Error | undefined {
  if (error instanceof RequeueError) return bugIn(error.cause);
  const isBug = bugClasses.some((Class) => error instanceof Class) && !isNestedTooDeeply(error);
  return isBug ? (error as Error) : undefined;
}

const FRAMES = 4;
const MAX_LENGTH = 1_000;

/** Where the error occurred and its message. Messages of parsers are left out because they quote the input, which may be secret. */
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

// ---------------------------------------------------------------- the CriticalProblems object

const NAME = 'critical-problems';
/** Older problems are dropped, first those that were repeated. */
const MAX_PROBLEMS = 10;
/** The same problem is recorded at most once in this time. */
const REPEAT_MS = 5 * 60_000;

/**
 * Where in the program a bug is, whatever object and message it is about: a tenant who finds one bug must not drop the
 * records of others with it.
 */
const framesOf = (description: string): string => {
  const at = description.indexOf(' | ');
  return at < 0 ? description : description.slice(at);
};

/** The list with the problem appended; undefined if it was recorded recently. Pure. */
export function withProblem(
  problems: readonly CriticalProblem[],
  problem: { readonly podName: string; readonly creationTime: string; readonly description: string },
): CriticalProblem[] | undefined {
  const now = Date.parse(problem.creationTime);
  const isKnown = problems.some(
    (known) =>
      known.podName === problem.podName &&
      framesOf(known.description ?? '') === framesOf(problem.description) &&
      now - Date.parse(known.creationTime ?? '') < REPEAT_MS,
  );
  if (isKnown) return undefined;
  const all = [...problems, problem];
  if (all.length <= MAX_PROBLEMS) return all;
  const places = all.map(({ description }) => framesOf(description ?? ''));
  const repeated = places.findIndex((place, i) => places.includes(place, i + 1));
  return all.filter((_, i) => i !== Math.max(0, repeated)).slice(-MAX_PROBLEMS);
}

interface RecordPorts {
  readonly client: Client;
  readonly write: Writer;
  readonly clock: Clock;
  readonly log: Logger;
  readonly pod: { readonly name: string; readonly namespace: string };
}

const MAX_TRIES = 5;

/** Keeps the object in the namespace of the pod. */
export function criticalProblemsRecord({ client, write, clock, log, pod }: RecordPorts): ReportProblem {
  const key = `${pod.namespace}/${NAME}`;
  let last = Promise.resolve();

  const record = async (description: string): Promise<void> => {
    const problem = { podName: pod.name, creationTime: timestamp(clock), description };
    const existing = await getIfThere(client, criticalProblemsKind, key);
    const problems = withProblem(existing?.spec?.criticalProblem ?? [], problem);
    if (!problems) return;
    const spec = { criticalProblem: problems };
    if (existing) await lockedPatch(criticalProblemsKind, existing, { spec }, { write });
    else await write({ verb: 'create', kind: criticalProblemsKind, object: empty(pod.namespace, spec) });
  };
  const recordWithRetries = async (description: string): Promise<void> => {
    for (let tries = 1; ; tries++) {
      try {
        await record(description);
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
    last = last.then(() => recordWithRetries(description));
    return last;
  };
}

const empty = (namespace: string, spec: CriticalProblems['spec']): CriticalProblems => ({
  apiVersion: API_VERSION,
  kind: criticalProblemsKind.kind,
  metadata: { name: NAME, namespace },
  spec,
});
