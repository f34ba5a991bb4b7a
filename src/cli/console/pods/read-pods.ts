/** Reads the pods of an object on a target, and the events of both. */
import { append } from '../../../lib/lists.ts';
import { Pod } from '../../../runtime/core-kinds.ts';
import { Forbidden } from '../../../runtime/errors.ts';
import type { Client, Kind, Obj } from '../../../runtime/types.ts';
import type { TreeEvent } from '../../tree/events.ts';
import { compareByTime } from '../../tree/events.ts';
import { eventRowOf, readEvents } from '../events.ts';
import type { PodEvents, PodList } from '../wire.ts';
import { podRowOf } from './rows.ts';
import { isPodOf, isReplicaSetOf, selectorOf, type Workload } from './workloads.ts';

const MAX_READ = 2_000;
const MAX_SHOWN = 100;
const MAX_EVENTS = 100;

/**
 * Failed pods first, then by name.
 * @param client for the cluster of the object
 * @throws the errors of runtime/errors.ts
 */
export async function podsOf(
  client: Client,
  kind: Kind,
  workload: Workload,
  signal: AbortSignal,
): Promise<PodList> {
  const object = await client.get<Obj>(kind, `${workload.namespace}/${workload.name}`, signal);
  const pods = kind.kind === Pod.kind ? [object as Pod] : await readPods(client, workload, object, signal);
  const rows = pods.map(podRowOf).sort(byHealth);
  return {
    pods: rows.slice(0, MAX_SHOWN),
    omitted: Math.max(0, rows.length - MAX_SHOWN),
    ...(await eventsOf(client, workload, [object, ...pods], signal)),
  };
}

const byHealth = (
  a: { readonly isHealthy: boolean; readonly name: string },
  b: { readonly isHealthy: boolean; readonly name: string },
): number => Number(a.isHealthy) - Number(b.isHealthy) || (a.name < b.name ? -1 : 1);

async function readPods(
  client: Client,
  workload: Workload,
  object: Obj,
  signal: AbortSignal,
): Promise<readonly Pod[]> {
  const labels = selectorOf(object);
  if (labels === undefined) return [];
  const found: Pod[] = [];
  let read = 0;
  for await (const { items } of client.list<Pod>(Pod, { namespace: workload.namespace, labels }, signal)) {
    append(
      found,
      items.filter((pod) => isPodOf(workload, pod)),
    );
    read += items.length;
    if (read >= MAX_READ) break;
  }
  return found;
}

/** Without the right to read events, the pods are still shown. */
async function eventsOf(
  client: Client,
  workload: Workload,
  objects: readonly Obj[],
  signal: AbortSignal,
): Promise<PodEvents> {
  const uids = new Set(objects.map(({ metadata }) => metadata.uid));
  const isAbout = ({ involvedObject: about }: TreeEvent): boolean =>
    (about.uid !== undefined && uids.has(about.uid)) || isReplicaSetOf(workload, about);
  try {
    const { events, isComplete } = await readEvents(client, workload.namespace, signal);
    const found = events.filter(isAbout).sort(compareByTime).toReversed();
    return {
      events: found.slice(0, MAX_EVENTS).map(eventRowOf),
      hasAllEvents: isComplete && found.length <= MAX_EVENTS,
      eventsProblem: '',
    };
  } catch (error) {
    if (!(error instanceof Forbidden)) throw error;
    return { events: [], hasAllEvents: false, eventsProblem: error.message };
  }
}
