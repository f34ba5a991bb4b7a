/** Where a Spiff document fails, in the text that is shown of it. */
import { placeOf, TemplateExecutionError, type TemplatePlace } from './gotemplate/errors.ts';
import type { Culprit } from './spiff/culprit.ts';
import { offsetOf } from './spiff/place.ts';
import type { SpiffProblem } from './spiff/problem.ts';
import { isExpr, type Path } from './spiff/syntax/ast.ts';
import { print } from './spiff/syntax/print.ts';

export interface FoundCulprit {
  readonly place: TemplatePlace;
  /** 0-based, in characters. */
  readonly column: number;
  /** The error with its position, for callers that look it up in a file. */
  readonly failure: TemplateExecutionError;
}

/**
 * The first unresolved expression; undefined if it is not in the source.
 * @param name of the source
 * @param above the fields in the source around the document
 */
export function culpritIn(
  error: SpiffProblem,
  source: string,
  name: string,
  above: Path = [],
): FoundCulprit | undefined {
  const { message, culprit } = error;
  if (!culprit) return undefined;
  const paths = culprit.paths.map((path) => [...above, ...path]);
  const offset = offsetOf(source, { ...culprit, paths });
  if (offset === undefined) return undefined;
  const place = placeOf(name, source, offset);
  const column = offset - (source.lastIndexOf('\n', offset - 1) + 1);
  const failure = new TemplateExecutionError(message, place, reasonOf(culprit), { cause: error });
  return { place, column, failure };
}

/** In one line, for users who see the position. */
function reasonOf({ value, why, others }: Culprit): string {
  const what = isExpr(value) ? `(( ${print(value)} ))` : typeof value === 'string' ? value : 'this';
  const more = others === 0 ? '' : `; ${others} more ${others === 1 ? 'node is' : 'nodes are'} unresolved`;
  return `${what}: ${why === '' ? 'has no value' : why}${more}`.replace(/\s*\n\s*/g, ' ');
}
