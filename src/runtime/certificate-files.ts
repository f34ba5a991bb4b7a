/** A server certificate and its key, in files that may be replaced while the process runs, as in a mounted Secret. */
import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { createSecureContext } from 'node:tls';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../observability/log.ts';

/** Paths. */
export interface CertificateFiles {
  readonly cert: string;
  readonly key: string;
}

/** PEM, with the names of the options of `node:tls`. */
export interface CertificatePair {
  readonly cert: string;
  readonly key: string;
}

/** The files are missing or not usable; the message names the file and the remedy. */
export class UnusableCertificate extends Error {
  override readonly name = 'UnusableCertificate';
}

/** The kubelet replaces the files of a Secret within about a minute; a test of two small files costs nothing. */
export const FILES_CHECK_MS = 10_000;
const COMPLAIN_AGAIN_MS = 3_600_000;
/** An issuer that renews certificates has done so before. */
const EXPIRES_SOON_SHARE = 1 / 10;

/**
 * @param host name or address that clients use; the certificate has to contain it. Default: not checked
 * @throws UnusableCertificate
 */
export function readCertificateFiles(files: CertificateFiles, host?: string): CertificatePair {
  const pair = { cert: readOne(files.cert, 'certificate'), key: readOne(files.key, 'key') };
  const certificate = parsed(
    () => new X509Certificate(pair.cert),
    `${files.cert} does not contain a certificate in PEM; write the certificate of the server there, followed by those of its intermediate authorities`,
  );
  const key = parsed(
    () => createPrivateKey(pair.key),
    `${files.key} does not contain a private key in PEM without a passphrase; write the key of the certificate ${files.cert} there`,
  );
  if (!certificate.checkPrivateKey(key))
    throw new UnusableCertificate(
      `the key ${files.key} does not belong to the first certificate in ${files.cert}; write the certificate of the server first, and take both files from the same Secret`,
    );
  if (host !== undefined && !isFor(certificate, host))
    throw new UnusableCertificate(
      `the certificate ${files.cert} is not valid for ${host}, only for ${certificate.subjectAltName ?? 'no name at all'}; request one whose subject alternative names contain ${host}`,
    );
  parsed(
    () => createSecureContext(pair),
    `the certificate ${files.cert} with the key ${files.key} is not usable for TLS; request one with an RSA key of at least 2048 bits, or an EC key`,
  );
  return pair;
}

function readOne(file: string, what: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const why = (error as { code?: string }).code === 'ENOENT' ? 'the file does not exist' : String(error);
    throw new UnusableCertificate(
      `cannot read the ${what} ${file}: ${why}; mount a Secret of type kubernetes.io/tls there, or name another file`,
      { cause: error },
    );
  }
}

function parsed<T extends X509Certificate | KeyObject | object>(parse: () => T, message: string): T {
  try {
    return parse();
  } catch (error) {
    throw new UnusableCertificate(message, { cause: error });
  }
}

/** As API servers check it: the common name does not count. */
const isFor = (certificate: X509Certificate, host: string): boolean =>
  (isIP(host) === 0 ? certificate.checkHost(host, { subject: 'never' }) : certificate.checkIP(host)) !==
  undefined;

/** Whether clients refuse the certificate now, or will soon. @param now milliseconds since 1970 */
export function validityOf(cert: string, now: number): 'valid' | 'early' | 'expires soon' | 'expired' {
  const { validFrom, validTo } = new X509Certificate(cert);
  const [from, until] = [Date.parse(validFrom), Date.parse(validTo)];
  if (now < from) return 'early';
  if (now >= until) return 'expired';
  return until - now < (until - from) * EXPIRES_SOON_SHARE ? 'expires soon' : 'valid';
}

/**
 * Calls `use` when the files have changed and are usable, until the returned function is called; the log says when they
 * are not. Also logs once an hour that the certificate in use has expired, or expires soon.
 * @param options.host as for `readCertificateFiles`
 */
export function followCertificateFiles(
  files: CertificateFiles,
  first: CertificatePair,
  options: {
    readonly clock: Clock;
    readonly log: Logger;
    readonly host?: string;
    readonly use: (pair: CertificatePair) => void;
  },
): () => void {
  const { clock, log, host, use } = options;
  let current = first;
  let unusable = '';
  const validity = validityLog(files, options);

  const check = (): void => {
    cancel = clock.at(clock.now() + FILES_CHECK_MS, check);
    try {
      const next = readCertificateFiles(files, host);
      unusable = '';
      if (next.cert !== current.cert || next.key !== current.key) {
        current = next;
        use(next);
        log.info({ file: files.cert }, 'certificate replaced');
      }
    } catch (error) {
      // The same message every ten seconds would fill the log.
      const { message } = error as Error;
      if (message !== unusable) log.error({ err: error }, 'new certificate not used');
      unusable = message;
    }
    validity(current.cert);
  };
  let cancel = clock.at(clock.now() + FILES_CHECK_MS, check);
  validity(first.cert);
  return () => {
    cancel();
  };
}

function validityLog(
  { cert: file }: CertificateFiles,
  { clock, log }: { readonly clock: Clock; readonly log: Logger },
): (cert: string) => void {
  let [last, at] = ['', -Infinity];
  return (cert) => {
    const now = clock.wall();
    const validity = validityOf(cert, now);
    const isDue = validity !== last || now - at >= COMPLAIN_AGAIN_MS;
    if (!isDue) return;
    [last, at] = [validity, now];
    const { validFrom, validTo } = new X509Certificate(cert);
    if (validity === 'expired') log.error({ file, until: validTo }, 'certificate expired: clients refuse it');
    if (validity === 'early')
      log.error({ file, from: validFrom }, 'certificate not valid yet: clients refuse it');
    if (validity === 'expires soon') log.warn({ file, until: validTo }, 'certificate expires soon');
  };
}
