/** The root of an object's tree. Pure. */
import { labels } from '../../api/labels.ts';
import type { Obj, View } from '../../runtime/types.ts';
import type { Collected } from '../tree/collect.ts';

/** Finds the name of an object's root. An object whose chain of parents is broken counts as its own root. */
export function rootFinder({ installations, executions }: Collected): (one: View<Obj>) => string {
  const at = ({ namespace = '' }: View<Obj>['metadata'], name: string): string => `${namespace}/${name}`;
  const byName = (objects: readonly View<Obj>[]): ReadonlyMap<string, View<Obj>> =>
    new Map(objects.map((one) => [at(one.metadata, one.metadata.name), one]));
  const [parents, managers] = [byName(installations), byName(executions)];
  const parentOf = ({ metadata }: View<Obj>): View<Obj> | undefined => {
    const owner = metadata.ownerReferences?.find(({ kind }) => kind === 'Installation')?.name;
    const parent = metadata.labels?.[labels.encompassedBy] ?? owner;
    const manager = metadata.labels?.[labels.executionManagedBy];
    return (
      (parent === undefined ? undefined : parents.get(at(metadata, parent))) ??
      (manager === undefined ? undefined : managers.get(at(metadata, manager)))
    );
  };
  return (one) => {
    const seen = new Set<View<Obj>>([one]);
    let root = one;
    for (let next = parentOf(one); next && !seen.has(next); next = parentOf(next)) {
      seen.add(next);
      root = next;
    }
    return root.metadata.name;
  };
}
