/**
 * Creates and renews the certificates of a webhook server. Pure except for the keys, which the caller creates.
 *
 * A new authority is created long before the old one expires, and certificates of the old one stay in use
 * meanwhile. First the API server learns to trust both authorities; months later, the new one signs a server
 * certificate. So there is no moment at which the API server does not trust the server's certificate, however many
 * replicas there are.
 */
import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto';
import { isIP } from 'node:net';
import {
  createAuthority,
  isRsa,
  issueCertificate,
  type Authority,
  type KeyPair,
} from '../../lib/certificates.ts';

/** All in PEM. */
export interface Certificates {
  /** Certificates of authorities: first the one that signs, then its predecessors that are still valid. */
  readonly caBundle: string;
  /** Key of the authority that signs. */
  readonly caKey: string;
  readonly certificate: string;
  readonly key: string;
}

/** New certificates, and the reason for the renewal. */
interface Renewal {
  readonly certificates: Certificates;
  readonly why: string;
}

const DAY_MS = 86_400_000;
const AUTHORITY_MS = 3650 * DAY_MS;
const SERVER_MS = 365 * DAY_MS;
/** Clocks of other machines may be behind ours. */
const BACKDATED_MS = 3_600_000;
/** A certificate is renewed when less than this share of its lifetime is left. */
const RENEWAL_SHARE = 1 / 3;

const NOT_RSA = 'the key is not an RSA key';

const AUTHORITY_NAME = 'webhook-ca';

/** What new certificates need. */
interface Issuing {
  /** Common name of the server. */
  readonly commonName: string;
  /** Called for each new certificate; must return RSA keys, the only ones that all webhook servers read. */
  readonly newKeys: () => Promise<KeyPair>;
}

/**
 * undefined if the stored certificates are still good.
 * @param hosts names and addresses of the server
 * @param now milliseconds since 1970
 */
export async function renewal(
  stored: Certificates | undefined,
  hosts: readonly string[],
  now: number,
  { commonName, newKeys }: Issuing,
): Promise<Renewal | undefined> {
  const newAuthority = async (): Promise<Authority> =>
    createAuthority(AUTHORITY_NAME, lifeFrom(now, AUTHORITY_MS), await newKeys());
  const bundle = readBundle(stored?.caBundle ?? '').filter((ca) => untilOf(ca) > now);
  // The API server trusts no certificate of an authority that is not valid yet, so a new authority signs at once.
  const isEarly = bundle[0] !== undefined && fromOf(bundle[0]) > now;
  const signer = stored && !isEarly && signerOf(bundle[0], stored.caKey);
  if (!stored || !bundle[0] || !signer) {
    const authority = await newAuthority();
    const issuer = {
      certificate: new X509Certificate(authority.certificate),
      key: createPrivateKey(authority.key),
    };
    return {
      certificates: {
        caBundle: writeBundle([issuer.certificate, ...bundle]),
        caKey: authority.key,
        ...serverCertificate(issuer, { commonName, keys: await newKeys() }, hosts, now),
      },
      why: stored ? authorityProblem(isEarly) : 'there are no certificates yet',
    };
  }
  const problem = serverProblem(stored, bundle, hosts, now);
  const isAuthorityOld = isDueForRenewal(bundle[0], now) || !isRsa(signer);
  if (problem === undefined && !isAuthorityOld) return undefined;
  const server =
    problem === undefined
      ? {}
      : serverCertificate(
          { certificate: bundle[0], key: signer },
          { commonName, keys: await newKeys() },
          hosts,
          now,
        );
  const next = isAuthorityOld ? await newAuthority() : undefined;
  return {
    certificates: {
      ...stored,
      ...server,
      caBundle: writeBundle([...(next ? [new X509Certificate(next.certificate)] : []), ...bundle]),
      ...(next && { caKey: next.key }),
    },
    why: problem ?? (isRsa(signer) ? 'the certificate authority expires soon' : NOT_RSA),
  };
}

const authorityProblem = (isEarly: boolean): string =>
  isEarly
    ? 'the certificate authority is not valid yet'
    : 'the certificate authority is missing, unreadable or expired';

/** The problem with the server's certificate; undefined if there is none. */
function serverProblem(
  stored: Certificates,
  bundle: readonly X509Certificate[],
  hosts: readonly string[],
  now: number,
): string | undefined {
  const certificate = read(stored.certificate);
  const key = certificate && keyOf(stored.key, certificate);
  if (!key) return 'the certificate is missing or unreadable';
  if (!bundle.some((ca) => isIssuedBy(certificate, ca)))
    return 'the certificate authority of the certificate no longer exists';
  const unknown = hosts.filter((host) => !isFor(certificate, host));
  if (unknown.length > 0) return `the certificate is not valid for ${unknown.join(', ')}`;
  if (isDueForRenewal(certificate, now)) return 'the certificate expires soon';
  if (!isRsa(key)) return NOT_RSA;
  return undefined;
}

interface Issuer {
  readonly certificate: X509Certificate;
  readonly key: KeyObject;
}

/** Its validity ends with that of its authority. */
function serverCertificate(
  issuer: Issuer,
  { commonName, keys }: { readonly commonName: string; readonly keys: KeyPair },
  hosts: readonly string[],
  now: number,
): Pick<Certificates, 'certificate' | 'key'> {
  const { from, until } = lifeFrom(now, SERVER_MS);
  const validity = { from, until: Math.min(until, untilOf(issuer.certificate)) };
  return issueCertificate({ certificate: issuer.certificate.toString() }, issuer.key, {
    commonName,
    usage: 'server',
    hosts,
    validity,
    keys,
  });
}

const lifeFrom = (now: number, ms: number) => ({ from: now - BACKDATED_MS, until: now + ms });

// ---------------------------------------------------------------- parsing

const fromOf = ({ validFrom }: X509Certificate): number => Date.parse(validFrom);
const untilOf = ({ validTo }: X509Certificate): number => Date.parse(validTo);

/** Also true for a certificate that is not valid yet: a clock is wrong, and a new certificate does no harm. */
const isDueForRenewal = (certificate: X509Certificate, now: number): boolean =>
  fromOf(certificate) > now ||
  untilOf(certificate) - now < (untilOf(certificate) - fromOf(certificate)) * RENEWAL_SHARE;

const isIssuedBy = (certificate: X509Certificate, ca: X509Certificate): boolean =>
  certificate.checkIssued(ca) && certificate.verify(ca.publicKey);

const isFor = (certificate: X509Certificate, host: string): boolean =>
  (isIP(host) === 0 ? certificate.checkHost(host) : certificate.checkIP(host)) !== undefined;

const signerOf = (ca: X509Certificate | undefined, key: string): KeyObject | undefined =>
  ca && keyOf(key, ca);

/** The key, if it is valid and belongs to the certificate. */
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
