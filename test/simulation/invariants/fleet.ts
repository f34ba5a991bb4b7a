/** Invariants if several processes share the work: only the holder of a tree's shard writes to it. */
import { annotations, GROUP } from '../../../src/api/labels.ts';
import { contextKind } from '../../../src/api/kinds/context.ts';
import { equal } from '../../../src/lib/json.ts';
import { shardLeaseName, shardOf } from '../../../src/runtime/fleet/names.ts';
import { leaseKind, type LeaseObject } from '../../../src/runtime/manager/lease.ts';
import { NAMESPACE, nameOf, type Stored } from '../cluster/objects.ts';
import type { Change, Server } from '../cluster/server.ts';
import type { Law } from './law.ts';

/** Names of processes, as `simulation.ts` creates them, and the group they belong to. */
const PROCESS = /^(main|deployer)/;

const onlyHoldersWrite: Law = {
  name: 'no two replicas write to one tree',
  broken(change, server) {
    const { object, actor } = change;
    const fleet = PROCESS.exec(actor)?.[0];
    if (fleet === undefined || object.kind === leaseKind.kind || object.kind === 'Event') return undefined;
    if (isAskedFor(change)) return undefined;
    const place = placeOf(object, server);
    const name = shardLeaseName(fleet, shardOf(place));
    const lease = server.find(leaseKind, `${NAMESPACE}/${name}`) as LeaseObject | undefined;
    const holder = lease?.spec?.holderIdentity ?? 'nobody';
    if (holder.startsWith(`${actor}-`)) return undefined;
    return `${nameOf(object)} belongs to ${place}, whose shard ${name} is held by ${holder}`;
  },
};

export const fleetLaws: readonly Law[] = [onlyHoldersWrite];

/** A job of a root is requested by another tree, as a user would. */
function isAskedFor({ type, before, object }: Change): boolean {
  if (type !== 'MODIFIED' || !before || object.kind !== 'Installation') return false;
  const { annotations: now = {} } = object.metadata;
  return (
    now[annotations.operation] === 'reconcile' && equal(withoutOperation(before), withoutOperation(object))
  );
}

function withoutOperation({ metadata, ...rest }: Stored): object {
  const { [annotations.operation]: _, ...others } = metadata.annotations ?? {};
  return { ...rest, metadata: { ...metadata, resourceVersion: '', annotations: others } };
}

/** The root by owners; if an owner is gone, its name stands for it. */
function placeOf(object: Stored, server: Server): string {
  if (object.kind === contextKind.kind) return NAMESPACE;
  let top = object;
  for (;;) {
    const owner = top.metadata.ownerReferences?.find(({ apiVersion }) => apiVersion.split('/')[0] === GROUP);
    if (!owner) return `${top.metadata.namespace ?? ''}/${top.metadata.name}`;
    const above = server.list().find(({ metadata }) => metadata.uid === owner.uid);
    if (!above) return `${NAMESPACE}/${owner.name}`;
    top = above;
  }
}
