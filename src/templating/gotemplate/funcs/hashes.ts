/** Checksums, derived passwords and symmetric encryption. */
import { table } from '../../../lib/objects.ts';
import { createCipheriv, createDecipheriv, createHash, createHmac, scryptSync } from 'node:crypto';
import type { Env, FunctionTable } from '../env.ts';
import { FunctionError } from '../errors.ts';
import { bytesOf, stringOf } from '../../go/go-string.ts';
import { envFn, fn } from '../signature.ts';
import { randomBytes } from './random.ts';

const sum = (algorithm: string) =>
  fn('string', (s: string) => createHash(algorithm).update(bytesOf(s)).digest('hex'));

function adler32(text: string): string {
  let a = 1;
  let b = 0;
  for (const byte of bytesOf(text)) {
    a = (a + byte) % 65521;
    b = (b + a) % 65521;
  }
  return String(b * 65536 + a);
}

/** The patterns of the Master Password algorithm, by type of password. */
const PATTERNS: Readonly<Record<string, string>> = table({
  maximum: 'anoxxxxxxxxxxxxxxxxx axxxxxxxxxxxxxxxxxno',
  long:
    'CvcvnoCvcvCvcv CvcvCvcvnoCvcv CvcvCvcvCvcvno CvccnoCvcvCvcv CvccCvcvnoCvcv CvccCvcvCvcvno CvcvnoCvccCvcv ' +
    'CvcvCvccnoCvcv CvcvCvccCvcvno CvcvnoCvcvCvcc CvcvCvcvnoCvcc CvcvCvcvCvccno CvccnoCvccCvcv CvccCvccnoCvcv ' +
    'CvccCvccCvcvno CvcvnoCvccCvcc CvcvCvccnoCvcc CvcvCvccCvccno CvccnoCvcvCvcc CvccCvcvnoCvcc CvccCvcvCvccno',
  medium: 'CvcnoCvc CvcCvcno',
  short: 'Cvcn',
  basic: 'aaanaaan aannaaan aaannaaa',
  pin: 'nnnn',
});

const VOWELS = 'AEIOU';
const CONSONANTS = 'BCDFGHJKLMNPQRSTVWXYZ';
const LETTERS = VOWELS + VOWELS.toLowerCase() + CONSONANTS + CONSONANTS.toLowerCase();
const CHARACTERS: Readonly<Record<string, string>> = table({
  V: VOWELS,
  C: CONSONANTS,
  v: VOWELS.toLowerCase(),
  c: CONSONANTS.toLowerCase(),
  A: VOWELS + CONSONANTS,
  a: LETTERS,
  n: '0123456789',
  o: "@&%?,=[]_:-+*$#!'^~;()/.",
  x: `${LETTERS}0123456789!@#$%^&*()`,
});

const SEED = 'com.lyndir.masterpassword';

const uint32 = (n: number): Buffer => {
  const buffer = Buffer.alloc(4);
  buffer.writeUInt32BE(n);
  return buffer;
};

function derivePassword(
  env: Env,
  counter: number,
  kind: string,
  password: string,
  user: string,
  site: string,
): string {
  env.charge(50_000);
  const patterns = PATTERNS[kind]?.split(' ');
  if (!patterns) return `cannot find password template ${kind}`;
  const named = (text: string): Buffer =>
    Buffer.concat([Buffer.from(SEED), uint32(bytesOf(text).length), bytesOf(text)]);
  const key = scryptSync(bytesOf(password), named(user), 64, { N: 32768, r: 8, p: 2, maxmem: 128 * 2 ** 20 });
  const seed = createHmac('sha256', key)
    .update(Buffer.concat([named(site), uint32(counter)]))
    .digest();
  const pattern = patterns[(seed[0] as number) % patterns.length] as string;
  return Array.from(pattern, (element, i) => {
    const set = CHARACTERS[element] as string;
    return set.charAt((seed[i + 1] as number) % set.length);
  }).join('');
}

/** The password itself is the key: 32 bytes, padded with zeros. */
function aesKey(password: string): Buffer {
  const key = Buffer.alloc(32);
  bytesOf(password).copy(key, 0, 0, 32);
  return key;
}

function encryptAes(env: Env, password: string, text: string): string {
  if (text === '') return '';
  const iv = randomBytes(env, 16);
  const cipher = createCipheriv('aes-256-cbc', aesKey(password), iv);
  return Buffer.concat([iv, cipher.update(bytesOf(text)), cipher.final()]).toString('base64');
}

function decryptAes(password: string, text: string): string {
  if (text === '') return '';
  const data = Buffer.from(text, 'base64');
  if (data.length < 32 || data.length % 16 !== 0)
    throw new FunctionError('crypto/cipher: input not full blocks');
  try {
    const decipher = createDecipheriv('aes-256-cbc', aesKey(password), data.subarray(0, 16));
    return stringOf(Buffer.concat([decipher.update(data.subarray(16)), decipher.final()]));
  } catch (cause) {
    throw new FunctionError('decryptAES: the text does not belong to this password', { cause });
  }
}

export const hashFunctions: FunctionTable = {
  sha1sum: sum('sha1'),
  sha256sum: sum('sha256'),
  sha512sum: sum('sha512'),
  adler32sum: fn('string', adler32),
  derivePassword: envFn('uint32 string string string string', derivePassword),
  encryptAES: envFn('string string', encryptAes),
  decryptAES: fn('string string', decryptAes),
};
