/** Functions with random results, from the injected random source. */
import type { Env, FunctionTable } from '../env.ts';
import { envFn } from '../signature.ts';

const DIGITS = '0123456789';
const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ';
const ASCII = Array.from({ length: 95 }, (_, i) => String.fromCharCode(32 + i)).join('');

const below = (env: Env, limit: number): number => Math.floor(env.rng.next() * limit);

/** Bytes from the injected random source. */
export const randomBytes = (env: Env, count: number): Buffer =>
  Buffer.from(Array.from({ length: count }, () => below(env, 256)));

const letters = (alphabet: string) =>
  envFn('int', (env: Env, count: number) => {
    env.reserve(count);
    return Array.from({ length: Math.max(count, 0) }, () =>
      alphabet.charAt(below(env, alphabet.length)),
    ).join('');
  });

function uuid(env: Env): string {
  const bytes = randomBytes(env, 16);
  bytes[6] = ((bytes[6] as number) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

function shuffle(env: Env, text: string): string {
  const runes = Array.from(text);
  for (let i = runes.length - 1; i > 0; i--) {
    const j = below(env, i + 1);
    const swap = runes[i] as string;
    runes[i] = runes[j] as string;
    runes[j] = swap;
  }
  return runes.join('');
}

export const randomFunctions: FunctionTable = {
  randAlphaNum: letters(LETTERS + DIGITS),
  randAlpha: letters(LETTERS),
  randNumeric: letters(DIGITS),
  randAscii: letters(ASCII),
  randBytes: envFn('int', (env: Env, count: number) => {
    env.reserve(count);
    return randomBytes(env, Math.max(count, 0)).toString('base64');
  }),
  uuidv4: envFn('', uuid),
  shuffle: envFn('string', shuffle),
};
