/** The certificate of the server, from files that may be replaced while it runs. */
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import type { Clock } from '../../../lib/clock.ts';
import type { Logger } from '../../../observability/log.ts';
import { CommandError } from '../../errors.ts';

export interface CertificateFiles {
  readonly cert: string;
  readonly key: string;
}

interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/** Kubernetes replaces the files of a Secret within about a minute. */
const CHECK_MS = 60_000;

/** @throws CommandError if the files cannot be read, or do not belong together */
export function readCertificate(files: CertificateFiles): Certificate {
  try {
    const read = { cert: readFileSync(files.cert, 'utf8'), key: readFileSync(files.key, 'utf8') };
    createSecureContext(read);
    return read;
  } catch (error) {
    throw new CommandError(
      `cannot use the certificate ${files.cert} with the key ${files.key}: ${(error as Error).message}`,
      { cause: error },
    );
  }
}

/** Calls `use` when the files have changed, until the returned function is called. */
export function followCertificate(
  files: CertificateFiles,
  first: Certificate,
  {
    clock,
    log,
    use,
  }: { readonly clock: Clock; readonly log: Logger; readonly use: (certificate: Certificate) => void },
): () => void {
  let current = first;
  const later = (): (() => void) => clock.at(clock.now() + CHECK_MS, check);
  const check = (): void => {
    cancel = later();
    try {
      const next = readCertificate(files);
      if (next.cert === current.cert && next.key === current.key) return;
      current = next;
      use(next);
      log.info({ file: files.cert }, 'certificate replaced');
    } catch (error) {
      log.warn({ err: error }, 'reading the new certificate failed');
    }
  };
  let cancel = later();
  return () => {
    cancel();
  };
}
