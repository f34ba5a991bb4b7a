/**
 * Encryption with a password: triple DES, compatible with the original, so that existing values can be decrypted.
 * New secrets should not rely on it. The text is followed by its checksum and padded, and preceded by the
 * initialization vector, all in hex.
 */
import { createCipheriv, createDecipheriv, createHmac, timingSafeEqual } from 'node:crypto';
import { bytesOf, stringOf } from '../../go/go-string.ts';
import { quoteString } from '../../go/quote.ts';
import type { SpiffFunction, SpiffFunctionTable } from '../function.ts';
import { type SpiffValue, typeName } from '../value.ts';
import { readSpiffYaml, writeSpiffYaml } from '../yaml/index.ts';
import { attempt, count, fail } from './arguments.ts';
import { randomBytes } from './random.ts';

const METHOD = '3DES';
const CIPHER = 'des-ede3-cbc';
const BLOCK = 8;
const SUM_SIZE = 32;
const SUM_KEY = 'spiff is a cool tool';
/** Short passwords are padded with the MD5 of an empty string. */
const FILLING = Buffer.from('d41d8cd98f00b204e9800998ecf8427e', 'hex');

function keyOf(password: string): Buffer {
  const key = Buffer.concat([bytesOf(password), FILLING]);
  return Buffer.concat([key.subarray(0, 16), key.subarray(0, 8)]);
}

const sumOf = (message: Uint8Array): Buffer => createHmac('sha256', SUM_KEY).update(message).digest();

function encryptText(message: Buffer, password: string, vector: Buffer): string {
  const pad = (BLOCK - ((message.length + SUM_SIZE + 1) % BLOCK)) % BLOCK;
  const cipher = createCipheriv(CIPHER, keyOf(password), vector).setAutoPadding(false);
  const plain = Buffer.concat([message, sumOf(message), Buffer.alloc(pad + 1, pad)]);
  return Buffer.concat([vector, cipher.update(plain), cipher.final()]).toString('hex');
}

/** @returns undefined if the password is wrong */
function decryptText(source: string, password: string): string | undefined {
  const hex = /^(?:[0-9a-fA-F]{2})*/.exec(source)?.[0] ?? '';
  const data = Buffer.from(hex, 'hex');
  if (data.length < BLOCK) return fail('invalid key: ciphertext too short');
  if (data.length % BLOCK !== 0) return fail('invalid key: ciphertext is not a multiple of the block size');
  const decipher = createDecipheriv(CIPHER, keyOf(password), data.subarray(0, BLOCK)).setAutoPadding(false);
  const plain = Buffer.concat([decipher.update(data.subarray(BLOCK)), decipher.final()]);
  const end = plain.length - ((plain.at(-1) ?? 0) + 1);
  const length = end - SUM_SIZE;
  if (length <= 0) return undefined;
  const message = plain.subarray(0, length);
  return timingSafeEqual(sumOf(message), plain.subarray(length, end)) ? stringOf(message) : undefined;
}

const argument = (value: SpiffValue | undefined, what: string): string =>
  typeof value === 'string' ? value : fail(`${what} requires string, but got ${typeName(value ?? null)}`);

/** The password; only from the arguments. Better than the original: it is also used together with a method. */
function passwordOf(name: string, args: readonly SpiffValue[]): string {
  const second = args.length > 1 ? argument(args[1], `${name}: 2nd argument`) : '';
  const method = args.length > 2 ? argument(args[2], `${name}: method`) : METHOD;
  if (method !== METHOD) fail(`invalid encyption method ${quoteString(method)}`);
  const isMethod = args.length === 2 && second === METHOD;
  return second === '' || isMethod ? fail('invalid empty encyption key') : second;
}

const encrypt: SpiffFunction = (args, { rng }) => {
  count(args, 1, 3, 'encrypt expects one, two or three arguments');
  const password = passwordOf('encrypt', args);
  return encryptText(bytesOf(writeSpiffYaml(args[0] ?? null)), password, randomBytes(rng, BLOCK));
};

const decrypt: SpiffFunction = (args) => {
  count(args, 1, 3, 'decrypt expects one, two or three arguments');
  const source = argument(args[0], 'decrypt');
  const password = passwordOf('decrypt', args);
  const plain = decryptText(source, password) ?? fail('invalid key: %!s(<nil>)');
  return attempt(() => readSpiffYaml(plain), 'error parsing file [<decrypt>]: ');
};

export const cryptFunctions: SpiffFunctionTable = { encrypt, decrypt };
