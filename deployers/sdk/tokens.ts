/** Tokens of service accounts of the host cluster, for targets that are reached as one; asked for again at 80 % of their life. */
import type { Clock } from '../../src/lib/clock.ts';
import { ownField } from '../../src/lib/objects.ts';
import type { Client } from '../../src/runtime/types.ts';
import { RetryError, messageOf } from './errors.ts';

export interface TokenRequest {
  readonly namespace: string;
  readonly account: string;
  readonly expirationSeconds: number;
  readonly audiences?: readonly string[];
}

export interface Tokens {
  /** @throws RetryError when the host cluster gives none */
  of(request: TokenRequest, signal: AbortSignal): Promise<string>;
  /** Forgets tokens, because one was refused. */
  forget(): void;
}

export function createTokens(client: Client, clock: Clock): Tokens {
  const known = new Map<string, { token: string; until: number }>();
  return {
    async of(request, signal) {
      const key = JSON.stringify(request);
      const old = known.get(key);
      if (old && old.until > clock.now()) return old.token;
      const token = await ask(client, request, signal);
      known.set(key, { token, until: clock.now() + request.expirationSeconds * 800 });
      return token;
    },
    forget: () => {
      known.clear();
    },
  };
}

async function ask(client: Client, request: TokenRequest, signal: AbortSignal): Promise<string> {
  const { namespace, account, expirationSeconds, audiences } = request;
  const body = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: { expirationSeconds, ...(audiences && { audiences }) },
  };
  let answer: unknown;
  try {
    answer = await client.raw(
      'POST',
      `/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`,
      body,
      signal,
    );
  } catch (error) {
    throw new RetryError(
      'TargetAccess',
      'ensureTargetAccess',
      `unable to create token for service account ${namespace}/${account}: ${messageOf(error)}`,
      { cause: error },
    );
  }
  const token = ownField(ownField(answer, 'status'), 'token');
  if (typeof token === 'string') return token;
  throw new RetryError(
    'TargetAccess',
    'ensureTargetAccess',
    `the host cluster gave no token for ${namespace}/${account}`,
  );
}
