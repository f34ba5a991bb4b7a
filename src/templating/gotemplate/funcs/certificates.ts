/** Creates and signs X.509 certificates for servers and clients. */
import { randomBytes, X509Certificate, type KeyObject } from 'node:crypto';
import { bytesOfIp, parseIp } from '../../go/ip.ts';
import { createCertificate, issuerOf, type Issuer } from '../../go/x509.ts';
import type { Env, FunctionTable } from '../env.ts';
import { FunctionError } from '../errors.ts';
import { sprintValue } from '../format.ts';
import { envFn, fn } from '../signature.ts';
import { GoObject, type Value } from '../values.ts';
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

function ipBytes(value: Value): Uint8Array {
  if (typeof value !== 'string')
    throw new FunctionError(`error parsing ip: ${sprintValue(value)} is not a string`);
  const address = parseIp(value);
  if (address === undefined) throw new FunctionError(`error parsing ip: ${value}`);
  return bytesOfIp(address);
}

function dnsName(value: Value): string {
  if (typeof value === 'string') return value;
  throw new FunctionError(`error processing alternate dns name: ${sprintValue(value)} is not a string`);
}

/** Digital signature and key encipherment; for an authority also certificate signing. */
const KEY_USAGE = 0b101;
const CA_USAGE = 0b100101;
const SERVER_AND_CLIENT = ['1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2'];

/** @param issuer signs the certificate; default: self-signed */
function certify(env: Env, subject: Subject, key: KeyObject, issuer?: Issuer): GoObject {
  const from = Math.floor(env.clock.wall() / 1000) * 1000;
  const serial = randomBytes(16);
  serial[0] = ((serial[0] as number) & 0x7f) | 0x01;
  const content = {
    subject: { commonName: subject.name },
    publicKey: key,
    serial,
    from,
    until: from + subject.days * DAY_MS,
    isCa: subject.isCa,
    keyUsage: subject.isCa ? CA_USAGE : KEY_USAGE,
    extendedUsages: SERVER_AND_CLIENT,
    dnsNames: subject.dnsNames.map(dnsName),
    ips: subject.ips.map(ipBytes),
  };
  return certificateObject(createCertificate(content, issuer ?? key), keyToPem(key));
}

const certificateObject = (cert: string, key: string): GoObject =>
  new GoObject({ type: TYPE, fields: { Cert: cert, Key: key } });

const field = (certificate: GoObject, name: string): string => certificate.fields.get(name) as string;

function authorityOf(ca: GoObject): Issuer {
  let parsed: X509Certificate;
  try {
    parsed = new X509Certificate(field(ca, 'Cert'));
  } catch (cause) {
    throw new FunctionError('unable to decode certificate', { cause });
  }
  return issuerOf(parsed, keyFromPem(field(ca, 'Key')));
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
      certify(env, server(name, ips, dns, days), newRsaKey(NEW_KEY_BITS), authorityOf(ca)),
  ),
  genSignedCertWithKey: envFn(
    `string list list int ${TYPE} string`,
    (env: Env, name: string, ips: Value[], dns: Value[], days: number, ca: GoObject, key: string) =>
      certify(env, server(name, ips, dns, days), keyFromPem(key), authorityOf(ca)),
  ),
  buildCustomCert: fn('string string', buildCustom),
};
