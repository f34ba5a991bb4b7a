/** The contract between the evaluator and the functions that expressions call. */
import type { Clock } from '../../lib/clock.ts';
import type { Rng } from '../../lib/rng.ts';
import type { TemplateFiles } from '../files.ts';
import type { SpiffCallable, SpiffValue } from './value.ts';

/** Why an expression has no value; the text appears behind the expression in the list of unresolved nodes. */
export class Unresolvable extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'Unresolvable';
  }
}

/** What a function may use besides its arguments. There is no way from here to the host. */
export interface FunctionWorld {
  readonly clock: Clock;
  readonly rng: Rng;
  /** The files of the blueprint. */
  readonly files: TemplateFiles;
  /** Calls a lambda that came in as an argument. @throws Unresolvable */
  call(callable: SpiffCallable, args: readonly SpiffValue[]): SpiffValue;
}

/**
 * A function of the language, called with evaluated arguments, however many there are.
 * @throws Unresolvable with the original's text
 */
export type SpiffFunction = (args: readonly SpiffValue[], world: FunctionWorld) => SpiffValue;

export type SpiffFunctionTable = Readonly<Record<string, SpiffFunction>>;
