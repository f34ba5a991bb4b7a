/** Finds the tree that an object belongs to in the caches. All log lines of a job contain its name. */
import type { ControllerSpec } from '../runtime/controller/controller.ts';
import { joinKey, keyOf } from '../runtime/keys.ts';
import type { Key, Obj, View } from '../runtime/types.ts';
import type { Execution } from '../api/kinds/execution.ts';
import type { Installation } from '../api/kinds/installation.ts';
import type { World } from './world.ts';

/** A possible owner of an object in a tree. */
export type Owner = View<Installation> | View<Execution>;

/** What is needed to find the owners of an object. */
type Trees = Pick<World, 'installations' | 'executions'>;

/** Maximum number of owners to follow, since owner references may be cyclic. */
export const MAX_OWNERS = 64;
/** The highest limit that can be configured: owner lookups from its deploy items still reach the root. */
export const MAX_TREE_DEPTH = MAX_OWNERS - 4;
/** Default for the maximum number of levels of installations in a tree. */
export const DEFAULT_TREE_DEPTH = 30;

/** The root above an installation, execution or deploy item; the object itself if it has no owner. */
export const topOf = (world: Trees, object: View<Obj>): View<Obj> => ownersOf(world, object).at(-1) ?? object;

/** `namespace/name` of that root. */
export const rootOf = (world: Trees, object: View<Obj>): string => keyOf(topOf(world, object));

/** The owners of an object in the caches, the nearest first. In a cycle, each appears once. */
export function ownersOf(world: Trees, object: View<Obj>): readonly Owner[] {
  const owners: Owner[] = [];
  let owner = ownerOf(world, object);
  while (owner && (owner as View<Obj>) !== object && !owners.includes(owner) && owners.length < MAX_OWNERS) {
    owners.push(owner);
    owner = ownerOf(world, owner);
  }
  return owners;
}

function ownerOf(world: Trees, object: View<Obj>): Owner | undefined {
  const owner = ownerKeyOf(object);
  if (!owner) return undefined;
  return owner.kind === 'Installation' ? world.installations.get(owner.key) : world.executions.get(owner.key);
}

/** The installation or execution that controls an object, whether it exists or not. */
export function ownerKeyOf({ metadata }: View<Obj>): OwnerKey | undefined {
  const owner = metadata.ownerReferences?.find((ref) => ref.controller === true);
  if (owner?.kind !== 'Installation' && owner?.kind !== 'Execution') return undefined;
  const key = joinKey(metadata.namespace, owner.name);
  return { kind: owner.kind, key, id: `${owner.kind}/${key}` };
}

interface OwnerKey {
  readonly kind: 'Installation' | 'Execution';
  readonly key: Key;
  /** Kind and key, as one string. */
  readonly id: string;
}

/**
 * Adds the tree and the job to the log lines of a controller.
 * @param world undefined if the process does not read trees: the job's id is that of the whole tree
 */
export const withTreeInLog = <P extends Obj>(
  world: Trees | undefined,
  spec: ControllerSpec<P>,
): ControllerSpec<P> => ({
  ...spec,
  logFields: (primary) => {
    const { jobID } = (primary as View<Obj> & { readonly status?: { readonly jobID?: string } }).status ?? {};
    return { ...(world && { tree: rootOf(world, primary) }), ...(jobID && { jobID }) };
  },
});
