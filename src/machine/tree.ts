/** To which tree an object belongs, told from the caches: the name every log line of a job carries. */
import { withLogFields } from '../observability/log.ts';
import type { ControllerSpec } from '../runtime/controller.ts';
import type { Obj, View } from '../runtime/types.ts';
import type { World } from './world.ts';

/** Deeper trees than this do not exist; a circle of owners would otherwise never end. */
const MAX_DEPTH = 64;

/** `namespace/name` of the root above an installation, execution or deploy item; the object itself when it has none. */
export function rootOf(world: World, object: View<Obj>): string {
  let top = object;
  for (let depth = 0; depth < MAX_DEPTH; depth++) {
    const owner = ownerOf(world, top);
    if (!owner) break;
    top = owner;
  }
  return `${top.metadata.namespace ?? ''}/${top.metadata.name}`;
}

function ownerOf(world: World, { metadata }: View<Obj>): View<Obj> | undefined {
  const owner = metadata.ownerReferences?.find((ref) => ref.controller === true);
  if (!owner) return undefined;
  const key = `${metadata.namespace ?? ''}/${owner.name}`;
  if (owner.kind === 'Installation') return world.installations.get(key);
  return owner.kind === 'Execution' ? world.executions.get(key) : undefined;
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
