/**
 * One pass over a document: evaluates every expression once, with the values of the previous pass. Passes repeat
 * until nothing changes, as in the original. The visible values, the effective stub and the reported message depend
 * on this.
 */
import { isExpr, type Expr, type MarkerExpr } from '../syntax/ast.ts';
import { SyntaxProblem } from '../syntax/cursor.ts';
import type { Binding } from '../tree/binding.ts';
import {
  FLAG,
  hasFlag,
  isFields,
  isList,
  node,
  Template,
  withFlags,
  type Issue,
  type Node,
} from '../tree/node.ts';
import { embedded, isResolved, isResolvedNode } from '../tree/resolved.ts';
import type { Engine } from '../eval/engine.ts';
import { defineTag } from '../eval/document-functions.ts';
import { flagsOf, tagOf, TEMPLATE } from '../eval/documents.ts';
import type { Info, Outcome } from '../eval/outcome.ts';
import { flowList } from './list.ts';
import { flowMap } from './map.ts';
import { templateBody } from './merging.ts';

/** The functions that parts of a pass share. */
export interface Pass {
  readonly engine: Engine;
  /** Whether nothing can change any more; equivalent to a pass, but much faster. */
  isSettled(root: Node, binding: Binding): boolean;
  /** @param isOverridden whether a stub may replace the node */
  node(root: Node, binding: Binding, isOverridden: boolean): Node;
  /** The same without tags. */
  untagged(root: Node, binding: Binding, isOverridden: boolean): Node;
}

export function passOf(engine: Engine): Pass {
  const pass: Pass = {
    engine,
    isSettled(root, { stubs }) {
      engine.budget.charge(1 / 4);
      if (stubs.length > 0 || root.tag) return false;
      const { value } = root;
      if (typeof value === 'object' && value !== null) return engine.settled.has(root);
      return isResolved(value);
    },
    node: (root, binding, isOverridden) => tagged(pass.untagged(root, binding, isOverridden), root, binding),
    untagged(root, binding, isOverridden) {
      engine.budget.charge(1);
      engine.budget.enter();
      const result = flowNode(pass, root, binding, isOverridden);
      if (result === root && binding.stubs.length === 0 && isResolved(root.value)) engine.settled.add(root);
      engine.budget.leave();
      return result;
    },
  };
  return pass;
}

/** Records a tagged value. */
function tagged(result: Node, root: Node, binding: Binding): Node {
  const { tag = '' } = result;
  if (tag === '' || !isResolvedNode(result)) return result;
  const problem = defineTag(binding, tag.replace(/^\*/, ''), { ...result, tag: undefined });
  if (problem === undefined) return result;
  const value = result.value === null ? root.value : result.value;
  return { ...result, value, hasError: true, hasFailed: true, issue: { text: problem } };
}

function flowNode(pass: Pass, root: Node, here: Binding, isOverridden: boolean): Node {
  const binding = root.redirect ? here.redirected(root.redirect) : here;
  const { value } = root;
  let current = root;
  if (root.isReplacing !== true) {
    if (isExpr(value)) {
      const { result, isFinal } = flowExpression(pass, root, value, binding, isOverridden);
      if (isFinal) return result;
      current = result;
    } else if (root.isMerged === true) return root;
    else if (isFields(value)) return flowMap(pass, root, value, binding);
    else if (isList(value)) return flowList(pass, root, value, binding);
    else if (typeof value === 'string') {
      const parsed = parseText(pass.engine, root, binding);
      if (isExpr(parsed.value)) return parsed;
    }
  }
  return isOverridden ? fromStub(current, root, binding) : current;
}

/** Parses an expression in a string; a syntax error leaves it as a string, and is reported at the end. */
function parseText(engine: Engine, it: Node, { path, stubPath }: Binding): Node {
  const text = typeof it.value === 'string' ? embedded(it.value) : undefined;
  if (text === undefined) return it;
  try {
    return { ...it, value: engine.parse(text, path, stubPath) };
  } catch (error) {
    if (error instanceof SyntaxProblem) return it;
    throw error;
  }
}

const asMarker = (value: Node['value']): MarkerExpr | undefined =>
  isExpr(value) && value.kind === 'marker' ? value : undefined;

interface Flowed {
  readonly result: Node;
  /** Whether stubs are ignored. */
  readonly isFinal: boolean;
}

function flowExpression(pass: Pass, given: Node, expr: Expr, here: Binding, isOverridden: boolean): Flowed {
  const binding = here.withSource(given.source);
  const marker = asMarker(expr);
  const tag = marker && !given.tag ? tagOf(marker) : '';
  const root = tag === '' ? given : { ...given, tag };
  const outcome = marker?.markers.includes(TEMPLATE)
    ? asTemplate(root, marker, binding)
    : pass.engine.evaluate(expr, binding, false);
  const { info } = outcome;
  if (outcome.kind === 'failed') {
    const result = withIssue(root, binding, info.issue, { hasError: true, hasFailed: false });
    return { result, isFinal: !isOverridden };
  }
  const value = outcome.kind === 'open' ? outcome.expr : outcome.value;
  const fresh = node(value, info.source === undefined || info.source === '' ? root.source : info.source);
  let result = typeof value === 'string' ? parseText(pass.engine, fresh, binding) : fresh;
  const isStillOpen = isExpr(result.value);
  if (info.issue) {
    const flags = { hasError: false, hasFailed: info.hasFailed === true };
    result = withIssue(result, binding, info.issue, flags);
  }
  result = annotated(result, root, info);
  const isFinal = isStillOpen || result.isMerged === true || !isOverridden || result.isPreferred === true;
  return { result, isFinal };
}

/** Combines information of earlier passes and of the expression. */
function annotated(result: Node, root: Node, info: Info): Node {
  const isReplacing = root.isReplacing === true || info.isReplacing === true;
  const redirect = info.redirect ?? root.redirect;
  const isMerged = !isReplacing && (root.isMerged === true || info.isMerged === true);
  const keyName = info.keyName || root.keyName;
  return withFlags(
    {
      ...result,
      ...(info.isUndefined === true && { isUndefined: true }),
      ...((root.isPreferred === true || info.isPreferred === true) && { isPreferred: true }),
      ...(keyName && { keyName }),
      ...(redirect && { redirect }),
      ...(isReplacing && { isReplacing }),
      ...(isMerged && { isMerged }),
      ...(root.tag && { tag: root.tag }),
    },
    (root.flags ?? 0) | (info.flags ?? 0),
  );
}

/** Keeps the path of the first failure, because values are copied to other paths. */
function withIssue(
  it: Node,
  binding: Binding,
  issue: Issue | undefined,
  flags: { readonly hasError: boolean; readonly hasFailed: boolean },
): Node {
  const path = it.issue?.path ?? binding.path;
  return { ...it, ...flags, issue: issue?.text ? { ...issue, path } : it.issue };
}

function asTemplate(root: Node, marker: MarkerExpr, binding: Binding): Outcome {
  const body = templateBody(marker, root);
  if (!body) return { kind: 'failed', info: { issue: { text: 'empty template value' } } };
  const value = new Template(binding.path, body, root, binding);
  return { kind: 'value', value, info: { flags: flagsOf(marker) } };
}

/** A value of the stubs replaces the document's value at this path. */
function fromStub(current: Node, root: Node, binding: Binding): Node {
  const isStandard =
    current.isMerged !== true && current.isReplacing !== true && (current.redirect ?? []).length === 0;
  if (root.isMerged === true || !isStandard || binding.isMergeOff) return current;
  const found = binding.findInStubs(binding.stubPath);
  if (!found || isDefault(found.flags) || hasFlag(current.flags, FLAG.injected)) return current;
  const keyName = root.keyName ?? current.keyName;
  const redirect = current.redirect ?? root.redirect;
  return withFlags(
    { ...found, ...(keyName && { keyName }), ...(redirect && { redirect }) },
    overridden(current.flags ?? 0),
  );
}

const isDefault = (flags: number | undefined): boolean =>
  ((flags ?? 0) & (FLAG.default | FLAG.inject)) === FLAG.default;

const overridden = (flags: number): number =>
  isDefault(flags) ? (flags | FLAG.inject) & ~FLAG.default : flags;
