/** What to look at when a document fails. */
import type { Path } from './syntax/ast.ts';
import type { Node } from './tree/node.ts';

/** What is left without value, for those who look for its place in the text of the document. */
export interface Culprit {
  /** Name of the document. */
  readonly source: string;
  /** Where it may stand in the document, likeliest first. */
  readonly paths: readonly Path[];
  readonly value: Node['value'];
  /** What is wrong with it, without its place; empty when that is not known. */
  readonly why: string;
  /** For a text that is no expression: how much of what is between its parentheses makes sense. */
  readonly offset?: number | undefined;
  /** How many others are left. */
  readonly others: number;
}
