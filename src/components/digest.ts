/** Digests: verifies that fetched contents match their digests. */
import { table } from '../lib/objects.ts';
import { createHash } from 'node:crypto';
import { ContentInvalid } from './errors.ts';

const ALGORITHMS: Readonly<Record<string, number>> = table({ sha256: 64, sha512: 128 });

export const sha256 = (bytes: Uint8Array): string =>
  `sha256:${createHash('sha256').update(bytes).digest('hex')}`;

const HASHES: Readonly<Record<string, string>> = table({ 'SHA-256': 'sha256', 'SHA-512': 'sha512' });

/** Node.js's name of a hash algorithm, for both spellings that descriptors use; undefined if it is unknown. */
export const hashName = (algorithm: string): string | undefined =>
  HASHES[algorithm] ?? (Object.hasOwn(ALGORITHMS, algorithm) ? algorithm : undefined);

/** Whether the text is a digest with a supported algorithm. */
export function isDigest(text: string): boolean {
  const [algorithm = '', hex = ''] = text.split(':', 2);
  return ALGORITHMS[algorithm] === hex.length && /^[0-9a-f]+$/.test(hex) && text === `${algorithm}:${hex}`;
}

/** @throws ContentInvalid if the bytes do not match */
export function verifyDigest(bytes: Uint8Array, digest: string, what: string): void {
  if (!isDigest(digest)) throw new ContentInvalid(`${what}: "${digest}" is not a supported digest`);
  const [algorithm = ''] = digest.split(':');
  const found = `${algorithm}:${createHash(algorithm).update(bytes).digest('hex')}`;
  if (found === digest) return;
  throw new ContentInvalid(`${what} is damaged: its digest is ${found}, expected ${digest}`);
}
