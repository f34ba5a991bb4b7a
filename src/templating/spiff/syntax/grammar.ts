/** What the parts of the parser need of each other. */
import type { Expr, Path } from './ast.ts';
import type { Cursor } from './cursor.ts';

export interface Grammar {
  readonly cursor: Cursor;
  /** Where the expression stands in its document, and in stubs; `merge` means that place. */
  readonly path: Path;
  readonly stubPath: Path;
  /** A whole expression with the blanks behind it. */
  expression(): Expr | undefined;
  /** An expression without lambdas and scopes at its top, and without the blanks behind it. */
  operators(): Expr | undefined;
  /** What operators stand between. */
  operand(): Expr | undefined;
}

/** Names and steps of a reference: `a.[0].b` is `a`, `[0]`, `b`; `.a` starts with an empty step. */
export function stepsOf(text: string): Path {
  return text
    .replace(/(?<=[^.[])\[/g, '.[')
    .split('.')
    .filter((step, i) => step !== '' || i === 0);
}
