/** The environment for Spiff functions in the comparison, and lambdas for them. */
import { systemClock } from '../../../src/lib/clock.ts';
import { seededRng } from '../../../src/lib/rng.ts';
import { noFiles } from '../../../src/templating/files.ts';
import type { FunctionWorld } from '../../../src/templating/spiff/function.ts';
import { SpiffCallable, type SpiffValue } from '../../../src/templating/spiff/value.ts';

/** A lambda in both languages. */
export class KnownLambda extends SpiffCallable {
  readonly text: string;
  readonly call: (args: readonly SpiffValue[]) => SpiffValue;

  constructor(source: string, call: (args: readonly SpiffValue[]) => SpiffValue) {
    super();
    this.text = `lambda${source}`;
    this.call = call;
  }
}

export const world = (seed: number): FunctionWorld => ({
  clock: systemClock,
  rng: seededRng(seed),
  files: noFiles,
  call(callable, args) {
    if (callable instanceof KnownLambda) return callable.call(args);
    throw new Error('only lambdas made here can be called');
  },
});
