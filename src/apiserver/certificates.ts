/** A private certificate authority: EC P-256 keys and X.509 v3 certificates, written in DER by hand on `node:crypto`. */
import { createHash, createPublicKey, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { isIP } from 'node:net';

export interface KeyAndCertificate {
  /** PKCS#8, PEM. */
  readonly key: string;
  /** PEM. */
  readonly certificate: string;
}

export interface Authority extends KeyAndCertificate {
  readonly name: string;
}

export interface LeafOptions {
  readonly commonName: string;
  readonly organizations?: readonly string[];
  /** DNS names and IP addresses a server answers for; none for a client. */
  readonly hosts?: readonly string[];
  readonly usage: 'server' | 'client';
}

/** Validity of everything made here: dev certificates must not depend on an injected clock. */
const NOT_BEFORE = '200101000000Z';
const NOT_AFTER = '491231235959Z';

const OID = {
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
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

export function createAuthority(name: string): Authority {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const extensions = [
    extension(OID.basicConstraints, true, seq(boolean(true))),
    extension(OID.keyUsage, true, bits(Buffer.from([0xa6]), 1)),
    extension(OID.subjectKeyId, false, octets(keyId(publicKey))),
  ];
  const certificate = certify({
    subject: distinguishedName(name, []),
    issuer: distinguishedName(name, []),
    publicKey,
    extensions,
    signer: privateKey,
  });
  return { name, key: pkcs8(privateKey), certificate };
}

export function issueCertificate(
  authority: Authority,
  signer: KeyObject,
  options: LeafOptions,
): KeyAndCertificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const hosts = options.hosts ?? [];
  const extensions = [
    extension(OID.basicConstraints, true, seq()),
    extension(OID.keyUsage, true, bits(Buffer.from([0x80]), 7)),
    extension(
      OID.extendedUsage,
      false,
      seq(oid(options.usage === 'server' ? OID.serverAuth : OID.clientAuth)),
    ),
    extension(OID.authorityKeyId, false, seq(tlv(0x80, keyId(createPublicKey(signer))))),
    ...(hosts.length === 0 ? [] : [extension(OID.altName, false, seq(...hosts.map(generalName)))]),
  ];
  const certificate = certify({
    subject: distinguishedName(options.commonName, options.organizations ?? []),
    issuer: distinguishedName(authority.name, []),
    publicKey,
    extensions,
    signer,
  });
  return { key: pkcs8(privateKey), certificate };
}

function certify(parts: {
  subject: Buffer;
  issuer: Buffer;
  publicKey: KeyObject;
  extensions: Buffer[];
  signer: KeyObject;
}): string {
  const algorithm = seq(oid(OID.ecdsaWithSha256));
  const serial = randomBytes(16);
  serial[0] = ((serial[0] ?? 0) & 0x7f) | 0x40;
  const body = seq(
    tlv(0xa0, tlv(0x02, Buffer.from([2]))),
    tlv(0x02, serial),
    algorithm,
    parts.issuer,
    seq(tlv(0x17, Buffer.from(NOT_BEFORE)), tlv(0x17, Buffer.from(NOT_AFTER))),
    parts.subject,
    parts.publicKey.export({ type: 'spki', format: 'der' }),
    tlv(0xa3, seq(...parts.extensions)),
  );
  const signature = sign('sha256', body, parts.signer);
  return pem('CERTIFICATE', seq(body, algorithm, bits(signature, 0)));
}

// ---------------------------------------------------------------- DER

function tlv(tag: number, content: Buffer): Buffer {
  const n = content.length;
  const length = n < 0x80 ? [n] : n < 0x100 ? [0x81, n] : [0x82, n >> 8, n & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), content]);
}

const seq = (...parts: Buffer[]): Buffer => tlv(0x30, Buffer.concat(parts));
const octets = (content: Buffer): Buffer => tlv(0x04, content.length === 0 ? content : tlv(0x04, content));
const boolean = (value: boolean): Buffer => tlv(0x01, Buffer.from([value ? 0xff : 0]));
const bits = (content: Buffer, unused: number): Buffer =>
  tlv(0x03, Buffer.concat([Buffer.from([unused]), content]));

function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const bytes = [first * 40 + second];
  for (const arc of rest) {
    const groups = [arc & 0x7f];
    for (let value = arc >>> 7; value > 0; value >>>= 7) groups.unshift((value & 0x7f) | 0x80);
    bytes.push(...groups);
  }
  return tlv(0x06, Buffer.from(bytes));
}

/** `value` is the DER of the extension itself; an already wrapped octet string passes through. */
function extension(id: string, critical: boolean, value: Buffer): Buffer {
  const wrapped = value[0] === 0x04 ? value : tlv(0x04, value);
  return seq(oid(id), ...(critical ? [boolean(true)] : []), wrapped);
}

function distinguishedName(commonName: string, organizations: readonly string[]): Buffer {
  const attribute = (id: string, value: string): Buffer =>
    tlv(0x31, seq(oid(id), tlv(0x0c, Buffer.from(value))));
  return seq(
    ...organizations.map((organization) => attribute(OID.organization, organization)),
    attribute(OID.commonName, commonName),
  );
}

function generalName(host: string): Buffer {
  if (isIP(host) === 0) return tlv(0x82, Buffer.from(host));
  return tlv(0x87, isIP(host) === 4 ? Buffer.from(host.split('.').map(Number)) : ipv6(host));
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

const keyId = (key: KeyObject): Buffer =>
  createHash('sha1')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest();

const pkcs8 = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }) as string;

const pem = (label: string, der: Buffer): string =>
  `-----BEGIN ${label}-----\n${(der.toString('base64').match(/.{1,64}/g) ?? []).join('\n')}\n-----END ${label}-----\n`;
