/** TLS settings that trust certificate authorities in addition to those of Node. */
import { readFileSync } from 'node:fs';
import * as tls from 'node:tls';

/** @param authorities certificates in PEM */
export const secureContextWith = (authorities: readonly string[]): tls.SecureContext =>
  tls.createSecureContext({ ca: [...defaultAuthorities(), ...authorities] });

let known: readonly string[] | undefined;

/** What Node trusts without a setting, which an explicit list of authorities replaces. */
function defaultAuthorities(): readonly string[] {
  known ??= fromNode() ?? [...tls.rootCertificates, ...extra()];
  return known;
}

/** Node 22.15 and later report them, including those of the system if an option of Node adds these. */
function fromNode(): readonly string[] | undefined {
  const { getCACertificates } = tls as {
    readonly getCACertificates?: (type: 'default') => readonly string[];
  };
  return getCACertificates?.('default');
}

/** Node itself warns at the start if it cannot read the file. */
function extra(): readonly string[] {
  const file = process.env['NODE_EXTRA_CA_CERTS'];
  if (!file) return [];
  try {
    return [readFileSync(file, 'utf8')];
  } catch {
    return [];
  }
}
