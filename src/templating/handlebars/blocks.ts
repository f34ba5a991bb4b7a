/**
 * Blocks: `if`, `unless`, `each`, `with`, sections named after a field, and functions that receive the output of a
 * block.
 */
import { GoMap, isList, type Value } from '../gotemplate/values.ts';
import type { Evaluation } from './eval.ts';
import { focused, withData, withNames, type Frame } from './frame.ts';
import { simpleName } from './paths.ts';
import { offsetOfNode } from './source.ts';
import { isEmpty, kindOf } from './values.ts';

type Block = hbs.AST.BlockStatement;
type Run = (evaluation: Evaluation, block: Block, frame: Frame) => void;

/** Both parts are optional, although the types say otherwise. */
const run = (evaluation: Evaluation, program: Block['program'] | undefined, frame: Frame): void => {
  if (program) evaluation.run(program, frame);
};
const otherwise: Run = (evaluation, { inverse }, frame) => {
  run(evaluation, inverse, frame);
};

const report = ({ env, source }: Evaluation, block: Block, isTaken: boolean): void => {
  env.onWay?.(source.text, offsetOfNode(source, block), isTaken ? 'block' : 'else');
};

/** The only argument of a block; undefined if its value is missing. */
function only(evaluation: Evaluation, block: Block, frame: Frame): Value {
  const [param, ...more] = block.params;
  if (param && more.length === 0) return evaluation.value(param, frame);
  const name = simpleName(block.path) ?? '';
  return evaluation.fail(block, `{{#${name}}} expects one argument, found ${String(block.params.length)}`);
}

const conditional =
  (isWanted: (isEmpty: boolean) => boolean): Run =>
  (evaluation, block, frame) => {
    const { pairs = [] } = (block.hash as hbs.AST.Hash | undefined) ?? {};
    const option = pairs.find(({ key }) => key === 'includeZero');
    const includeZero = option !== undefined && evaluation.value(option.value, frame) === true;
    const isTaken = isWanted(isEmpty(only(evaluation, block, frame), { includeZero }));
    report(evaluation, block, isTaken);
    if (isTaken) run(evaluation, block.program, frame);
    else otherwise(evaluation, block, frame);
  };

const withValue: Run = (evaluation, block, frame) => {
  const value = only(evaluation, block, frame);
  const isTaken = !isEmpty(value, { includeZero: true });
  report(evaluation, block, isTaken);
  if (!isTaken) otherwise(evaluation, block, frame);
  else run(evaluation, block.program, withNames(focused(frame, value), block.program.blockParams, [value]));
};

const each: Run = (evaluation, block, frame) => {
  visit(evaluation, block, frame, only(evaluation, block, frame));
};

/** Maps are sorted by key, as in Go's range. */
function visit(evaluation: Evaluation, block: Block, frame: Frame, value: Value): void {
  const items: readonly (readonly [key: Value, item: Value])[] = isList(value)
    ? value.map((item, i) => [BigInt(i), item] as const)
    : value instanceof GoMap
      ? value.sortedKeys().map((key) => [key, value.get(key)] as const)
      : value === undefined || value === null || value === false
        ? []
        : evaluation.fail(block, `expected a list or a map, found ${kindOf(value)}`);
  report(evaluation, block, items.length > 0);
  if (items.length === 0) otherwise(evaluation, block, frame);
  items.forEach(([key, item], i) => {
    const data = { key, index: BigInt(i), first: i === 0, last: i === items.length - 1 };
    const inner = withNames(withData(focused(frame, item), data), block.program.blockParams, [item, key]);
    evaluation.run(block.program, inner);
  });
}

/** `{{#name}}`: for a list once per element, for any other value once. */
const section: Run = (evaluation, block, frame) => {
  const name = simpleName(block.path);
  const hasArgs = block.params.length > 0 || (block.hash as unknown) !== undefined;
  const field = hasArgs ? undefined : evaluation.path(block.path, frame);
  if (name !== undefined && field === undefined && evaluation.function(name) && block.program) {
    const text = evaluation.captured(() => {
      run(evaluation, block.program, frame);
    });
    const value = evaluation.invoke(block, name, block, frame, [text]);
    evaluation.at(block, '', () => {
      evaluation.write(typeof value === 'string' ? value : '');
    });
    return;
  }
  if (hasArgs) {
    evaluation.invoke(block, name ?? '', block, frame);
    const [sign, kind] = (block.program as unknown) ? ['#', 'if'] : ['^', 'unless'];
    evaluation.fail(block, `{{${sign}${name ?? ''}}} is no block; write {{#${kind} (${name ?? ''} …)}}`);
  }
  if (isList(field)) visit(evaluation, block, frame, field);
  else if (field === undefined || field === null || field === false) otherwise(evaluation, block, frame);
  else run(evaluation, block.program, field === true ? frame : focused(frame, field));
};

const raw: Run = (evaluation, block, frame) => {
  run(evaluation, block.program, frame);
};

const BLOCKS: ReadonlyMap<string, Run> = new Map([
  ['if', conditional((empty) => !empty)],
  ['unless', conditional((empty) => empty)],
  ['with', withValue],
  ['each', each],
  ['raw', raw],
]);

export const runBlock: Run = (evaluation, block, frame) => {
  const name = simpleName(block.path);
  (BLOCKS.get(name ?? '') ?? section)(evaluation, block, frame);
};
