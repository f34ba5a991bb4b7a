/** Calls functions of Spiff without an evaluator. */
import { seededRng } from '../../../../../src/lib/rng.ts';
import { noFiles, type TemplateFiles } from '../../../../../src/templating/files.ts';
import { Unresolvable, type FunctionWorld } from '../../../../../src/templating/spiff/function.ts';
import { standardFunctions } from '../../../../../src/templating/spiff/functions/index.ts';
import { SpiffCallable, type SpiffValue } from '../../../../../src/templating/spiff/value.ts';
import { FakeClock } from '../../../../support/clock.ts';

/** A lambda whose body is JavaScript. */
export class Lambda extends SpiffCallable {
  readonly text: string;
  readonly body: (...args: SpiffValue[]) => SpiffValue;

  constructor(text: string, body: (...args: SpiffValue[]) => SpiffValue) {
    super();
    this.text = text;
    this.body = body;
  }
}

export const world = (files: TemplateFiles = noFiles, seed = 1): FunctionWorld => ({
  clock: new FakeClock(),
  rng: seededRng(seed),
  files,
  call(callable, args) {
    if (!(callable instanceof Lambda)) throw new Error('a lambda of this test is wanted');
    return callable.body(...args);
  },
});

/** @throws Unresolvable */
export function call(name: string, ...args: SpiffValue[]): SpiffValue {
  const f = standardFunctions[name];
  if (!f) throw new Error(`there is no function ${name}`);
  return f(args, world());
}

/** The error of a call that fails. */
export function complaint(name: string, ...args: SpiffValue[]): string {
  try {
    call(name, ...args);
  } catch (error) {
    if (error instanceof Unresolvable) return error.message;
    throw error;
  }
  throw new Error(`${name} did not fail`);
}
