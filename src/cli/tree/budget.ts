/** Counts a tree that is gone through without being created, and says where it is beyond the limits for trees. */
import type { Configuration } from '../configuration/configuration.ts';

type Limits = Pick<Configuration['limits'], 'treeDepth' | 'treeObjects'>;

export class TreeBudget {
  readonly #limits: Limits;
  readonly #above: number;
  #objects = 0;

  /** @param above how many installations are above the one that is gone through */
  constructor(limits: Limits, above = 0) {
    this.#limits = limits;
    this.#above = above;
  }

  /** Whether the tree has more objects than are allowed, so there is no point in going on. */
  get isSpent(): boolean {
    return this.#objects > this.#limits.treeObjects;
  }

  /** @param depth of an installation; 1 for the one at the top. @returns why it can have no blueprint rendered */
  enter(depth: number): string | undefined {
    const { treeDepth } = this.#limits;
    const level = this.#above + depth;
    if (level <= treeDepth) return undefined;
    return `this is level ${level} of the tree, and at most ${treeDepth} are allowed: limits.treeDepth in the configuration allows more`;
  }

  /** Counts an installation with its deploy items and their execution. @returns why that is too much */
  count(items: number): string | undefined {
    const wasSpent = this.isSpent;
    this.#objects += 1 + (items > 0 ? items + 1 : 0);
    if (wasSpent || !this.isSpent) return undefined;
    return `with this the tree has more than ${this.#limits.treeObjects} objects: limits.treeObjects in the configuration allows more`;
  }
}
