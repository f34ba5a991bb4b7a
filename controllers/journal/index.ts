/**
 * The journal: writes a JobRecord when the job of a root has ended, replaces old records, and deletes expired ones.
 * @see docs/adr/0051-jobs-are-recorded-when-they-end.md
 */
import { isFinished, isRoot } from '../../src/api/job.ts';
import { installationKind, type Installation } from '../../src/api/kinds/installation.ts';
import { jobRecordKind, type JobRecord } from '../../src/api/kinds/jobrecord.ts';
import type { JournalSettings } from '../../src/api/journal.ts';
import { labels } from '../../src/api/labels.ts';
import { smallest } from '../../src/lib/lists.ts';
import type { World } from '../../src/landscape/world.ts';
import { AlreadyExists, NotFound, isNamespaceTerminating } from '../../src/runtime/errors.ts';
import { keepFields } from '../../src/runtime/cache/transforms.ts';
import type { ControllerSpec } from '../../src/runtime/controller/controller.ts';
import { keyOf } from '../../src/runtime/keys.ts';
import type { Cache, CacheOptions, Caches, Context, View } from '../../src/runtime/types.ts';
import { importsOf } from './imports.ts';
import { JobObserver } from './observer.ts';
import { partsOf } from './parts.ts';
import { recordOf, type Observed } from './record.ts';
import { expiryOf, isExpired, latestFirst, newRecord, planOf, replacement } from './slots.ts';

interface JournalPorts {
  readonly world: World;
  readonly caches: Caches;
  readonly settings: JournalSettings;
  /** The options of the cache of installations in `world`. */
  readonly installationCache: CacheOptions<Installation>;
}

/** What the next record is compared with; parts and specs stay out of the memory. */
const recordCache: CacheOptions<JobRecord> = {
  transform: keepFields(
    'spec.root',
    'spec.number',
    'spec.jobID',
    'spec.endedAt',
    'spec.specHash',
    'spec.blueprint',
    'spec.imports',
  ),
};

const BY_ROOT = 'root';

export function journalControllers(
  ports: JournalPorts,
): readonly [ControllerSpec<Installation>, ControllerSpec<JobRecord>] {
  const records = ports.caches.of<JobRecord>(jobRecordKind, recordCache);
  records.index(BY_ROOT, ({ metadata }) => {
    const uid = metadata.labels?.[labels.rootUid];
    return uid === undefined ? [] : [uid];
  });
  return [recorder(ports, records), cleaner(ports)];
}

function recorder(ports: JournalPorts, records: Cache<JobRecord>): ControllerSpec<Installation> {
  const { world, settings } = ports;
  const observer = new JobObserver(world);
  const recordsOf = ({ metadata }: View<Installation>) => records.byIndex(BY_ROOT, metadata.uid ?? '');

  /** Ended jobs without a record, the oldest first: observed ones, or the last one of a process that has ended. */
  const unrecorded = (
    root: View<Installation>,
  ): readonly { root: View<Installation>; observed: Observed }[] => {
    const known = new Set(recordsOf(root).map(({ spec }) => spec.jobID));
    const observed = observer.endedOf(keyOf(root)).filter(([jobID]) => !known.has(jobID));
    if (observed.length > 0) return observed.map(([, ended]) => ended);
    const { jobIDFinished } = root.status ?? {};
    const isDue = jobIDFinished && isFinished(root) && !known.has(jobIDFinished);
    return isDue ? [{ root, observed: {} }] : [];
  };

  return {
    name: 'journal',
    kind: installationKind,
    finalizer: { handledBy: 'reconciler' },
    generation: 'off',
    retry: 'growing',
    cache: ports.installationCache,
    filter: { add: hasEnded, update: (old, now) => hasEnded(now) && endOf(old) !== endOf(now) },
    reconciler: {
      async reconcile(primary, ctx) {
        try {
          for (const ended of unrecorded(primary)) {
            await record(ended, recordsOf(primary), ports, ctx);
            observer.recorded(keyOf(primary), endOf(ended.root));
          }
        } catch (error) {
          if (isNamespaceTerminating(error)) return { write: 'none' };
          // Another process recorded the job, or the root was created again: the cache shows it soon.
          if (!(error instanceof AlreadyExists)) throw error;
          return { write: 'none', requeueAfterMs: 1_000 };
        }
        const now = ctx.clock.wall();
        for (const one of planOf(recordsOf(primary), settings, now, false).surplus) await remove(one, ctx);
        const next = smallest(recordsOf(primary).map((one) => expiryOf(one, settings)));
        return { write: 'none', requeueAfterMs: untilExpiry(next, now) };
      },
    },
  };
}

/** Milliseconds until records are checked again: at the expiry, at the latest after a day. */
const untilExpiry = (expiry: number, now: number): number =>
  Math.min(Math.max(expiry - now, 0) + 1_000, 86_400_000);

/** The root when a job had ended, and the observations of the job. */
interface Ended {
  readonly root: View<Installation>;
  readonly observed: Observed;
}

/** Writes the record of a job: one request. @param present the records of the root */
async function record(
  { root, observed }: Ended,
  present: readonly View<JobRecord>[],
  { world, settings }: JournalPorts,
  { write, signal, clock }: Context<Installation>,
): Promise<void> {
  const spec = recordOf({
    root,
    observed,
    below: partsOf(root, endOf(root), world),
    imports: importsOf(root, world),
    before: latestFirst(present)[0]?.spec,
    maxBytes: settings.recordBytes,
  });
  const next = newRecord(root, present, spec, settings);
  const { replaced } = planOf(present, settings, clock.wall(), true);
  const kind = jobRecordKind;
  await (replaced
    ? write({ verb: 'replace', kind, object: replacement(replaced, next) }, signal)
    : write({ verb: 'create', kind, object: next }, signal));
}

const endOf = ({ status }: View<Installation>): string => status?.jobIDFinished ?? '';
const hasEnded = (root: View<Installation>): boolean => isRoot(root.metadata) && endOf(root) !== '';

/** Deletes expired records whose root is gone; those of other roots are deleted with the next record. */
function cleaner({ world, settings }: JournalPorts): ControllerSpec<JobRecord> {
  const isOrphan = ({ metadata, spec }: View<JobRecord>): boolean =>
    world.installations.get(`${metadata.namespace ?? ''}/${spec.root.name}`)?.metadata.uid !== spec.root.uid;
  return {
    name: 'journal-cleanup',
    kind: jobRecordKind,
    generation: 'off',
    maxConcurrent: 1,
    cache: recordCache,
    reconciler: {
      async reconcile(primary, ctx) {
        const now = ctx.clock.wall();
        if (!isExpired(primary, settings, now))
          return { write: 'none', requeueAfterMs: untilExpiry(expiryOf(primary, settings), now) };
        if (isOrphan(primary)) await remove(primary, ctx);
        return { write: 'none' };
      },
    },
  };
}

async function remove(
  { metadata }: View<JobRecord>,
  { write, signal }: Pick<Context<JobRecord>, 'write' | 'signal'>,
): Promise<void> {
  const { namespace = '', name, uid } = metadata;
  try {
    await write(
      { verb: 'delete', kind: jobRecordKind, key: `${namespace}/${name}`, ...(uid && { uid }) },
      signal,
    );
  } catch (error) {
    if (!(error instanceof NotFound)) throw error;
  }
}
