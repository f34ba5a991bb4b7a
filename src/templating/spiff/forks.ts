/** The forks of a Spiff document: `a ? b : c`, `a || b` and `a // b`, found without evaluating it. */
import { YamlError } from '../../lib/yaml.ts';
import type { Fork } from '../fork.ts';
import { expressionsIn } from './place.ts';
import type { ExpressionFork } from './syntax/ast.ts';
import { SyntaxProblem } from './syntax/cursor.ts';
import { parseExpression } from './syntax/parse.ts';

/** None if the text is not YAML. */
export function spiffForks(text: string): readonly Fork[] {
  try {
    return expressionsIn(text).flatMap(({ expression, offsetAt }) =>
      forksIn(expression).map((fork) => ({
        pos: offsetAt(fork.pos),
        text: `(( ${fork.text} ))`,
        ways: ['block', 'else'],
        reported: fork,
      })),
    );
  } catch (error) {
    if (error instanceof YamlError) return [];
    throw error;
  }
}

function forksIn(expression: string): readonly ExpressionFork[] {
  try {
    return [...foundIn(parseExpression(expression, [], [], { hasForks: true }))];
  } catch (error) {
    if (error instanceof SyntaxProblem) return [];
    throw error;
  }
}

/** @param part an expression, a list, or a value in one */
function* foundIn(part: unknown): Generator<ExpressionFork> {
  if (typeof part !== 'object' || part === null) return;
  const { fork, ...inner } = part as { readonly fork?: ExpressionFork };
  if (fork) yield fork;
  for (const one of Object.values(inner)) yield* foundIn(one);
}
