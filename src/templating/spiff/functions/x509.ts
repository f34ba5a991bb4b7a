/** Keys and certificates. Keys use the system's random source, because keys from a seeded one could be guessed. */
import { generateKeyPairSync, createPublicKey, type KeyObject, type X509Certificate } from 'node:crypto';
import { formatIp, ipOfBytes } from '../../go/ip.ts';
import { quoteString } from '../../go/quote.ts';
import { certificateFacts } from '../../go/x509.ts';
import { keyToPem, newRsaKey } from '../../gotemplate/funcs/keys.ts';
import { formatTime } from '../../gotemplate/funcs/time-layout.ts';
import type { FunctionWorld, SpiffFunction, SpiffFunctionTable } from '../function.ts';
import type { SpiffValue } from '../value.ts';
import { attempt, count, fail, parseInteger, text } from './arguments.ts';
import { certificate, TIME_LAYOUT } from './x509-certificate.ts';
import {
  parseCertificate,
  parsePrivateKey,
  parsePublicKey,
  publicKeyPem,
  sshPublicKey,
} from './x509-keys.ts';
import { usageNames } from './x509-usages.ts';

const DEFAULT_BITS = 2048n;
const MIN_BITS = 1024n;
/** Larger keys take minutes. */
const MAX_BITS = 8192n;

const CURVES: ReadonlyMap<string, string> = new Map([
  ['P224', 'secp224r1'],
  ['P256', 'prime256v1'],
  ['P384', 'secp384r1'],
  ['P521', 'secp521r1'],
]);

/** The bits of an RSA key, or the name of a curve; too large numbers count as a name. */
function kindOf(value: SpiffValue | undefined): bigint | string {
  if (value === undefined || value === '') return DEFAULT_BITS;
  if (typeof value === 'bigint') return value;
  const source = text(value, 'argument for x509genkey must be a string or integer');
  try {
    return parseInteger(source);
  } catch {
    return source;
  }
}

function generateKey(args: readonly SpiffValue[]): SpiffValue {
  count(args, 0, 1, 'invalid argument count for x509genkey([<bitsize>|<ecdsaCurve>])');
  const kind = kindOf(args[0]);
  if (typeof kind === 'string') {
    const namedCurve = CURVES.get(kind) ?? fail(`Unrecognized elliptic curve: ${quoteString(kind)}`);
    return keyToPem(generateKeyPairSync('ec', { namedCurve }).privateKey);
  }
  if (kind < MIN_BITS || kind > MAX_BITS) {
    fail(`failed to generate private key: a key must have ${String(MIN_BITS)} to ${String(MAX_BITS)} bits`);
  }
  return keyToPem(newRsaKey(Number(kind)));
}

/** The public part of a private key, a public key or a certificate. */
function publicKeyOf(source: string): KeyObject {
  let problem: unknown;
  for (const read of [
    () => createPublicKey(parsePrivateKey(source)),
    () => parsePublicKey(source),
    () => parseCertificate(source).publicKey,
  ]) {
    try {
      return read();
    } catch (cause) {
      problem ??= cause;
    }
  }
  const what = 'a private/public key or certificate in pem format';
  return fail(`argument for x509publickey must be ${what}: ${(problem as Error).message}`, problem);
}

const FORMATS: ReadonlyMap<string, (key: KeyObject) => string> = new Map([
  ['pem', (key) => publicKeyPem(key, false)],
  ['pkix', (key) => publicKeyPem(key, true)],
  ['ssh', sshPublicKey],
]);

function publicKey(args: readonly SpiffValue[]): SpiffValue {
  count(args, 1, 2, 'invalid argument count for x509publickey');
  const format =
    args.length > 1 ? text(args[1], 'format argument for x509publickey must be a string') : 'pem';
  const write = FORMATS.get(format.toLowerCase()) ?? fail(`invalid format for x509publickey: ${format}`);
  const key = publicKeyOf(text(args[0], 'argument for x509publickey must be a private key in pem format'));
  return attempt(() => write(key));
}

const HOUR_MS = 3_600_000;

const shownTime = (date: Date): string =>
  formatTime(
    TIME_LAYOUT,
    { seconds: BigInt(Math.floor(date.getTime() / 1000)), nanos: 0, zone: 'UTC' },
    'UTC',
  );

const listed = (name: string, values: readonly string[]): (readonly [string, SpiffValue])[] =>
  values.length === 0 ? [] : [[name, values]];

const parse: SpiffFunction = (args, world) => {
  count(args, 1, 1, 'invalid argument count for x509parsecert');
  const message = 'argument for x509parsecert must be a certificate in pem format';
  const source = text(args[0], message);
  return attempt(() => factsOf(parseCertificate(source), world), `${message}: `);
};

function factsOf(parsed: X509Certificate, { clock }: FunctionWorld): SpiffValue {
  const facts = certificateFacts(parsed);
  const ips = facts.ips.map((bytes) => formatIp(ipOfBytes(bytes)));
  const until = new Date(parsed.validTo);
  return new Map<string, SpiffValue>([
    ['isCA', parsed.ca],
    ...(facts.commonName === '' ? [] : [['commonName', facts.commonName] as const]),
    ...listed('country', facts.countries),
    ...listed('organization', facts.organizations),
    ...listed('dnsNames', facts.dnsNames),
    ...listed('ipAddresses', ips),
    // Original: omitted if there are only addresses.
    ...listed('hosts', facts.dnsNames.length === 0 ? [] : [...ips, ...facts.dnsNames]),
    ['validFrom', shownTime(new Date(parsed.validFrom))],
    ['validUntil', shownTime(until)],
    ['validity', BigInt(Math.trunc((until.getTime() - clock.wall()) / HOUR_MS))],
    ['usage', usageNames(facts.keyUsage, facts.extendedUsages)],
    ['publicKey', publicKeyPem(parsed.publicKey, false)],
  ]);
}

export const x509Functions: SpiffFunctionTable = {
  x509genkey: generateKey,
  x509publickey: publicKey,
  x509cert: certificate,
  x509parsecert: parse,
};
