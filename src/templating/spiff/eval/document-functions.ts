/**
 * Functions that evaluate documents and expressions: `eval`, `merge`, `error`, `tagdef`. Those for files and
 * conditions are in other files.
 */
import { table } from '../../../lib/objects.ts';
import { Unresolvable } from '../function.ts';
import { formatText } from '../functions/texts.ts';
import { SyntaxProblem } from '../syntax/cursor.ts';
import type { Binding } from '../tree/binding.ts';
import { copyOf } from '../tree/copy.ts';
import { isFields, isList, node, Template, type Node, type Value } from '../tree/node.ts';
import { typeName } from '../value.ts';
import { isExpr } from '../syntax/ast.ts';
import { toSpiff } from '../tree/plain.ts';
import { CascadeFailed, type Engine } from './engine.ts';
import { fileFunctions } from './files.ts';
import { answer, fail, type Outcome } from './outcome.ts';
import { validationFunctions } from './validation.ts';

type DocumentFunction = (engine: Engine, args: readonly Value[], binding: Binding) => Outcome;

/** Evaluates the expression in a string. */
const evaluateText: DocumentFunction = (engine, args, binding) => {
  const [text] = args;
  if (args.length !== 1) return fail("one argument required for 'eval'");
  if (typeof text !== 'string') return fail("string argument required for 'eval'");
  try {
    return engine.evaluate(engine.parse(text, binding.path, binding.stubPath), binding, false);
  } catch (error) {
    if (!(error instanceof SyntaxProblem)) throw error;
    return fail(`(${text})\t ${error.message}`);
  }
};

/** Fails with a message, formatted like `format`. */
const error: DocumentFunction = (_engine, args) => {
  try {
    return fail(formatText('error', args.map(toSpiff)));
  } catch (problem) {
    if (!(problem instanceof Unresolvable)) throw problem;
    return fail(problem.message);
  }
};

/** The first map is the document, the others are its stubs: they only change existing fields. */
const merge: DocumentFunction = (engine, args, binding) => {
  if (args.length === 0) return fail('at least one argument required for merge function');
  const [first] = args;
  const isList1 = args.length === 1 && isList(first);
  const candidates = isList1 ? first.map(({ value }) => (isExpr(value) ? null : value)) : args;
  if (candidates.length === 0) return fail('merge: no map found for merge');
  const documents: Node[] = [];
  for (const [i, candidate] of candidates.entries()) {
    const fields = candidate instanceof Template ? copyOf(candidate.prepared).value : candidate;
    if (!isFields(fields)) {
      const what = isList1 ? 'entry of list argument:' : 'argument';
      return fail(`merge: ${what} ${i + 1}: no map or map template, but ${typeName(candidate)}`);
    }
    documents.push(node(fields, 'dynaml'));
  }
  const [document, ...stubs] = documents;
  try {
    const { value } = engine.cascade(binding, document as Node, stubs);
    return isExpr(value) ? answer(null) : answer(value);
  } catch (problem) {
    if (!(problem instanceof CascadeFailed)) throw problem;
    return fail(`merging failed: ${problem.message}`);
  }
};

const TAG_NAME = /^[a-zA-Z][a-zA-Z0-9]*(?:[.:][a-zA-Z][a-zA-Z0-9]*)*$/;

/** Gives a value a name for `name::path`. */
const tagdef: DocumentFunction = (_engine, args, binding) => {
  const [given, value = null, scope = 'local'] = args;
  if (args.length < 2 || args.length > 3) return fail('two or three arguments expected for tagdef');
  if (typeof given !== 'string') return fail('name argument for tagdef must be a string');
  const name = given.replace(/^\*/, '').replaceAll(':', '.');
  if (!TAG_NAME.test(name)) return fail(`invalid tag name "${name}" for tagdef`);
  if (scope !== 'local' && scope !== 'global') {
    return fail('invalid scope argument for tagdef (must be local or global)');
  }
  const problem = defineTag(binding, name, node(value, 'tagdef'));
  return problem === undefined ? answer(value) : fail(problem);
};

/** @returns the error if the name is used at another place */
export function defineTag({ tags, path }: Binding, name: string, tagged: Node): string | undefined {
  const wanted = name.replaceAll(':', '.');
  const old = tags.get(wanted);
  if (old && old.path.join('\0') !== path.join('\0')) {
    return `duplicate tag "${wanted}": ${path.join('.')} <-> ${old.path.join('.')}`;
  }
  tags.set(wanted, { name: wanted, node: tagged, path });
  return undefined;
}

export const documentFunctions: Readonly<Record<string, DocumentFunction>> = table({
  eval: evaluateText,
  error,
  merge,
  tagdef,
  ...fileFunctions,
  ...validationFunctions,
});
