/** Counts the objects of a tree that is only planned or rendered, and reports where it exceeds the tree limits. */
import { recursionOf, type Rendered } from '../../landscape/recursion.ts';
import type { TreeLimits } from '../../landscape/tree-limit.ts';

export class TreeBudget {
  readonly #limits: TreeLimits;
  readonly #above: number;
  #objects = 0;

  /** @param above number of installations above the first one */
  constructor(limits: TreeLimits, above = 0) {
    this.#limits = limits;
    this.#above = above;
  }

  /** Whether the tree has too many objects, so that counting can stop. */
  get isSpent(): boolean {
    return this.#objects > this.#limits.treeObjects;
  }

  /** @param above from the first installation of the tree on. @returns a message if there are too many above it */
  checkLevel(self: Rendered, above: readonly Rendered[]): string | undefined {
    const { treeDepth, treeRecursion } = this.#limits;
    const level = this.#above + above.length + 1;
    if (level > treeDepth)
      return `this is level ${level} of the tree, and at most ${treeDepth} are allowed: limits.treeDepth in the configuration allows more`;
    const recursion = recursionOf(self, above);
    if (recursion <= treeRecursion) return undefined;
    return `${recursion} installations above this one have the same blueprint, and at most ${treeRecursion} are allowed: limits.treeRecursion in the configuration allows more`;
  }

  /** Counts an installation with its deploy items and their execution. @returns a message if the limit is exceeded */
  count(items: number): string | undefined {
    const wasSpent = this.isSpent;
    this.#objects += 1 + (items > 0 ? items + 1 : 0);
    if (wasSpent || !this.isSpent) return undefined;
    return `with this the tree has more than ${this.#limits.treeObjects} objects: limits.treeObjects in the configuration allows more`;
  }
}
