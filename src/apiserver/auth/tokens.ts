/** Service account tokens: signed JSON web tokens that are valid while the account exists. */
import { createHash, createPublicKey, createSign, createVerify, generateKeyPairSync } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import type { Store } from '../store/storage.ts';
import { isObject, textOf } from '../types.ts';
import type { JsonObject, KubeObject, UserInfo } from '../types.ts';

export interface BoundObject {
  readonly kind: 'pod' | 'secret';
  readonly name: string;
  readonly uid: string;
}

interface TokenSpec {
  readonly account: KubeObject;
  readonly audiences: readonly string[];
  /** Seconds since 1970. */
  readonly issuedAt: number;
  /** Absent for tokens that do not expire. */
  readonly expiresAt?: number;
  readonly id: string;
  readonly issuer: string;
  readonly bound?: BoundObject;
}

interface VerifiedToken {
  readonly user: UserInfo;
  readonly audiences: readonly string[];
}

interface KeyPair {
  readonly secret: KeyObject;
  readonly open: KeyObject;
  readonly id: string;
}

/** Signs and verifies tokens. The key is created on first use, because that takes a while. */
export class TokenSigner {
  readonly #makeKey: () => KeyObject;
  #key: KeyPair | undefined;

  /** @param makeKey returns an RSA private key, for example from a file; called at most once */
  constructor(makeKey: () => KeyObject = newKey) {
    this.#makeKey = makeKey;
  }

  get #keys(): KeyPair {
    if (!this.#key) {
      const secret = this.#makeKey();
      const open = createPublicKey(secret);
      const id = createHash('sha256')
        .update(open.export({ type: 'spki', format: 'der' }))
        .digest('base64url');
      this.#key = { secret, open, id };
    }
    return this.#key;
  }

  /** Public keys as a JSON web key set. */
  keySet(): JsonObject {
    const { open, id } = this.#keys;
    return {
      keys: [
        { use: 'sig', kty: 'RSA', kid: id, alg: 'RS256', ...(open.export({ format: 'jwk' }) as JsonObject) },
      ],
    };
  }

  sign(spec: TokenSpec): string {
    const { secret, id } = this.#keys;
    const { name, namespace, uid } = spec.account.metadata;
    const claims = {
      aud: spec.audiences,
      ...(spec.expiresAt === undefined ? {} : { exp: spec.expiresAt }),
      iat: spec.issuedAt,
      iss: spec.issuer,
      jti: spec.id,
      'kubernetes.io': {
        namespace,
        ...(spec.bound ? { [spec.bound.kind]: { name: spec.bound.name, uid: spec.bound.uid } } : {}),
        serviceaccount: { name, uid },
      },
      nbf: spec.issuedAt,
      sub: `system:serviceaccount:${namespace ?? ''}:${name}`,
    };
    const body = `${encode({ alg: 'RS256', kid: id })}.${encode(claims)}`;
    return `${body}.${createSign('RSA-SHA256').update(body).sign(secret).toString('base64url')}`;
  }

  /**
   * The user of the token; undefined if it is not valid (any more).
   * @param now seconds since 1970
   */
  verify(token: string, store: Store, now: number): VerifiedToken | undefined {
    const [head, body, signature, ...more] = token.split('.');
    if (head === undefined || body === undefined || signature === undefined || more.length > 0)
      return undefined;
    const isSigned = createVerify('RSA-SHA256')
      .update(`${head}.${body}`)
      .verify(this.#keys.open, Buffer.from(signature, 'base64url'));
    if (!isSigned) return undefined;
    const claims = JSON.parse(Buffer.from(body, 'base64url').toString()) as JsonObject;
    if (typeof claims['exp'] === 'number' && claims['exp'] <= now) return undefined;
    if (typeof claims['nbf'] === 'number' && claims['nbf'] > now + 60) return undefined;
    return subjectOf(claims, store);
  }
}

const newKey = (): KeyObject => generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

function subjectOf(claims: JsonObject, store: Store): VerifiedToken | undefined {
  const own = isObject(claims['kubernetes.io']) ? claims['kubernetes.io'] : {};
  const namespace = textOf(own['namespace']);
  const account = own['serviceaccount'] as { name: string; uid: string } | undefined;
  if (!account) return undefined;
  const isAlive = (resource: string, name: string, uid: string): boolean =>
    store.get(resource, `${namespace}/${name}`)?.obj.metadata.uid === uid;
  if (!isAlive('/serviceaccounts', account.name, account.uid)) return undefined;
  const extra: Record<string, string[]> = {};
  for (const kind of ['pod', 'secret'] as const) {
    const bound = own[kind] as { name: string; uid: string } | undefined;
    if (!bound) continue;
    if (!isAlive(`/${kind}s`, bound.name, bound.uid)) return undefined;
    if (kind === 'pod') {
      extra['authentication.kubernetes.io/pod-name'] = [bound.name];
      extra['authentication.kubernetes.io/pod-uid'] = [bound.uid];
    }
  }
  if (typeof claims['jti'] === 'string')
    extra['authentication.kubernetes.io/credential-id'] = [`JTI=${claims['jti']}`];
  return {
    user: {
      username: `system:serviceaccount:${namespace}:${account.name}`,
      uid: account.uid,
      groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
      extra,
    },
    audiences: Array.isArray(claims['aud']) ? (claims['aud'] as string[]) : [],
  };
}
