/** Signs component descriptors for tests, as the tools of the component model do. */
import { generateKeyPairSync, sign, constants, type KeyObject } from 'node:crypto';
import { readDescriptor } from '../../src/components/descriptor.ts';
import { componentDigest, normalised } from '../../src/components/normalise.ts';

type Fields = Readonly<Record<string, unknown>>;

export interface KeyPair {
  readonly privateKey: KeyObject;
  /** PEM */
  readonly publicKey: string;
}

export function keyPair(): KeyPair {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return { privateKey, publicKey: publicKey.export({ type: 'spki', format: 'pem' }) as string };
}

export interface SigningOptions {
  readonly name?: string;
  readonly form?: string;
  readonly algorithm?: 'RSASSA-PKCS1-V1_5' | 'RSASSA-PSS';
  /** Encodes the bytes of the signature; default hexadecimal. */
  readonly asPem?: (signature: Buffer) => string;
}

/** The descriptor with one more signature. */
export function withSignature<T extends object>(
  descriptor: T,
  { privateKey: key }: Pick<KeyPair, 'privateKey'>,
  {
    name = 'release',
    form = 'jsonNormalisation/v2',
    algorithm = 'RSASSA-PKCS1-V1_5',
    asPem,
  }: SigningOptions = {},
): T & Fields {
  const component = readDescriptor(descriptor);
  const digest = { hashAlgorithm: 'SHA-256', normalisationAlgorithm: form };
  const padding = algorithm === 'RSASSA-PSS' ? constants.RSA_PKCS1_PSS_PADDING : constants.RSA_PKCS1_PADDING;
  const bytes = sign('sha256', Buffer.from(normalised(component, form)), { key, padding });
  const signature = {
    name,
    digest: { ...digest, value: componentDigest(component, digest) },
    signature: {
      algorithm,
      mediaType: asPem ? 'application/x-pem-file' : 'application/vnd.ocm.signature.rsa',
      value: asPem ? asPem(bytes) : bytes.toString('hex'),
    },
  };
  const { signatures = [] } = descriptor as { signatures?: object[] };
  return { ...descriptor, signatures: [...signatures, signature] };
}
