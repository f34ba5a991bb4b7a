/** References, and parts of values: steps, indices, slices, projections. */
import type { Expr, ExprOf, Path, RangeExpr, ReferenceExpr } from '../syntax/ast.ts';
import { print } from '../syntax/print.ts';
import type { Binding } from '../tree/binding.ts';
import { find } from '../tree/find.ts';
import { isFields, isList, keyNameOf, made, type List, type Node, type Value } from '../tree/node.ts';
import { isLocallyResolved, isResolved } from '../tree/resolved.ts';
import { isExpr } from '../syntax/ast.ts';
import { byCodePoint } from '../../../lib/gojson.ts';
import { integers, type Engine } from './engine.ts';
import { answer, fail, failed, issue, join, NOTHING, open, type Info, type Outcome } from './outcome.ts';

export function reference(_engine: Engine, expr: ReferenceExpr, binding: Binding, isLocal: boolean): Outcome {
  const { tag, path } = expr;
  const fromRoot = (steps: Path): Node | undefined =>
    binding.findFromRoot(steps[0] === '' ? steps.slice(1) : steps);
  const isOwn = tag === 'doc:0' || tag === 'doc.0';
  if (tag !== '' && !isOwn) return tagged(expr, binding, isLocal);
  if (isOwn && path.length === 1 && path[0] === '') return fail('no reference to actual document possible');
  const isFromRoot = isOwn || path[0] === '';
  return follow(expr, path, isFromRoot ? fromRoot : (steps) => binding.findReference(steps), isLocal);
}

/** The value of a tag, or of all tags with this prefix. */
function tagged(expr: ReferenceExpr, { tags }: Binding, isLocal: boolean): Outcome {
  const wanted = expr.tag.replaceAll(':', '.');
  const levels = (name: string): number => name.split('.').length;
  const found = [...tags.values()]
    .filter(({ name }) => name === wanted || name.startsWith(`${wanted}.`))
    .sort((a, b) => levels(a.name) - levels(b.name) || byCodePoint(a.name, b.name));
  const [first] = found;
  if (!first) return fail(`tag '${expr.tag}' not found`);
  if (expr.path.length === 1 && expr.path[0] === '') {
    const { value } = first.node;
    if (found.length > 1 && first.name !== wanted) {
      return fail(`found multiple tags for '${expr.tag}': ${found.map(({ name }) => name).join(', ')}`);
    }
    return isExpr(value) ? open(expr) : answer(value);
  }
  for (const [i, { name, node }] of found.entries()) {
    const outcome = follow(expr, expr.path, (steps) => find(node, steps), isLocal);
    if (outcome.kind === 'failed') continue;
    const rival = found.slice(i + 1).find((other) => levels(other.name) === levels(name));
    if (name === wanted || !rival || !find(rival.node, expr.path)) return outcome;
    return fail(`ambigious tag resolution for ${print(expr)}: ${name} <-> ${rival.name}`);
  }
  return failed(NOTHING);
}

/** Follows the path step by step, so that the message contains the first missing or unresolved step. */
function follow(
  expr: Expr,
  path: Path,
  lookUp: (steps: Path) => Node | undefined,
  isLocal: boolean,
): Outcome {
  let at: Node | undefined;
  for (let i = 1; i <= path.length; i++) {
    at = lookUp(path.slice(0, i));
    const name = path.slice(0, i).join('.');
    if (!at) return fail(`'${name}' not found`);
    if (!isLocallyResolved(at.value)) {
      return waits(expr, at, `'${name}' ${isExpr(at.value) ? 'unresolved' : 'not complete'}`);
    }
  }
  if (!at || isExpr(at.value)) return failed(NOTHING);
  if (!isLocal && !isResolved(at.value)) return waits(expr, at, `'${print(expr)}' unresolved`);
  return answer(at.value, { keyName: keyNameOf(at) || undefined });
}

const waits = (expr: Expr, { hasFailed, hasError }: Node, text: string): Outcome =>
  open(expr, { issue: issue(text), hasFailed: hasFailed === true || hasError === true });

/** `(e).a.b` */
export function qualified(
  engine: Engine,
  expr: ExprOf<'qualified'>,
  binding: Binding,
  isLocal: boolean,
): Outcome {
  const over = engine.evaluate(expr.over, binding, isLocal);
  if (over.kind === 'failed') return over;
  if (over.kind === 'open') return open({ ...expr, over: over.expr }, over.info);
  const isLoose = isLocal || over.info.isRaw === true;
  if (!isLocallyResolved(over.value) || (!isLoose && !isResolved(over.value))) return open(expr, over.info);
  const root = made(over.value);
  const asReference: ReferenceExpr = { kind: 'reference', tag: '', path: expr.path };
  return follow(asReference, expr.path, (steps) => find(root, steps), isLoose);
}

/** `e.[i]` with any expression as index. */
export function dynamic(
  engine: Engine,
  expr: ExprOf<'dynamic'>,
  binding: Binding,
  isLocal: boolean,
): Outcome {
  const over = engine.evaluate(expr.over, binding, isLocal || expr.over.kind === 'reference');
  if (over.kind === 'failed') return over;
  if (over.kind === 'open' || !isLocallyResolved(over.value)) return open(expr, over.info);
  const index = engine.evaluate(expr.index, binding, isLocal || over.info.isRaw === true);
  if (index.kind === 'failed') return failed(over.info);
  if (index.kind === 'open' || !isResolved(index.value)) return open(expr, over.info);
  const steps = stepsFrom(index.value, over.value);
  if (typeof steps === 'string') return fail(steps, over.info);
  const root = made(over.value);
  const asReference: ReferenceExpr = { kind: 'reference', tag: '', path: steps };
  const found = follow(asReference, steps, (path) => find(root, path), true);
  return found.kind === 'value' && !isResolved(found.value) ? open(expr, found.info) : found;
}

/** The steps of an index, or its error. */
function stepsFrom(index: Value, root: Value): Path | string {
  const single = isList(index) && index.length === 1 ? (index[0] as Node).value : index;
  if (typeof single === 'bigint') return isList(root) ? [`[${single}]`] : 'index requires array expression';
  if (typeof single === 'string') return [single];
  if (!isList(single)) return 'index or field name required for reference qualifier';
  if (single.length === 0) return 'at least one index or field name required for reference qualifier';
  const steps = single.map(({ value }) =>
    typeof value === 'bigint' ? `[${value}]` : typeof value === 'string' ? value : undefined,
  );
  return steps.every((step) => step !== undefined)
    ? steps
    : 'index or field name required for reference qualifier';
}

// ---------------------------------------------------------------- ranges

interface Bounds {
  readonly start: bigint | undefined;
  readonly end: bigint | undefined;
}

/** The given bounds as integers. */
function bounds(
  engine: Engine,
  { start, end }: RangeExpr,
  binding: Binding,
): Outcome | { readonly kind: 'bounds'; readonly bounds: Bounds; readonly info: Info } {
  const given = [start, end].filter((expr) => expr !== undefined);
  const found = integers(engine, given, binding);
  if (found.kind === 'failed') return found;
  if (found.kind === 'open') return open({ kind: 'range', start, end }, found.info);
  const [first, second] = found.values;
  return {
    kind: 'bounds',
    bounds: { start: start && first, end: end && (start ? second : first) },
    info: found.info,
  };
}

/** `[1 .. 4]`; descending if the first is greater. */
export function range(engine: Engine, expr: RangeExpr, binding: Binding): Outcome {
  if (!expr.start || !expr.end) return fail('range expression requires start and end index');
  const found = bounds(engine, expr, binding);
  if (found.kind !== 'bounds') return found.kind === 'open' ? open(expr, found.info) : found;
  const { start = 0n, end = 0n } = found.bounds;
  const step = start > end ? -1n : 1n;
  const length = Number((end - start) * step) + 1;
  engine.budget.reserve(length * 16);
  const items = Array.from({ length }, (_, i) => made(start + step * BigInt(i), binding.source));
  return answer(items, found.info);
}

/** `l.[1..2]`, `l.[1..]`, `l.[-2..]` */
export function slice(engine: Engine, expr: ExprOf<'slice'>, binding: Binding, isLocal: boolean): Outcome {
  const over = engine.evaluate(expr.over, binding, isLocal);
  if (over.kind === 'failed') return over;
  if (over.kind === 'open' || !isLocallyResolved(over.value) || (!isLocal && !isResolved(over.value))) {
    return open(expr, over.info);
  }
  const list = over.value;
  if (!isList(list)) return fail('slice requires array expression', over.info);
  if (!expr.range.start && !expr.range.end) return fail('slice operator requires start or end index');
  const found = bounds(engine, expr.range, binding);
  if (found.kind !== 'bounds') return found.kind === 'open' ? open(expr, over.info) : found;
  return cut(list, found.bounds, over.info);
}

function cut(list: List, { start: givenStart, end: givenEnd }: Bounds, info: Info): Outcome {
  const size = BigInt(list.length);
  const start = givenStart ?? ((givenEnd ?? 0n) < 0n ? -size : 0n);
  const end = givenEnd ?? (start < 0n ? -1n : size - 1n);
  if (start > end) return answer([], info);
  if (start < 0n && end >= 0n) {
    return fail('mixed negative and non-negative range not possible for slice', info);
  }
  if (start < -size) return fail(`slice out of range (${start} < -length ${size})`, info);
  if (end >= size) return fail(`slice out of range (${end} >= length ${size})`, info);
  const offset = start < 0n ? size : 0n;
  return answer(list.slice(Number(start + offset), Number(end + offset) + 1), info);
}

// ---------------------------------------------------------------- projections

/** `l.[*].b`; for maps, the values sorted by key. */
export function projection(
  engine: Engine,
  expr: ExprOf<'projection'>,
  binding: Binding,
  isLocal: boolean,
): Outcome {
  const over = engine.evaluate(expr.over, binding, false);
  if (over.kind === 'failed') return over;
  if (over.kind === 'open') return failed(over.info);
  const { value, info } = over;
  if (!isList(value) && !isFields(value)) return fail('only map or list allowed for projection', info);
  if (isList(value) && expr.projection.kind === 'projected') return answer(value, info);
  const elements = isList(value)
    ? value
    : [...value].sort(([a], [b]) => byCodePoint(a, b)).map(([, element]) => element);
  const before = engine.projected.get(expr.slot);
  const results: Node[] = [];
  try {
    for (const element of elements) {
      engine.projected.set(expr.slot, isExpr(element.value) ? null : element.value);
      const outcome = engine.evaluate(expr.projection, binding, isLocal);
      if (outcome.kind === 'failed') return failed(info);
      if (outcome.kind === 'open') return open(expr, info);
      results.push(made(outcome.value, binding.source));
    }
  } finally {
    if (before === undefined) engine.projected.delete(expr.slot);
    else engine.projected.set(expr.slot, before);
  }
  return answer(results, join(info, NOTHING));
}

export const projected = (engine: Engine, { slot }: ExprOf<'projected'>): Outcome =>
  answer(engine.projected.get(slot) ?? null);
