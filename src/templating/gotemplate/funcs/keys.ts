/** Private keys in PEM. They use the system's random source, because keys from a seeded one could be guessed. */
import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import type { FunctionTable } from '../env.ts';
import { FunctionError } from '../errors.ts';
import { fn } from '../signature.ts';

export const newRsaKey = (bits: number): KeyObject =>
  generateKeyPairSync('rsa', { modulusLength: bits }).privateKey;

/** The key in sprig's format: PKCS 1 for RSA, SEC 1 for elliptic curves, otherwise PKCS 8. */
export function keyToPem(key: KeyObject): string {
  const types: Readonly<Record<string, 'pkcs1' | 'sec1'>> = { rsa: 'pkcs1', ec: 'sec1' };
  return key.export({ format: 'pem', type: types[key.asymmetricKeyType ?? ''] ?? 'pkcs8' }) as string;
}

/** @throws FunctionError */
export function keyFromPem(pem: string): KeyObject {
  const type = /-----BEGIN ([A-Z0-9 ]+)-----/.exec(pem)?.[1];
  if (type === undefined) throw new FunctionError('no PEM data in input');
  if (!type.endsWith('PRIVATE KEY'))
    throw new FunctionError(`no private key data in PEM block of type ${type}`);
  try {
    return createPrivateKey(pem);
  } catch (cause) {
    throw new FunctionError(`the PEM block of type ${type} holds no private key that can be read`, { cause });
  }
}

function generate(kind: string): string {
  switch (kind) {
    case '':
    case 'rsa':
      return keyToPem(newRsaKey(4096));
    case 'ecdsa':
      return keyToPem(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey);
    case 'ed25519':
      return keyToPem(generateKeyPairSync('ed25519').privateKey);
    case 'dsa':
      throw new FunctionError(
        'keys of type dsa are out of use and not supported; take ed25519, ecdsa or rsa',
      );
    default:
      return `Unknown type ${kind}`;
  }
}

export const keyFunctions: FunctionTable = {
  genPrivateKey: fn('string', generate),
};
