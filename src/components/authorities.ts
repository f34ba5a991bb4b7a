/** Certificate authorities of registries: where they are given, and whether they are certificates. */
import { X509Certificate } from 'node:crypto';
import { ownField } from '../lib/objects.ts';
import { RepositoryUnusable } from './errors.ts';

/** Certificates in PEM. @throws RepositoryUnusable if they cannot be used */
export type Authority = () => string;

/** @param path of a file. @param where for messages */
export type ReadAuthority = (path: string, where: string) => string;

/**
 * The authority of an entry with credentials: `certificateAuthority` with PEM, or `caFile` with the path of a file. An
 * unusable one fails only the requests to the registry of the entry.
 * @param readFile undefined: the entry must not name files
 */
export function authorityOf(entry: unknown, where: string, readFile?: ReadAuthority): Authority | undefined {
  const pem = ownField(entry, 'certificateAuthority');
  if (pem !== undefined && pem !== null && pem !== '') {
    return () => certificatesIn(pem, `certificateAuthority in ${where}`);
  }
  const path = ownField(entry, 'caFile');
  if (path === undefined || path === null || path === '') return undefined;
  return () => {
    if (typeof path !== 'string')
      throw new RepositoryUnusable(`caFile in ${where} must be the path of a file`);
    if (readFile) return readFile(path, `caFile in ${where}`);
    throw new RepositoryUnusable(
      `caFile in ${where} cannot be used: only the files of registry.oci.configFiles may name files; put the certificates in PEM into certificateAuthority`,
    );
  };
}

const PEM = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g;

/** @throws RepositoryUnusable */
export function certificatesIn(text: unknown, where: string): string {
  const blocks = typeof text === 'string' ? (text.match(PEM) ?? []) : [];
  if (blocks.length === 0) throw new RepositoryUnusable(`${where} has no certificate in PEM format`);
  const wrong = blocks.findIndex((block) => !isCertificate(block));
  if (wrong < 0) return blocks.join('\n');
  throw new RepositoryUnusable(`${where} has an invalid certificate: number ${String(wrong + 1)}`);
}

function isCertificate(pem: string): boolean {
  try {
    new X509Certificate(pem);
    return true;
  } catch {
    return false;
  }
}
