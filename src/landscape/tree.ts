/** To which tree an object belongs, told from the caches: the name every log line of a job carries. */
import { withLogFields } from '../observability/log.ts';
import type { ControllerSpec } from '../runtime/controller/controller.ts';
import type { Key, Obj, View } from '../runtime/types.ts';
import type { Execution } from '../api/kinds/execution.ts';
import type { Installation } from '../api/kinds/installation.ts';
import type { World } from './world.ts';

/** What an object of a tree can belong to. */
export type Owner = View<Installation> | View<Execution>;

/** How many owners a walk follows at most: a circle of owners would otherwise never end. */
export const MAX_OWNERS = 64;
/** The deepest tree that can be allowed: walks from its deploy items still reach the root. */
export const MAX_TREE_DEPTH = MAX_OWNERS - 4;
/** How many levels of installations a tree may have unless the configuration says otherwise. */
export const DEFAULT_TREE_DEPTH = 30;

/** `namespace/name` of the root above an installation, execution or deploy item; the object itself when it has none. */
export function rootOf(world: World, object: View<Obj>): string {
  const top = ownersOf(world, object).at(-1) ?? object;
  return `${top.metadata.namespace ?? ''}/${top.metadata.name}`;
}

/** The owners of an object that are in the caches, the nearest first; each appears once, also in a circle of owners. */
export function ownersOf(world: World, object: View<Obj>): readonly Owner[] {
  const owners: Owner[] = [];
  let owner = ownerOf(world, object);
  while (owner && (owner as View<Obj>) !== object && !owners.includes(owner) && owners.length < MAX_OWNERS) {
    owners.push(owner);
    owner = ownerOf(world, owner);
  }
  return owners;
}

function ownerOf(world: World, object: View<Obj>): Owner | undefined {
  const owner = ownerKeyOf(object);
  if (!owner) return undefined;
  return owner.kind === 'Installation' ? world.installations.get(owner.key) : world.executions.get(owner.key);
}

/** The installation or execution that controls an object, whether it is there or not. */
export function ownerKeyOf({ metadata }: View<Obj>): OwnerKey | undefined {
  const owner = metadata.ownerReferences?.find((ref) => ref.controller === true);
  if (owner?.kind !== 'Installation' && owner?.kind !== 'Execution') return undefined;
  const key = `${metadata.namespace ?? ''}/${owner.name}`;
  return { kind: owner.kind, key, id: `${owner.kind}/${key}` };
}

interface OwnerKey {
  readonly kind: 'Installation' | 'Execution';
  readonly key: Key;
  /** Kind and key. */
  readonly id: string;
}

/** The same controller, whose log lines say which tree and which job they are about. */
export const withTreeInLog = <P extends Obj>(world: World, spec: ControllerSpec<P>): ControllerSpec<P> => ({
  ...spec,
  reconciler: {
    ...spec.reconciler,
    reconcile: (primary, ctx) => {
      const { jobID } =
        (primary as View<Obj> & { readonly status?: { readonly jobID?: string } }).status ?? {};
      const fields = { tree: rootOf(world, primary), ...(jobID && { jobID }) };
      return withLogFields(
        () => fields,
        () => spec.reconciler.reconcile(primary, ctx),
      );
    },
  },
});
