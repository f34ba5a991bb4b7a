/** Expressions that are unresolved when nothing changes any more, and the message about them. */
import { byCodePoint } from '../../lib/gojson.ts';
import type { Culprit } from './culprit.ts';
import { isExpr, type Path } from './syntax/ast.ts';
import { SyntaxProblem } from './syntax/cursor.ts';
import { print } from './syntax/print.ts';
import { isFields, isList, type Issue, type Node } from './tree/node.ts';
import { embedded } from './tree/resolved.ts';
import type { Engine, Unresolved } from './eval/engine.ts';

interface Found {
  readonly node: Node;
  /** Where it is in the result. */
  readonly at: Path;
  /** Where it comes from, if that differs. */
  readonly from: Path;
  readonly offset?: number;
}

/** undefined if everything has a value */
export function unresolvedIn(root: Node, engine: Engine): Unresolved | undefined {
  const found = sorted([...findAll(root, [], engine)]);
  const [first] = found;
  if (!first) return undefined;
  return {
    hasError: found.some(({ node }) => (node.issue?.text ?? '') !== ''),
    hasFailed: found.some(({ node }) => node.hasFailed === true),
    issues: found.map(({ node, ...place }) => ({ ...node.issue, text: line({ node, ...place }, '') })),
    culprit: culpritOf(first, found.length - 1),
    text: `unresolved nodes:${found.map((it) => `\n\t${line(it, '\t')}${nested(it.node.issue)}`).join('')}`,
  };
}

function culpritOf({ node, at, offset }: Found, others: number): Culprit {
  const { source, value, issue } = node;
  return {
    source,
    paths: [at, ...(issue?.path ? [issue.path] : [])],
    value,
    why: issue?.text ?? '',
    offset,
    others,
  };
}

function* findAll(root: Node, at: Path, engine: Engine): Generator<Found> {
  const { value } = root;
  let isFound = false;
  if (isExpr(value)) {
    isFound = true;
    yield { node: root, at, from: origin(root, at) };
  } else if (isFields(value)) {
    for (const key of [...value.keys()].sort(byCodePoint))
      yield* findAll(value.get(key) as Node, [...at, key], engine);
  } else if (isList(value)) {
    for (const [i, item] of value.entries()) yield* findAll(item, [...at, `[${i}]`], engine);
  } else if (typeof value === 'string') {
    const problem = syntaxProblem(value, engine);
    if (problem !== undefined) {
      isFound = true;
      const issue = { text: problem.message };
      const { offset } = problem;
      yield { node: { ...root, hasError: true, hasFailed: false, issue }, at, from: [], offset };
    }
  }
  if (!isFound && root.hasFailed === true) yield { node: root, at, from: origin(root, at) };
}

function syntaxProblem(text: string, engine: Engine): SyntaxProblem | undefined {
  const source = embedded(text);
  if (source === undefined) return undefined;
  try {
    engine.parse(source, ['dummy'], ['dummy']);
    return undefined;
  } catch (error) {
    if (error instanceof SyntaxProblem) return error;
    throw error;
  }
}

/** Errors first, then expressions that are unresolved, then those that depend on a failed one. */
function sorted(found: readonly Found[]): readonly Found[] {
  const isError = ({ node }: Found): boolean => node.hasError === true;
  const hasFailed = ({ node }: Found): boolean => node.hasFailed === true;
  return [
    ...found.filter(isError),
    ...found.filter((it) => !isError(it) && !hasFailed(it)),
    ...found.filter((it) => !isError(it) && hasFailed(it)),
  ];
}

function origin({ value, issue }: Node, at: Path): Path {
  if (isExpr(value) && value.kind === 'merge') return value.path;
  const from = issue?.path;
  if (!from || from.join('\0') === at.join('\0')) return [];
  const isBelow = from.length > at.length && at.every((step, i) => from[i] === step);
  return isBelow ? ['..', ...from.slice(at.length)] : from;
}

function line({ node, at, from }: Found, gap: string): string {
  const { value, issue } = node;
  const mark = node.hasError === true ? '*' : node.hasFailed === true ? '-' : '@';
  const text = issue?.text ? `${gap}${mark}${issue.text}` : '';
  return `${shown(value)}\tin ${node.source}\t${at.join('.')}\t(${from.join('.')})${text}`;
}

function shown(value: Node['value']): string {
  if (isExpr(value)) return `(( ${print(value)} ))`.replaceAll('\n', '\n\t');
  if (isFields(value)) return '<map>';
  if (isList(value)) return '<list>';
  if (typeof value === 'string') return value.replaceAll('\n', '\n\t');
  return '<value>';
}

function nested(issue: Issue | undefined): string {
  if (!issue?.nested) return '';
  const prefix = issue.isSequence === true ? '\n\t\t... ' : '\n';
  const gap = issue.isSequence === true ? '' : '\t\t\t';
  const text = issue.nested.map((sub) => prefix + sub.text + nested(sub)).join('');
  return text.replaceAll('\n', `\n${gap}`);
}
