/** X.509 certificates for servers and clients, made and signed here. */
import { createHash, createPublicKey, randomBytes, sign, X509Certificate, type KeyObject } from 'node:crypto';
import { isIPv4, isIPv6 } from 'node:net';
import type { Env, FunctionTable } from '../env.ts';
import { FunctionError } from '../errors.ts';
import { sprintValue } from '../format.ts';
import { envFn, fn } from '../signature.ts';
import { GoObject, type Value } from '../values.ts';
import { bits, der, elementsOf, octets, oid, positive, sequence } from '../../../lib/der.ts';
import { keyFromPem, keyToPem, newRsaKey } from './keys.ts';

const TYPE = 'sprig.certificate';
const DAY_MS = 86_400_000;

interface Subject {
  readonly name: string;
  readonly ips: readonly Value[];
  readonly dnsNames: readonly Value[];
  readonly days: number;
  readonly isCa: boolean;
}

/** Who signs: the name as it stands in the issuer's certificate, and the key. */
interface Issuer {
  readonly name: Buffer;
  readonly keyId: Buffer | undefined;
  readonly key: KeyObject;
}

function distinguishedName(commonName: string): Buffer {
  const isPrintable = /^[A-Za-z0-9 '()+,\-./:=?]*$/.test(commonName);
  const value = der(isPrintable ? 0x13 : 0x0c, Buffer.from(commonName, 'utf8'));
  return sequence(der(0x31, sequence(oid('2.5.4.3'), value)));
}

/** UTCTime before 2050, GeneralizedTime after. */
function time(ms: number): Buffer {
  const text = new Date(ms).toISOString().replace(/[-:T]/g, '').slice(0, 14);
  return Number(text.slice(0, 4)) < 2050
    ? der(0x17, Buffer.from(`${text.slice(2)}Z`))
    : der(0x18, Buffer.from(`${text}Z`));
}

function ipBytes(value: Value): Buffer {
  if (typeof value !== 'string')
    throw new FunctionError(`error parsing ip: ${sprintValue(value)} is not a string`);
  if (isIPv4(value)) return Buffer.from(value.split('.').map(Number));
  if (!isIPv6(value) || value.includes('%')) throw new FunctionError(`error parsing ip: ${value}`);
  const dotted = /(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(value);
  const hex = (a: string | undefined, b: string | undefined): string =>
    ((Number(a) << 8) | Number(b)).toString(16);
  const plain = dotted
    ? value.slice(0, dotted.index) + `${hex(dotted[1], dotted[2])}:${hex(dotted[3], dotted[4])}`
    : value;
  const [head = '', tail] = plain.split('::');
  const groups = (text: string): string[] => (text === '' ? [] : text.split(':'));
  const end = tail === undefined ? [] : groups(tail);
  const start = groups(head);
  const all = [...start, ...Array<string>(8 - start.length - end.length).fill('0'), ...end];
  return Buffer.from(all.map((g) => g.padStart(4, '0')).join(''), 'hex');
}

function dnsBytes(value: Value): Buffer {
  if (typeof value === 'string') return Buffer.from(value, 'latin1');
  throw new FunctionError(`error processing alternate dns name: ${sprintValue(value)} is not a string`);
}

const TRUE = der(0x01, Buffer.of(0xff));
const extension = (id: string, isCritical: boolean, value: Buffer): Buffer =>
  sequence(oid(id), ...(isCritical ? [TRUE] : []), octets(value));

const keyIdOf = (spki: Buffer): Buffer => {
  const content = elementsOf(elementsOf(spki)[0]?.content ?? Buffer.alloc(0))[1]?.content ?? spki;
  return createHash('sha1').update(content.subarray(1)).digest();
};

function extensionsOf(subject: Subject, keyId: Buffer, issuer: Issuer, isSelfSigned: boolean): Buffer {
  const names = [
    ...subject.dnsNames.map((name) => der(0x82, dnsBytes(name))),
    ...subject.ips.map((ip) => der(0x87, ipBytes(ip))),
  ];
  const usage = subject.isCa ? bits(Buffer.of(0xa4), 2) : bits(Buffer.of(0xa0), 5);
  const list = [
    extension('2.5.29.15', true, usage),
    extension('2.5.29.37', false, sequence(oid('1.3.6.1.5.5.7.3.1'), oid('1.3.6.1.5.5.7.3.2'))),
    extension('2.5.29.19', true, subject.isCa ? sequence(TRUE) : sequence()),
  ];
  if (subject.isCa) list.push(extension('2.5.29.14', false, octets(keyId)));
  if (issuer.keyId && !isSelfSigned)
    list.push(extension('2.5.29.35', false, sequence(der(0x80, issuer.keyId))));
  if (names.length > 0) list.push(extension('2.5.29.17', false, sequence(...names)));
  return der(0xa3, sequence(...list));
}

/** Name of the signature's algorithm; the hash is SHA-256 where there is one. */
function algorithmOf(key: KeyObject): Buffer {
  if (key.asymmetricKeyType === 'rsa') return sequence(oid('1.2.840.113549.1.1.11'), der(0x05));
  return sequence(oid(key.asymmetricKeyType === 'ec' ? '1.2.840.10045.4.3.2' : '1.3.101.112'));
}

const toPem = (content: Buffer): string =>
  `-----BEGIN CERTIFICATE-----\n${content.toString('base64').replace(/.{1,64}/g, '$&\n')}-----END CERTIFICATE-----\n`;

/** @param issuer signs; without it the certificate signs itself */
function certify(env: Env, subject: Subject, key: KeyObject, issuer?: Issuer): GoObject {
  const spki = createPublicKey(key).export({ format: 'der', type: 'spki' });
  const name = distinguishedName(subject.name);
  const keyId = keyIdOf(spki);
  const by = issuer ?? { name, keyId, key };
  const now = Math.floor(env.clock.wall() / 1000) * 1000;
  const algorithm = algorithmOf(by.key);
  const serial = randomBytes(16);
  serial[0] = ((serial[0] as number) & 0x7f) | 0x01;
  const body = sequence(
    der(0xa0, der(0x02, Buffer.of(2))),
    positive(serial),
    algorithm,
    by.name,
    sequence(time(now), time(now + subject.days * DAY_MS)),
    name,
    spki,
    extensionsOf(subject, keyId, by, issuer === undefined),
  );
  const hash = by.key.asymmetricKeyType === 'ed25519' ? null : 'sha256';
  const certificate = sequence(body, algorithm, bits(sign(hash, body, by.key)));
  return certificateObject(toPem(certificate), keyToPem(key));
}

const certificateObject = (cert: string, key: string): GoObject =>
  new GoObject({ type: TYPE, fields: { Cert: cert, Key: key } });

const field = (certificate: GoObject, name: string): string => certificate.fields.get(name) as string;

function issuerOf(ca: GoObject): Issuer {
  let parsed: X509Certificate;
  try {
    parsed = new X509Certificate(field(ca, 'Cert'));
  } catch (cause) {
    throw new FunctionError('unable to decode certificate', { cause });
  }
  const body = elementsOf(
    elementsOf(elementsOf(parsed.raw)[0]?.content ?? Buffer.alloc(0))[0]?.content ?? Buffer.alloc(0),
  );
  const name = body[5]?.raw ?? Buffer.alloc(0);
  const marker = Buffer.concat([oid('2.5.29.14'), Buffer.of(0x04, 0x16, 0x04, 0x14)]);
  const at = parsed.raw.indexOf(marker);
  const keyId = at < 0 ? undefined : parsed.raw.subarray(at + marker.length, at + marker.length + 20);
  return { name, keyId, key: keyFromPem(field(ca, 'Key')) };
}

function buildCustom(cert64: string, key64: string): GoObject {
  const cert = Buffer.from(cert64, 'base64').toString('utf8');
  const key = Buffer.from(key64, 'base64').toString('utf8');
  if (!cert.includes('-----BEGIN')) throw new FunctionError('unable to decode certificate');
  try {
    new X509Certificate(cert);
  } catch (cause) {
    throw new FunctionError(`error parsing certificate: decodedCert.Bytes: ${(cause as Error).message}`, {
      cause,
    });
  }
  try {
    keyFromPem(key);
  } catch (cause) {
    throw new FunctionError(`error parsing private key: ${(cause as Error).message}`, { cause });
  }
  return certificateObject(cert, key);
}

const NEW_KEY_BITS = 2048;
const server = (name: string, ips: readonly Value[], dnsNames: readonly Value[], days: number): Subject => ({
  name,
  ips,
  dnsNames,
  days,
  isCa: false,
});
const authority = (name: string, days: number): Subject => ({
  name,
  ips: [],
  dnsNames: [],
  days,
  isCa: true,
});

export const certificateFunctions: FunctionTable = {
  genCA: envFn('string int', (env: Env, name: string, days: number) =>
    certify(env, authority(name, days), newRsaKey(NEW_KEY_BITS)),
  ),
  genCAWithKey: envFn('string int string', (env: Env, name: string, days: number, key: string) =>
    certify(env, authority(name, days), keyFromPem(key)),
  ),
  genSelfSignedCert: envFn(
    'string list list int',
    (env: Env, name: string, ips: Value[], dns: Value[], days: number) =>
      certify(env, server(name, ips, dns, days), newRsaKey(NEW_KEY_BITS)),
  ),
  genSelfSignedCertWithKey: envFn(
    'string list list int string',
    (env: Env, name: string, ips: Value[], dns: Value[], days: number, key: string) =>
      certify(env, server(name, ips, dns, days), keyFromPem(key)),
  ),
  genSignedCert: envFn(
    `string list list int ${TYPE}`,
    (env: Env, name: string, ips: Value[], dns: Value[], days: number, ca: GoObject) =>
      certify(env, server(name, ips, dns, days), newRsaKey(NEW_KEY_BITS), issuerOf(ca)),
  ),
  genSignedCertWithKey: envFn(
    `string list list int ${TYPE} string`,
    (env: Env, name: string, ips: Value[], dns: Value[], days: number, ca: GoObject, key: string) =>
      certify(env, server(name, ips, dns, days), keyFromPem(key), issuerOf(ca)),
  ),
  buildCustomCert: fn('string string', buildCustom),
};
