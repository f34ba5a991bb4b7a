/**
 * The MD5 scheme of htpasswd files: a thousand rounds over different combinations of password, salt and the last
 * sum.
 */
import { createHash } from 'node:crypto';
import { bytesOf } from '../../go/go-string.ts';

export const APR1 = '$apr1$';

const ALPHABET = './0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const ROUNDS = 1000;
/** The output order of the sum's bytes. */
const ORDER = [12, 6, 0, 13, 7, 1, 14, 8, 2, 15, 9, 3, 5, 10, 4, 11];

const md5 = (...parts: readonly Uint8Array[]): Buffer =>
  createHash('md5').update(Buffer.concat(parts)).digest();

/** @param magic prefix of the hash: `$apr1$` */
export function md5crypt(password: Uint8Array, saltText: string, magic: string): string {
  const salt = bytesOf(saltText);
  let sum = firstSum(password, salt, bytesOf(magic));
  for (let round = 0; round < ROUNDS; round++) {
    const isOdd = round % 2 === 1;
    const parts = [isOdd ? password : sum];
    if (round % 3 !== 0) parts.push(salt);
    if (round % 7 !== 0) parts.push(password);
    parts.push(isOdd ? sum : password);
    sum = md5(...parts);
  }
  return `${magic}${saltText}$${encode(sum)}`;
}

function firstSum(password: Uint8Array, salt: Uint8Array, magic: Uint8Array): Buffer {
  const mixin = md5(password, salt, password);
  const repeated = Buffer.from(password.map((_byte, i) => mixin[i % mixin.length] as number));
  const bits: number[] = [];
  for (let n = password.length; n > 0; n >>= 1) bits.push(n % 2 === 1 ? 0 : (password[0] as number));
  return md5(password, magic, salt, repeated, Uint8Array.from(bits));
}

/** Six bits per character, the lowest first. */
function encode(sum: Uint8Array): string {
  let value = 0n;
  ORDER.forEach((from, i) => {
    value |= BigInt(sum[from] as number) << BigInt(8 * i);
  });
  return Array.from({ length: 22 }, (_, i) => ALPHABET.charAt(Number((value >> BigInt(6 * i)) & 63n))).join(
    '',
  );
}
