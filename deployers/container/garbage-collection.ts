/**
 * At the start and periodically: deletes objects of items that no longer exist, and pods that are no longer needed.
 */
import { isFinished } from '../../src/api/job.ts';
import { sleep, type Clock } from '../../src/lib/clock.ts';
import { setMaxListeners } from 'node:events';
import type { Logger } from '../../src/observability/log.ts';
import { joinKey } from '../../src/runtime/keys.ts';
import { getIfThere } from '../../src/runtime/transport/read.ts';
import type { Client, Obj, View } from '../../src/runtime/types.ts';
import { DEPLOY_ITEM, type DeployItem } from '../sdk/kinds.ts';
import { isOfJob, KINDS } from './cleanup.ts';
import { labels, POD_FINALIZER } from './contract.ts';
import { all, deleteByUid, deletePod, type Place } from './host-objects.ts';
import { POD, type Pod } from './kinds.ts';
import { itemOf } from './names.ts';
import { isActive } from './pod-status.ts';
import type { ContainerSettings } from './settings.ts';

interface GarbagePorts {
  readonly client: Client;
  readonly settings: ContainerSettings;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Repeats the garbage collection until it is stopped; after a failure, it continues with the next round. */
export function startGarbageCollection(ports: GarbagePorts): { stop(): Promise<void> } {
  const { settings, clock, log } = ports;
  const life = new AbortController();
  setMaxListeners(0, life.signal);
  const isOver = (): boolean => life.signal.aborted;
  const run = async (): Promise<void> => {
    while (!isOver()) {
      try {
        await sweep(ports, life.signal);
      } catch (error) {
        if (!isOver()) log.warn({ err: error }, 'garbage collection of the container deployer failed');
      }
      await sleep(clock, settings.garbageCollection.everyMs, life.signal).catch(() => undefined);
    }
  };
  const running = settings.garbageCollection.isDisabled ? Promise.resolve() : run();
  return {
    async stop() {
      life.abort(new Error('container deployer stopping'));
      await running;
    },
  };
}

/**
 * One round. Objects are listed before their items are read, so that objects of a new item are never deleted. An
 * object that cannot be deleted does not stop the round.
 */
export async function sweep(
  { client, settings, log }: Omit<GarbagePorts, 'clock'>,
  signal?: AbortSignal,
): Promise<void> {
  const place: Place = { client, namespace: settings.namespace };
  const items = lookup(client, signal);
  const logged = async (what: string, work: () => Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      signal?.throwIfAborted();
      log.warn({ what, err: error }, 'garbage collection of the container deployer failed');
    }
  };
  for (const kind of KINDS) {
    await logged(kind.plural, async () => {
      for (const object of await all(place, kind, labels.itemName, { signal, metadataOnly: true })) {
        if (!itemOf(object)) continue;
        await logged(`${kind.kind} ${object.metadata.name}`, async () => {
          if (!(await items(object))) await deleteByUid(place, kind, object, signal);
        });
      }
    });
  }
  if (settings.keepsEndedPods) return;
  await logged(POD.plural, async () => {
    const pods = await all(place, POD, labels.itemName, { signal });
    const newest = newestOf(pods);
    for (const pod of pods) {
      await logged(`${POD.kind} ${pod.metadata.name}`, async () => {
        const item = await items(pod);
        if (isGarbage(pod, { item, isNewest: newest.has(pod) })) await deletePod(place, pod, signal);
      });
    }
  });
}

/**
 * Reads each existing item once per round. A missing item is read again for each object, since an item of that name
 * may be created.
 */
function lookup(
  client: Client,
  signal: AbortSignal | undefined,
): (object: View<Obj>) => Promise<DeployItem | undefined> {
  const known = new Map<string, DeployItem>();
  return async (object) => {
    const { namespace, name } = itemOf(object) ?? { namespace: '', name: '' };
    const key = joinKey(namespace, name);
    const found = known.get(key) ?? (await getIfThere(client, DEPLOY_ITEM, key, signal));
    if (found) known.set(key, found);
    else await assertServed(client, signal);
    return found;
  };
}

/**
 * An API server that does not serve the kind yet, for example shortly after its start, reports every item as
 * missing. Objects that are then deleted, above all the state of images, are lost.
 * @throws NotFound
 */
async function assertServed(client: Client, signal: AbortSignal | undefined): Promise<void> {
  for await (const _page of client.list(DEPLOY_ITEM, { limit: 1, metadataOnly: true }, signal)) return;
}

/** The most recently created pod of each item. */
function newestOf(pods: readonly Pod[]): ReadonlySet<Pod> {
  const newest = new Map<string, Pod>();
  const created = (pod: Pod): string => pod.metadata.creationTimestamp ?? '';
  for (const pod of pods) {
    const { namespace = '', name = '' } = itemOf(pod) ?? {};
    const other = newest.get(joinKey(namespace, name));
    if (!other || created(pod) > created(other)) newest.set(joinKey(namespace, name), pod);
  }
  return new Set(newest.values());
}

/** @param facts the item, undefined if it no longer exists; whether the item has no newer pod */
export function isGarbage(
  pod: View<Pod>,
  { item, isNewest }: { readonly item: View<DeployItem> | undefined; readonly isNewest: boolean },
): boolean {
  // The pod may still do useful work, unless its job has ended.
  if (isActive(pod))
    return item !== undefined && isFinished(item) && isOfJob(pod, item.status?.jobIDFinished);
  if (!item || !isNewest) return true;
  return !(pod.metadata.finalizers ?? []).includes(POD_FINALIZER);
}
