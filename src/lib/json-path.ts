/**
 * Kubernetes JSONPath for exports, readiness checks and printer columns: without braces, the leading dot is optional.
 * Fields, quoted fields, indices, slices, unions, wildcards, recursive descent, and filters with one comparison.
 * @see https://kubernetes.io/docs/reference/kubectl/jsonpath/
 */
import { equal } from './json.ts';
import { append } from './lists.ts';
import { isObject } from './objects.ts';

/** The path has a syntax error. */
export class JsonPathError extends Error {
  override readonly name = 'JsonPathError';
}

export interface JsonPath {
  /**
   * All values at the path; undefined if a field on the way does not exist, which is different from a wildcard
   * without results.
   * @param spend called with the number of values before they are visited; may throw
   */
  find(value: unknown, spend?: Spend): readonly unknown[] | undefined;
  /** The first value at the path, skipping elements without a field; undefined if there is none. */
  first(value: unknown): unknown;
}

type Step =
  | { readonly do: 'field'; readonly name: string }
  | { readonly do: 'pick'; readonly keys: readonly (string | number)[] }
  | { readonly do: 'slice'; readonly from?: number; readonly to?: number; readonly by: number }
  | { readonly do: 'all' }
  | { readonly do: 'descend' }
  | { readonly do: 'filter'; readonly left: readonly Step[]; readonly op: string; readonly right: unknown };

/** @throws JsonPathError */
export function compileJsonPath(text: string): JsonPath {
  const steps = parse(text);
  return {
    find: (value, spend = () => undefined) => run(steps, value, { spend, isLenient: false }),
    first: (value) => run(steps, value, { spend: () => undefined, isLenient: true })?.[0],
  };
}

type Spend = (steps: number) => void;

interface How {
  readonly spend: Spend;
  /** Whether elements without a field are skipped; otherwise there is no result. */
  readonly isLenient: boolean;
}

function run(steps: readonly Step[], value: unknown, how: How): readonly unknown[] | undefined {
  let current: readonly unknown[] = [value];
  for (const step of steps) {
    const next: unknown[] = [];
    for (const item of current) {
      const found = take(step, item, how);
      if (found) append(next, found);
      else if (!how.isLenient) return undefined;
    }
    current = next;
  }
  return current;
}

function take(step: Step, value: unknown, how: How): readonly unknown[] | undefined {
  const { spend } = how;
  spend(1);
  switch (step.do) {
    case 'field':
      return isObject(value) && Object.hasOwn(value, step.name) ? [value[step.name]] : undefined;
    case 'pick':
      spend(step.keys.length);
      return picked(step.keys, value, how);
    case 'slice':
      return Array.isArray(value) ? sliced(step, counted(value, spend)) : undefined;
    case 'all':
      return counted(childrenOf(value), spend);
    case 'descend':
      return descendants(value, spend);
    case 'filter':
      return counted(childrenOf(value), spend).filter((child) => holds(step, child, how));
  }
}

function counted<T>(list: readonly T[], spend: Spend): readonly T[] {
  spend(list.length);
  return list;
}

function picked(
  keys: readonly (string | number)[],
  value: unknown,
  { isLenient }: How,
): readonly unknown[] | undefined {
  const result: unknown[] = [];
  for (const key of keys) {
    const found = memberOf(value, key);
    if (found) result.push(found.value);
    else if (!isLenient) return undefined;
  }
  return result;
}

function memberOf(value: unknown, key: string | number): { readonly value: unknown } | undefined {
  if (typeof key === 'string') {
    return isObject(value) && Object.hasOwn(value, key) ? { value: value[key] } : undefined;
  }
  if (!Array.isArray(value)) return undefined;
  const at = key < 0 ? value.length + key : key;
  return at >= 0 && at < value.length ? { value: value[at] as unknown } : undefined;
}

function sliced(step: Extract<Step, { do: 'slice' }>, value: readonly unknown[]): readonly unknown[] {
  const from = step.from ?? 0;
  const part = value.slice(from, step.to ?? value.length);
  return step.by === 1 ? part : part.filter((_, i) => i % step.by === 0);
}

const childrenOf = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? (value as unknown[]) : isObject(value) ? Object.values(value) : [];

/** The value, and all lists and maps below it, parents first. Not recursive, because they may be deep. */
function descendants(value: unknown, spend: Spend): readonly unknown[] {
  const result: unknown[] = [];
  const open = [value];
  while (open.length > 0) {
    const next = open.pop();
    result.push(next);
    const children = counted(childrenOf(next), spend);
    for (let i = children.length - 1; i >= 0; i--) {
      const child = children[i];
      if (typeof child === 'object' && child !== null) open.push(child);
    }
  }
  return result;
}

function holds(step: Extract<Step, { do: 'filter' }>, value: unknown, how: How): boolean {
  const left = run(step.left, value, how);
  if (step.op === 'exists') return left !== undefined && left.length > 0;
  if (!left || left.length === 0) return false;
  const [a, b] = [left[0], step.right];
  if (step.op === '==') return equal(a, b);
  if (step.op === '!=') return !equal(a, b);
  const areTexts = typeof a === 'string' && typeof b === 'string';
  if (!areTexts && !(isNumber(a) && isNumber(b))) return false;
  if (step.op === '<') return a < b;
  if (step.op === '<=') return a <= b;
  return step.op === '>' ? a > b : a >= b;
}

const isNumber = (value: unknown): value is number | bigint =>
  typeof value === 'number' || typeof value === 'bigint';

// ---------------------------------------------------------------- parsing

const NAME = /[^.[\]{}()'"\s*?@,:]+/y;
const FILTER = /^@(?<path>[^=!<>]*?)\s*(?:(?<op>==|!=|<=|>=|<|>)\s*(?<value>.+))?$/;

function parse(text: string): Step[] {
  const path = text.trim();
  if (path === '') throw new JsonPathError('the JSON path is empty');
  const body = /^[$@]/.test(path) ? path.slice(1) : path;
  const dotted = body === '' || body.startsWith('.') || body.startsWith('[') ? body : `.${body}`;
  const steps: Step[] = [];
  for (let i = 0; i < dotted.length;)
    i = dotted[i] === '[' ? bracket(dotted, i, steps) : dot(dotted, i, steps);
  return steps;
}

function dot(text: string, at: number, steps: Step[]): number {
  if (text[at] !== '.')
    throw new JsonPathError(`JSON path "${text}": unexpected "${text[at] ?? ''}" at ${String(at)}`);
  let i = at + 1;
  if (i >= text.length && steps.length === 0) return i; // The object itself.
  if (text[i] === '.') {
    steps.push({ do: 'descend' });
    i++;
  }
  if (text[i] === '[') return i;
  if (text[i] === '*') {
    steps.push({ do: 'all' });
    return i + 1;
  }
  let name = '';
  while (i < text.length) {
    if (text[i] === '\\') {
      name += text[i + 1] ?? '';
      i += 2;
      continue;
    }
    NAME.lastIndex = i;
    const match = NAME.exec(text)?.[0]?.split('\\')[0];
    if (!match) break;
    name += match;
    i += match.length;
  }
  if (name === '') throw new JsonPathError(`JSON path "${text}": a field name is missing at ${String(i)}`);
  steps.push({ do: 'field', name });
  return i;
}

function bracket(text: string, at: number, steps: Step[]): number {
  const end = closing(text, at);
  const inner = text.slice(at + 1, end).trim();
  if (inner === '*') steps.push({ do: 'all' });
  else if (inner.startsWith('?(') && inner.endsWith(')')) steps.push(filter(inner.slice(2, -1).trim()));
  else if (/^-?\d*:-?\d*(:\d*)?$/.test(inner)) steps.push(slice(inner));
  else steps.push({ do: 'pick', keys: split(inner).map((part) => key(part.trim(), text)) });
  return end + 1;
}

function closing(text: string, at: number): number {
  let depth = 0;
  let quote = '';
  for (let i = at; i < text.length; i++) {
    const c = text[i] ?? '';
    if (quote) {
      if (c === quote) quote = '';
    } else if (c === "'" || c === '"') quote = c;
    else if (c === '[') depth++;
    else if (c === ']' && --depth === 0) return i;
  }
  throw new JsonPathError(`JSON path "${text}": a closing bracket is missing`);
}

/** Splits at commas outside quotes. */
const split = (inner: string): string[] => inner.match(/'[^']*'|"[^"]*"|[^,]+/g) ?? [];

function key(part: string, text: string): string | number {
  const quoted = /^(?:'([^']*)'|"([^"]*)")$/.exec(part);
  if (quoted) return quoted[1] ?? quoted[2] ?? '';
  if (/^-?\d+$/.test(part)) return Number(part);
  throw new JsonPathError(`JSON path "${text}": "${part}" is neither an index nor a quoted field`);
}

function slice(inner: string): Step {
  const [from = '', to = '', by = ''] = inner.split(':');
  return {
    do: 'slice',
    ...(from && { from: Number(from) }),
    ...(to && { to: Number(to) }),
    by: by === '' ? 1 : Math.max(1, Number(by)),
  };
}

function filter(text: string): Step {
  const groups = FILTER.exec(text)?.groups;
  if (!groups) throw new JsonPathError(`JSON path filter "${text}" is not valid`);
  const left = groups['path'] ? parse(groups['path']) : [];
  if (!groups['op']) return { do: 'filter', left, op: 'exists', right: undefined };
  return { do: 'filter', left, op: groups['op'], right: literal((groups['value'] ?? '').trim()) };
}

function literal(text: string): unknown {
  const quoted = /^(?:'([^']*)'|"([^"]*)")$/.exec(text);
  if (quoted) return quoted[1] ?? quoted[2] ?? '';
  if (text === 'true' || text === 'false') return text === 'true';
  if (text === 'null' || text === 'nil') return null;
  const number = Number(text);
  if (text !== '' && !Number.isNaN(number)) return number;
  throw new JsonPathError(`"${text}" is not a value that a JSON path can compare with`);
}
