/** Expressions about the document itself: `merge` and `stub`, markers, and template instances. */
import type { Expr, ExprOf, MarkerExpr, MergeExpr } from '../syntax/ast.ts';
import { isExpr } from '../syntax/ast.ts';
import type { Binding } from '../tree/binding.ts';
import { copyOf } from '../tree/copy.ts';
import { FLAG, made, Template, type Node } from '../tree/node.ts';
import type { Engine } from './engine.ts';
import { answer, fail, failed, join, open, type Info, type Outcome } from './outcome.ts';

/** The value of the stubs at the same path, or at another one. */
export function merge(_engine: Engine, expr: MergeExpr, binding: Binding): Outcome {
  const info: Info = {
    keyName: expr.keyName || undefined,
    redirect: expr.isRedirected ? expr.path : undefined,
  };
  if (expr.isNone) return answer(null, { ...info, isMerged: true });
  const found = binding.findInStubs(expr.path);
  if (!found) return fail(`'${expr.path.join('.')}' not found in any stub`, info);
  return valueIn(found, expr, {
    ...info,
    isReplacing: expr.isReplacing,
    isMerged: true,
    source: found.source,
    flags: found.flags,
  });
}

const valueIn = ({ value }: Node, expr: Expr, info: Info): Outcome =>
  isExpr(value) ? open(expr, info) : answer(value, info);

export const TEMPLATE = '&template';
const MARKED: ReadonlyMap<string, number> = new Map([
  ['&temporary', FLAG.temporary],
  ['&local', FLAG.local],
  ['&inject', FLAG.inject],
  ['&default', FLAG.default],
  ['&state', FLAG.state],
]);

export const flagsOf = ({ markers }: MarkerExpr): number =>
  markers.reduce((flags, marker) => flags | (MARKED.get(marker) ?? 0), 0);

/** The name in `&tag:name`; empty if there is none. */
export const tagOf = ({ markers }: MarkerExpr): string =>
  markers.find((marker) => marker.startsWith('&tag:'))?.slice('&tag:'.length) ?? '';

export function marker(engine: Engine, expr: MarkerExpr, binding: Binding, isLocal: boolean): Outcome {
  if (expr.markers.includes(TEMPLATE)) return fail('&template only usable as marker for templates');
  if (expr.markers.includes('&dynamic')) return fail('the marker &dynamic is not supported');
  const info: Info = { flags: flagsOf(expr) };
  if (!expr.body) return answer(null, info);
  const outcome = engine.evaluate(expr.body, binding, isLocal);
  return { ...outcome, info: join(outcome.info, info) };
}

/** `*template`: evaluated here, with the names in scope here. */
export function instance(engine: Engine, expr: ExprOf<'instance'>, binding: Binding): Outcome {
  const found = engine.evaluate(expr.template, binding, false);
  if (found.kind === 'failed') return found;
  if (found.kind === 'open') return open(expr, found.info);
  const template = found.value;
  if (!(template instanceof Template)) return fail('template value required', found.info);
  const self: Node = { ...made(template, binding.source), resolver: template.binding };
  const inner = binding.withLocals(new Map([['_', self]]));
  const { node, unresolved } = engine.flowPart(copyOf(template.prepared), inner);
  const info: Info = { isUndefined: node.isUndefined };
  if (unresolved) {
    const text = `resolution of template '${template.path.join('.')}' failed`;
    if (!unresolved.hasError) return open(expr, info);
    return failed({ ...info, issue: { text, nested: unresolved.issues }, hasFailed: unresolved.hasFailed });
  }
  return isExpr(node.value) ? open(expr, info) : answer(node.value, { ...info, source: node.source });
}

export function prefer(engine: Engine, expr: ExprOf<'prefer'>, binding: Binding, isLocal: boolean): Outcome {
  const outcome = engine.evaluate(expr.inner, binding, isLocal);
  return { ...outcome, info: { ...outcome.info, isPreferred: true } };
}
