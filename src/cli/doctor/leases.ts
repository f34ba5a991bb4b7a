/** What Leases and Deployments show about the replicas that run: which do, and which have left Leases behind. Pure. */
import { holderOf, readFleetState } from '../../runtime/fleet/fleet-state.ts';
import { fleetLabel } from '../../runtime/fleet/names.ts';
import type { LeaseObject } from '../../runtime/manager/lease.ts';
import { durationOf, MAX_CLOCK_DIFFERENCE_MS } from '../../runtime/manager/lease-expiry.ts';
import type { View } from '../../runtime/types.ts';
import { nameOf, type Findable, type Finding } from './findable.ts';

interface Fleet {
  readonly name: string;
  readonly running: readonly View<LeaseObject>[];
  readonly stale: readonly { readonly lease: View<LeaseObject>; readonly evidence: string }[];
  /** RFC 3339; of any of its replicas. */
  readonly lastRenewal: string;
}

const DEFAULT_DURATION_MS = 15_000;

function fleetsIn({ leases = [], now }: Findable): readonly Fleet[] {
  const names = new Set(leases.flatMap(({ metadata }) => metadata.labels?.[fleetLabel] ?? []));
  return [...names].sort().map((name) => {
    const { members, shards } = readFleetState(leases, name);
    const [running, ended] = [[], []] as [View<LeaseObject>[], View<LeaseObject>[]];
    for (const lease of members.values()) (isExpired(lease, now) ? ended : running).push(lease);
    const holders = new Set(running.map(holderOf));
    const left = shards.flatMap((lease) => {
      const holder = holderOf(lease);
      return lease && holder !== undefined && !holders.has(holder) ? [{ lease, holder }] : [];
    });
    return {
      name,
      running,
      lastRenewal:
        [...members.values()]
          .map(({ spec }) => spec?.renewTime ?? '')
          .sort()
          .at(-1) ?? '',
      stale: [
        ...ended.map((lease) => ({
          lease,
          evidence: `replica "${holderOf(lease) ?? ''}" has not renewed it since ${lease.spec?.renewTime ?? ''}`,
        })),
        ...left.map(({ lease, holder }) => ({
          lease,
          evidence: `it is held by replica "${holder}", which does not run`,
        })),
      ],
    };
  });
}

/** Clocks of machines differ, so a Lease counts only some minutes after its end. */
const isExpired = ({ spec }: View<LeaseObject>, now: number): boolean =>
  Date.parse(spec?.renewTime ?? '') + durationOf(spec, DEFAULT_DURATION_MS) + MAX_CLOCK_DIFFERENCE_MS < now;

/** Leases that no running replica holds. Running replicas of the fleet take them over or remove them within seconds. */
export const staleLease = (all: Findable): readonly Finding[] =>
  fleetsIn(all).flatMap(({ name, running, stale }) =>
    stale.map(({ lease, evidence }) => ({
      check: 'stale-lease',
      object: nameOf({ ...lease, kind: 'Lease' }),
      evidence: `${evidence}; ${othersOf(name, running.length)}`,
      risk: 'none for the replica that held it: it has ended. If none runs at all, start the controllers instead',
      command: `kubectl delete lease ${lease.metadata.name} -n ${lease.metadata.namespace ?? ''}`,
    })),
  );

const othersOf = (name: string, count: number): string =>
  count === 0
    ? `no replica of "${name}" runs`
    : count === 1
      ? `1 other replica of "${name}" runs`
      : `${String(count)} other replicas of "${name}" run`;

/** Why no controller runs; undefined if one does, or if it is not known. */
export function controllersProblem(all: Findable): string | undefined {
  const fleets = fleetsIn(all);
  const { controllers = [] } = all;
  const isReady = controllers.some(({ status }) => (status?.readyReplicas ?? 0) > 0);
  if (isReady || fleets.some(({ running }) => running.length > 0)) return undefined;
  const problems = [
    ...fleets.map(({ name, lastRenewal }) =>
      lastRenewal === ''
        ? `no replica of "${name}" has a Lease`
        : `no replica of "${name}" has renewed its Lease since ${lastRenewal}`,
    ),
    ...controllers.map((one) => `${nameOf({ ...one, kind: 'Deployment' })} has no ready replica`),
  ];
  return problems.length === 0 ? undefined : problems.join(', and ');
}
