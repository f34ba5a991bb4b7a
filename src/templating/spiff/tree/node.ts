/**
 * The nodes of a document during its evaluation: values and expressions, with information about each. Nodes are
 * immutable.
 */
import { SpiffCallable, SpiffTemplate } from '../value.ts';
import type { Expr, LambdaExpr, Path } from '../syntax/ast.ts';
import type { Binding } from './binding.ts';

export type List = readonly Node[];
export type Fields = ReadonlyMap<string, Node>;

/** Integers are bigints, doubles are numbers. */
export type Value = null | boolean | bigint | number | string | List | Fields | Lambda | Template;

export interface Issue {
  readonly text: string;
  /** Path of the expression at its first failure. */
  readonly path?: Path | undefined;
  readonly nested?: readonly Issue[];
  /** Whether nested issues are the chain of causes, instead of several issues. */
  readonly isSequence?: boolean;
}

export interface Node {
  readonly value: Value | Expr;
  /** Name of the document. */
  readonly source: string;
  /** Field that identifies the entries of this list, unless it is `name`. */
  readonly keyName?: string | undefined;
  readonly tag?: string | undefined;
  readonly flags?: number | undefined;
  /** Whether the expression cannot be evaluated with the current values. */
  readonly hasError?: boolean | undefined;
  /** Whether a dependency cannot be evaluated. */
  readonly hasFailed?: boolean | undefined;
  readonly issue?: Issue | undefined;
  readonly isUndefined?: boolean | undefined;
  readonly isMerged?: boolean | undefined;
  readonly isPreferred?: boolean | undefined;
  readonly isReplacing?: boolean | undefined;
  /** The path for stubs instead of the node's own path; empty: no stubs. */
  readonly redirect?: Path | undefined;
  /** For `_`: the scope of its lambda or template. */
  readonly resolver?: Binding | undefined;
}

export const FLAG = {
  temporary: 0x01,
  local: 0x02,
  inject: 0x04,
  state: 0x08,
  default: 0x10,
  injected: 0x40,
  implied: 0x80,
} as const;

export const hasFlag = (flags: number | undefined, flag: number): boolean => ((flags ?? 0) & flag) !== 0;

export const node = (value: Value | Expr, source: string): Node => ({ value, source });

/** A node for the result of an expression, with its document. */
export const made = (value: Value | Expr, source = ''): Node => ({
  value,
  source: source === '' ? 'dynaml' : source.startsWith('dynaml@') ? source : `dynaml@${source}`,
});

export function withFlags(it: Node, flags: number): Node {
  const all = (it.flags ?? 0) | flags;
  return all === (it.flags ?? 0) ? it : { ...it, flags: all };
}

/** The key name that a reference inherits from a node. */
export const keyNameOf = (it: Node): string => it.keyName ?? '';

/** A lambda with its captured scope. */
export class Lambda extends SpiffCallable {
  readonly expr: LambdaExpr;
  /** Values of bound parameters, and of surrounding lambdas. */
  readonly locals: Fields;
  readonly binding: Binding;
  readonly text: string;

  constructor(expr: LambdaExpr, locals: Fields, binding: Binding, text: string) {
    super();
    this.expr = expr;
    this.locals = locals;
    this.binding = binding;
    this.text = text;
  }
}

/** A part of a document that is evaluated where it is instantiated. */
export class Template extends SpiffTemplate {
  readonly path: Path;
  /** The node to evaluate. */
  readonly prepared: Node;
  /** The node in its original form. */
  readonly original: Node;
  readonly binding: Binding;
  readonly text: string;

  constructor(path: Path, prepared: Node, original: Node, binding: Binding) {
    super();
    this.path = path;
    this.prepared = prepared;
    this.original = original;
    this.binding = binding;
    this.text = `<template ${path.join('/')}>`;
  }
}

export const isList = (value: unknown): value is List => Array.isArray(value);
export const isFields = (value: unknown): value is Fields => value instanceof Map;
