/**
 * Authenticates at registries: with basic authentication, or with tokens from the registry's token server, which
 * are cached until they expire.
 */
import { createHash } from 'node:crypto';
import { isObject, ownField } from '../lib/objects.ts';
import type { Challenge } from './challenge.ts';
import type { Login } from './credentials.ts';
import { parseDocument } from './document.ts';
import { ContentInvalid } from './errors.ts';
import { refusal, type LoginAttempt } from './refusals.ts';
import type { Transport } from './transport.ts';

interface Token {
  readonly header: string;
  /** In the time of the clock's `now`. */
  readonly expiresAt: number;
}

/** A login at a registry, which names its token server. */
interface Asking extends LoginAttempt {
  readonly registry: URL;
}

const MAX_TOKEN_BYTES = 2 ** 20;
const DEFAULT_SECONDS = 60;
const MAX_TOKENS = 500;
/** Servers choose tokens, and many of them are kept. Few servers accept headers of this length. */
const MAX_TOKEN_CHARS = 64 * 2 ** 10;

export class Authorization {
  readonly #transport: Transport;
  readonly #tokens = new Map<string, Token>();

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** The header for a request if an earlier challenge is known. */
  known(key: string): string | undefined {
    const token = this.#tokens.get(key);
    if (token === undefined) return undefined;
    if (token.expiresAt > this.#transport.clock.now()) return token.header;
    this.#tokens.delete(key);
    return undefined;
  }

  /**
   * The header for a challenge; undefined without credentials.
   * @throws RegistryRefused, RegistryUnavailable, ContentInvalid
   */
  async answer(
    key: string,
    challenge: Challenge,
    login: Asking,
    wantedScope: string,
  ): Promise<string | undefined> {
    const { used } = login;
    const token =
      challenge.scheme === 'bearer'
        ? await this.#fetchToken(challenge, login, wantedScope)
        : used && { header: basic(used), expiresAt: Infinity };
    if (!token) return undefined;
    this.#tokens.delete(key);
    this.#tokens.set(key, token);
    const [oldest] = this.#tokens.keys();
    if (this.#tokens.size > MAX_TOKENS && oldest !== undefined) this.#tokens.delete(oldest);
    return token.header;
  }

  async #fetchToken(
    { realm, service, scope }: Extract<Challenge, { scheme: 'bearer' }>,
    attempt: Asking,
    wantedScope: string,
  ): Promise<Token> {
    const login = attempt.used;
    const url = this.#transport.urlOf(new URL(realm).origin);
    url.pathname = new URL(realm).pathname;
    const parameters = new URLSearchParams(new URL(realm).search);
    if (service !== undefined) parameters.set('service', service);
    parameters.set('scope', scope ?? wantedScope);
    const what = `a token for ${service ?? 'the registry'}`;
    const began = this.#transport.clock.now();
    const { authorities, registry } = attempt;
    const common = { maxBytes: MAX_TOKEN_BYTES, what, authorities, namedBy: registry };
    if (login?.identityToken === undefined) url.search = parameters.toString();
    const answer =
      login?.identityToken === undefined
        ? await this.#transport.send({
            ...common,
            method: 'GET',
            url,
            ...(login && { headers: { authorization: basic(login) } }),
          })
        : await this.#transport.send({
            ...common,
            method: 'POST',
            url,
            ...refreshForm(parameters, login.identityToken),
          });
    if (answer.status !== 200) throw refusal({ url, what }, answer, attempt);
    const document = parsed(answer.body);
    const token = ownField(document, 'token') ?? ownField(document, 'access_token');
    if (typeof token === 'string' && token.length > MAX_TOKEN_CHARS) {
      throw new ContentInvalid(
        `${url.host} returned a token of ${String(token.length)} characters for ${what}; the limit of ${String(MAX_TOKEN_CHARS)} is fixed`,
      );
    }
    if (typeof token !== 'string' || token === '' || /[\r\n]/.test(token)) {
      throw new ContentInvalid(`${url.host} returned an unexpected response to the request for ${what}`);
    }
    const seconds = Number(ownField(document, 'expires_in') ?? DEFAULT_SECONDS);
    // Renewed a little early, so that no token expires during a request.
    const lifeMs = Math.max(0, (Number.isFinite(seconds) ? seconds : DEFAULT_SECONDS) - 5) * 1000;
    return { header: `Bearer ${token}`, expiresAt: began + lifeMs };
  }
}

const basic = ({ username, password }: Login): string =>
  `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;

function refreshForm(parameters: URLSearchParams, identityToken: string) {
  parameters.set('grant_type', 'refresh_token');
  parameters.set('client_id', 'espalier');
  parameters.set('refresh_token', identityToken);
  return {
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: Buffer.from(parameters.toString()),
  };
}

function parsed(body: Uint8Array): unknown {
  try {
    const value = parseDocument(body, 'a token');
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** A hash that distinguishes logins, and what they trust, without storing them. */
export const fingerprint = ({ used, authorities }: LoginAttempt): string =>
  used === undefined && authorities === undefined
    ? 'anonymous'
    : createHash('sha256')
        .update(JSON.stringify([used?.username, used?.password, used?.identityToken, authorities]))
        .digest('hex');
