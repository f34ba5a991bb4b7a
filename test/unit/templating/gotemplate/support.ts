/** Executes one template, with a clock that stands still and seeded random numbers. */
import { seededRng } from '../../../../src/lib/rng.ts';
import { blueprintFunctions } from '../../../../src/templating/blueprint-functions.ts';
import {
  execute,
  parseTemplate,
  type ExecuteOptions,
} from '../../../../src/templating/gotemplate/template.ts';
import { FakeClock } from '../../../support/clock.ts';

/** The values of most scenarios. */
export const imports = {
  name: 'web',
  num: 3,
  big: 20971520,
  mil: 1000000,
  f: 0.1,
  zero: 0,
  e: '',
  nul: null,
  s: '007',
  l: ['one', 'two'],
  nums: [1, 2],
  m: { b: 2, a: 1 },
  t: 'a: b',
  h: '<a&b>',
  deep: { x: null },
};

export function render(
  text: string,
  data: unknown = { imports },
  options: Partial<ExecuteOptions> = {},
): string {
  const given = { clock: new FakeClock(), rng: seededRng(1), functions: blueprintFunctions, ...options };
  return execute(parseTemplate('execution', text, given.functions), data, given);
}

/** The message of the failure; the test fails if there is none. */
export function failure(text: string, data?: unknown, options?: Partial<ExecuteOptions>): string {
  try {
    render(text, data, options);
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error(`${text} succeeded`);
}
