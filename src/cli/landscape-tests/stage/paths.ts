/**
 * Paths of nodes in trees: the name of a root, then the names that sub-installations and deploy items have in their
 * blueprints, such as `shop/database/server`. Pure.
 */
import { treesOf, type Node } from '../../tree/tree.ts';
import type { Collected } from '../../tree/collect.ts';

/** Roots of other namespaces than that of the test have their namespace before their name. */
export const rootPath = (name: string, namespace: string | undefined, home: string): string =>
  namespace === home ? name : `${namespace ?? ''}:${name}`;

/** All installations and deploy items by path, in the order of the tree. */
export function nodesByPath(collected: Collected, home: string): ReadonlyMap<string, Node> {
  const nodes = new Map<string, Node>();
  const visit = (node: Node, path: string): void => {
    if (!nodes.has(path)) nodes.set(path, node);
    for (const child of node.children) {
      if (child.kind !== 'Execution') visit(child, `${path}/${child.title}`);
      else for (const item of child.children) visit(item, `${path}/${item.title}`);
    }
  };
  for (const root of treesOf(collected)) visit(root, rootPath(root.title, root.namespace, home));
  return nodes;
}

/** Whether a path fits a pattern, in which `*` stands for any characters within a name. */
export function fitsPattern(pattern: string, path: string): boolean {
  const escaped = pattern.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '[^/]*');
  return new RegExp(`^${escaped}$`).test(path);
}
