/** What field access and calls need of the evaluation they are part of. */
import type { Node, Operand } from './ast.ts';
import type { Env } from './env.ts';
import type { Value } from './values.ts';

/** Marks that no value comes from an earlier command of the pipeline. */
export const MISSING = Symbol('missing');
export type Piped = Value | typeof MISSING;

export interface Evaluator {
  readonly env: Env;
  /** The current node, for errors. */
  node: Node | undefined;
  /** @param hint what Go's words leave out. @throws TemplateExecutionError always */
  fail(reason: string, cause?: unknown, hint?: string): never;
  /** An operand whose type nobody asks for. */
  untyped(node: Operand): Value;
  /** Dot or a literal where no type is asked for. */
  literal(node: Operand): Value;
  /** Runs code of a function and adds the place to what it throws. */
  guard(at: Node, name: string, run: () => Value): Value;
}
