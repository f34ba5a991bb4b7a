/** Compares calls of our Spiff functions with the original's. */
import { goJson } from '../../../src/lib/gojson.ts';
import type { Rng } from '../../../src/lib/rng.ts';
import { Unresolvable } from '../../../src/templating/spiff/function.ts';
import { standardFunctions } from '../../../src/templating/spiff/functions/index.ts';
import { describe } from '../comparison.ts';
import type { Answer, Oracle } from '../oracle.ts';
import { documentOf, spiffCalls, type SpiffCall } from './calls.ts';
import { plain } from './plain.ts';
import { world } from './environment.ts';

/**
 * The difference for each call, or undefined.
 * @param each number of calls of each function
 */
export function compareFunctions(ask: Oracle, rng: Rng, each: number): readonly (string | undefined)[] {
  const calls = spiffCalls(rng, each);
  const answers = ask(calls.map((call) => ({ document: documentOf(call) })));
  return calls.map((call, i) => difference(call, answers[i] as Answer));
}

/** Functions with random results: only errors and the kind of the result are compared. */
const CHANCE = new Set(['rand', 'bcrypt', 'md5crypt', 'encrypt', 'x509genkey', 'x509cert', 'wggenkey']);

/** The difference as text; undefined if both agree. */
function difference(call: SpiffCall, go: Answer): string | undefined {
  const goes = resultOf(go);
  const is = evaluate(call);
  const theirs = shown(call, goes);
  const ours = shown(call, is);
  if (theirs === ours || areClose(goes.value, is.value)) return undefined;
  return describe(documentOf(call).replaceAll(/[A-Za-z0-9+/]{60,}/g, '…'), theirs, ours);
}

/** Whether two doubles differ only in the last bits, since processors and libraries round differently. */
const areClose = (a: unknown, b: unknown): boolean =>
  typeof a === 'number' && typeof b === 'number' && Math.abs(a - b) <= Math.abs(a) * 1e-12;

interface Result {
  readonly value?: unknown;
  readonly error?: string;
}

/** The original's result for `x`. */
function resultOf({ output, error }: Answer): Result {
  if (error === undefined) return { value: (JSON.parse(output ?? 'null') as { x: unknown }).x };
  return { error: /^unresolved nodes:\n\t.*?\tin template\tx\t\(\)\t[*@]([^]*)$/.exec(error)?.[1] ?? error };
}

function evaluate({ name, args }: SpiffCall): Result {
  try {
    const value = standardFunctions[name]?.(args, world(1)) ?? null;
    return { value: JSON.parse(goJson(plain(value))) as unknown };
  } catch (error) {
    if (error instanceof Unresolvable) {
      const { message, cause } = error;
      return { error: cause instanceof Unresolvable ? `${message}\n\t\t... ${cause.message}` : message };
    }
    return { error: `crash: ${(error as Error).stack ?? ''}` };
  }
}

function shown({ name }: SpiffCall, { value, error }: Result): string {
  if (error !== undefined) return `ERR ${error}`;
  if (!CHANCE.has(name)) return goJson(value);
  return typeof value === 'string' && name !== 'x509cert' && name !== 'x509genkey'
    ? `a text of ${String(value.length)}`
    : `a ${typeof value}`;
}
