/** Random functions, from the injected random source. */
import type { Rng } from '../../../lib/rng.ts';
import { compileRegexp } from '../../go/regexp.ts';
import { quoteString } from '../../go/quote.ts';
import type { SpiffFunction, SpiffFunctionTable } from '../function.ts';
import { type SpiffValue, typeName } from '../value.ts';
import { fail, MAX_ELEMENTS } from './arguments.ts';

const below = (rng: Rng, limit: number): number => Math.floor(rng.next() * limit);

export const randomBytes = (rng: Rng, size: number): Buffer =>
  Buffer.from(Array.from({ length: size }, () => below(rng, 256)));

export const randomText = (rng: Rng, alphabet: readonly string[] | string, length: number): string =>
  Array.from({ length }, () => alphabet[below(rng, alphabet.length)]).join('');

const MAX_INT64 = 2n ** 63n - 1n;
/** Number of random bits of `next()`. */
const BITS = 52n;

/** An integer from 0 to below `limit`. */
function bigBelow(rng: Rng, limit: bigint): bigint {
  if (limit <= 2n ** BITS) return BigInt(below(rng, Number(limit)));
  const part = (): bigint => BigInt(Math.floor(rng.next() * 2 ** Number(BITS)));
  return (((part() << BITS) | part()) * limit) >> (2n * BITS);
}

/** The ASCII characters of a class such as `[:alnum:]`; for a class without ASCII characters, those up to U+FFFF. */
function charactersOf(set: string): string[] {
  let matches: (character: string) => boolean;
  try {
    const pattern = compileRegexp(`^[${set}]`);
    matches = (character) => pattern.matcher(character).find();
  } catch (cause) {
    return fail(
      `invalid rand character set specification ${quoteString(set)}: ${(cause as Error).message}`,
      cause,
    );
  }
  const find = (from: number, until: number): string[] =>
    Array.from({ length: until - from }, (_, i) => String.fromCharCode(from + i)).filter(
      (c) => !/\p{Surrogate}/u.test(c) && matches(c),
    );
  const ascii = find(0, 0x80);
  return ascii.length > 0 ? ascii : find(0x80, 0x10000);
}

function lengthOf(value: SpiffValue | undefined): number {
  if (value === undefined) return 1;
  if (typeof value !== 'bigint') return fail(`rand length must be an integer, found ${typeName(value)}`);
  if (value <= 0n) fail(`rand length must be positive, found ${value.toString()}`);
  if (value > MAX_ELEMENTS) fail(`rand length must not be over ${String(MAX_ELEMENTS)}`);
  return Number(value);
}

const rand: SpiffFunction = (args, { rng }) => {
  if (args.length > 2) fail('rand takes a maximum of 2 arguments');
  const [of, length] = args;
  if (of === undefined) return bigBelow(rng, MAX_INT64);
  switch (typeof of) {
    case 'bigint':
      if (args.length > 1) fail('rand int takes only one argument');
      if (of === 0n) fail('zero range not possible for integer random values');
      return of < 0n ? -bigBelow(rng, -of) : bigBelow(rng, of);
    case 'boolean':
      if (args.length > 1) fail('rand bool takes only one argument');
      return below(rng, 2) === 1;
    case 'string': {
      const characters = charactersOf(of);
      const size = lengthOf(length);
      if (characters.length === 0) fail(`rand: no character is in the set ${quoteString(of)}`);
      return randomText(rng, characters, size);
    }
    default:
      return null;
  }
};

export const randomFunctions: SpiffFunctionTable = { rand };
