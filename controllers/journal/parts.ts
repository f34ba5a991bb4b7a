/** The objects below a root, with what each of them took and waited for in a job. Reads only the caches. */
import { importedNames } from '../../src/api/data-names.ts';
import { hasFinishedJob } from '../../src/api/job.ts';
import type { DeployItem } from '../../src/api/kinds/deployitem.ts';
import type { Execution } from '../../src/api/kinds/execution.ts';
import type { Installation } from '../../src/api/kinds/installation.ts';
import type { JobPart } from '../../src/api/kinds/jobrecord.ts';
import { annotations, labels } from '../../src/api/labels.ts';
import type { LastError } from '../../src/api/shared.ts';
import { MAX_TREE_DEPTH } from '../../src/landscape/tree.ts';
import { index, namesInFamily, type World } from '../../src/landscape/world.ts';
import { cutEnd } from '../../src/lib/cut.ts';
import { keyOf } from '../../src/runtime/keys.ts';
import type { View } from '../../src/runtime/types.ts';

type Lookups = Pick<World, 'installations' | 'executions' | 'deployItems'>;
type PartObject = View<Installation> | View<Execution> | View<DeployItem>;

/** The parts that finished the job, and how many below the root did not, or already work on another one. */
export interface Parts {
  readonly parts: readonly JobPart[];
  readonly others: number;
}

/** From the top down; siblings in the order in which they started. */
export function partsOf(root: View<Installation>, jobID: string, world: Lookups): Parts {
  const parts: JobPart[] = [];
  let others = 0;
  const add = (object: PartObject, depth: number, waitedFor: readonly string[]): void => {
    if (hasFinishedJob(object, jobID)) parts.push(partOf(object, depth, waitedFor));
    else others++;
  };
  const visit = (installation: View<Installation>, depth: number): void => {
    const execution = world.executions.get(keyOf(installation));
    const own = execution?.metadata.ownerReferences?.some(({ uid }) => uid === installation.metadata.uid);
    if (execution && own) {
      add(execution, depth, []);
      const items = world.deployItems.byIndex(index.managedBy, keyOf(execution));
      const last = lastFinished(items);
      for (const item of inOrder(items)) add(item, depth + 1, titles(itemsBefore(item, last)));
    }
    if (depth > MAX_TREE_DEPTH) return;
    for (const sub of inOrder(world.installations.byIndex(index.owner, installation.metadata.uid ?? ''))) {
      add(sub, depth, titles(exportersFor(sub, world)));
      visit(sub, depth + 1);
    }
  };
  visit(root, 1);
  return { parts, others };
}

function partOf(object: PartObject, depth: number, waitedFor: readonly string[]): JobPart {
  const { kind, metadata, status } = object;
  const { triggerTime, initTime, waitTime, finishedTime } = status?.transitionTimes ?? {};
  const error = status?.phase === 'Succeeded' ? undefined : status?.lastError;
  return {
    kind,
    name: metadata.name,
    title: titleOf(object),
    depth,
    ...(status?.phase && { phase: status.phase }),
    ...(triggerTime && { triggeredAt: triggerTime }),
    ...(initTime && { startedAt: initTime }),
    ...(waitTime && { waitedAt: waitTime }),
    ...(finishedTime && { endedAt: finishedTime }),
    ...(waitedFor.length > 0 && { waitedFor: [...waitedFor] }),
    ...(error && { error: recordedError(error, PART_MESSAGE) }),
  };
}

/** Characters of messages; causes are at the front. */
const PART_MESSAGE = 400;

/** An error of a status, shortened. Statuses contain no secret values. */
export const recordedError = ({ operation, reason, message, codes }: View<LastError>, max: number) => ({
  operation,
  reason,
  message: cutEnd(message, max),
  ...(codes && codes.length > 0 && { codes: [...codes] }),
});

/** Name in the blueprint; an execution has the name of its installation. */
const titleOf = ({ metadata }: PartObject): string =>
  metadata.annotations?.[annotations.subinstallationName] ??
  metadata.labels?.[labels.executionName] ??
  metadata.name;

/** Exporters of one name that are recorded. Several make the import ambiguous, and a tenant decides how many there are. */
const MAX_EXPORTERS = 10;

function exportersFor(sub: View<Installation>, { installations }: Lookups): readonly PartObject[] {
  const found = new Set<PartObject>();
  for (const name of namesInFamily(sub, importedNames)) {
    let read = 0;
    for (const key of installations.keysByIndex(index.exports, name)) {
      if (++read > MAX_EXPORTERS) break;
      const exporter = installations.get(key);
      if (exporter && exporter.metadata.uid !== sub.metadata.uid) found.add(exporter);
    }
  }
  return [...found];
}

/** For each title the item that finished last: any number of items can have the same one. */
function lastFinished(items: readonly View<DeployItem>[]): ReadonlyMap<string, View<DeployItem>> {
  const last = new Map<string, View<DeployItem>>();
  for (const item of items) {
    const title = titleOf(item);
    const other = last.get(title);
    if (!other || finishedAt(other) < finishedAt(item)) last.set(title, item);
  }
  return last;
}

const itemsBefore = (
  item: View<DeployItem>,
  last: ReturnType<typeof lastFinished>,
): readonly PartObject[] => [
  ...new Set(
    item.metadata.annotations?.[annotations.dependsOn]?.split(',').flatMap((name) => last.get(name) ?? []),
  ),
];

const finishedAt = ({ status }: PartObject): string => status?.transitionTimes?.finishedTime ?? '';

const titles = (objects: readonly PartObject[]): readonly string[] =>
  [...objects].sort(by(finishedAt)).map(titleOf);

const inOrder = <T extends PartObject>(objects: readonly T[]): readonly T[] =>
  [...objects].sort(
    by(({ metadata, status }) => `${status?.transitionTimes?.triggerTime ?? '9'} ${metadata.name}`),
  );

const by =
  <T>(keyFor: (object: T) => string) =>
  (a: T, b: T): number =>
    keyFor(a) < keyFor(b) ? -1 : keyFor(a) > keyFor(b) ? 1 : 0;
