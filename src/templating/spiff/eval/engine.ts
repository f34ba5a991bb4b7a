/** The interface of the evaluator for the evaluation of each kind of expression. */
import type { Budget } from '../../budget.ts';
import type { WayListener } from '../../fork.ts';
import type { FunctionWorld, SpiffFunctionTable } from '../function.ts';
import type { Expr, ExprOf, Path } from '../syntax/ast.ts';
import type { Binding } from '../tree/binding.ts';
import type { Issue, Node, Value } from '../tree/node.ts';
import type { Culprit } from '../culprit.ts';
import { fail, failed, join, type Failed, type Info, type Outcome } from './outcome.ts';

/** A document that was evaluated until nothing changes. */
export interface Flowed {
  readonly node: Node;
  /** Unresolved expressions with their source text; undefined if everything has a value. */
  readonly unresolved: Unresolved | undefined;
}

export interface Unresolved {
  /** One of them cannot be evaluated; otherwise all are unresolved because of others. */
  readonly hasError: boolean;
  readonly hasFailed: boolean;
  readonly issues: readonly Issue[];
  /** `unresolved nodes:` and a line for each */
  readonly text: string;
  /** The one to report first. */
  readonly culprit: Culprit;
}

export interface Engine {
  readonly budget: Budget;
  readonly world: Omit<FunctionWorld, 'call'>;
  readonly onWay: WayListener | undefined;
  /** Functions of evaluated arguments. */
  readonly functions: SpiffFunctionTable;
  /** Nodes that no further pass can change. */
  readonly settled: WeakSet<Node>;
  /** The current elements of projections. */
  readonly projected: Map<object, Value>;
  /** @param isLocal a map or list may still contain unresolved parts */
  evaluate(expr: Expr, binding: Binding, isLocal: boolean): Outcome;
  /** Evaluates a document at this position. */
  flow(document: Node, binding: Binding): Flowed;
  /** The same for a part of a document, which sees the names around it. */
  flowPart(part: Node, binding: Binding): Flowed;
  /** A document on top of others. @throws CascadeFailed */
  cascade(binding: Binding, document: Node, stubs: readonly Node[]): Node;
  /** @throws SyntaxProblem */
  parse(text: string, path: Path, stubPath: Path): Expr;
}

/** Nodes of a document are unresolved; the message lists them. */
export class CascadeFailed extends Error {
  readonly #culprit: Culprit;

  constructor({ text, culprit }: Unresolved) {
    super(text);
    this.#culprit = culprit;
  }

  /** The one to report first. */
  get culprit(): Culprit {
    return this.#culprit;
  }
}

/** Evaluates all operands in order, even if one is not resolved yet, because another one may fail. */
export function operands(
  engine: Engine,
  exprs: readonly Expr[],
  binding: Binding,
  { isLocal = false, before = {} }: { readonly isLocal?: boolean; readonly before?: Info } = {},
):
  | { readonly kind: 'values'; readonly values: readonly Value[]; readonly info: Info }
  | { readonly kind: 'open'; readonly exprs: readonly Expr[]; readonly info: Info }
  | Failed {
  const values: Value[] = [];
  const next: Expr[] = [];
  let isOpen = false;
  let info: Info = before;
  for (const expr of exprs) {
    const outcome = engine.evaluate(expr, binding, isLocal);
    info = join(info, outcome.info);
    if (outcome.kind === 'failed') return failed(info);
    isOpen ||= outcome.kind === 'open';
    next.push(outcome.kind === 'open' ? outcome.expr : expr);
    values.push(outcome.kind === 'open' ? null : outcome.value);
  }
  return isOpen ? { kind: 'open', exprs: next, info } : { kind: 'values', values, info };
}

/**
 * Operands that must be integers; null counts as 0. Any other value fails at once, even if other operands are not
 * resolved yet.
 */
export function integers(
  engine: Engine,
  exprs: readonly Expr[],
  binding: Binding,
):
  | { readonly kind: 'values'; readonly values: readonly bigint[]; readonly info: Info }
  | { readonly kind: 'open'; readonly exprs: readonly Expr[]; readonly info: Info }
  | Failed {
  const values: bigint[] = [];
  const next: Expr[] = [];
  let info: Info = {};
  for (const expr of exprs) {
    const outcome = engine.evaluate(expr, binding, false);
    info = join(info, outcome.info);
    if (outcome.kind === 'failed') return failed(info);
    next.push(outcome.kind === 'open' ? outcome.expr : expr);
    if (outcome.kind === 'open') continue;
    const value = outcome.value ?? 0n;
    if (typeof value !== 'bigint') return fail('integer operand required', info);
    values.push(value);
  }
  return values.length < exprs.length
    ? { kind: 'open', exprs: next, info }
    : { kind: 'values', values, info };
}

/** Two operands: returns the failure or the unresolved expression, or continues with both values. */
export function both(
  engine: Engine,
  expr: ExprOf<'concatenation' | 'comparison' | 'arithmetic'>,
  binding: Binding,
  then: (left: Value, right: Value, info: Info) => Outcome,
): Outcome {
  const found = operands(engine, [expr.left, expr.right], binding);
  if (found.kind === 'failed') return found;
  if (found.kind === 'open') {
    const [left = expr.left, right = expr.right] = found.exprs;
    return { kind: 'open', expr: { ...expr, left, right }, info: found.info };
  }
  const [left = null, right = null] = found.values;
  return then(left, right, found.info);
}
