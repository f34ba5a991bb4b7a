/** Check sums and hashes of passwords. */
import { createHash } from 'node:crypto';
import { bcryptHash, bcryptMatches } from '../../go/bcrypt.ts';
import { bytesOf } from '../../go/go-string.ts';
import type { SpiffFunction, SpiffFunctionTable } from '../function.ts';
import type { SpiffValue } from '../value.ts';
import { attempt, count, fail, integer, text } from './arguments.ts';
import { APR1, md5crypt } from './md5crypt.ts';
import { randomBytes, randomText } from './random.ts';

const ALGORITHMS: ReadonlyMap<string, string> = new Map([
  ['md5', 'md5'],
  ['sha1', 'sha1'],
  ['sha224', 'sha224'],
  ['sha256', 'sha256'],
  ['sha384', 'sha384'],
  ['sha512', 'sha512'],
  ['sha512/224', 'sha512-224'],
  ['sha512/256', 'sha512-256'],
]);
/** The original writes the text itself and the MD4 of the empty string; stored values must stay the same. */
const MD4_OF_NOTHING = '31d6cfe0d16ae931b73c59d7e0c089c0';

const digest = (algorithm: string, source: string): string =>
  createHash(algorithm).update(bytesOf(source)).digest('hex');

function hash(args: readonly SpiffValue[]): SpiffValue {
  count(args, 1, 2, 'hash takes one or two arguments');
  const mode = args.length > 1 ? text(args[1], 'second argument for hash must be a string') : 'sha256';
  const source = text(args[0], 'first argument for hash must be a string');
  if (mode === 'md4') return bytesOf(source).toString('hex') + MD4_OF_NOTHING;
  return digest(ALGORITHMS.get(mode) ?? fail(`invalid hash type '${mode}'`), source);
}

const bcrypt: SpiffFunction = (args, { rng }) => {
  count(args, 1, 2, 'bcrypt takes one or two arguments');
  const password = text(args[0], 'first argument for bcrypt must be a string');
  const cost =
    args.length > 1 ? integer(args[1], 'second argument for bcrypt must be an integer') : undefined;
  return attempt(() => bcryptHash(password, randomBytes(rng, 16), cost), 'bcrypt error: ');
};

function bcryptCheck(args: readonly SpiffValue[]): SpiffValue {
  count(args, 2, 2, 'bcrypt_check takes two arguments');
  const password = text(args[0], 'first argument for bcrypt_check must be a string');
  const known = text(args[1], 'second argument for bcrypt_check must be a string');
  return attempt(() => bcryptMatches(password, known), 'bcrypt error: ');
}

const SALT_ALPHABET = './0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const SALT_LENGTH = 8;

const md5cryptFunction: SpiffFunction = (args, { rng }) => {
  count(args, 1, 1, 'md5crypt takes one argument');
  const password = text(args[0], 'first argument for md5crypt must be a string');
  return md5crypt(bytesOf(password), randomText(rng, SALT_ALPHABET, SALT_LENGTH), APR1);
};

function md5cryptCheck(args: readonly SpiffValue[]): SpiffValue {
  count(args, 2, 2, 'md5crypt_check takes two arguments');
  const password = text(args[0], 'first argument for md5crypt_check must be a string');
  const known = text(args[1], 'second argument for md5crypt_check must be a string');
  const parts = known.split('$');
  if (parts.length !== 4) fail("invalid md5crypt hash: must contain three '$' characters");
  return md5crypt(bytesOf(password), parts[2] as string, `$${parts[1] as string}$`) === known;
}

export const hashFunctions: SpiffFunctionTable = {
  md5: (args) => {
    count(args, 1, 1, 'md5 takes exactly one argument');
    return digest('md5', text(args[0], 'first argument for md5 must be a string'));
  },
  hash,
  bcrypt,
  bcrypt_check: bcryptCheck,
  md5crypt: md5cryptFunction,
  md5crypt_check: md5cryptCheck,
};
