/** The interface between the evaluator and functions. */
import type { Clock } from '../../lib/clock.ts';
import type { Rng } from '../../lib/rng.ts';
import type { TemplateFiles } from '../files.ts';
import type { SpiffCallable, SpiffValue } from './value.ts';

/** Why an expression has no value; the message appears in the list of unresolved nodes. */
export class Unresolvable extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'Unresolvable';
  }
}

/** The environment of functions. It gives no access to the host. */
export interface FunctionWorld {
  readonly clock: Clock;
  readonly rng: Rng;
  /** The files of the blueprint. */
  readonly files: TemplateFiles;
  /** Calls a lambda that was passed as an argument. @throws Unresolvable */
  call(callable: SpiffCallable, args: readonly SpiffValue[]): SpiffValue;
}

/**
 * A function, called with any number of evaluated arguments.
 * @throws Unresolvable with the original's message
 */
export type SpiffFunction = (args: readonly SpiffValue[], world: FunctionWorld) => SpiffValue;

export type SpiffFunctionTable = Readonly<Record<string, SpiffFunction>>;
