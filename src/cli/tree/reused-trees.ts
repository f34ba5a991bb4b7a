/** Builds trees again and again. Trees without changed objects are reused, so one change among thousands costs little. */
import { keyOf, joinKey } from '../../runtime/keys.ts';
import type { Collected } from './collect.ts';
import {
  executionOf,
  indexOf,
  installationNode,
  topOf,
  isTop,
  type Index,
  type Node,
  type TreeObject,
} from './tree.ts';
import type { View } from '../../lib/objects.ts';
import type { Installation } from '../../api/kinds/installation.ts';

interface Built {
  /** All objects of the tree, in the order of a walk. */
  readonly objects: readonly TreeObject[];
  readonly node: Node;
}

/** The result is that of `treesOf`. An object that did not change has to be the same JavaScript object. */
export function createTreeBuilder(): (collected: Collected) => readonly Node[] {
  let before: ReadonlyMap<string, Built> = new Map();
  return (collected) => {
    const index = indexOf(collected);
    const tops = collected.installations
      .filter((installation) => isTop(installation, index))
      .map((top) => [keyOf(top), top] as const)
      .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
    const next = new Map<string, Built>();
    for (const [key, top] of tops) {
      const objects: TreeObject[] = [];
      collectBelow(top, index, objects);
      const old = before.get(key);
      const isSame = old !== undefined && areSame(old.objects, objects);
      next.set(key, isSame ? old : { objects, node: installationNode(top, topOf(top, index), index) });
    }
    before = next;
    return [...next.values()].map(({ node }) => node);
  };
}

function collectBelow(self: View<Installation>, index: Index, into: TreeObject[]): void {
  into.push(self);
  for (const sub of index.subInstallations.get(keyOf(self)) ?? []) collectBelow(sub, index, into);
  const execution = executionOf(self, index);
  if (!execution) return;
  into.push(execution);
  const { namespace, name } = execution.metadata;
  for (const item of index.deployItems.get(joinKey(namespace, name)) ?? []) into.push(item);
}

const areSame = (a: readonly TreeObject[], b: readonly TreeObject[]): boolean =>
  a.length === b.length && a.every((object, i) => object === b[i]);
