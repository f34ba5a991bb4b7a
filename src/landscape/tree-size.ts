/**
 * Counts the objects of each tree: installations, executions and deploy items. The counts follow the events of the
 * caches. Reading a count needs no traversal; an event updates the count of each owner.
 *
 * Caches lag behind our own writes, and installations of one tree are reconciled concurrently. So a controller
 * reserves the objects that it is about to create. The reservation shrinks as these objects arrive in the caches.
 */
import { isFinished, type JobView } from '../api/job.ts';
import { joinKey, keyOf } from '../runtime/keys.ts';
import type { Cache, Change, Key, Obj, View } from '../runtime/types.ts';
import { MAX_OWNERS, ownerKeyOf, topOf } from './tree.ts';
import type { World } from './world.ts';

/** Default for the maximum number of objects in a tree. */
export const DEFAULT_TREE_OBJECTS = 10_000;

/** The result of a request for a reservation. */
export interface Reservation {
  /** Name of the root of the tree. */
  readonly root: string;
  /** Objects of the tree in the caches. */
  readonly present: number;
  /** Objects that other installations of the tree have reserved and not created yet. */
  readonly reserved: number;
  /** Objects of this reservation. */
  readonly added: number;
  readonly limit: number;
  /** A reservation of zero objects is always granted: trees continue to work if the limit is lowered. */
  readonly isGranted: boolean;
}

export interface TreeSizes {
  /**
   * Reserves objects that an installation or its execution is about to create, and replaces its previous
   * reservation. The reservation ends when the objects arrive, the job of the installation ends, or the
   * installation is deleted.
   */
  reserve(self: View<Obj>, added: number): Reservation;
}

interface Node {
  parent: Node | undefined;
  readonly id: string;
  /** Whether the object is in the caches; its children may arrive before it. */
  exists: boolean;
  /** The object, if it exists, and everything below it. */
  size: number;
}

interface Reserved {
  readonly root: string;
  count: number;
}

/** @param limit maximum number of objects below one root, including the root */
export function createTreeSizes(world: World, limit = DEFAULT_TREE_OBJECTS): TreeSizes {
  const counts = new ObjectCounts();
  const reservations = new Reservations();

  const subscribe = <T extends Obj>(cache: Cache<T>, onChange: (change: Change<T>, isNew: boolean) => void) =>
    cache.subscribe({
      name: 'tree sizes',
      ownEvents: 'deliver',
      on(change) {
        const id = idOf(change.obj);
        const owner = ownerKeyOf(change.obj);
        const isNew = change.type === 'delete' ? counts.remove(id) : counts.put(id, owner?.id);
        if (isNew && change.type !== 'delete' && owner) reservations.objectCreated(owner.key);
        onChange(change, isNew);
      },
    });
  subscribe(world.installations, ({ type, obj }) => {
    const key = keyOf(obj);
    const newest: JobView = world.installations.get(key) ?? obj;
    if (type === 'delete' || isFinished(newest)) reservations.end(key);
  });
  subscribe(world.executions, () => undefined);
  subscribe(world.deployItems, () => undefined);

  return {
    reserve(self, added) {
      const top = topOf(world, self);
      const root = idOf(top);
      reservations.end(keyOf(self));
      const present = counts.sizeOf(root);
      const reserved = reservations.in(root);
      const isGranted = added === 0 || present + reserved + added <= limit;
      if (isGranted && added > 0) reservations.begin(keyOf(self), root, added);
      return { root: top.metadata.name, present, reserved, added, limit, isGranted };
    },
  };
}

const idOf = ({ kind, metadata: { namespace, name } }: View<Obj>): string =>
  `${kind}/${joinKey(namespace, name)}`;

/** The tree of objects, with the number of objects below each. */
class ObjectCounts {
  readonly #nodes = new Map<string, Node>();

  sizeOf(id: string): number {
    return this.#nodes.get(id)?.size ?? 0;
  }

  /** @returns whether the object is new */
  put(id: string, owner: string | undefined): boolean {
    const node = this.#node(id);
    const isNew = !node.exists;
    if (node.parent?.id !== owner) {
      const below = node.size;
      this.#changeSize(node.parent, -below);
      node.parent = owner === undefined ? undefined : this.#node(owner);
      this.#changeSize(node.parent, below);
    }
    node.exists = true;
    if (isNew) this.#changeSize(node, 1);
    return isNew;
  }

  /** Objects below stay counted until they are deleted. @returns whether the object existed */
  remove(id: string): boolean {
    const node = this.#nodes.get(id);
    if (!node?.exists) return false;
    node.exists = false;
    this.#changeSize(node, -1);
    return true;
  }

  #node(id: string): Node {
    const known = this.#nodes.get(id);
    if (known) return known;
    const node: Node = { id, parent: undefined, exists: false, size: 0 };
    this.#nodes.set(id, node);
    return node;
  }

  /** In a cycle of owners, each owner is counted once. */
  #changeSize(start: Node | undefined, by: number): void {
    if (by === 0) return;
    const seen = new Set<Node>();
    for (let node = start; node && !seen.has(node) && seen.size <= MAX_OWNERS; node = node.parent) {
      seen.add(node);
      node.size += by;
      if (node.size <= 0 && !node.exists) this.#nodes.delete(node.id);
    }
  }
}

/** Reservations, keyed by the key that an installation shares with its execution. */
class Reservations {
  readonly #byKey = new Map<Key, Reserved>();
  readonly #byRoot = new Map<string, number>();

  in(root: string): number {
    return this.#byRoot.get(root) ?? 0;
  }

  begin(key: Key, root: string, count: number): void {
    this.#byKey.set(key, { root, count });
    this.#add(root, count);
  }

  end(key: Key): void {
    const reserve = this.#byKey.get(key);
    if (!reserve) return;
    this.#byKey.delete(key);
    this.#add(reserve.root, -reserve.count);
  }

  objectCreated(key: Key): void {
    const reserve = this.#byKey.get(key);
    if (!reserve) return;
    this.#add(reserve.root, -1);
    reserve.count--;
    if (reserve.count === 0) this.#byKey.delete(key);
  }

  #add(root: string, by: number): void {
    const sum = this.in(root) + by;
    if (sum > 0) this.#byRoot.set(root, sum);
    else this.#byRoot.delete(root);
  }
}
