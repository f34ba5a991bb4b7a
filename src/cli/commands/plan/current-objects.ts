/**
 * The objects that an installation would see in its next job: the current objects, and those that the jobs above it
 * would write.
 */
import { deployItemKind, type DeployItem } from '../../../api/kinds/deployitem.ts';
import { managedUids } from '../../../api/managed-objects.ts';
import type { WrittenObject } from '../../../dataflow/objects.ts';
import { dataIndexes, createWorld, type World } from '../../../landscape/world.ts';
import { Forbidden } from '../../../runtime/errors.ts';
import { keyOf } from '../../../runtime/keys.ts';
import type { Cache, CacheOptions, Caches, Kind, Obj, View } from '../../../runtime/types.ts';
import type { Cluster } from '../../cluster.ts';

/** Reads all objects of one namespace that installations read. @throws ApiError if one of the kinds cannot be read */
export async function readWorld(
  { client, caches, namespace }: Pick<Cluster, 'client' | 'caches' | 'namespace'>,
  signal: AbortSignal,
): Promise<World> {
  const narrowed: Caches = {
    of: <T extends Obj>(kind: Kind<T>, options?: CacheOptions<T>) =>
      caches.of<T>(kind, { ...options, namespaces: [namespace] }),
    bounded: (kind, options) => caches.bounded(kind, { ...options, namespaces: [namespace] }),
    all: () => caches.all(),
    separate: (kind, options) => caches.separate(kind, { ...options, namespaces: [namespace] }),
  };
  const world = createWorld(narrowed);
  const { installations, executions, deployItems, dataObjects, targets, contexts } = world;
  const needed = [installations, executions, deployItems, dataObjects, targets, contexts] as const;
  // A cache would retry forever if the kind does not exist or is forbidden.
  const probes = await Promise.allSettled(
    needed.map(async ({ kind }) => {
      for await (const _ of client.list<Obj>(kind, { namespace, limit: 1 }, signal)) break;
    }),
  );
  for (const probe of probes) if (probe.status === 'rejected') throw probe.reason;
  await Promise.all(needed.map((cache) => cache.start(signal)));
  return world;
}

/**
 * Finds deploy items by the uid of an object that they manage: in all namespaces, or, if that is forbidden, only
 * among the objects that were read. @throws ApiError
 */
export async function readManagers(
  { client }: Pick<Cluster, 'client'>,
  world: { readonly deployItems: { list(): Iterable<View<DeployItem>> } },
  signal: AbortSignal,
): Promise<(uid: string) => readonly View<DeployItem>[]> {
  const found = new Map<string, View<DeployItem>[]>();
  const note = (items: Iterable<View<DeployItem>>): void => {
    for (const item of items)
      for (const uid of managedUids(item)) {
        const known = found.get(uid);
        if (known) known.push(item);
        else found.set(uid, [item]);
      }
  };
  try {
    for await (const { items } of client.list(deployItemKind, {}, signal)) note(items);
  } catch (error) {
    if (!(error instanceof Forbidden)) throw error;
    found.clear();
    // eslint-disable-next-line no-restricted-syntax -- once for each command
    note(world.deployItems.list());
  }
  return (uid) => found.get(uid) ?? [];
}

/** The same objects, plus those that a job would write. */
export function withObjects(world: World, objects: readonly WrittenObject[]): World {
  const of = <T extends Obj>(cache: Cache<T>, kind: WrittenObject['kind']): Cache<T> =>
    withAdded(cache, objects.filter((one) => one.kind === kind) as unknown as readonly View<T>[]);
  return { ...world, dataObjects: of(world.dataObjects, 'DataObject'), targets: of(world.targets, 'Target') };
}

/** Supports only reads by name and by index. */
function withAdded<T extends Obj>(cache: Cache<T>, objects: readonly View<T>[]): Cache<T> {
  const added = new Map(objects.map((one) => [keyOf(one), one]));
  const byIndex = (name: string, value: string): View<T>[] => [
    ...cache.byIndex(name, value).filter((one) => !added.has(keyOf(one))),
    ...[...added.values()].filter((one) => dataIndexes[name]?.(one).includes(value)),
  ];
  const view: Pick<Cache<T>, 'get' | 'byIndex' | 'keysByIndex'> = {
    get: (key) => added.get(key) ?? cache.get(key),
    byIndex,
    keysByIndex: (name, value) => byIndex(name, value).map(keyOf),
  };
  return view as Cache<T>;
}
