/** Checks at the start of a replica that it may use Leases. A missing permission would otherwise only delay it forever. */
import { isObject } from '../../lib/objects.ts';
import { sleep, type Clock } from '../../lib/clock.ts';
import { Forbidden } from '../errors.ts';
import type { Client } from '../types.ts';

interface RightsPorts {
  readonly client: Client;
  readonly clock: Clock;
  readonly namespace: string;
}

const VERBS = ['get', 'list', 'watch', 'create', 'update', 'delete'] as const;
const GROUP = 'coordination.k8s.io';
/** Permissions may be granted a moment after the start. */
const PATIENCE_MS = 10_000;
const PAUSE_MS = 1_000;

/**
 * Resolves when this process has all permissions, or when the server does not say whether it has them.
 * @throws Forbidden naming the verbs that are missing after ten seconds; the signal's reason
 */
export async function requireLeaseRights(ports: RightsPorts, signal: AbortSignal): Promise<void> {
  const { clock, namespace } = ports;
  const deadline = clock.now() + PATIENCE_MS;
  for (;;) {
    const allowed = await Promise.all(VERBS.map((verb) => isAllowed(ports, verb, signal)));
    const missing = VERBS.filter((_, i) => allowed[i] === false);
    signal.throwIfAborted();
    if (missing.length === 0) return;
    if (clock.now() >= deadline) {
      throw new Forbidden({
        message: `replicas that share the work need permission to ${missing.join(', ')} leases.${GROUP} in namespace ${namespace}; grant it to this process with a Role`,
        status: 403,
        reason: 'Forbidden',
        ref: { verb: missing[0] ?? '', kind: 'Lease', namespace },
      });
    }
    await sleep(clock, PAUSE_MS, signal);
  }
}

/** @returns undefined if the server does not say */
async function isAllowed(
  { client, namespace }: RightsPorts,
  verb: string,
  signal: AbortSignal,
): Promise<boolean | undefined> {
  const review = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectAccessReview',
    spec: { resourceAttributes: { group: GROUP, resource: 'leases', namespace, verb } },
  };
  try {
    const answer = await client.raw(
      'POST',
      '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
      review,
      signal,
    );
    const status = isObject(answer) ? answer['status'] : undefined;
    const allowed = isObject(status) ? status['allowed'] : undefined;
    return typeof allowed === 'boolean' ? allowed : undefined;
  } catch {
    return undefined;
  }
}
