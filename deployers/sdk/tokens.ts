/** Tokens of service accounts of the host cluster, for targets that use one; renewed after 80 % of their lifetime. */
import type { Clock } from '../../src/lib/clock.ts';
import { ownField } from '../../src/lib/objects.ts';
import { SizedMap } from '../../src/lib/sized-map.ts';
import type { Client } from '../../src/runtime/types.ts';
import { RetryError, messageOf } from './errors.ts';
import { tokenPathOf } from '../../src/runtime/transport/path.ts';

export interface TokenRequest {
  readonly namespace: string;
  readonly account: string;
  readonly expirationSeconds: number;
  readonly audiences?: readonly string[];
}

export interface Tokens {
  /** @throws RetryError when the host cluster issues none */
  of(request: TokenRequest, signal: AbortSignal): Promise<string>;
  /**
   * Drops the tokens of a namespace, because one was rejected.
   * @returns whether one of them was old enough that a new one may be accepted
   */
  forget(namespace: string): boolean;
}

interface Token {
  readonly token: string;
  /** In milliseconds of the clock. */
  readonly askedAt: number;
  readonly until: number;
}

/** A token that is rejected sooner after it was issued will be rejected again. */
const FRESH_MS = 5_000;
const USED_SHARE = 0.8;

/** Of the tokens of one namespace: requests differ by audience and lifetime, which tenants choose. */
const MAX_BYTES = 2 ** 20;

export function createTokens(client: Client, clock: Clock): Tokens {
  const known = new Map<string, SizedMap<Token>>();
  const tokensOf = (namespace: string): SizedMap<Token> => {
    const tokens = known.get(namespace) ?? new SizedMap<Token>(MAX_BYTES, ({ token }) => token.length);
    known.set(namespace, tokens);
    return tokens;
  };
  /** Many deploy items of one target share a request. */
  const asking = new Map<string, Promise<Token>>();
  const renew = (key: string, request: TokenRequest, signal: AbortSignal): Promise<Token> => {
    const answer = ask(client, request, clock, signal).finally(() => asking.delete(key));
    asking.set(key, answer);
    return answer;
  };
  return {
    async of(request, signal) {
      const key = JSON.stringify(request);
      const old = known.get(request.namespace)?.get(key);
      if (old && old.until > clock.now()) return old.token;
      // The reconcile that sent the request may be aborted; the others then send their own.
      for (let shared = asking.get(key); shared; shared = asking.get(key)) {
        const given = await shared.catch(() => undefined);
        if (given) return given.token;
        signal.throwIfAborted();
      }
      const token = await renew(key, request, signal);
      tokensOf(request.namespace).set(key, token);
      return token.token;
    },
    forget(namespace) {
      const tokens = known.get(namespace)?.values() ?? [];
      const hadOld = tokens.some(({ askedAt }) => clock.now() - askedAt >= FRESH_MS);
      known.delete(namespace);
      return hadOld;
    },
  };
}

async function ask(client: Client, request: TokenRequest, clock: Clock, signal: AbortSignal): Promise<Token> {
  const askedAt = clock.now();
  const { namespace, account, expirationSeconds, audiences } = request;
  const body = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: { expirationSeconds, ...(audiences && { audiences }) },
  };
  let answer: unknown;
  try {
    answer = await client.raw('POST', tokenPathOf(namespace, account), body, signal);
  } catch (error) {
    throw new RetryError({
      operation: 'TargetAccess',
      reason: 'ensureTargetAccess',
      message: `unable to create token for service account ${namespace}/${account}: ${messageOf(error)}`,
      cause: error,
    });
  }
  const status = ownField(answer, 'status');
  const token = ownField(status, 'token');
  if (typeof token === 'string') {
    const lifeMs = lifeOf(ownField(status, 'expirationTimestamp'), clock) ?? expirationSeconds * 1000;
    return { token, askedAt, until: askedAt + lifeMs * USED_SHARE };
  }
  throw new RetryError({
    operation: 'TargetAccess',
    reason: 'ensureTargetAccess',
    message: `the host cluster issued no token for ${namespace}/${account}`,
  });
}

/** Servers may issue shorter lifetimes than requested. Milliseconds; undefined if the response does not contain one. */
function lifeOf(expirationTimestamp: unknown, clock: Clock): number | undefined {
  const end = typeof expirationTimestamp === 'string' ? Date.parse(expirationTimestamp) : NaN;
  return Number.isNaN(end) ? undefined : Math.max(0, end - clock.wall());
}
