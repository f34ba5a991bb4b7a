/** What a process writes into a lease: who holds it, since when and for how long. Pure. */
import type { LeaseObject } from './lease.ts';

interface Hold {
  readonly identity: string;
  readonly durationMs: number;
  /** RFC 3339 with microseconds. */
  readonly now: string;
}

interface LeaseMetadata {
  readonly namespace: string;
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly annotations?: Readonly<Record<string, string>> | undefined;
}

/** A lease to create, held by this process. */
export function newLease({ namespace, name, labels, annotations }: LeaseMetadata, hold: Hold): LeaseObject {
  const object: LeaseObject = {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { namespace, name, ...(labels && { labels }), ...(annotations && { annotations }) },
  };
  return withHold(object, hold);
}

/** The lease taken over or renewed by this process. */
export function withHold(current: LeaseObject, { identity, durationMs, now }: Hold): LeaseObject {
  const { spec = {} } = current;
  const isOurs = spec.holderIdentity === identity;
  return {
    ...current,
    spec: {
      holderIdentity: identity,
      leaseDurationSeconds: Math.ceil(durationMs / 1_000),
      acquireTime: isOurs ? (spec.acquireTime ?? now) : now,
      renewTime: now,
      leaseTransitions: (spec.leaseTransitions ?? 0) + (isOurs || current.metadata.uid === undefined ? 0 : 1),
    },
  };
}

/** The lease without a holder, so that another process can take it at once. @param now RFC 3339 with microseconds */
export function withoutHolder(held: LeaseObject, now: string): LeaseObject {
  const { holderIdentity: _, ...rest } = held.spec ?? {};
  return { ...held, spec: { ...rest, leaseDurationSeconds: 1, renewTime: now, acquireTime: now } };
}

/** Equal for two versions of a lease if its holder has not renewed it in between. */
export const contentOf = ({ spec }: LeaseObject): string =>
  [spec?.holderIdentity, spec?.renewTime, spec?.leaseTransitions].join('\n');
