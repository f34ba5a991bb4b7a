/** Describes why a document fails. */
import type { Path } from './syntax/ast.ts';
import type { Node } from './tree/node.ts';

/** An unresolved expression, to find its position in the text of the document. */
export interface Culprit {
  /** Name of the document. */
  readonly source: string;
  /** Possible positions in the document, the most likely first. */
  readonly paths: readonly Path[];
  readonly value: Node['value'];
  /** The problem, without its position; empty if unknown. */
  readonly why: string;
  /** For a syntax error: how much of the text between the parentheses is valid. */
  readonly offset?: number | undefined;
  /** Number of the others. */
  readonly others: number;
}
