/** Errors of dependents and workflows. */
import { messageOf } from '../lib/message-of.ts';
import { EspalierError, isFinal, type ErrorFacts } from '../runtime/errors.ts';

/** An error about one dependent of one primary. The message names both, and says what to do. */
export class DependentError extends EspalierError {
  readonly dependent: string;

  /**
   * @param facts.primary its kind and key, such as `Widget ns/a`
   * @param facts.message about the dependent; the constructor prepends the name of both
   */
  constructor(facts: ErrorFacts & { readonly dependent: string; readonly primary: string }) {
    const { dependent, primary, message } = facts;
    super({ ...facts, message: `dependent "${dependent}" of ${primary}: ${message}` });
    this.dependent = dependent;
  }
}

/** All failures of one reconcile of a workflow, by node. */
export class AggregateNodeError extends EspalierError {
  readonly errors: ReadonlyMap<string, unknown>;

  constructor({ errors }: { readonly errors: ReadonlyMap<string, unknown> }) {
    const sentences = [...errors].map(([node, error]) => `"${node}": ${messageOf(error)}`);
    const what = errors.size === 1 ? 'a node failed' : `${String(errors.size)} nodes failed`;
    super({ message: `${what}: ${sentences.join('; ')}`, cause: [...errors.values()][0] });
    this.errors = errors;
  }

  /** Retrying is useless only if it is useless for all of them. */
  override isFinal(): boolean {
    return [...this.errors.values()].every(isFinal);
  }
}
