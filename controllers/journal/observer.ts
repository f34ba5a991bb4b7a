/**
 * Observes the jobs of roots while they run: some facts of a job are overwritten before it ends. What is observed is
 * kept in memory until the job is recorded; after a restart the record does not have these facts.
 */
import { isFinished, isRoot } from '../../src/api/job.ts';
import type { Installation } from '../../src/api/kinds/installation.ts';
import type { World } from '../../src/landscape/world.ts';
import { keyOf } from '../../src/runtime/keys.ts';
import type { Change, Key, View } from '../../src/runtime/types.ts';
import { importsOf } from './imports.ts';
import type { Observed } from './record.ts';

interface Job extends Observed {
  readonly jobID: string;
  readonly hashBefore: string | undefined;
}

interface Root {
  readonly job?: Job;
  /** Roots whose job has ended and may not be recorded yet, by job id: the next job may change the root meanwhile. */
  readonly ended: ReadonlyMap<string, { readonly root: View<Installation>; readonly observed: Observed }>;
}

/** Ends that are not recorded yet are at most so many; a server that refuses records for long loses the oldest. */
const MAX_ENDED = 3;

export class JobObserver {
  readonly #roots = new Map<Key, Root>();
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
    world.installations.subscribe({
      name: 'journal observer',
      ownEvents: 'deliver',
      on: (change) => {
        this.#observe(change);
      },
    });
  }

  /** The jobs that have ended, the oldest first. */
  endedOf(key: Key): readonly (readonly [jobID: string, { root: View<Installation>; observed: Observed }])[] {
    return [...(this.#roots.get(key)?.ended ?? [])];
  }

  recorded(key: Key, jobID: string): void {
    const root = this.#roots.get(key);
    if (root?.ended.has(jobID))
      this.#roots.set(key, { ...root, ended: new Map([...root.ended].filter(([id]) => id !== jobID)) });
  }

  #observe(change: Change<Installation>): void {
    const { obj } = change;
    if (change.type === 'add' || !isRoot(obj.metadata)) return;
    const key = keyOf(obj);
    if (change.type === 'delete') this.#roots.delete(key);
    else this.#update(key, change.old, obj);
  }

  #update(key: Key, old: View<Installation>, now: View<Installation>): void {
    const before: Root = this.#roots.get(key) ?? { ended: new Map() };
    const job = this.#jobOf(before.job, old, now);
    const jobID = now.status?.jobIDFinished ?? '';
    const hasEnded = jobID !== '' && jobID !== old.status?.jobIDFinished && isFinished(now);
    if (!hasEnded) {
      if (job !== before.job && job) this.#roots.set(key, { ...before, job });
      return;
    }
    const observed: Observed = job?.jobID === jobID ? observedIn(job, now) : {};
    const ended = [...before.ended, [jobID, { root: now, observed }] as const].slice(-MAX_ENDED);
    this.#roots.set(key, { ended: new Map(ended) });
  }

  /** The job that runs, with what the change adds to it. */
  #jobOf(job: Job | undefined, old: View<Installation>, now: View<Installation>): Job | undefined {
    const { jobID = '', phase, importsHash } = now.status ?? {};
    if (jobID !== old.status?.jobID) {
      const previousJobID = old.status?.jobIDFinished;
      return { jobID, hashBefore: old.status?.importsHash, ...(previousJobID && { previousJobID }) };
    }
    const hasReadImports =
      job?.jobID === jobID &&
      !job.imports &&
      (phase !== old.status?.phase || importsHash !== old.status?.importsHash);
    return hasReadImports ? { ...job, imports: importsOf(now, this.#world) } : job;
  }
}

function observedIn({ previousJobID, hashBefore, imports }: Job, now: View<Installation>): Observed {
  const hash = now.status?.importsHash;
  return {
    ...(previousJobID && { previousJobID }),
    ...(imports && { imports }),
    ...(hashBefore !== undefined && hash !== undefined && { importsChanged: hashBefore !== hash }),
  };
}
