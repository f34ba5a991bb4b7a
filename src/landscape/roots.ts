/**
 * Determines the tree of an object. An error here would let two replicas work on the same object. If the caches
 * lack an owner, they may be stale, so the API server is asked whether the owner exists.
 */
import { GROUP, labels } from '../api/labels.ts';
import { deployItemKind } from '../api/kinds/deployitem.ts';
import { executionKind } from '../api/kinds/execution.ts';
import { installationKind } from '../api/kinds/installation.ts';
import { syncObjectKind } from '../api/kinds/syncobject.ts';
import { targetSyncKind } from '../api/kinds/targetsync.ts';
import type { Places } from '../runtime/fleet/options.ts';
import { joinKey } from '../runtime/keys.ts';
import { getIfThere } from '../runtime/transport/read.ts';
import type { Cache, Change, Client, Key, Kind, Obj, View } from '../runtime/types.ts';
import { MAX_OWNERS } from './tree.ts';
import { index, type World } from './world.ts';

/** Limit for the set of deleted owners. If it is reached, the set is cleared, and the API server is asked again. */
const MAX_DELETED_OWNERS = 10_000;

/** The owner of an object. */
interface OwnerRef {
  readonly kind: 'Installation' | 'Execution';
  readonly key: Key;
  /** undefined if the owner is referenced by a label. */
  readonly uid: string | undefined;
}

/** The place of an object, and the owner that the caches lack, if any. */
interface PlaceOrMissingOwner {
  readonly place: string;
  readonly missing: OwnerRef | undefined;
}

const kinds = { Installation: installationKind, Execution: executionKind } as const;

/** The objects of a tree share one place; all other objects share the place of their namespace. */
export function createRoots(world: World, client: Client): Places {
  const deletedOwners = new Set<string>();
  const caches = { Installation: world.installations, Execution: world.executions } as const;

  const find = ({ kind, key, uid }: OwnerRef): View<Obj> | undefined => {
    const found = (caches[kind] as Cache<Obj>).peek(key);
    return found && (uid === undefined || found.metadata.uid === uid) ? found : undefined;
  };
  const findPlace = (object: View<Obj>): PlaceOrMissingOwner => {
    let top = object;
    for (let depth = 0; depth < MAX_OWNERS; depth++) {
      const owner = ownerOf(top);
      if (!owner) break;
      const found = find(owner);
      // An object without an owner keeps its place if the deleted owner was the root.
      if (!found)
        return { place: owner.key, missing: deletedOwners.has(owner.uid ?? '') ? undefined : owner };
      top = found;
    }
    return { place: placeOfTop(top), missing: undefined };
  };
  const resolvePlace = async (object: View<Obj>, signal: AbortSignal): Promise<string | undefined> => {
    for (;;) {
      const { place, missing } = findPlace(object);
      if (!missing) return place;
      const there = await getIfThere(client, kinds[missing.kind] as Kind, missing.key, signal);
      const exists = there && (missing.uid === undefined || there.metadata.uid === missing.uid);
      if (exists) {
        // The cache has received the owner meanwhile, or its event will trigger another reconcile.
        if (find(missing)) continue;
        return undefined;
      }
      if (missing.uid === undefined) return place;
      if (deletedOwners.size >= MAX_DELETED_OWNERS) deletedOwners.clear();
      deletedOwners.add(missing.uid);
    }
  };
  return {
    placeOf(object, signal) {
      const { place, missing } = findPlace(object);
      return missing ? resolvePlace(object, signal) : place;
    },
    guess(object) {
      const { place, missing } = findPlace(object);
      return missing ? undefined : place;
    },
    onMoved: (moved) => onMoved(world, moved),
  };
}

/** @returns a function that ends the subscription */
function onMoved(world: World, moved: Parameters<Places['onMoved']>[0]): () => void {
  const below = (object: View<Obj>): void => {
    for (const [kind, child] of childrenOf(world, object)) {
      moved(kind, child);
      below(child);
    }
  };
  const subscriptions = [world.installations, world.executions].map((cache) =>
    (cache as unknown as Cache<Obj>).subscribe({
      name: 'roots',
      ownEvents: 'deliver',
      on: (change) => {
        if (changesOwners(change)) below(change.obj);
      },
    }),
  );
  return () => {
    for (const end of subscriptions) end();
  };
}

const changesOwners = (change: Change<Obj>): boolean =>
  change.type === 'delete' || (change.type === 'add' && !change.initial);

function childrenOf(world: World, { kind, metadata }: View<Obj>): (readonly [Kind<never>, View<Obj>])[] {
  const { uid = '', namespace, name } = metadata;
  if (kind !== installationKind.kind)
    return world.deployItems
      .byIndex(index.managedBy, joinKey(namespace, name))
      .map((item) => [deployItemKind as Kind<never>, item]);
  return [
    ...world.installations
      .byIndex(index.owner, uid)
      .map((o) => [installationKind as Kind<never>, o] as const),
    ...world.executions.byIndex(index.owner, uid).map((o) => [executionKind as Kind<never>, o] as const),
  ];
}

/** The installation or execution that owns the object. For deploy items, the label counts as well. */
function ownerOf({ kind, metadata }: View<Obj>): OwnerRef | undefined {
  const { namespace, ownerReferences = [] } = metadata;
  for (const { kind: of, apiVersion, name, uid } of ownerReferences) {
    const isOurs = apiVersion.split('/')[0] === GROUP && (of === 'Installation' || of === 'Execution');
    if (isOurs) return { kind: of, key: joinKey(namespace, name), uid };
  }
  const execution = kind === deployItemKind.kind ? metadata.labels?.[labels.executionManagedBy] : undefined;
  if (execution === undefined) return undefined;
  return { kind: 'Execution', key: joinKey(namespace, execution), uid: undefined };
}

/** TargetSyncs of a namespace depend on each other, and any replica may delete locks: both are placed by namespace. */
function placeOfTop({ kind, metadata: { namespace, name } }: View<Obj>): string {
  const isByNamespace = kind === targetSyncKind.kind || kind === syncObjectKind.kind;
  return isByNamespace ? (namespace ?? '') : joinKey(namespace, name);
}
