/** Signatures of component versions: RSA, verified with a public key or with certificates of an authority. */
import { append } from '../lib/lists.ts';
import { table } from '../lib/objects.ts';
import { constants, createPublicKey, verify, X509Certificate, type KeyObject } from 'node:crypto';
import { z } from 'zod';
import { nameOf, type Component } from './descriptor.ts';
import { hashName } from './digest.ts';
import { SignatureInvalid } from './errors.ts';
import { componentDigest, normalised, withoutDigest } from './normalise.ts';

/** Trusted keys in PEM; the public key wins. */
export interface Trust {
  readonly publicKey?: string;
  readonly caCertificates?: string;
}

const signature = z.looseObject({
  name: z.string(),
  digest: z.looseObject({
    hashAlgorithm: z.string(),
    normalisationAlgorithm: z.string(),
    value: z.string(),
  }),
  signature: z.looseObject({ algorithm: z.string(), mediaType: z.string(), value: z.string() }),
});
type Signature = z.output<typeof signature>;

const RSA = 'application/vnd.ocm.signature.rsa';
const RSA_PSS = 'application/vnd.ocm.signature.rsa-pss';
const PEM = 'application/x-pem-file';
const PADDINGS: Readonly<Record<string, number>> = table({
  'RSASSA-PKCS1-V1_5': constants.RSA_PKCS1_PADDING,
  'RSASSA-PSS': constants.RSA_PKCS1_PSS_PADDING,
});
const CODE_SIGNING = '1.3.6.1.5.5.7.3.3';
const ANY_USAGE = '2.5.29.37.0';
/** Each is compared with each. */
const MAX_ISSUERS = 32;

export const signatureNames = (component: Component): readonly string[] =>
  signaturesOf(component).map(({ name }) => name);

/**
 * Verifies the signature of the descriptor. It covers contents by their digests, which are verified when they are
 * fetched, and other components by the digests of references.
 * @throws SignatureInvalid with the signature, the component and the reason
 */
export function verifySignature(component: Component, name: string, trust: Trust): void {
  const fail = (why: string): never => {
    throw new SignatureInvalid(`signature ${name} of component ${nameOf(component)} ${why}`);
  };
  const all = signaturesOf(component);
  const found = all.find((one) => one.name === name);
  if (!found) {
    return fail(`is not there; the component has ${all.map((one) => one.name).join(', ') || 'none'}`);
  }
  const uncovered = withoutDigest(component);
  if (uncovered.length > 0) {
    return fail(`does not cover ${uncovered.join(', ')}: the descriptor contains no digest`);
  }
  const { digest } = found;
  const text = normalised(component, digest.normalisationAlgorithm);
  const expected = componentDigest(component, digest, text);
  if (expected !== digest.value.toLowerCase()) {
    return fail(
      `is for another descriptor: the signed digest is ${digest.value}, but this descriptor has ${expected}`,
    );
  }
  const padding = PADDINGS[found.signature.algorithm];
  if (padding === undefined) {
    return fail(
      `uses the algorithm ${found.signature.algorithm}, which is not supported; supported are ${Object.keys(PADDINGS).join(', ')}`,
    );
  }
  const { bytes, certificates } = signatureBytes(found) ?? fail('does not have a known format');
  const key = keyFrom(trust, certificates, fail);
  if (key.asymmetricKeyType !== 'rsa' && key.asymmetricKeyType !== 'rsa-pss') {
    return fail('needs an RSA key, but the given key is not an RSA key');
  }
  const hash = hashName(digest.hashAlgorithm);
  try {
    if (verify(hash, Buffer.from(text), { key, padding }, bytes)) return;
  } catch (error) {
    // A key may be restricted to one padding, hash or salt.
    return fail(`cannot be checked with the given key: ${(error as Error).message}`);
  }
  fail('does not belong to the given key');
}

function signaturesOf({ more }: Component): readonly Signature[] {
  const all = more['signatures'];
  return (Array.isArray(all) ? (all as unknown[]) : []).flatMap((one) => signature.safeParse(one).data ?? []);
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

function signatureBytes({ signature: { mediaType, value, algorithm } }: Signature) {
  if (mediaType === RSA || mediaType === RSA_PSS) {
    const bytes = Buffer.from(value, 'hex');
    return bytes.length > 0 ? { bytes, certificates: [] } : undefined;
  }
  const block = /-----BEGIN SIGNATURE-----\r?\n([^-]+(?:-[^-]+)*?)-----END SIGNATURE-----/.exec(value)?.[1];
  if (mediaType !== PEM || block === undefined) return undefined;
  const [, named = algorithm] = /^Signature Algorithm: (.*?)\r?$/m.exec(block) ?? [];
  if (named !== algorithm) return undefined;
  const bytes = Buffer.from(block.replace(/^[^:\n]*:[^\n]*\n/gm, ''), 'base64');
  return { bytes, certificates: value.match(CERTIFICATE) ?? [] };
}

function keyFrom(
  { publicKey, caCertificates }: Trust,
  certificates: readonly string[],
  fail: (why: string) => never,
): KeyObject {
  if (publicKey !== undefined) {
    try {
      return createPublicKey(publicKey);
    } catch {
      return fail('cannot be checked: the public key is not a PEM with a key or certificate');
    }
  }
  if (caCertificates === undefined)
    return fail('cannot be checked: neither a public key nor authorities are given');
  try {
    const [leaf, ...others] = certificates.map((text) => new X509Certificate(text));
    const authorities = (caCertificates.match(CERTIFICATE) ?? []).map((text) => new X509Certificate(text));
    if (!leaf) return fail('has no certificate, so it cannot be checked against the authorities');
    if (others.length > MAX_ISSUERS)
      return fail(`has more than ${String(MAX_ISSUERS)} certificates beside that of the signer`);
    if (!isTrusted(leaf, others, authorities))
      return fail('has a certificate that was not issued by the given authorities');
    return leaf.publicKey;
  } catch (error) {
    if (error instanceof SignatureInvalid) throw error;
    return fail('cannot be checked: one of the certificates cannot be read');
  }
}

/**
 * Whether the certificate is trusted. As in upstream, its authorities only have to be valid at the start of its own
 * validity, because a signature outlives certificates.
 */
function isTrusted(
  leaf: X509Certificate,
  others: readonly X509Certificate[],
  authorities: readonly X509Certificate[],
): boolean {
  const usages = leaf.keyUsage as string[] | undefined;
  if (usages && !usages.includes(CODE_SIGNING) && !usages.includes(ANY_USAGE)) return false;
  const time = Date.parse(leaf.validFrom);
  const wasValid = (one: X509Certificate): boolean =>
    Date.parse(one.validFrom) <= time && time <= Date.parse(one.validTo);
  const wasIssuedBy = (one: X509Certificate, by: X509Certificate): boolean =>
    by.ca && wasValid(by) && one.checkIssued(by) && one.verify(by.publicKey);
  // Each certificate is followed once: copies, and authorities that certify each other, would multiply the ways.
  const left = new Set(others);
  const certified = [leaf];
  for (const one of certified) {
    if (authorities.some((by) => by.fingerprint256 === one.fingerprint256 || wasIssuedBy(one, by)))
      return true;
    const issuers = [...left].filter((by) => wasIssuedBy(one, by));
    for (const by of issuers) left.delete(by);
    append(certified, issuers);
  }
  return false;
}
