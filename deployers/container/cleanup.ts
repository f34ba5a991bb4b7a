/** Deletes all objects of an item in the deployer's namespace. */
import { joinKey } from '../../src/runtime/keys.ts';
import { getIfThere } from '../../src/runtime/transport/read.ts';
import type { Kind, Obj, View } from '../../src/runtime/types.ts';
import type { DeployItem } from '../sdk/kinds.ts';
import { isExportFor } from './reserve-names.ts';
import { annotations } from './contract.ts';
import { all, deleteByUid, deletePod, type Place } from './host-objects.ts';
import { CONFIG_MAP, POD, ROLE, ROLE_BINDING, SECRET, SERVICE_ACCOUNT } from './kinds.ts';
import { namesOf, selectorOf, type ItemRef } from './names.ts';
import { isActive } from './pod-status.ts';

/** All kinds except pods. Bindings are deleted before roles, and roles before accounts. */
export const KINDS: readonly Kind<Obj>[] = [ROLE_BINDING, ROLE, SERVICE_ACCOUNT, SECRET, CONFIG_MAP];

export async function removeEverything(
  place: Place,
  item: View<DeployItem>,
  signal?: AbortSignal,
): Promise<void> {
  const ref = refOf(item);
  for (const pod of await all(place, POD, selectorOf(ref), { signal })) await deletePod(place, pod, signal);
  for (const kind of KINDS) {
    const found = await all(place, kind, selectorOf(ref), { signal, metadataOnly: true });
    for (const object of found) await deleteByUid(place, kind, object, signal);
  }
  const { export: name } = namesOf(ref); // upstream's secret has no labels
  const exported = await getIfThere(place.client, SECRET, joinKey(place.namespace, name), signal);
  if (exported && isExportFor(exported, ref, item)) await deleteByUid(place, SECRET, exported, signal);
}

const refOf = ({ metadata }: View<DeployItem>): ItemRef => ({
  namespace: metadata.namespace ?? '',
  name: metadata.name,
});

/** Stops pods of a job that has ended. */
export async function endPods(place: Place, item: View<DeployItem>, signal?: AbortSignal): Promise<void> {
  for (const pod of await all(place, POD, selectorOf(refOf(item)), { signal })) {
    if (isActive(pod) && isOfJob(pod, item.status?.jobIDFinished)) await deletePod(place, pod, signal);
  }
}

/** Upstream's pods do not contain the job id, so they are not stopped. */
export const isOfJob = (pod: View<Obj>, jobID: string | undefined): boolean =>
  jobID !== undefined && pod.metadata.annotations?.[annotations.job] === jobID;
