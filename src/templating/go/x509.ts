/** Creates X.509 certificates like Go's `crypto/x509`: the same extensions in the same order, SHA-2 signatures. */
import { table } from '../../lib/objects.ts';
import { createHash, createPublicKey, sign, type KeyObject, type X509Certificate } from 'node:crypto';
import { bits, der, elementsOf, octets, oid, positive, sequence, type DerElement } from '../../lib/der.ts';

interface SubjectName {
  readonly countries?: readonly string[];
  readonly organizations?: readonly string[];
  readonly commonName: string;
}

interface CertificateContent {
  readonly subject: SubjectName;
  readonly publicKey: KeyObject;
  /** 1 to 20 random bytes. */
  readonly serial: Uint8Array;
  /** Milliseconds since 1970; certificates contain whole seconds. */
  readonly from: number;
  readonly until: number;
  readonly isCa: boolean;
  /** One bit for each of the nine usages, the lowest one for signatures. */
  readonly keyUsage: number;
  /** Object identifiers. */
  readonly extendedUsages: readonly string[];
  /** ASCII. */
  readonly dnsNames: readonly string[];
  /** 4 or 16 bytes each. */
  readonly ips: readonly Uint8Array[];
}

/** The issuer: its name in the form of its certificate, its key id, and its key. */
export interface Issuer {
  readonly name: Buffer;
  readonly keyId: Buffer | undefined;
  readonly key: KeyObject;
}

/** @returns PEM; `by` is a key if the certificate is self-signed */
export function createCertificate(content: CertificateContent, by: Issuer | KeyObject): string {
  const spki = createPublicKeyOf(content.publicKey).export({ format: 'der', type: 'spki' });
  const name = distinguishedName(content.subject);
  const isSelfSigned = !('keyId' in by);
  const issuer: Issuer = isSelfSigned ? { name, keyId: undefined, key: by } : by;
  const { algorithm, hash } = signatureOf(issuer.key);
  const body = sequence(
    der(0xa0, der(0x02, Buffer.of(2))),
    positive(content.serial),
    algorithm,
    issuer.name,
    sequence(time(content.from), time(content.until)),
    name,
    spki,
    extensionsOf(content, keyIdOf(spki), issuer.name.equals(name) ? undefined : issuer.keyId),
  );
  return toPem('CERTIFICATE', sequence(body, algorithm, bits(sign(hash, body, issuer.key))));
}

const createPublicKeyOf = (key: KeyObject): KeyObject =>
  key.type === 'private' ? createPublicKey(key) : key;

export const toPem = (type: string, content: Buffer): string =>
  `-----BEGIN ${type}-----\n${content.toString('base64').replace(/.{1,64}/g, '$&\n')}-----END ${type}-----\n`;

const ATTRIBUTES = { country: '2.5.4.6', organization: '2.5.4.10', commonName: '2.5.4.3' } as const;

/** Values of one kind are in one set. */
function distinguishedName({ countries = [], organizations = [], commonName }: SubjectName): Buffer {
  const sets = [
    [ATTRIBUTES.country, countries],
    [ATTRIBUTES.organization, organizations],
    [ATTRIBUTES.commonName, commonName === '' ? [] : [commonName]],
  ] as const;
  return sequence(
    ...sets
      .filter(([, values]) => values.length > 0)
      .map(([id, values]) => setOf(values.map((value) => sequence(oid(id), nameText(value))))),
  );
}

/** DER sorts the elements of a set. */
const setOf = (elements: Buffer[]): Buffer => der(0x31, ...elements.sort((a, b) => a.compare(b)));

const nameText = (value: string): Buffer =>
  der(/^[A-Za-z0-9 '()+,\-./:=?]*$/.test(value) ? 0x13 : 0x0c, Buffer.from(value, 'utf8'));

/** UTCTime before 2050, GeneralizedTime after. */
function time(ms: number): Buffer {
  const text = `${new Date(ms).toISOString().replace(/[-:T]/g, '').slice(0, 14)}Z`;
  return Number(text.slice(0, 4)) < 2050
    ? der(0x17, Buffer.from(text.slice(2)))
    : der(0x18, Buffer.from(text));
}

const TRUE = der(0x01, Buffer.of(0xff));
const extension = (id: string, isCritical: boolean, value: Buffer): Buffer =>
  sequence(oid(id), ...(isCritical ? [TRUE] : []), octets(value));

const EXTENSIONS = {
  keyId: '2.5.29.14',
  keyUsage: '2.5.29.15',
  altName: '2.5.29.17',
  constraints: '2.5.29.19',
  issuerKeyId: '2.5.29.35',
  extendedUsage: '2.5.29.37',
} as const;

function extensionsOf(content: CertificateContent, keyId: Buffer, issuerKeyId: Buffer | undefined): Buffer {
  const names = [
    ...content.dnsNames.map((name) => der(0x82, Buffer.from(name, 'latin1'))),
    ...content.ips.map((ip) => der(0x87, ip)),
  ];
  const list: Buffer[] = [];
  if (content.keyUsage !== 0) list.push(extension(EXTENSIONS.keyUsage, true, usageBits(content.keyUsage)));
  if (content.extendedUsages.length > 0) {
    list.push(extension(EXTENSIONS.extendedUsage, false, sequence(...content.extendedUsages.map(oid))));
  }
  list.push(extension(EXTENSIONS.constraints, true, content.isCa ? sequence(TRUE) : sequence()));
  if (content.isCa) list.push(extension(EXTENSIONS.keyId, false, octets(keyId)));
  if (issuerKeyId) list.push(extension(EXTENSIONS.issuerKeyId, false, sequence(der(0x80, issuerKeyId))));
  if (names.length > 0) list.push(extension(EXTENSIONS.altName, false, sequence(...names)));
  return der(0xa3, sequence(...list));
}

/** A bit string: the first usage is its highest bit, trailing zeros are omitted. */
function usageBits(usage: number): Buffer {
  const flags = usage.toString(2).split('').reverse().join('');
  const padded = flags.padEnd(Math.ceil(flags.length / 8) * 8, '0');
  const bytes = (padded.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2));
  return bits(Uint8Array.from(bytes), padded.length - flags.length);
}

/** SHA-1 of the key bits. */
function keyIdOf(spki: Buffer): Buffer {
  const content = elementsOf(elementsOf(spki)[0]?.content ?? Buffer.alloc(0))[1]?.content ?? spki;
  return createHash('sha1').update(content.subarray(1)).digest();
}

const CURVES: Readonly<Record<string, { readonly id: string; readonly hash: string }>> = table({
  secp384r1: { id: '1.2.840.10045.4.3.3', hash: 'sha384' },
  secp521r1: { id: '1.2.840.10045.4.3.4', hash: 'sha512' },
});

function signatureOf(key: KeyObject): { algorithm: Buffer; hash: string | null } {
  switch (key.asymmetricKeyType) {
    case 'rsa':
      return { algorithm: sequence(oid('1.2.840.113549.1.1.11'), der(0x05)), hash: 'sha256' };
    case 'ec': {
      const curve = CURVES[key.asymmetricKeyDetails?.namedCurve ?? ''];
      return { algorithm: sequence(oid(curve?.id ?? '1.2.840.10045.4.3.2')), hash: curve?.hash ?? 'sha256' };
    }
    default:
      return { algorithm: sequence(oid('1.3.101.112')), hash: null };
  }
}

/** The parts of a certificate's body, starting with the version. */
function certificateParts(certificate: X509Certificate): readonly DerElement[] {
  const whole = elementsOf(certificate.raw)[0]?.content ?? Buffer.alloc(0);
  return elementsOf(elementsOf(whole)[0]?.content ?? Buffer.alloc(0));
}

/** The issuer for a certificate and its key. */
export function issuerOf(certificate: X509Certificate, key: KeyObject): Issuer {
  const name = certificateParts(certificate)[5]?.raw ?? Buffer.alloc(0);
  const value = extensionValues(certificate).get(oid(EXTENSIONS.keyId).toString('hex'));
  return { name, keyId: value && elementsOf(value)[0]?.content, key };
}

/** Extensions, keyed by the hex form of their identifier. */
function extensionValues(certificate: X509Certificate): Map<string, Buffer> {
  const values = new Map<string, Buffer>();
  const holder = certificateParts(certificate).find(({ tag }) => tag === 0xa3);
  const list = holder ? elementsOf(holder.content)[0] : undefined;
  for (const { content } of list ? elementsOf(list.content) : []) {
    const parts = elementsOf(content);
    values.set(parts[0]?.raw.toString('hex') ?? '', parts.at(-1)?.content ?? Buffer.alloc(0));
  }
  return values;
}

/** The parsed fields of a certificate. */
interface CertificateFacts {
  readonly countries: readonly string[];
  readonly organizations: readonly string[];
  readonly commonName: string;
  readonly dnsNames: readonly string[];
  readonly ips: readonly Buffer[];
  readonly keyUsage: number;
  /** Object identifiers. */
  readonly extendedUsages: readonly string[];
}

/** @throws RangeError for invalid DER */
export function certificateFacts(certificate: X509Certificate): CertificateFacts {
  const names = subjectNames(certificateParts(certificate)[5]?.content ?? Buffer.alloc(0));
  const values = extensionValues(certificate);
  const value = (id: string): readonly DerElement[] => {
    const bytes = values.get(oid(id).toString('hex'));
    return bytes ? elementsOf(elementsOf(bytes)[0]?.content ?? Buffer.alloc(0)) : [];
  };
  const usage = values.get(oid(EXTENSIONS.keyUsage).toString('hex'));
  const altNames = value(EXTENSIONS.altName);
  return {
    countries: names(ATTRIBUTES.country),
    organizations: names(ATTRIBUTES.organization),
    commonName: names(ATTRIBUTES.commonName).at(-1) ?? '',
    dnsNames: altNames.filter(({ tag }) => tag === 0x82).map(({ content }) => content.toString('latin1')),
    ips: altNames.filter(({ tag }) => tag === 0x87).map(({ content }) => content),
    keyUsage: usage ? usageNumber(elementsOf(usage)[0]?.content ?? Buffer.alloc(0)) : 0,
    extendedUsages: value(EXTENSIONS.extendedUsage).map(({ content }) => dotted(content)),
  };
}

function subjectNames(subject: Buffer): (id: string) => string[] {
  const attributes = elementsOf(subject).flatMap(({ content }) => elementsOf(content));
  return (id) =>
    attributes
      .map(({ content }) => elementsOf(content))
      .filter(([type]) => type?.raw.equals(oid(id)))
      .map(([, value]) => value?.content.toString('utf8') ?? '');
}

function usageNumber(bitString: Buffer): number {
  const flags = Array.from(bitString.subarray(1), (byte) => byte.toString(2).padStart(8, '0')).join('');
  return Number.parseInt(flags.split('').reverse().join('') || '0', 2);
}

/** An object identifier as a string. */
function dotted(content: Buffer): string {
  const parts: bigint[] = [];
  let part = 0n;
  for (const byte of content) {
    part = (part << 7n) | BigInt(byte & 0x7f);
    if (byte >= 0x80) continue;
    parts.push(part);
    part = 0n;
  }
  const [first = 0n, ...rest] = parts;
  const top = first < 80n ? first / 40n : 2n;
  return [top, first - top * 40n, ...rest].join('.');
}
