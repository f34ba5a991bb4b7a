/** Reads which cluster a connection leads to. The answer is kept with the connection for a short time. */
import { ownField } from '../../src/lib/objects.ts';
import { Namespace } from '../../src/runtime/core-kinds.ts';
import { ApiError, ServerFailure, TooManyRequests, Unauthorized } from '../../src/runtime/errors.ts';
import type { KubeAccess } from './access.ts';
import { at, isDefinite, type DeployerError } from './errors.ts';

/** The cluster to which a target leads. */
export interface SeenCluster {
  /** Of the namespace kube-system; absent if the server does not have it, or does not show it. */
  readonly uid?: string | undefined;
  /** Address of the API server without credentials. */
  readonly server?: string | undefined;
}

/** A cluster may be replaced behind its address while a connection is in use. */
const MAX_AGE_MS = 30_000;

const seen = new WeakMap<KubeAccess, { readonly cluster: SeenCluster; readonly at: number }>();

interface Question {
  /** Name of the target, for messages. */
  readonly target: string;
  /** Monotonic milliseconds. */
  readonly now: number;
  readonly signal: AbortSignal;
}

/**
 * The cluster of a connection: one request, unless the answer is known.
 * @throws DeployerError when the server cannot be reached, or responds with an error that may pass
 */
export async function clusterOf(access: KubeAccess, { target, now, signal }: Question): Promise<SeenCluster> {
  const known = seen.get(access);
  if (known && now - known.at <= MAX_AGE_MS) return known.cluster;
  const uid = await uidOf(access, signal).catch((error: unknown) => {
    if (signal.aborted) throw error;
    throw unknownCluster(target, error);
  });
  const server = access.server === undefined ? undefined : publicAddress(access.server);
  const cluster = { ...(uid !== undefined && { uid }), ...(server !== undefined && { server }) };
  seen.set(access, { cluster, at: now });
  return cluster;
}

function unknownCluster(target: string, error: unknown): DeployerError {
  const cause = error instanceof ApiError ? error.attributedTo(`the server of target ${target}`) : error;
  const place = { operation: 'TargetAccess', reason: 'IdentifyCluster' };
  return at(place, cause, (why) => `cannot find out to which cluster target ${target} leads: ${why}`);
}

/** Servers of tenants can respond with anything. */
const UID = /^[\w-]{1,64}$/;

async function uidOf({ client }: KubeAccess, signal: AbortSignal): Promise<string | undefined> {
  let namespace: unknown;
  try {
    namespace = await client.get(Namespace, 'kube-system', signal);
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return undefined;
  }
  const uid = ownField(ownField(namespace, 'metadata'), 'uid');
  return typeof uid === 'string' && UID.test(uid) ? uid : undefined;
}

/** Whether the server has decided not to show the namespace. Anything else says nothing about the cluster. */
const isRefusal = (error: unknown): boolean =>
  isDefinite(error) ||
  (error instanceof ApiError &&
    !(
      error instanceof ServerFailure ||
      error instanceof TooManyRequests ||
      error instanceof Unauthorized ||
      error.status === REQUEST_TIMEOUT
    ));
const REQUEST_TIMEOUT = 408;

const MAX_ADDRESS = 256;

/** An address may contain a user and a password. */
export function publicAddress(server: string): string | undefined {
  if (!URL.canParse(server)) return undefined;
  const { origin, pathname } = new URL(server);
  const address = origin + (pathname === '/' ? '' : pathname);
  return origin === 'null' || address.length > MAX_ADDRESS ? undefined : address;
}
