/**
 * Metrics about landscapes: the objects of each kind by phase, the jobs that run, and the age of the oldest of them.
 * The counts follow the events of the caches, so a scrape reads no objects. Every replica counts all objects.
 */
import { isFinished, phaseLabel, type JobView } from '../api/job.ts';
import type { JobStatus } from '../api/shared.ts';
import type { Clock } from '../lib/clock.ts';
import { smallest } from '../lib/lists.ts';
import type { Metrics } from '../observability/metrics.ts';
import { keyOf } from '../runtime/keys.ts';
import type { Cache, Change, Key, Obj, View } from '../runtime/types.ts';
import type { World } from './world.ts';

type JobObject = Obj & JobView & { readonly status?: View<JobStatus> | undefined };

/** Value of the label `phase` for an object without a phase. */
const NO_PHASE = 'none';

export function observeJobs(world: World, metrics: Metrics, clock: Clock): void {
  const kinds: Readonly<Record<string, JobCounts>> = {
    Installation: follow(world.installations, clock),
    Execution: follow(world.executions, clock),
    DeployItem: follow(world.deployItems, clock),
  };
  const each = <T>(read: (counts: JobCounts, kind: string) => T): T[] =>
    Object.entries(kinds).map(([kind, counts]) => read(counts, kind));
  metrics.observed(
    {
      name: 'espalier_landscape_objects',
      help: 'Objects of landscapes by kind and phase; the same in every replica.',
      labels: ['kind', 'phase'],
    },
    () =>
      each(({ phases }, kind) =>
        [...phases].map(([phase, count]) => [{ kind, phase }, count] as const),
      ).flat(),
  );
  metrics.observed(
    {
      name: 'espalier_landscape_unfinished_jobs',
      help: 'Objects with an unfinished job, by kind; the same in every replica.',
      labels: ['kind'],
    },
    () => each(({ started }, kind) => [{ kind }, started.size] as const),
  );
  metrics.observed(
    {
      name: 'espalier_landscape_oldest_unfinished_job_seconds',
      help: 'Age of the oldest unfinished job, by kind; 0 if there is none.',
      labels: ['kind'],
    },
    () => each(({ started }, kind) => [{ kind }, oldestSeconds(started, clock)] as const),
  );
}

interface JobCounts {
  readonly phases: Map<string, number>;
  /** When the jobs that have not ended were started, in milliseconds since 1970. */
  readonly started: Map<Key, number>;
}

function follow(cache: Cache<JobObject>, clock: Clock): JobCounts {
  const counts: JobCounts = { phases: new Map(), started: new Map() };
  cache.subscribe({
    name: 'job metrics',
    ownEvents: 'deliver',
    on(change) {
      apply(counts, change, clock);
    },
  });
  return counts;
}

function apply({ phases, started }: JobCounts, change: Change<JobObject>, clock: Clock): void {
  const { obj } = change;
  const key = keyOf(obj);
  if (change.type === 'update') add(phases, phaseOf(change.old), -1);
  add(phases, phaseOf(obj), change.type === 'delete' ? -1 : 1);
  if (change.type === 'delete' || isFinished(obj)) started.delete(key);
  else started.set(key, startOf(obj) ?? started.get(key) ?? clock.wall());
}

const phaseOf = ({ status }: View<JobObject>): string =>
  status?.phase === undefined ? NO_PHASE : phaseLabel(status.phase);

/** A phase without objects keeps its series, with 0. */
const add = (phases: Map<string, number>, phase: string, by: number): void => {
  phases.set(phase, (phases.get(phase) ?? 0) + by);
};

function startOf({ status }: View<JobObject>): number | undefined {
  const at = status?.transitionTimes?.triggerTime;
  const ms = at === undefined ? NaN : Date.parse(at);
  return Number.isNaN(ms) ? undefined : ms;
}

const oldestSeconds = (started: ReadonlyMap<Key, number>, clock: Clock): number =>
  started.size === 0 ? 0 : Math.max(0, (clock.wall() - smallest(started.values())) / 1000);
