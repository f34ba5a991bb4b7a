/** A connection to a registry failed: whether a retry may help, what to do, and whether the server speaks TLS. */
import { connectionAdvice, connectionCode, connectionFault, isDefiniteFault } from '../lib/connection.ts';
import { ComponentProblem, RegistryMisconfigured, RegistryUnavailable } from './errors.ts';

/** How to trust an authority of registries. */
const REGISTRY_TRUST =
  'add its certificate authority to registry.caFiles in the configuration, or as certificateAuthority to the credentials of the registry in a pull secret of the Context';

/** OpenSSL's errors for a response that is not TLS. */
const NOT_TLS = ['ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_PACKET_LENGTH_TOO_LONG', 'ERR_SSL_HTTP_REQUEST'];

interface Settings {
  /** Problems with the configured files of certificate authorities. */
  readonly problems: readonly string[];
  readonly allowsPlainHttp: boolean;
}

export class ConnectionError extends Error {
  /** The connection was established and then broke; a retry may help. */
  readonly wasEstablished: boolean;
  readonly problem: ComponentProblem;
  /** Of the server that could not be reached. */
  readonly host: string;
  readonly code: string;

  constructor(url: URL, what: string, cause: unknown, settings: Settings) {
    super('broken connection', { cause });
    const code = connectionCode(cause);
    this.host = url.host;
    this.code = code;
    const where = `while fetching ${what}`;
    this.wasEstablished =
      !isDefiniteFault(cause) &&
      !/^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)$|TIMEOUT/.test(code);
    const advice = adviceFor(cause, url, settings);
    const verb = this.wasEstablished ? 'broke off' : 'cannot be reached';
    this.problem = advice
      ? new RegistryMisconfigured(`registry ${url.host} cannot be used (${code}), ${where}: ${advice}`, {
          cause,
        })
      : new RegistryUnavailable(`registry ${url.host} ${verb} (${code}), ${where}`, { cause });
  }
}

function adviceFor(
  cause: unknown,
  { protocol }: URL,
  { problems, allowsPlainHttp }: Settings,
): string | undefined {
  const advice = connectionAdvice(cause, REGISTRY_TRUST);
  if (connectionFault(cause) === 'certificate') return [advice, ...problems].join('; ');
  const isWithoutTls = protocol === 'https:' && NOT_TLS.includes(connectionCode(cause));
  if (advice === undefined || !isWithoutTls || allowsPlainHttp) return advice;
  return `${advice}; if it speaks plain HTTP, allow that: registry.oci.allowPlainHttp in the configuration, --plain-http on the command line`;
}

/**
 * The code of an error which means that the server itself does not speak TLS: it has answered something else. Not that
 * of a certificate, of a refused connection, or of a server to which the first one redirects.
 */
export function codeWithoutTls(error: ConnectionError, { host }: URL): string | undefined {
  return error.host === host && NOT_TLS.includes(error.code) ? error.code : undefined;
}

/** The error of a request over plain HTTP, after one with TLS has failed; other errors are returned unchanged. */
export function withTlsCode(error: unknown, tlsCode: string): unknown {
  const isAnswered = !(error instanceof ComponentProblem) || error.cause === undefined;
  if (isAnswered) return error;
  const message = `${error.message}; this was plain HTTP, because the connection with TLS had failed (${tlsCode})`;
  const { cause } = error;
  return error.isPassing
    ? new RegistryUnavailable(message, { cause })
    : new RegistryMisconfigured(message, { cause });
}
