/** Keys and certificates in PEM: accepts all formats, writes the original's. */
import { table } from '../../../lib/objects.ts';
import { createPrivateKey, createPublicKey, X509Certificate, type KeyObject } from 'node:crypto';
import { quoteString } from '../../go/quote.ts';
import { toPem } from '../../go/x509.ts';

interface PemBlock {
  readonly type: string;
  readonly content: Buffer;
}

function pemBlock(source: string): PemBlock | undefined {
  const match = /-----BEGIN ([A-Z0-9 ]+)-----\r?\n([A-Za-z0-9+/=\s]*?)-----END \1-----/.exec(source);
  return match ? { type: match[1] as string, content: Buffer.from(match[2] as string, 'base64') } : undefined;
}

/** @throws Error with the original's message, without the key */
export function parsePrivateKey(source: string): KeyObject {
  const block = pemBlock(source);
  if (!block) throw new Error('invalid private key format (expected pem block)');
  const types: Readonly<Record<string, 'pkcs1' | 'sec1'>> = {
    'RSA PRIVATE KEY': 'pkcs1',
    'EC PRIVATE KEY': 'sec1',
  };
  const type = types[block.type];
  if (!type) throw new Error(`invalid pem block type ${quoteString(block.type)}`);
  try {
    return createPrivateKey({ key: block.content, format: 'der', type });
  } catch (cause) {
    throw new Error('the pem block holds no private key that can be read', { cause });
  }
}

/** @throws Error with the original's message */
export function parsePublicKey(source: string): KeyObject {
  const block = pemBlock(source);
  if (!block) throw new Error('invalid public key format (expected pem block)');
  for (const type of ['spki', 'pkcs1'] as const) {
    try {
      const key = createPublicKey({ key: block.content, format: 'der', type });
      if (isPrivateKey(block.content)) continue; // Node derives the public key from it
      if (key.asymmetricKeyType === 'rsa' || key.asymmetricKeyType === 'ec') return key;
    } catch {
      continue;
    }
  }
  throw new Error('failed to parse DER encoded public key: it is neither of RSA nor of an elliptic curve');
}

function isPrivateKey(key: Buffer): boolean {
  for (const type of ['pkcs1', 'sec1', 'pkcs8'] as const) {
    try {
      createPrivateKey({ key, format: 'der', type });
      return true;
    } catch {
      continue;
    }
  }
  return false;
}

/** @throws Error with the original's message */
export function parseCertificate(source: string): X509Certificate {
  const block = pemBlock(source);
  if (!block) throw new Error('invalid certificate format (expected pem block)');
  if (block.type !== 'CERTIFICATE') {
    throw new Error(`unexpected pem block type for certificate: ${quoteString(block.type)}`);
  }
  try {
    return new X509Certificate(block.content);
  } catch (cause) {
    throw new Error('the pem block holds no certificate that can be read', { cause });
  }
}

/** @param isGeneral whether RSA keys are written in the same format as all others */
export function publicKeyPem(key: KeyObject, isGeneral: boolean): string {
  const isRsa = key.asymmetricKeyType === 'rsa';
  if (isRsa && !isGeneral) return toPem('RSA PUBLIC KEY', key.export({ format: 'der', type: 'pkcs1' }));
  return toPem(isRsa ? 'PUBLIC KEY' : 'ECDSA PUBLIC KEY', key.export({ format: 'der', type: 'spki' }));
}

const SSH_CURVES: Readonly<Record<string, string>> = table({
  prime256v1: 'nistp256',
  secp384r1: 'nistp384',
  secp521r1: 'nistp521',
});

/** A line for `authorized_keys`. @throws Error for a curve that SSH does not support */
export function sshPublicKey(key: KeyObject): string {
  const jwk = key.export({ format: 'jwk' });
  const bytes = (part: string | undefined): Buffer => Buffer.from(part ?? '', 'base64url');
  if (key.asymmetricKeyType === 'rsa') {
    return sshLine('ssh-rsa', [positiveNumber(bytes(jwk.e)), positiveNumber(bytes(jwk.n))]);
  }
  const curve = SSH_CURVES[key.asymmetricKeyDetails?.namedCurve ?? ''];
  if (curve === undefined) throw new Error('ssh: only P-256, P-384 and P-521 EC keys are supported');
  const point = Buffer.concat([Buffer.of(4), bytes(jwk.x), bytes(jwk.y)]);
  return sshLine(`ecdsa-sha2-${curve}`, [Buffer.from(curve), point]);
}

const positiveNumber = (bytes: Buffer): Buffer =>
  bytes.readUInt8(0) >= 0x80 ? Buffer.concat([Buffer.of(0), bytes]) : bytes;

function sshLine(type: string, parts: readonly Buffer[]): string {
  const packed = [Buffer.from(type), ...parts].flatMap((part) => {
    const size = Buffer.alloc(4);
    size.writeUInt32BE(part.length);
    return [size, part];
  });
  return `${type} ${Buffer.concat(packed).toString('base64')}\n`;
}
