/** Who belongs to an installation: parent, siblings, children, execution. Reads the caches, never the server. */
import { isRoot, parentInstallation } from '../../src/api/job.ts';
import type { Execution } from '../../src/api/kinds/execution.ts';
import type { Installation, InstallationStatus } from '../../src/api/kinds/installation.ts';
import { keyOf } from '../../src/machine/apply.ts';
import { noteOfWait } from '../../src/machine/status.ts';
import { index, type World } from '../../src/landscape/world.ts';
import type { Obj, View } from '../../src/runtime/types.ts';

export type Inst = View<Installation>;
export type InstStatus = View<InstallationStatus>;

export const parentOf = (world: World, self: Inst): Inst | undefined => {
  const name = parentInstallation(self.metadata);
  return name === undefined ? undefined : world.installations.get(`${self.metadata.namespace ?? ''}/${name}`);
};

export const childrenOf = (world: World, self: Inst): readonly Inst[] =>
  world.installations.byIndex(index.owner, self.metadata.uid ?? '');

/** Roots see the other roots of their namespace, children the other children of their parent. */
export function siblingsOf(world: World, self: Inst): readonly Inst[] {
  if (isRoot(self.metadata)) {
    const roots = world.installations.byIndex(index.roots, self.metadata.namespace ?? '');
    return roots.filter((i) => i.metadata.name !== self.metadata.name);
  }
  const parent = parentOf(world, self);
  return parent ? childrenOf(world, parent).filter((i) => i.metadata.name !== self.metadata.name) : [];
}

/** What the object says about an item further down that nobody takes up. */
export const stuckBelow = ({ status }: View<Installation> | View<Execution>): string | undefined =>
  noteOfWait(status?.conditions);

/** The execution of the same name. */
export const executionOf = (world: World, self: Inst): View<Execution> | undefined =>
  world.executions.get(keyOf(self));

export const isOwnedBy = (object: View<Obj>, owner: View<Obj>): boolean =>
  object.metadata.ownerReferences?.some((ref) => ref.uid === owner.metadata.uid) ?? false;

/** The execution, if it is the installation's own: one of the same name may belong to somebody else. */
export const ownExecution = ({
  self,
  execution,
}: {
  readonly self: Inst;
  readonly execution: View<Execution> | undefined;
}): readonly View<Execution>[] => (execution && isOwnedBy(execution, self) ? [execution] : []);
