/** Partials: files of the blueprint, and inline partials of the template (`{{#*inline "name"}}`). */
import { GoMap, type Value } from '../gotemplate/values.ts';
import type { Evaluation } from './eval.ts';
import { fileSource, withSource } from './files.ts';
import { focused, type Frame, type Partial } from './frame.ts';
import { kindOf } from './values.ts';

type Statement = hbs.AST.PartialStatement | hbs.AST.PartialBlockStatement;

/** The name of the block that a layout was called with. */
const BLOCK = '@partial-block';

export function runPartial(evaluation: Evaluation, node: Statement, frame: Frame): void {
  const name = nameOf(evaluation, node, frame);
  const block: Partial | undefined =
    'program' in node ? { source: evaluation.source, program: node.program, frame } : undefined;
  const found = frame.partials.get(name) ?? fileOf(evaluation, node, name);
  const partial = found ?? block;
  if (!partial) {
    evaluation.fail(
      node,
      `there is no partial ${name}: neither a file of the blueprint nor defined by inline`,
    );
  }
  const { env } = evaluation;
  const dot = contextOf(evaluation, node, frame);
  const partials = new Map((name === BLOCK ? partial.frame?.partials : undefined) ?? frame.partials);
  if (block && found) partials.set(BLOCK, block);
  const inner = {
    ...focused({ ...(partial.frame ?? frame), dot: frame.dot }, dot),
    data: frame.data,
    partials,
  };
  const text = evaluation.captured(() => {
    evaluation.at(node, '', () => {
      env.enter();
      try {
        if (partial.source === evaluation.source) evaluation.run(partial.program, inner);
        else evaluation.write(evaluation.textOf(partial, inner));
      } catch (error) {
        throw withSource(env, name, error);
      } finally {
        env.leave();
      }
    });
  });
  evaluation.at(node, '', () => {
    evaluation.write(indented(text, 'indent' in node ? node.indent : ''));
  });
}

function fileOf(evaluation: Evaluation, node: Statement, name: string): Partial | undefined {
  const source = evaluation.at(node, '', () => {
    try {
      return fileSource(evaluation.env, name);
    } catch (error) {
      throw withSource(evaluation.env, name, error);
    }
  });
  return source && { source, program: source.program, frame: undefined };
}

function nameOf(evaluation: Evaluation, { name }: Statement, frame: Frame): string {
  if (name.type !== 'SubExpression') return name.original;
  const value = evaluation.value(name, frame);
  return typeof value === 'string'
    ? value
    : evaluation.fail(name, `the name of a partial must be a string, found ${kindOf(value)}`);
}

/** The context of a partial: its argument or the current value, with its named arguments added. */
function contextOf(evaluation: Evaluation, node: Statement, frame: Frame): Value {
  const [param] = node.params;
  if (node.params.length > 1) {
    evaluation.fail(
      node,
      `a partial takes one value and named arguments, found ${String(node.params.length)} values`,
    );
  }
  const given = param ? evaluation.value(param, frame) : frame.dot;
  if (given === undefined && param) return evaluation.missing(param, param, frame);
  const pairs = (node.hash as hbs.AST.Hash | undefined)?.pairs ?? [];
  if (pairs.length === 0) return given;
  const named = pairs.map(({ key, value }) => {
    const found = evaluation.value(value, frame);
    return [key, found === undefined ? evaluation.missing(value, value, frame) : found] as const;
  });
  return new GoMap(new Map([...(given instanceof GoMap ? given.entries : []), ...named]));
}

/** A partial that is alone on its line is indented as a whole. */
function indented(text: string, indent: string): string {
  if (indent === '' || text === '') return text;
  const lines = text.split('\n');
  return lines.map((line, i) => (line === '' && i === lines.length - 1 ? '' : indent + line)).join('\n');
}
