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
import { MAX_OWNERS, ownerKeyOf, ownersOf } from './tree.ts';
import type { World } from './world.ts';

/** Default for the maximum number of objects in a tree. */
export const DEFAULT_TREE_OBJECTS = 10_000;

/** The result of a request for a reservation. */
export interface Room {
  /** Name of the root of the tree. */
  readonly root: string;
  /** Objects of the tree in the caches. */
  readonly present: number;
  /** Objects that others in the tree have claimed and not created yet. */
  readonly claimed: number;
  /** Objects that this claim is for. */
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
  claim(self: View<Obj>, added: number): Room;
}

interface Node {
  parent: Node | undefined;
  readonly id: string;
  /** Whether the object is in the caches; its children may arrive before it. */
  isThere: boolean;
  /** The object, if it exists, and everything below it. */
  size: number;
}

interface Claim {
  readonly root: string;
  count: number;
}

/** @param limit maximum number of objects below one root, including the root */
export function createTreeSizes(world: World, limit = DEFAULT_TREE_OBJECTS): TreeSizes {
  const tally = new Tally();
  const claims = new Claims();

  const follow = <T extends Obj>(cache: Cache<T>, onChange: (change: Change<T>, isNew: boolean) => void) =>
    cache.subscribe({
      name: 'tree sizes',
      ownEvents: 'deliver',
      on(change) {
        const id = idOf(change.obj);
        const owner = ownerKeyOf(change.obj);
        const isNew = change.type === 'delete' ? tally.remove(id) : tally.put(id, owner?.id);
        if (isNew && change.type !== 'delete' && owner) claims.arrived(owner.key);
        onChange(change, isNew);
      },
    });
  follow(world.installations, ({ type, obj }) => {
    const key = keyOf(obj);
    const newest: JobView = world.installations.get(key) ?? obj;
    if (type === 'delete' || isFinished(newest)) claims.end(key);
  });
  follow(world.executions, () => undefined);
  follow(world.deployItems, () => undefined);

  return {
    claim(self, added) {
      const top = ownersOf(world, self).at(-1) ?? self;
      const root = idOf(top);
      claims.end(keyOf(self));
      const present = tally.sizeOf(root);
      const claimed = claims.in(root);
      const isGranted = added === 0 || present + claimed + added <= limit;
      if (isGranted && added > 0) claims.begin(keyOf(self), root, added);
      return { root: top.metadata.name, present, claimed, added, limit, isGranted };
    },
  };
}

const idOf = ({ kind, metadata: { namespace, name } }: View<Obj>): string =>
  `${kind}/${joinKey(namespace, name)}`;

/** The tree of objects, with the number of objects below each. */
class Tally {
  readonly #nodes = new Map<string, Node>();

  sizeOf(id: string): number {
    return this.#nodes.get(id)?.size ?? 0;
  }

  /** @returns whether the object is new */
  put(id: string, owner: string | undefined): boolean {
    const node = this.#node(id);
    const isNew = !node.isThere;
    if (node.parent?.id !== owner) {
      const below = node.size;
      this.#grow(node.parent, -below);
      node.parent = owner === undefined ? undefined : this.#node(owner);
      this.#grow(node.parent, below);
    }
    node.isThere = true;
    if (isNew) this.#grow(node, 1);
    return isNew;
  }

  /** Objects below stay counted until they are deleted. @returns whether the object existed */
  remove(id: string): boolean {
    const node = this.#nodes.get(id);
    if (!node?.isThere) return false;
    node.isThere = false;
    this.#grow(node, -1);
    return true;
  }

  #node(id: string): Node {
    const known = this.#nodes.get(id);
    if (known) return known;
    const node: Node = { id, parent: undefined, isThere: false, size: 0 };
    this.#nodes.set(id, node);
    return node;
  }

  /** In a cycle of owners, each owner is counted once. */
  #grow(start: Node | undefined, by: number): void {
    if (by === 0) return;
    const seen = new Set<Node>();
    for (let node = start; node && !seen.has(node) && seen.size <= MAX_OWNERS; node = node.parent) {
      seen.add(node);
      node.size += by;
      if (node.size <= 0 && !node.isThere) this.#nodes.delete(node.id);
    }
  }
}

/** Reservations, keyed by the key that an installation shares with its execution. */
class Claims {
  readonly #byHolder = new Map<Key, Claim>();
  readonly #byRoot = new Map<string, number>();

  in(root: string): number {
    return this.#byRoot.get(root) ?? 0;
  }

  begin(holder: Key, root: string, count: number): void {
    this.#byHolder.set(holder, { root, count });
    this.#add(root, count);
  }

  end(holder: Key): void {
    const claim = this.#byHolder.get(holder);
    if (!claim) return;
    this.#byHolder.delete(holder);
    this.#add(claim.root, -claim.count);
  }

  arrived(holder: Key): void {
    const claim = this.#byHolder.get(holder);
    if (!claim) return;
    this.#add(claim.root, -1);
    claim.count--;
    if (claim.count === 0) this.#byHolder.delete(holder);
  }

  #add(root: string, by: number): void {
    const sum = this.in(root) + by;
    if (sum > 0) this.#byRoot.set(root, sum);
    else this.#byRoot.delete(root);
  }
}
