/** The interface between the parts of the parser. */
import type { Expr, Path } from './ast.ts';
import type { Cursor } from './cursor.ts';

export interface Grammar {
  readonly cursor: Cursor;
  /** Path of the expression in its document, and in stubs; `merge` refers to it. */
  readonly path: Path;
  readonly stubPath: Path;
  /** A complete expression with trailing blanks. */
  expression(): Expr | undefined;
  /** An expression without lambdas and scopes at the top, and without trailing blanks. */
  operators(): Expr | undefined;
  /** An operand of operators. */
  operand(): Expr | undefined;
}

/** Names and steps of a reference: `a.[0].b` is `a`, `[0]`, `b`; `.a` starts with an empty step. */
export function stepsOf(text: string): Path {
  return text
    .replace(/(?<=[^.[])\[/g, '.[')
    .split('.')
    .filter((step, i) => step !== '' || i === 0);
}
