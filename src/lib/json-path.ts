/**
 * Kubernetes' JSONPath: the dialect of `kubectl -o jsonpath`, of printer columns and of readiness checks.
 * @see https://kubernetes.io/docs/reference/kubectl/jsonpath/
 */
import { append } from './lists.ts';
import { exactJson } from './exact-json.ts';
import { JsonPathError, parseExpression, parseTemplate, type Node, type Path } from './jsonpath-parse.ts';

export { JsonPathError } from './jsonpath-parse.ts';

export interface JsonPath {
  /** The source as given. */
  readonly text: string;
  /** All values that the template's expressions find, in order. @throws JsonPathError when a member is missing */
  find(value: unknown): unknown[];
  /** The first value found, undefined when there is none; missing members are no error here. */
  first(value: unknown): unknown;
  /** The template filled in, as kubectl prints it: several matches are separated by blanks. */
  print(value: unknown): string;
}

/**
 * Compiles a template; a bare path such as `.spec.foo` or `spec.foo` counts as one expression.
 * @throws JsonPathError
 */
export function compileJsonPath(text: string): JsonPath {
  const trimmed = text.trim();
  const template = trimmed.includes('{') ? text : `{${/^[.[$@]/.test(trimmed) ? trimmed : `.${trimmed}`}}`;
  const parts = parseTemplate(template);
  const find = (value: unknown, isLenient: boolean): unknown[] =>
    evaluateParts(parts, value, isLenient)
      .filter((result) => !result.isText)
      .flatMap((result) => result.values);
  return {
    text,
    find: (value) => find(value, false),
    first: (value) => find(value, true)[0],
    print: (value) =>
      evaluateParts(parts, value, false)
        .map((result) => result.values.map(printValue).join(' '))
        .join(''),
  };
}

interface Result {
  readonly values: readonly unknown[];
  readonly isText: boolean;
}

/** Evaluates the parts of a template; what stands between `range` and `end` once per value of the range. */
function evaluateParts(
  parts: readonly Path[],
  root: unknown,
  isLenient: boolean,
  current: unknown = root,
): Result[] {
  const results: Result[] = [];
  for (let i = 0; i < parts.length; i++) {
    const part = parts[i] ?? [];
    const head = part[0];
    if (head?.kind === 'text') {
      results.push({ values: [head.text], isText: true });
    } else if (head?.kind === 'range') {
      const end = matchingEnd(parts, i);
      for (const value of walk(part.slice(1), [current], root, isLenient))
        append(results, evaluateParts(parts.slice(i + 1, end), root, isLenient, value));
      i = end;
    } else if (head?.kind === 'end') {
      throw new JsonPathError('not in range, nothing to end');
    } else {
      const isText = head?.kind === 'literal' && part.length === 1;
      results.push({ values: walk(part, [current], root, isLenient), isText });
    }
  }
  return results;
}

function matchingEnd(parts: readonly Path[], range: number): number {
  let depth = 0;
  for (let i = range; i < parts.length; i++) {
    const kind = parts[i]?.[0]?.kind;
    if (kind === 'range') depth++;
    if (kind === 'end' && --depth === 0) return i;
  }
  throw new JsonPathError('unterminated range');
}

function walk(path: Path, start: readonly unknown[], root: unknown, isLenient: boolean): unknown[] {
  let values: unknown[] = [...start];
  for (let i = 0; i < path.length; i++) {
    const node = path[i];
    if (node?.kind === 'recursive') {
      const rest = path.slice(i + 1);
      const all = values.flatMap(descendants);
      return rest.length === 0 ? all : all.flatMap((value) => walk(rest, [value], root, true));
    }
    if (node) values = values.flatMap((value) => step(node, value, root, isLenient));
  }
  return values;
}

function step(node: Node, value: unknown, root: unknown, isLenient: boolean): unknown[] {
  switch (node.kind) {
    case 'root':
      return [root];
    case 'current':
      return [value];
    case 'literal':
      return [node.value];
    case 'field':
      return field(node.name, value, isLenient);
    case 'wildcard':
      return children(value);
    case 'slice':
      return slice(node, value, isLenient);
    case 'union':
      return node.parts.flatMap((part) => walk(part, [value], root, isLenient));
    case 'filter':
      return (Array.isArray(value) ? (value as unknown[]) : children(value)).filter((item) =>
        passes(node, item, root),
      );
    case 'recursive':
    case 'text':
    case 'range':
    case 'end':
      throw new JsonPathError(`${node.kind} is not expected here`);
  }
}

function field(name: string, value: unknown, isLenient: boolean): unknown[] {
  if (typeof value === 'object' && value !== null && !Array.isArray(value) && Object.hasOwn(value, name)) {
    return [(value as Record<string, unknown>)[name]];
  }
  if (isLenient) return [];
  throw new JsonPathError(`${name} is not found`);
}

const children = (value: unknown): unknown[] =>
  Array.isArray(value)
    ? [...(value as unknown[])]
    : typeof value === 'object' && value !== null
      ? Object.values(value)
      : [];

const descendants = (value: unknown): unknown[] => [value, ...children(value).flatMap(descendants)];

function slice(node: Extract<Node, { kind: 'slice' }>, value: unknown, isLenient: boolean): unknown[] {
  if (!Array.isArray(value)) {
    if (isLenient) return [];
    throw new JsonPathError(`${exactJson(value)} is not array or slice`);
  }
  const list = value as unknown[];
  const position = (index: number): number => (index < 0 ? index + list.length : index);
  if (node.single) {
    const index = position(node.from ?? 0);
    if (index >= 0 && index < list.length) return [list[index]];
    if (isLenient) return [];
    throw new JsonPathError(`array index out of bounds: index ${node.from ?? 0}, length ${list.length}`);
  }
  if (node.step <= 0) throw new JsonPathError('step must be > 0');
  const from = Math.max(0, position(node.from ?? 0));
  const to = Math.min(list.length, position(node.to ?? list.length));
  return list.slice(from, to).filter((_, index) => index % node.step === 0);
}

function passes(node: Extract<Node, { kind: 'filter' }>, item: unknown, root: unknown): boolean {
  const left = walk(node.left, [item], root, true);
  if (node.operator === 'exists') return left.length > 0;
  const right = walk(node.right, [item], root, true);
  if (left.length !== 1 || right.length !== 1) return false;
  return compare(left[0], right[0], node.operator);
}

function compare(left: unknown, right: unknown, operator: string): boolean {
  if (operator === '==') return left === right;
  if (operator === '!=') return left !== right;
  const isText = typeof left === 'string' && typeof right === 'string';
  if (!isText && !(isNumber(left) && isNumber(right))) return false;
  const [a, b] = [left, right];
  if (operator === '<') return a < b;
  if (operator === '<=') return a <= b;
  return operator === '>' ? a > b : a >= b;
}

const isNumber = (value: unknown): value is number | bigint =>
  typeof value === 'number' || typeof value === 'bigint';

/** Text of a value: objects and lists as JSON, null as nothing. */
export function printValue(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'object') return exactJson(value);
  const scalar = value as string | number | bigint | boolean;
  return String(scalar);
}

/** Whether `text` is a simple path such as printer columns may have: it starts with a dot and has no braces. */
export function isSimplePath(text: string): boolean {
  if (!text.startsWith('.') || text.includes('{') || text.includes('}')) return false;
  try {
    return parseExpression(text).every((node) => node.kind !== 'literal');
  } catch {
    return false;
  }
}
