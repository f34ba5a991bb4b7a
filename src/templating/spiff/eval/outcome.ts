/** The outcome of an expression: a value, a failure, or an unresolved expression. */
import type { Expr, Path } from '../syntax/ast.ts';
import type { Issue, Value } from '../tree/node.ts';

/** Information of an expression besides its value; it becomes part of the node. */
export interface Info {
  readonly issue?: Issue | undefined;
  /** Whether a dependency has failed. */
  readonly hasFailed?: boolean | undefined;
  readonly isUndefined?: boolean | undefined;
  readonly isMerged?: boolean | undefined;
  readonly isPreferred?: boolean | undefined;
  readonly isReplacing?: boolean | undefined;
  /** Whether the value may contain expressions: `read(…, "import")`. */
  readonly isRaw?: boolean | undefined;
  readonly redirect?: Path | undefined;
  readonly keyName?: string | undefined;
  readonly source?: string | undefined;
  readonly flags?: number | undefined;
}

export type Outcome =
  | { readonly kind: 'value'; readonly value: Value; readonly info: Info }
  | { readonly kind: 'open'; readonly expr: Expr; readonly info: Info }
  | { readonly kind: 'failed'; readonly info: Info };
export type Failed = Extract<Outcome, { kind: 'failed' }>;
type Open = Extract<Outcome, { kind: 'open' }>;

export const NOTHING: Info = {};

export const answer = (value: Value, info: Info = NOTHING): Outcome => ({ kind: 'value', value, info });
export const open = (expr: Expr, info: Info = NOTHING): Open => ({ kind: 'open', expr, info });
export const failed = (info: Info): Failed => ({ kind: 'failed', info });

export const issue = (text: string, more: Partial<Issue> = {}): Issue => ({ text, ...more });

export const fail = (text: string, info: Info = NOTHING): Failed => failed({ ...info, issue: issue(text) });

/** The later information wins; replacement is only taken from the last one. */
export function join(before: Info, after: Info): Info {
  if (before === NOTHING) return after;
  return {
    issue: after.issue ?? before.issue,
    hasFailed: before.hasFailed === true || after.hasFailed,
    isUndefined: before.isUndefined === true || after.isUndefined,
    isMerged: before.isMerged === true || after.isMerged,
    isPreferred: before.isPreferred === true || after.isPreferred,
    isReplacing: after.isReplacing,
    isRaw: before.isRaw,
    redirect: after.redirect ?? before.redirect,
    keyName: after.keyName ?? before.keyName,
    source: before.source,
    flags: (before.flags ?? 0) | (after.flags ?? 0),
  };
}

export const joined = (before: Info, outcome: Outcome): Outcome =>
  before === NOTHING ? outcome : { ...outcome, info: join(before, outcome.info) };
