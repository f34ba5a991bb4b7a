/** What goes wrong with dependents and their graph. */
import { EspalierError, isFinal, type ErrorFacts } from '../runtime/errors.ts';

/** One dependent of one primary is not what it should be. Says which, and what to do about it. */
export class DependentError extends EspalierError {
  readonly dependent: string;

  /**
   * @param facts.primary its kind and key, as in `Widget ns/a`
   * @param facts.message what is wrong with the dependent; the name of both is put in front
   */
  constructor(facts: ErrorFacts & { readonly dependent: string; readonly primary: string }) {
    const { dependent, primary, message } = facts;
    super({ ...facts, message: `dependent "${dependent}" of ${primary}: ${message}` });
    this.dependent = dependent;
  }
}

/** Everything that failed in one pass over a workflow, by the names of the nodes. */
export class AggregateNodeError extends EspalierError {
  readonly errors: ReadonlyMap<string, unknown>;

  constructor({ errors }: { readonly errors: ReadonlyMap<string, unknown> }) {
    const sentences = [...errors].map(([node, error]) => `"${node}": ${messageOf(error)}`);
    const what = errors.size === 1 ? 'a node failed' : `${String(errors.size)} nodes failed`;
    super({ message: `${what}: ${sentences.join('; ')}`, cause: [...errors.values()][0] });
    this.errors = errors;
  }

  /** Another attempt is in vain only if it is for every one of them. */
  override isFinal(): boolean {
    return [...this.errors.values()].every(isFinal);
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
