/** Counts the objects of a tree that is only planned or rendered, and reports where it exceeds the tree limits. */
import type { Configuration } from '../configuration/configuration.ts';

type Limits = Pick<Configuration['limits'], 'treeDepth' | 'treeObjects'>;

export class TreeBudget {
  readonly #limits: Limits;
  readonly #above: number;
  #objects = 0;

  /** @param above number of installations above the first one */
  constructor(limits: Limits, above = 0) {
    this.#limits = limits;
    this.#above = above;
  }

  /** Whether the tree has too many objects, so that counting can stop. */
  get isSpent(): boolean {
    return this.#objects > this.#limits.treeObjects;
  }

  /**
   * @param depth of an installation; 1 for the one at the top. @returns a message if it exceeds the limit for
   * levels
   */
  checkDepth(depth: number): string | undefined {
    const { treeDepth } = this.#limits;
    const level = this.#above + depth;
    if (level <= treeDepth) return undefined;
    return `this is level ${level} of the tree, and at most ${treeDepth} are allowed: limits.treeDepth in the configuration allows more`;
  }

  /** Counts an installation with its deploy items and their execution. @returns a message if the limit is exceeded */
  count(items: number): string | undefined {
    const wasSpent = this.isSpent;
    this.#objects += 1 + (items > 0 ? items + 1 : 0);
    if (wasSpent || !this.isSpent) return undefined;
    return `with this the tree has more than ${this.#limits.treeObjects} objects: limits.treeObjects in the configuration allows more`;
  }
}
