/** The interface of an evaluation that field access and calls need. */
import type { Node, Operand } from './ast.ts';
import type { Env } from './env.ts';
import type { Value } from './values.ts';

/** Marks that an earlier command of the pipeline returned no value. */
export const MISSING = Symbol('missing');
export type Piped = Value | typeof MISSING;

export interface Evaluator {
  readonly env: Env;
  /** The current node, for errors. */
  node: Node | undefined;
  /** @param hint details that Go's message does not contain. @throws TemplateExecutionError always */
  fail(reason: string, cause?: unknown, hint?: string): never;
  /** An operand without a type from the context. */
  untyped(node: Operand): Value;
  /** Dot or a literal, without a type from the context. */
  literal(node: Operand): Value;
  /** Calls code of a function and adds the position to its errors. */
  guard(at: Node, name: string, run: () => Value): Value;
}
