/**
 * Why a connection failed, according to errors of Node, undici and OpenSSL. Pure. The codes are those that real
 * servers cause: test/unit/lib/connection.test.ts starts them.
 */

import { LOCAL_ADDRESS } from './local-addresses.ts';

/**
 * `certificate`, `protocol`, `local`: permanent until the address, the server or the configuration is changed. `name`:
 * the name of the server is not found, because of a DNS failure or a misspelling. `passing`: all others, such as
 * refused connections.
 */
export type ConnectionFault = 'certificate' | 'protocol' | 'local' | 'name' | 'passing';

const CERTIFICATE =
  /^(CERT_|UNABLE_TO_|DEPTH_ZERO_SELF_SIGNED_CERT$|SELF_SIGNED_CERT_IN_CHAIN$|HOSTNAME_MISMATCH$|INVALID_CA$|INVALID_PURPOSE$|PATH_LENGTH_EXCEEDED$|ERR_TLS_CERT_ALTNAME_)/;

/** The response is not TLS, the TLS versions do not match, or it is not HTTP. */
const PROTOCOL = /^(ERR_SSL_|EPROTO$|ERR_TLS_(PROTOCOL|INVALID_PROTOCOL)|HPE_)/;
const NOT_HTTP = 'HTTPParserError';

/** The most specific code of an error and its causes; a name or message if none has a code. */
export function connectionCode(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return connectionCode(error.errors[0]);
  if (!(error instanceof Error)) return String(error);
  const { code } = error as NodeJS.ErrnoException;
  if (error.name === NOT_HTTP) return code ?? NOT_HTTP;
  if (typeof code === 'string' && code !== '' && code !== 'UND_ERR_SOCKET') return code;
  if (error.cause !== undefined) return connectionCode(error.cause);
  return code ?? (error.message || error.name);
}

/** The kind of a connection error; unknown errors count as passing. */
export function connectionFault(error: unknown): ConnectionFault {
  const code = connectionCode(error);
  if (CERTIFICATE.test(code)) return 'certificate';
  if (PROTOCOL.test(code) || code === NOT_HTTP) return 'protocol';
  if (code === LOCAL_ADDRESS) return 'local';
  return code === 'ENOTFOUND' ? 'name' : 'passing';
}

/** Whether retrying is useless. */
export const isDefiniteFault = (error: unknown): boolean =>
  ['certificate', 'protocol', 'local'].includes(connectionFault(error));

/**
 * What to do about a permanent connection error.
 * @param trust where to add a certificate authority for servers of this kind
 * @returns undefined for errors that may be temporary
 */
export function connectionAdvice(error: unknown, trust: string): string | undefined {
  switch (connectionFault(error)) {
    case 'certificate':
      return certificateAdvice(connectionCode(error), trust);
    case 'protocol':
      return 'the server does not speak the protocol of the address; check scheme (https:// or http://) and port';
    case 'local':
      return 'an address of this machine or of its link is not allowed here; for a registry in a test, set registry.allowLocalAddresses: true in the configuration';
    default:
      return undefined;
  }
}

const UNKNOWN_AUTHORITY = [
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
];

function certificateAdvice(code: string, trust: string): string {
  if (code.startsWith('ERR_TLS_CERT_ALTNAME_') || code === 'HOSTNAME_MISMATCH') {
    return 'its certificate is for other host names; check the address, or have the certificate replaced';
  }
  if (code === 'CERT_HAS_EXPIRED') return 'its certificate has expired; have it renewed';
  if (code === 'CERT_NOT_YET_VALID') return 'its certificate is not valid yet; check the clocks';
  if (code === 'DEPTH_ZERO_SELF_SIGNED_CERT') {
    return `its certificate is self-signed and not trusted; to trust it, ${trust}`;
  }
  if (UNKNOWN_AUTHORITY.includes(code)) {
    return `its certificate is from an unknown authority; to trust it, ${trust}`;
  }
  return `its certificate is not trusted; to trust it, ${trust}`;
}
