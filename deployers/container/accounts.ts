/**
 * Service accounts for the init and the wait container, and their tokens, which are valid about as long as the job.
 */
import { ownField } from '../../src/lib/objects.ts';
import { DeployerError, at } from '../sdk/errors.ts';
import { put, type Place, type Wanted } from './host-objects.ts';
import { ROLE, ROLE_BINDING, SECRET, SERVICE_ACCOUNT } from './kinds.ts';
import { namesOf } from './names.ts';
import { accountFor, bindingFor, roleFor, secretFor, type ObjectOwner } from './objects.ts';
import type { ContainerContext } from './options.ts';
import { tokenPathOf } from '../../src/runtime/transport/path.ts';

type Rules = Parameters<typeof roleFor>[2];

const OPERATION = 'EnsureServiceAccounts';

/** A service account with only these rights. */
export function accountWith(owner: ObjectOwner, name: string, rules: Rules): readonly Wanted[] {
  const place = { operation: OPERATION, reason: 'EnsureServiceAccount' };
  const translateError = (error: unknown): Error =>
    at(place, error, (message) => `account ${name}: ${message}`);
  return [
    { kind: SERVICE_ACCOUNT, object: accountFor(owner, name), translateError },
    { kind: ROLE, object: roleFor(owner, name, rules), translateError },
    { kind: ROLE_BINDING, object: bindingFor(owner, name), translateError },
  ];
}

/** Kubernetes issues no tokens with a shorter lifetime. */
const MIN_SECONDS = 600;
/** For jobs without a time limit; tokens are renewed in time. */
const MAX_SECONDS = 86_400;
/** Additional time for the pod to start and to report its end. */
const SPARE_SECONDS = 900;
/** Tokens are renewed after this share of their lifetime. */
const SHARE = 0.7;
/** Lower limit for the lifetime, so that a clock difference does not cause endless renewals. */
const MIN_LIFE_MS = 60_000;
const UNTIL = 'tokensUntil';

/**
 * Writes new tokens to the mounted secrets, unless the current ones are still valid.
 * @param leftMs remaining time of the job
 */
export async function ensureTokens(
  ctx: ContainerContext,
  place: Place,
  owner: ObjectOwner,
  leftMs: number,
): Promise<void> {
  const until = ctx.scratch.get(UNTIL);
  if (typeof until === 'number' && until > ctx.clock.now()) return;
  const wanted = Number.isFinite(leftMs) ? Math.ceil(leftMs / 1000) + SPARE_SECONDS : MAX_SECONDS;
  const seconds = Math.min(MAX_SECONDS, Math.max(MIN_SECONDS, wanted));
  const names = namesOf(owner.item);
  let lifeMs = seconds * 1000;
  for (const [account, secret] of [
    [names.initAccount, names.initToken],
    [names.waitAccount, names.waitToken],
  ] as const) {
    const { token, expires } = await tokenOf(place, account, seconds, ctx.signal);
    // The API server may issue tokens with a shorter lifetime than requested.
    if (expires !== undefined) lifeMs = Math.min(lifeMs, expires - ctx.clock.wall());
    await put(
      place,
      owner.item,
      SECRET,
      secretFor(owner, secret, { token, namespace: place.namespace }),
      ctx.signal,
    );
  }
  ctx.scratch.set(UNTIL, ctx.clock.now() + Math.max(MIN_LIFE_MS, lifeMs) * SHARE);
}

async function tokenOf(
  { client, namespace }: Place,
  account: string,
  seconds: number,
  signal: AbortSignal,
): Promise<{ readonly token: string; readonly expires: number | undefined }> {
  const place = { operation: OPERATION, reason: 'RequestToken' };
  const body = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: { expirationSeconds: seconds },
  };
  const path = tokenPathOf(namespace, account);
  let answer: unknown;
  try {
    answer = await client.raw('POST', path, body, signal);
  } catch (error) {
    throw at(place, error, (m) => `token for service account ${namespace}/${account}: ${m}`);
  }
  const status = ownField(answer, 'status');
  const token = ownField(status, 'token');
  const expires = Date.parse(String(ownField(status, 'expirationTimestamp')));
  if (typeof token === 'string' && token !== '')
    return { token, expires: Number.isNaN(expires) ? undefined : expires };
  throw new DeployerError({
    ...place,
    message: `the API server issued no token for ${namespace}/${account}`,
  });
}
