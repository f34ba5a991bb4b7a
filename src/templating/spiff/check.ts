/** Finds expressions with syntax errors, without evaluating anything. */
import { SyntaxProblem } from './syntax/cursor.ts';
import { parseExpression } from './syntax/parse.ts';
import { embedded } from './tree/resolved.ts';
import { isSpiffList, isSpiffMap, type SpiffValue } from './value.ts';

export interface ExpressionProblem {
  /** Path of the expression in the document; empty for the document itself. */
  readonly path: readonly string[];
  /** The source text. */
  readonly expression: string;
  readonly message: string;
  /** Number of valid characters after the opening parentheses, in UTF-16 code units. */
  readonly offset: number;
}

/** The first expression of a document with a syntax error. */
export function findBrokenExpression(
  document: SpiffValue,
  path: readonly string[] = [],
): ExpressionProblem | undefined {
  if (typeof document === 'string') return problemOf(document, path);
  const entries: Iterable<readonly [string, SpiffValue]> = isSpiffMap(document)
    ? document
    : isSpiffList(document)
      ? document.map((entry, i) => [`[${String(i)}]`, entry])
      : [];
  for (const [key, entry] of entries) {
    const found = findBrokenExpression(entry, [...path, key]);
    if (found) return found;
  }
  return undefined;
}

function problemOf(text: string, path: readonly string[]): ExpressionProblem | undefined {
  const expression = embedded(text);
  if (expression === undefined) return undefined;
  try {
    parseExpression(expression, path, path);
    return undefined;
  } catch (error) {
    if (!(error instanceof SyntaxProblem)) throw error;
    return { path, expression: text, message: error.message, offset: error.offset };
  }
}
