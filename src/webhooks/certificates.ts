/**
 * What the server identifies itself with, and when that has to be made anew. Pure but for the keys, which are chance.
 *
 * The authority is replaced long before it ends, and what it signed stays in use meanwhile: first the API server learns
 * to trust the new one besides the old one, months later a server certificate comes from it. So there is no moment at
 * which one side is ahead of the other, however many replicas there are.
 */
import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto';
import { isIP } from 'node:net';
import { createAuthority, issueCertificate } from '../lib/certificates.ts';

/** All PEM. */
export interface Certificates {
  /** Certificates of authorities: the one that signs first, then those that it replaced and that are valid still. */
  readonly caBundle: string;
  /** Key of the authority that signs. */
  readonly caKey: string;
  readonly certificate: string;
  readonly key: string;
}

/** New certificates, and why. */
interface Renewal {
  readonly certificates: Certificates;
  readonly why: string;
}

const DAY_MS = 86_400_000;
const AUTHORITY_MS = 3650 * DAY_MS;
const SERVER_MS = 365 * DAY_MS;
/** Clocks of others may be behind ours. */
const BACKDATED_MS = 3_600_000;
/** What has less than this part of its life left is replaced. */
const LAST_PART = 1 / 3;

const AUTHORITY_NAME = 'webhook-ca';
const SERVER_NAME = 'landscaper-webhook';

/**
 * Undefined when what is there is good.
 * @param hosts names and addresses that the server answers for
 * @param now milliseconds since 1970
 */
export function renewal(
  stored: Certificates | undefined,
  hosts: readonly string[],
  now: number,
): Renewal | undefined {
  const bundle = readBundle(stored?.caBundle ?? '').filter((ca) => untilOf(ca) > now);
  // The API server trusts nothing that comes from an authority that is not valid yet: a new one signs at once.
  const isEarly = bundle[0] !== undefined && fromOf(bundle[0]) > now;
  const signer = stored && !isEarly && signerOf(bundle[0], stored.caKey);
  if (!stored || !bundle[0] || !signer) {
    const authority = createAuthority(AUTHORITY_NAME, lifeFrom(now, AUTHORITY_MS));
    const issuer = {
      certificate: new X509Certificate(authority.certificate),
      key: createPrivateKey(authority.key),
    };
    return {
      certificates: {
        caBundle: writeBundle([issuer.certificate, ...bundle]),
        caKey: authority.key,
        ...serverCertificate(issuer, hosts, now),
      },
      why: stored ? whyNoAuthority(isEarly) : 'there are no certificates yet',
    };
  }
  const trouble = serverTrouble(stored, bundle, hosts, now);
  const isAuthorityOld = isInItsLastPart(bundle[0], now);
  if (trouble === undefined && !isAuthorityOld) return undefined;
  const server =
    trouble === undefined ? {} : serverCertificate({ certificate: bundle[0], key: signer }, hosts, now);
  const next = isAuthorityOld ? createAuthority(AUTHORITY_NAME, lifeFrom(now, AUTHORITY_MS)) : undefined;
  return {
    certificates: {
      ...stored,
      ...server,
      caBundle: writeBundle([...(next ? [new X509Certificate(next.certificate)] : []), ...bundle]),
      ...(next && { caKey: next.key }),
    },
    why: trouble ?? 'the certificate authority expires soon',
  };
}

const whyNoAuthority = (isEarly: boolean): string =>
  isEarly
    ? 'the certificate authority is not valid yet'
    : 'the certificate authority is missing, unreadable or expired';

/** What is wrong with the server's certificate. */
function serverTrouble(
  stored: Certificates,
  bundle: readonly X509Certificate[],
  hosts: readonly string[],
  now: number,
): string | undefined {
  const certificate = read(stored.certificate);
  if (!certificate || !keyOf(stored.key, certificate)) return 'the certificate is missing or unreadable';
  if (!bundle.some((ca) => isIssuedBy(certificate, ca))) return 'its certificate authority no longer exists';
  const unknown = hosts.filter((host) => !isFor(certificate, host));
  if (unknown.length > 0) return `it is not valid for ${unknown.join(', ')}`;
  if (isInItsLastPart(certificate, now)) return 'the certificate expires soon';
  return undefined;
}

interface Issuer {
  readonly certificate: X509Certificate;
  readonly key: KeyObject;
}

/** It does not outlive its authority. */
function serverCertificate(
  issuer: Issuer,
  hosts: readonly string[],
  now: number,
): Pick<Certificates, 'certificate' | 'key'> {
  const { from, until } = lifeFrom(now, SERVER_MS);
  const validity = { from, until: Math.min(until, untilOf(issuer.certificate)) };
  return issueCertificate({ certificate: issuer.certificate.toString() }, issuer.key, {
    commonName: SERVER_NAME,
    usage: 'server',
    ...{ hosts, validity },
  });
}

const lifeFrom = (now: number, ms: number) => ({ from: now - BACKDATED_MS, until: now + ms });

// ---------------------------------------------------------------- reading

const fromOf = ({ validFrom }: X509Certificate): number => Date.parse(validFrom);
const untilOf = ({ validTo }: X509Certificate): number => Date.parse(validTo);

/** Also what is not valid yet: somebody's clock is wrong, and a new one does no harm. */
const isInItsLastPart = (certificate: X509Certificate, now: number): boolean =>
  fromOf(certificate) > now ||
  untilOf(certificate) - now < (untilOf(certificate) - fromOf(certificate)) * LAST_PART;

const isIssuedBy = (certificate: X509Certificate, ca: X509Certificate): boolean =>
  certificate.checkIssued(ca) && certificate.verify(ca.publicKey);

const isFor = (certificate: X509Certificate, host: string): boolean =>
  (isIP(host) === 0 ? certificate.checkHost(host) : certificate.checkIP(host)) !== undefined;

const signerOf = (ca: X509Certificate | undefined, key: string): KeyObject | undefined =>
  ca && keyOf(key, ca);

/** The key, if it is one and belongs to the certificate. */
function keyOf(pem: string, certificate: X509Certificate): KeyObject | undefined {
  try {
    const key = createPrivateKey(pem);
    return certificate.checkPrivateKey(key) ? key : undefined;
  } catch {
    return undefined;
  }
}

function read(pem: string): X509Certificate | undefined {
  try {
    return new X509Certificate(pem);
  } catch {
    return undefined;
  }
}

const readBundle = (pem: string): readonly X509Certificate[] =>
  (pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []).flatMap(
    (text) => read(text) ?? [],
  );

const writeBundle = (certificates: readonly X509Certificate[]): string =>
  certificates.map((certificate) => `${certificate.toString().trim()}\n`).join('');
