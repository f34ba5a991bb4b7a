/** Errors for responses of registries. From their bodies, only error codes are included. */
import { sizeText } from '../lib/sizes.ts';
import type { Login } from './credentials.ts';
import { parseDocument } from './document.ts';
import { ContentInvalid, ContentTooLarge, RegistryRefused, RegistryUnavailable } from './errors.ts';
import type { RegistryAnswer, RegistryRequest } from './transport.ts';

/** @param key absent for manifests and tokens, whose limits are not configurable */
export const tooLarge = (what: string, { host }: URL, maxBytes: number, key?: string): ContentTooLarge =>
  new ContentTooLarge(
    `registry ${host} answered the request for ${what} with more than ${sizeText(maxBytes)}` +
      (key === undefined ? '' : `; ${key} in the configuration raises this limit`),
  );

export function failedNow({ url, what }: RegistryRequest, answer: RegistryAnswer): RegistryUnavailable {
  return new RegistryUnavailable(
    `registry ${url.host} answers ${String(answer.status)} to the request for ${what}${errorCodeText(answer)}`,
  );
}

/** The credentials of a request. */
export interface LoginAttempt {
  readonly used: Login | undefined;
  /** Certificate authorities of the registry, in PEM. */
  readonly authorities: string | undefined;
  /** Sources of credentials that cannot be used. */
  readonly problems: readonly string[];
}

/** An error for an unexpected response. From its body, only the error code is included. */
export function refusal(
  { url, what }: Pick<RegistryRequest, 'url' | 'what'>,
  answer: RegistryAnswer,
  login: LoginAttempt,
): Error {
  const { status } = answer;
  const said = errorCodeText(answer);
  if (status === 401 || status === 403) {
    const why = login.used
      ? 'its credentials are not accepted, or have too few rights'
      : 'there are no credentials for it; add a pull secret to the Context, or a file to registry.oci.configFiles in the configuration';
    const problems = login.used ? [] : login.problems;
    return new RegistryRefused(
      [`registry ${url.host} refuses ${what} (${String(status)}${said}): ${why}`, ...problems].join('; '),
    );
  }
  return new ContentInvalid(
    `registry ${url.host} answers ${String(status)} to the request for ${what}${said}`,
  );
}

function errorCodeText({ body }: RegistryAnswer): string {
  try {
    const { errors } = parseDocument(body, 'a refusal') as { errors?: { code?: unknown }[] };
    const code = errors?.[0]?.code;
    return typeof code === 'string' && /^[A-Z_]{1,40}$/.test(code) ? `, ${code}` : '';
  } catch {
    return '';
  }
}
