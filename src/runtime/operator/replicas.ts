/** How the replicas of an operator work together: one of them leads, or each does a share of the work. */
import type { Clock } from '../../lib/clock.ts';
import type { Rng } from '../../lib/rng.ts';
import type { Logger } from '../../observability/log.ts';
import type { Metrics } from '../../observability/metrics.ts';
import type { LeadershipLostError } from '../errors.ts';
import { createSharing } from '../fleet/sharing.ts';
import type { ManagerOptions } from '../manager/manager.ts';
import type { Client } from '../types.ts';
import type { Cluster, OperatorOptions } from './start-operator.ts';

interface ReplicaPorts {
  readonly clock: Clock;
  readonly rng: Rng;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Unique among replicas. */
  readonly identity: string;
  /** Default namespace of the leases. */
  readonly namespace: string;
  /** All clusters whose caches the controllers read, first that of the primaries; called after all are known. */
  readonly clusters: () => Iterable<Cluster>;
  /** A client with its own connections, so that other requests do not delay renewals. */
  readonly openClient: () => Promise<Client>;
  /** Called when leadership is lost. */
  readonly onLost: (error: LeadershipLostError) => void;
}

/**
 * What a manager needs to work together with other replicas; empty if this process is the only one.
 * @throws DefinitionError when the name of a fleet is not a valid label value, or its times do not fit together
 */
export async function coordinateReplicas(
  { name, lease, sharing }: OperatorOptions,
  { openClient, onLost, clusters, ...ports }: ReplicaPorts,
): Promise<Pick<ManagerOptions, 'lease' | 'share'>> {
  const { namespace } = ports;
  const leading = lease && { namespace, name, onLost, ...lease, client: await openClient() };
  const settings = sharing === 'leases' ? {} : sharing;
  const share = settings && createSharing(settings, { ...ports, client: await openClient(), name, clusters });
  return { ...(leading && { lease: leading }), ...(share && { share }) };
}
