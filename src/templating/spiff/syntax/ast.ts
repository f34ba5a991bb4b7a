/** Types of expressions. The parser creates them; the evaluator computes their values or simplifies them. */
import type { Value } from '../tree/node.ts';

export type Path = readonly string[];

export interface Parameter {
  readonly name: string;
  readonly value?: Expr;
}

type BinaryOperator = '+' | '-' | '*' | '/' | '%';
export type Comparison = '==' | '!=' | '<=' | '>=' | '<' | '>';

export interface LambdaExpr {
  readonly kind: 'lambda';
  readonly parameters: readonly Parameter[];
  /** Whether the last parameter takes all further arguments, as a list. */
  readonly hasRest: boolean;
  readonly body: Expr;
}

export interface ReferenceExpr {
  readonly kind: 'reference';
  /** `tag` in `tag::a.b`; empty without */
  readonly tag: string;
  /** Begins with an empty step if it starts at the root: `.a.b`. */
  readonly path: Path;
}

export interface MapExpr {
  readonly kind: 'map';
  readonly entries: readonly { readonly key: Expr; readonly value: Expr }[];
}

export interface CallExpr {
  readonly kind: 'call';
  readonly callee: Expr;
  /** Named arguments first. */
  readonly args: readonly Expr[];
  /** `f*(1)`: a function of the remaining arguments. */
  readonly isCurried: boolean;
}

export interface RangeExpr {
  readonly kind: 'range';
  readonly start: Expr | undefined;
  readonly end: Expr | undefined;
}

export interface MergeExpr {
  readonly kind: 'merge';
  /** The path in the stubs. */
  readonly path: Path;
  readonly isRedirected: boolean;
  readonly isReplacing: boolean;
  readonly isRequired: boolean;
  readonly isNone: boolean;
  /** `merge on key`: the field that identifies list entries; empty without */
  readonly keyName: string;
}

export interface MarkerExpr {
  readonly kind: 'marker';
  /** `&temporary`, `&tag:name`, … */
  readonly markers: readonly string[];
  readonly body: Expr | undefined;
}

export type Loop = 'map[]' | 'map{}' | 'select[]' | 'select{}';

export interface LoopExpr {
  readonly kind: 'loop';
  readonly loop: Loop;
  readonly over: Expr;
  readonly body: Expr;
}

/** The current element of a projection. */
interface ProjectedExpr {
  readonly kind: 'projected';
  readonly slot: object;
}

export interface SyncExpr {
  readonly kind: 'sync';
  readonly over: Expr;
  readonly condition: Expr;
  readonly value: Expr | undefined;
  readonly timeout: Expr | undefined;
  /** `sync(e, cond)`: whether the condition is an expression instead of a lambda. */
  readonly isFunction: boolean;
}

export type Expr =
  | { readonly kind: 'value'; readonly value: Value }
  | { readonly kind: 'nil' }
  | { readonly kind: 'undefined' }
  | { readonly kind: 'auto' }
  | ReferenceExpr
  | { readonly kind: 'qualified'; readonly over: Expr; readonly path: Path }
  | { readonly kind: 'dynamic'; readonly over: Expr; readonly index: Expr }
  | { readonly kind: 'slice'; readonly over: Expr; readonly range: RangeExpr }
  | {
      readonly kind: 'projection';
      readonly over: Expr;
      readonly slot: object;
      readonly projection: Expr;
    }
  | ProjectedExpr
  | { readonly kind: 'list'; readonly items: readonly Expr[] }
  | { readonly kind: 'expansion'; readonly over: Expr }
  | { readonly kind: 'named'; readonly name: string; readonly over: Expr }
  | MapExpr
  | RangeExpr
  | { readonly kind: 'group'; readonly inner: Expr; readonly text?: string }
  | { readonly kind: 'scope'; readonly locals: MapExpr; readonly body: Expr }
  | (Forking & { readonly kind: 'or'; readonly left: Expr; readonly right: Expr })
  | (Forking & { readonly kind: 'validOr'; readonly left: Expr; readonly right: Expr })
  | (Forking & {
      readonly kind: 'conditional';
      readonly condition: Expr;
      readonly then: Expr;
      readonly otherwise: Expr;
    })
  | { readonly kind: 'concatenation'; readonly left: Expr; readonly right: Expr }
  | { readonly kind: 'logical'; readonly operator: '-and' | '-or'; readonly left: Expr; readonly right: Expr }
  | { readonly kind: 'comparison'; readonly operator: Comparison; readonly left: Expr; readonly right: Expr }
  | {
      readonly kind: 'arithmetic';
      readonly operator: BinaryOperator;
      readonly left: Expr;
      readonly right: Expr;
    }
  | { readonly kind: 'not'; readonly inner: Expr }
  | { readonly kind: 'instance'; readonly template: Expr }
  | LambdaExpr
  | { readonly kind: 'lambdaOf'; readonly source: Expr }
  | CallExpr
  | LoopExpr
  | { readonly kind: 'sum'; readonly over: Expr; readonly initial: Expr; readonly body: Expr }
  | { readonly kind: 'catch'; readonly over: Expr; readonly body: Expr | undefined }
  | SyncExpr
  | MergeExpr
  | { readonly kind: 'prefer'; readonly inner: Expr }
  | MarkerExpr;

export type ExprOf<K extends Expr['kind']> = { [P in K]: Extract<Expr, { readonly kind: P }> }[K];

/** Where an expression goes one of two ways; only if the parser was asked for it. */
export interface ExpressionFork {
  /** The whole expression. */
  readonly source: string;
  /** Of its operator in the source, in characters. */
  readonly pos: number;
  /** The part of the source with both ways. */
  readonly text: string;
}

interface Forking {
  readonly fork?: ExpressionFork;
}

export const isExpr = (value: unknown): value is Expr =>
  typeof value === 'object' && value !== null && 'kind' in value;

export const literal = (value: Value): Expr => ({ kind: 'value', value });
