/** Authentication: client certificate, static bearer token, service account token, or anonymous. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { TLSSocket } from 'node:tls';
import { unauthorized } from '../status.ts';
import type { UserInfo } from '../types.ts';

export interface StaticUser extends UserInfo {
  readonly token: string;
}

/** Returns the user of a token that is not static; undefined if the token is invalid. */
type TokenVerifier = (token: string) => UserInfo | undefined;

export const ANONYMOUS: UserInfo = { username: 'system:anonymous', groups: ['system:unauthenticated'] };
export const ADMIN: UserInfo = {
  username: 'kubernetes-admin',
  groups: ['system:masters', 'system:authenticated'],
};

export class Authenticator {
  readonly #tokens = new Map<string, StaticUser>();
  readonly #verify: TokenVerifier;
  readonly #certificates = new WeakMap<TLSSocket, UserInfo | null>();

  constructor(users: readonly StaticUser[], verify: TokenVerifier) {
    for (const user of users) this.add(user);
    this.#verify = verify;
  }

  add(user: StaticUser): void {
    this.#tokens.set(digest(user.token), user);
  }

  /** @throws ApiError 401 for invalid credentials */
  authenticate(
    authorization: string | undefined,
    socket: TLSSocket | undefined,
    anonymous = ANONYMOUS,
  ): UserInfo {
    if (authorization !== undefined && /^bearer\s/i.test(authorization))
      return this.#byToken(authorization.replace(/^bearer\s+/i, '').trim());
    const certificate = socket && this.#byCertificate(socket);
    return certificate ?? anonymous;
  }

  /** The user of a token that was configured at the start or created later. */
  byStaticToken(token: string): UserInfo | undefined {
    const found = this.#tokens.get(digest(token));
    return found && sameText(found.token, token) ? authenticated(found) : undefined;
  }

  #byToken(token: string): UserInfo {
    const user = this.byStaticToken(token) ?? this.#verify(token);
    if (!user) throw unauthorized();
    return authenticated(user);
  }

  #byCertificate(socket: TLSSocket): UserInfo | undefined {
    let user = this.#certificates.get(socket);
    if (user === undefined) {
      user = userOfCertificate(socket) ?? null;
      this.#certificates.set(socket, user);
    }
    return user ?? undefined;
  }
}

export const authenticated = (user: UserInfo): UserInfo => ({
  username: user.username,
  ...(user.uid === undefined ? {} : { uid: user.uid }),
  groups: user.groups.includes('system:authenticated')
    ? user.groups
    : [...user.groups, 'system:authenticated'],
  ...(user.extra ? { extra: user.extra } : {}),
});

const digest = (token: string): string => createHash('sha256').update(token).digest('base64');

function sameText(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}

function userOfCertificate(socket: TLSSocket): UserInfo | undefined {
  if (typeof socket.getPeerCertificate !== 'function') return undefined;
  const certificate = socket.getPeerCertificate();
  if (!certificate || Object.keys(certificate).length === 0) return undefined;
  if (!socket.authorized) throw unauthorized();
  const organizations = certificate.subject.O;
  const groups =
    organizations === undefined ? [] : Array.isArray(organizations) ? organizations : [organizations];
  return authenticated({
    username: String(certificate.subject.CN),
    groups,
    extra: {
      'authentication.kubernetes.io/credential-id': [
        `X509SHA256=${certificate.fingerprint256.replaceAll(':', '').toLowerCase()}`,
      ],
    },
  });
}
