/**
 * The forks of a Handlebars template (`if`, `unless`, `with` and `each`) and its included files, found without
 * executing it.
 */
import { table } from '../../lib/objects.ts';
import type { Fork, Way } from '../fork.ts';
import { simpleName } from './paths.ts';
import { offsetOfNode, type Source } from './source.ts';

type Program = hbs.AST.Program;

const WAYS: Readonly<Record<string, readonly Way[]>> = table({
  if: ['block', 'else'],
  unless: ['block', 'else'],
  with: ['block', 'else'],
  each: ['block'],
});

export const handlebarsForks = (source: Source): readonly Fork[] => forksIn(source, source.program);

const forksIn = (source: Source, { body }: Program): readonly Fork[] =>
  body.flatMap((statement) => {
    const { program, inverse } = statement as { readonly program?: Program; readonly inverse?: Program };
    const inner = [program, inverse].flatMap((one) => (one ? forksIn(source, one) : []));
    return statement.type === 'BlockStatement'
      ? [...forkOf(source, statement as hbs.AST.BlockStatement), ...inner]
      : inner;
  });

function forkOf(source: Source, block: hbs.AST.BlockStatement): readonly Fork[] {
  const name = simpleName(block.path) ?? '';
  const ways = WAYS[name];
  if (!ways) return [];
  const pos = offsetOfNode(source, block);
  const text = source.text.slice(pos, source.text.indexOf('}}', pos) + 2);
  const hasElse = (block.inverse as Program | undefined) !== undefined;
  return [{ pos, text, ways: hasElse ? ['block', 'else'] : ways }];
}

/** The constant paths in `{{> path}}`, and in calls of `include`; also names of inline partials. */
export const handlebarsIncludes = ({ program }: Source): readonly string[] => [...includesIn(program)];

/** @param part a node, a list of nodes, or a value in one */
function* includesIn(part: unknown): Generator<string> {
  if (typeof part !== 'object' || part === null) return;
  const { type, name, path, params } = part as {
    readonly type?: string;
    readonly name?: hbs.AST.PathExpression | hbs.AST.SubExpression;
    readonly path?: hbs.AST.Expression;
    readonly params?: readonly hbs.AST.Expression[];
  };
  if (/^Partial(Block)?Statement$/.test(type ?? '') && name?.type === 'PathExpression') yield name.original;
  const [first] = params ?? [];
  if (path && simpleName(path) === 'include' && first?.type === 'StringLiteral')
    yield (first as hbs.AST.StringLiteral).value;
  for (const one of Object.values(part)) yield* includesIn(one);
}
