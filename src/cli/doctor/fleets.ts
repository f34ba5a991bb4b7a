/** What Leases and Deployments show about the replicas that run: which do, and which have left Leases behind. Pure. */
import { holderOf, partsOf, readFleetState } from '../../runtime/fleet/fleet-state.ts';
import { fleetLabel } from '../../runtime/fleet/names.ts';
import type { LeaseObject } from '../../runtime/manager/lease.ts';
import { durationOf, MAX_CLOCK_DIFFERENCE_MS } from '../../runtime/manager/lease-expiry.ts';
import type { View } from '../../runtime/types.ts';
import { isBeingDeleted, isFinished } from '../../api/job.ts';
import { FINALIZER } from '../../api/labels.ts';
import { nameOf, objectsIn, someOf, type Findable, type Finding } from './findable.ts';
import { requestedOperation } from './jobs.ts';

interface Fleet {
  readonly name: string;
  readonly members: readonly View<LeaseObject>[];
  readonly running: readonly View<LeaseObject>[];
  readonly stale: readonly { readonly lease: View<LeaseObject>; readonly evidence: string }[];
  /** RFC 3339; of any of its replicas. */
  readonly lastRenewal: string;
}

const DEFAULT_DURATION_MS = 15_000;

function fleetsIn(all: Findable): readonly Fleet[] {
  const { leases = [] } = all;
  const names = new Set(leases.flatMap(({ metadata }) => metadata.labels?.[fleetLabel] ?? []));
  return [...names].sort().map((name) => {
    const { members, shards } = readFleetState(leases, name);
    const [running, ended] = [[], []] as [View<LeaseObject>[], View<LeaseObject>[]];
    for (const lease of members.values()) (hasEnded(lease, all) ? ended : running).push(lease);
    const holders = new Set(running.map(holderOf));
    const left = shards.flatMap((lease) => {
      const holder = holderOf(lease);
      return lease && holder !== undefined && !holders.has(holder) ? [{ lease, holder }] : [];
    });
    return {
      name,
      members: [...members.values()],
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

/**
 * Clocks of machines differ, so the age of a renewal decides only if it is some minutes. Otherwise a second look some
 * seconds later decides, which compares the server's objects with each other.
 */
function hasEnded(lease: View<LeaseObject>, { now, laterLeases }: Findable): boolean {
  const { spec, metadata } = lease;
  const age = now - Date.parse(spec?.renewTime ?? '');
  if (age > durationOf(spec, DEFAULT_DURATION_MS) + MAX_CLOCK_DIFFERENCE_MS) return true;
  if (!laterLeases || isFresh(lease, now)) return false;
  const later = laterLeases.find((one) => one.metadata.name === metadata.name);
  return later?.spec?.renewTime === spec?.renewTime && holderOf(later) === holderOf(lease);
}

/** Replicas renew every three seconds. */
const FRESH_MS = 6_000;

const isFresh = ({ spec }: View<LeaseObject>, now: number): boolean =>
  Math.abs(now - Date.parse(spec?.renewTime ?? '')) <= FRESH_MS;

/** A replica that renews its Lease has done so within this time. */
export const SECOND_LOOK_MS = 6_000;

/** Whether it cannot be seen from the Leases alone that a replica of each fleet runs. */
export const needsSecondLook = (all: Findable): boolean =>
  fleetsIn(all).some(({ members }) => members.length > 0 && !members.some((one) => isFresh(one, all.now)));

/** Leases that no running replica holds, of fleets that have one: it takes them over or removes them within seconds. */
export const staleLease = (all: Findable): readonly Finding[] =>
  fleetsIn(all).flatMap(({ name, running, stale }) =>
    stale.map(({ lease, evidence }) => ({
      check: 'stale-lease',
      object: leaseName(lease),
      evidence: `${evidence}; ${othersOf(name, running.length)}`,
      risk: 'none for the replica that held it: it has ended',
      command: `kubectl delete lease ${lease.metadata.name} -n ${lease.metadata.namespace ?? ''}`,
    })),
  );

/** Replicas of one fleet that run different parts: the work of a shard is done only in parts. One finding for each fleet. */
export const differentParts = (all: Findable): readonly Finding[] =>
  fleetsIn(all).flatMap(({ name, running }) => {
    const byParts = new Map(
      running.flatMap((lease) => {
        const parts = partsOf(lease);
        return parts === undefined ? [] : [[parts, lease] as const];
      }),
    );
    const [first] = byParts.values();
    if (!first || byParts.size < 2) return [];
    const each = [...byParts].map(([parts, lease]) => `replica "${holderOf(lease) ?? ''}" runs ${parts}`);
    return [
      {
        check: 'different-parts',
        object: leaseName(first),
        evidence: `replicas with the same lease "${name}" run different parts: ${each.sort().join('; ')}`,
        risk: 'none; the command only lists the replicas. The holder of a shard does only the work of its own parts, and the rest is not done',
        command: `kubectl get leases -n ${first.metadata.namespace ?? ''} -l ${fleetLabel}=${name} -o yaml`,
      },
    ];
  });

const leaseName = (lease: View<LeaseObject>): string => nameOf({ ...lease, kind: 'Lease' });

const othersOf = (name: string, count: number): string =>
  count === 1 ? `1 other replica of "${name}" runs` : `${String(count)} other replicas of "${name}" run`;

/** No controller works: one finding for each fleet, and for Deployments without a fleet. It affects all that waits. */
export function controllersNotRunning(all: Findable): readonly Finding[] {
  const { controllers = [] } = all;
  const fleets = fleetsIn(all);
  const silent = fleets.filter(({ running }) => running.length === 0);
  const down = controllers.filter(({ status }) => (status?.readyReplicas ?? 0) === 0);
  const isAnyRunning = fleets.length > silent.length || controllers.length > down.length;
  // A Deployment with ready pods shows that a fleet without renewals was given up, unless the second look has seen it end.
  const isCutOff = silent.length > 0 && all.laterLeases !== undefined;
  if ((isAnyRunning && !isCutOff) || silent.length + down.length === 0) return [];
  const evidence = [
    ...silent.map(({ name, lastRenewal }) =>
      lastRenewal === ''
        ? `no replica of "${name}" has a Lease`
        : `no replica of "${name}" has renewed its Lease since ${lastRenewal}`,
    ),
    ...down.map((one) => `${nameOf({ ...one, kind: 'Deployment' })} has no ready replica`),
  ];
  const [deployment] = down.length > 0 ? down : controllers;
  const [lease] = silent.flatMap(({ stale }) => stale.map((one) => one.lease));
  const namespace = (deployment ?? lease)?.metadata.namespace ?? '';
  const waiting = waitingFor(all);
  return [
    {
      check: 'controllers-not-running',
      object: deployment ? nameOf({ ...deployment, kind: 'Deployment' }) : lease ? leaseName(lease) : 'Lease',
      evidence:
        evidence.join(', and ') +
        (waiting.length > 0
          ? `; ${String(waiting.length)} ${waiting.length === 1 ? 'object waits' : 'objects wait'} for them: ${someOf(waiting)}`
          : ''),
      risk: 'none; the command only shows pods. Start the controllers: removing finalizers or Leases by hand leaves deployed objects on the targets',
      command: `kubectl get pods -n ${namespace} -l app.kubernetes.io/name=espalier`,
      affects: [...waiting, ...silent.flatMap(({ stale }) => stale.map((one) => leaseName(one.lease)))],
    },
  ];
}

/** Objects with a job or a deletion that no controller continues. */
const waitingFor = (all: Findable): readonly string[] =>
  objectsIn(all)
    .filter(
      (one) =>
        !isFinished(one) ||
        requestedOperation(one) !== undefined ||
        (isBeingDeleted(one.metadata) && one.metadata.finalizers?.includes(FINALIZER)),
    )
    .map(nameOf);
