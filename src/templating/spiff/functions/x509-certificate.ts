/** `x509cert`: a certificate from a map of fields. */
import { createPublicKey, type KeyObject, type X509Certificate } from 'node:crypto';
import { bytesOfIp, parseIp } from '../../go/ip.ts';
import { quoteString } from '../../go/quote.ts';
import { createCertificate, issuerOf, type Issuer } from '../../go/x509.ts';
import { parseTime } from '../../gotemplate/funcs/time-layout.ts';
import type { FunctionWorld, SpiffFunction } from '../function.ts';
import { isSpiffList, type SpiffMap, typeName } from '../value.ts';
import { attempt, count, fail, map, parseBoolean, parseInteger, simpleText } from './arguments.ts';
import { randomBytes } from './random.ts';
import { CERT_SIGN, usagesOf, type Usages } from './x509-usages.ts';
import { parseCertificate, parsePrivateKey, parsePublicKey } from './x509-keys.ts';

export const TIME_LAYOUT = 'Jan 2 15:04:05 2006';

const HOURS_A_YEAR = 8760n;
const HOUR_MS = 3_600_000;
/** The latest date that certificates can contain. */
const LAST_TIME = Date.UTC(9999, 11, 31, 23, 59, 59);

const has = (fields: SpiffMap, name: string): boolean => (fields.get(name) ?? null) !== null;

function textField(fields: SpiffMap, name: string): string {
  if (!has(fields, name)) return '';
  return simpleText(fields.get(name)) ?? fail(`invalid type for ${quoteString(name)}`);
}

function integerField(fields: SpiffMap, name: string, otherwise: bigint): bigint {
  if (!has(fields, name)) return otherwise;
  const value = fields.get(name);
  if (typeof value === 'bigint') return value;
  if (typeof value === 'string') return attempt(() => parseInteger(value));
  return fail(`invalid type for ${quoteString(name)}`);
}

function booleanField(fields: SpiffMap, name: string): boolean {
  const value = fields.get(name) ?? null;
  if (value === null || typeof value === 'boolean') return value ?? false;
  if (typeof value === 'bigint') return value !== 0n;
  if (typeof value === 'string') return attempt(() => parseBoolean(value));
  return fail(`invalid type for boolean field ${quoteString(name)}`);
}

/** A string counts as a list of one. @param message for other values */
function listField(fields: SpiffMap, name: string, message?: string): string[] {
  const value = fields.get(name) ?? null;
  if (value === null) return [];
  const only = simpleText(value);
  if (only !== undefined) return [only];
  if (!isSpiffList(value)) return fail(message ?? `invalid type for ${quoteString(name)}`);
  return value.map(
    (item) => simpleText(item) ?? fail(message ?? `invalid list element type for ${quoteString(name)}`),
  );
}

const requiredList = (fields: SpiffMap, name: string): string[] =>
  listField(fields, name, `field ${quoteString(name)} is required`);

interface Keys {
  readonly own: KeyObject;
  /** The signing key: an authority, or the key itself. */
  readonly signer: Issuer | KeyObject;
}

function keysOf(fields: SpiffMap): Keys {
  const read = <T>(name: string, parse: (pem: string) => T, before = ''): T | undefined => {
    const pem = textField(fields, name);
    return pem === '' ? undefined : attempt(() => parse(pem), before);
  };
  const privateKey = read('privateKey', parsePrivateKey);
  const own = read('publicKey', parsePublicKey) ?? privateKey;
  if (!own) return fail("one of 'publicKey' or 'privateKey' must be given");
  const ca = read('caCert', parseCertificate, 'invalid ca certificate: ');
  if (!ca) return { own, signer: privateKey ?? fail('private key for self-signed certificate required') };
  const caKey = read('caPrivateKey', parsePrivateKey);
  return { own, signer: authority(ca, caKey ?? fail('private key for ca required')) };
}

/**
 * Compares bytes: `equals` of keys of different kinds leaves a pending OpenSSL error that breaks the next read of a
 * key.
 */
const areSame = (a: KeyObject, b: KeyObject): boolean =>
  a.export({ format: 'der', type: 'spki' }).equals(b.export({ format: 'der', type: 'spki' }));

function authority(ca: X509Certificate, key: KeyObject): Issuer {
  if (!areSame(createPublicKey(key), ca.publicKey)) {
    fail("Failed to create certificate: x509: provided PrivateKey doesn't match parent's PublicKey");
  }
  return issuerOf(ca, key);
}

function validityOf(
  fields: SpiffMap,
  hours: bigint,
  { clock }: FunctionWorld,
): { from: number; until: number } {
  const wanted = textField(fields, 'validFrom');
  const from =
    wanted === ''
      ? Math.floor(clock.wall() / 1000) * 1000
      : Number(attempt(() => parseTime(TIME_LAYOUT, wanted), 'invalid validFrom fields: ').seconds) * 1000;
  const until = from + Number(hours) * HOUR_MS;
  if (until > LAST_TIME || until < 0 || from < 0)
    fail('Failed to create certificate: the years must be from 1970 to 9999');
  return { from, until };
}

function usageFields(names: readonly string[]): Usages {
  const usages = usagesOf(names);
  return 'unknown' in usages ? fail(`invalid usage key ${quoteString(usages.unknown)}`) : usages;
}

const SERIAL_BYTES = 16;

export const certificate: SpiffFunction = (args, world) => {
  count(args, 1, 1, 'invalid argument count for x509cert(<map>)');
  const [only = null] = args;
  const fields = map(only, `argument for x509cert must be a map (found ${typeName(only)})`);
  const isCa = booleanField(fields, 'isCA');
  const organizations = requiredList(fields, 'organization');
  const commonName = textField(fields, 'commonName');
  const countries = listField(fields, 'country');
  const usageNames = requiredList(fields, 'usage');
  const hours = integerField(fields, 'validity', HOURS_A_YEAR);
  const hosts = listField(fields, 'hosts');
  const { own, signer } = keysOf(fields);
  const validity = validityOf(fields, hours, world);
  const usages = usageFields(usageNames);
  const mayCertify = isCa || (usages.key & CERT_SIGN) !== 0;
  const serial = randomBytes(world.rng, SERIAL_BYTES);
  serial.writeUInt8((serial.readUInt8(0) & 0x7f) | 0x01, 0);
  const addresses = hosts.map((host) => ({ host, ip: parseIp(host) }));
  const content = {
    subject: { countries, organizations, commonName },
    publicKey: own,
    serial,
    ...validity,
    isCa: mayCertify,
    keyUsage: mayCertify ? usages.key | CERT_SIGN : usages.key,
    extendedUsages: usages.extended,
    dnsNames: addresses.filter(({ ip }) => ip === undefined).map(({ host }) => host),
    ips: addresses.flatMap(({ ip }) => (ip === undefined ? [] : [bytesOfIp(ip)])),
  };
  return attempt(() => createCertificate(content, signer), 'Failed to create certificate: ');
};
