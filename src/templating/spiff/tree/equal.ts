/**
 * Whether a pass over a document changed anything. Unchanged nodes are the same objects, so the comparison is
 * usually fast.
 */
import { isExpr, type Expr } from '../syntax/ast.ts';
import { isFields, isList, Lambda, Template, type Issue, type Node, type Value } from './node.ts';

export function equalNodes(a: Node, b: Node): boolean {
  if (a === b) return true;
  return (
    a.source === b.source &&
    (a.keyName ?? '') === (b.keyName ?? '') &&
    (a.tag ?? '') === (b.tag ?? '') &&
    (a.flags ?? 0) === (b.flags ?? 0) &&
    FLAGS.every((flag) => Boolean(a[flag]) === Boolean(b[flag])) &&
    equalPlain(a.redirect, b.redirect) &&
    equalIssues(a.issue, b.issue) &&
    equalValues(a.value, b.value)
  );
}

const FLAGS = ['hasError', 'hasFailed', 'isUndefined', 'isMerged', 'isPreferred', 'isReplacing'] as const;

const equalIssues = (a: Issue | undefined, b: Issue | undefined): boolean => a === b || equalPlain(a, b);

function equalValues(a: Value | Expr, b: Value | Expr): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return Object.is(a, b);
  if (isExpr(a)) return isExpr(b) && equalExprs(a, b);
  if (isExpr(b)) return false;
  if (isList(a))
    return isList(b) && a.length === b.length && a.every((it, i) => equalNodes(it, b[i] as Node));
  if (isFields(a)) {
    if (!isFields(b) || a.size !== b.size) return false;
    return [...a].every(([key, it]) => {
      const other = b.get(key);
      return other !== undefined && equalNodes(it, other);
    });
  }
  return a instanceof Lambda ? equalLambdas(a, b) : equalTemplates(a, b);
}

const equalLambdas = (a: Lambda, b: Value): boolean =>
  b instanceof Lambda && equalExprs(a.expr, b.expr) && equalValues(a.locals, b.locals);

const equalTemplates = (a: Template, b: Value): boolean =>
  b instanceof Template && equalNodes(a.original, b.original) && equalNodes(a.prepared, b.prepared);

export const equalExprs = (a: Expr, b: Expr): boolean => equalPlain(a, b);

/** Expressions and issues are plain trees, which may contain values. */
function equalPlain(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return Object.is(a, b);
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((it, i) => equalPlain(it, b[i]));
  }
  if (isFields(a) || a instanceof Lambda || a instanceof Template) return equalValues(a, b as Value);
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...keys].every((key) =>
    equalPlain((a as Record<string, unknown>)[key], (b as Record<string, unknown>)[key]),
  );
}
