/** A private certificate authority: X.509 v3 certificates, encoded in DER with `node:crypto`. */
import {
  createHash,
  createPublicKey,
  generateKeyPairSync,
  randomBytes,
  sign,
  X509Certificate,
  type KeyObject,
} from 'node:crypto';
import { isIP } from 'node:net';
import { bits, der, elementsOf, octets, oid, positive, sequence } from './der.ts';

export interface KeyAndCertificate {
  /** PEM: PKCS#8 for EC keys, PKCS#1 for RSA. */
  readonly key: string;
  /** PEM. */
  readonly certificate: string;
}

export interface Authority extends KeyAndCertificate {
  readonly name: string;
}

/** Both of the same key, EC or RSA. */
export interface KeyPair {
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

/** Milliseconds since 1970; certificates contain whole seconds. */
interface Validity {
  readonly from: number;
  readonly until: number;
}

interface LeafOptions {
  readonly commonName: string;
  readonly organizations?: readonly string[];
  /** DNS names and IP addresses of a server; none for a client. */
  readonly hosts?: readonly string[];
  readonly usage: 'server' | 'client';
  readonly validity?: Validity;
  /** Default: new EC keys. */
  readonly keys?: KeyPair;
}

/** For certificates of development servers, which must not depend on an injected clock. */
const AGES: Validity = { from: Date.UTC(2020, 0, 1), until: Date.UTC(2049, 11, 31, 23, 59, 59) };

const OID = {
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  rsaWithSha256: '1.2.840.113549.1.1.11',
  commonName: '2.5.4.3',
  organization: '2.5.4.10',
  subjectKeyId: '2.5.29.14',
  keyUsage: '2.5.29.15',
  altName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyId: '2.5.29.35',
  extendedUsage: '2.5.29.37',
  serverAuth: '1.3.6.1.5.5.7.3.1',
  clientAuth: '1.3.6.1.5.5.7.3.2',
} as const;

const ecKeys = (): KeyPair => generateKeyPairSync('ec', { namedCurve: 'P-256' });

export function createAuthority(
  name: string,
  validity: Validity = AGES,
  { privateKey, publicKey } = ecKeys(),
): Authority {
  const subject = distinguishedName(name, []);
  const extensions = [
    extension(OID.basicConstraints, true, sequence(TRUE)),
    extension(OID.keyUsage, true, bits(Buffer.of(0xa6), 1)),
    extension(OID.subjectKeyId, false, octets(keyId(publicKey))),
  ];
  const certificate = certify({
    subject,
    issuer: subject,
    publicKey,
    extensions,
    validity,
    signer: privateKey,
  });
  return { name, key: keyText(privateKey), certificate };
}

/**
 * @param authority its certificate names the issuer
 * @param signer its private key, EC or RSA
 */
export function issueCertificate(
  authority: Pick<Authority, 'certificate'>,
  signer: KeyObject,
  options: LeafOptions,
): KeyAndCertificate {
  const { privateKey, publicKey } = options.keys ?? ecKeys();
  const hosts = options.hosts ?? [];
  const usage = options.usage === 'server' ? OID.serverAuth : OID.clientAuth;
  const extensions = [
    extension(OID.basicConstraints, true, sequence()),
    extension(OID.keyUsage, true, isRsa(publicKey) ? bits(Buffer.of(0xa0), 5) : bits(Buffer.of(0x80), 7)),
    extension(OID.extendedUsage, false, sequence(oid(usage))),
    extension(OID.authorityKeyId, false, sequence(der(0x80, authorityKeyId(authority, signer)))),
    ...(hosts.length === 0 ? [] : [extension(OID.altName, false, sequence(...hosts.map(generalName)))]),
  ];
  const certificate = certify({
    subject: distinguishedName(options.commonName, options.organizations ?? []),
    issuer: subjectOf(authority.certificate),
    publicKey,
    extensions,
    signer,
    validity: options.validity ?? AGES,
  });
  return { key: keyText(privateKey), certificate };
}

function certify(parts: {
  subject: Buffer;
  issuer: Buffer;
  publicKey: KeyObject;
  extensions: Buffer[];
  signer: KeyObject;
  validity: Validity;
}): string {
  const { signer, validity } = parts;
  const algorithm = isRsa(signer)
    ? sequence(oid(OID.rsaWithSha256), der(0x05))
    : sequence(oid(OID.ecdsaWithSha256));
  const serial = randomBytes(16);
  serial[0] = ((serial[0] ?? 0) & 0x7f) | 0x40;
  const body = sequence(
    der(0xa0, der(0x02, Buffer.of(2))),
    positive(serial),
    algorithm,
    parts.issuer,
    sequence(time(validity.from), time(validity.until)),
    parts.subject,
    parts.publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(...parts.extensions)),
  );
  return pem(sequence(body, algorithm, bits(sign('sha256', body, signer))));
}

// ---------------------------------------------------------------- parts

const TRUE = der(0x01, Buffer.of(0xff));

const extension = (id: string, isCritical: boolean, value: Buffer): Buffer =>
  sequence(oid(id), ...(isCritical ? [TRUE] : []), octets(value));

/** UTCTime before 2050, GeneralizedTime after. */
function time(ms: number): Buffer {
  const text = `${new Date(ms).toISOString().replace(/[-:T]/g, '').slice(0, 14)}Z`;
  return Number(text.slice(0, 4)) < 2050
    ? der(0x17, Buffer.from(text.slice(2)))
    : der(0x18, Buffer.from(text));
}

function distinguishedName(commonName: string, organizations: readonly string[]): Buffer {
  const attribute = (id: string, value: string): Buffer =>
    der(0x31, sequence(oid(id), der(0x0c, Buffer.from(value))));
  return sequence(
    ...organizations.map((organization) => attribute(OID.organization, organization)),
    attribute(OID.commonName, commonName),
  );
}

function generalName(host: string): Buffer {
  if (isIP(host) === 0) return der(0x82, Buffer.from(host));
  return der(0x87, isIP(host) === 4 ? Buffer.from(host.split('.').map(Number)) : ipv6(host));
}

function ipv6(address: string): Buffer {
  const [head = '', tail] = address.split('::');
  const groups = (text: string): string[] => (text === '' ? [] : text.split(':'));
  const left = groups(head);
  const right = tail === undefined ? [] : groups(tail);
  const middle = Array<string>(8 - left.length - right.length).fill('0');
  return Buffer.from(
    [...left, ...middle, ...right].flatMap((g) => [parseInt(g, 16) >> 8, parseInt(g, 16) & 0xff]),
  );
}

/** The subject exactly as encoded, because names are compared by their bytes. */
function subjectOf(certificate: string): Buffer {
  const [whole] = elementsOf(new X509Certificate(certificate).raw);
  const [body] = elementsOf(whole?.content ?? Buffer.alloc(0));
  const subject = elementsOf(body?.content ?? Buffer.alloc(0))[5];
  if (!subject) throw new RangeError('the certificate of the authority has no subject');
  return subject.raw;
}

/** The key id in the authority's certificate, because other programs compute it in other ways. */
function authorityKeyId({ certificate }: Pick<Authority, 'certificate'>, signer: KeyObject): Buffer {
  const { raw } = new X509Certificate(certificate);
  const marker = Buffer.concat([oid(OID.subjectKeyId), Buffer.of(0x04, 0x16, 0x04, 0x14)]);
  const at = raw.indexOf(marker);
  if (at < 0) return keyId(createPublicKey(signer));
  return raw.subarray(at + marker.length, at + marker.length + 20);
}

const keyId = (key: KeyObject): Buffer =>
  createHash('sha1')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest();

export const isRsa = (key: KeyObject): boolean => key.asymmetricKeyType === 'rsa';

/** Go programs such as Landscaper read RSA keys only in PKCS#1. */
const keyText = (key: KeyObject): string =>
  key.export({ type: isRsa(key) ? 'pkcs1' : 'pkcs8', format: 'pem' }) as string;

const pem = (content: Buffer): string =>
  `-----BEGIN CERTIFICATE-----\n${(content.toString('base64').match(/.{1,64}/g) ?? []).join('\n')}\n-----END CERTIFICATE-----\n`;
