/** The document while it is evaluated: values and expressions, with what is known of each. Nodes are never changed. */
import { SpiffCallable, SpiffTemplate } from '../value.ts';
import type { Expr, LambdaExpr, Path } from '../syntax/ast.ts';
import type { Binding } from './binding.ts';

export type List = readonly Node[];
export type Fields = ReadonlyMap<string, Node>;

/** Integers are bigints, doubles are numbers. */
export type Value = null | boolean | bigint | number | string | List | Fields | Lambda | Template;

export interface Issue {
  readonly text: string;
  /** Where the expression stood when it failed first. */
  readonly path?: Path | undefined;
  readonly nested?: readonly Issue[];
  /** The nested ones are the way to the cause, and not several problems. */
  readonly isSequence?: boolean;
}

export interface Node {
  readonly value: Value | Expr;
  /** Name of the document. */
  readonly source: string;
  /** Field that tells the entries of this list apart, unless it is `name`. */
  readonly keyName?: string | undefined;
  readonly tag?: string | undefined;
  readonly flags?: number | undefined;
  /** The expression cannot be evaluated, with these values. */
  readonly hasError?: boolean | undefined;
  /** It needs something else that cannot be evaluated. */
  readonly hasFailed?: boolean | undefined;
  readonly issue?: Issue | undefined;
  readonly isUndefined?: boolean | undefined;
  readonly isMerged?: boolean | undefined;
  readonly isPreferred?: boolean | undefined;
  readonly isReplacing?: boolean | undefined;
  /** Where stubs are looked at instead of the own path; empty: nowhere. */
  readonly redirect?: Path | undefined;
  /** For `_`: where the names of its lambda or template are looked up. */
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

/** A node that an expression made, with the document it stands in. */
export const made = (value: Value | Expr, source = ''): Node => ({
  value,
  source: source === '' ? 'dynaml' : source.startsWith('dynaml@') ? source : `dynaml@${source}`,
});

export function withFlags(it: Node, flags: number): Node {
  const all = (it.flags ?? 0) | flags;
  return all === (it.flags ?? 0) ? it : { ...it, flags: all };
}

/** What of a node a reference to it carries on. */
export const keyNameOf = (it: Node): string => it.keyName ?? '';

/** A lambda that remembers the names around it. */
export class Lambda extends SpiffCallable {
  readonly expr: LambdaExpr;
  /** Values of parameters that are bound already, and of lambdas around it. */
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
  /** What is evaluated. */
  readonly prepared: Node;
  /** As it stands in the document. */
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
