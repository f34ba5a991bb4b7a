/** Requests about the objects of an item in the deployer's namespace. All of them may be repeated. */
import { append } from '../../src/lib/lists.ts';
import { NotFound } from '../../src/runtime/errors.ts';
import { joinKey, keyOf } from '../../src/runtime/keys.ts';
import type { Client, Kind, Obj, View } from '../../src/runtime/types.ts';
import { CONTAINER_GROUP, POD_FINALIZER } from './contract.ts';
import { POD, type Pod } from './kinds.ts';

export interface Place {
  readonly client: Client;
  readonly namespace: string;
}

/** How long a container gets to end when its job is over, in seconds. */
const GRACE_SECONDS = 30;

/** Brings an object into the given form, whether or not it was there. */
export const put = <T extends Obj>(
  place: Place,
  kind: Kind<T>,
  object: T,
  signal?: AbortSignal,
): Promise<T> =>
  place.client.send({ verb: 'apply', kind, object, manager: CONTAINER_GROUP, force: true }, signal);

/** All objects that a selector finds. */
export async function all<T extends Obj>(
  { client, namespace }: Place,
  kind: Kind<T>,
  labels: string,
  more: { readonly signal?: AbortSignal | undefined; readonly metadataOnly?: boolean } = {},
): Promise<T[]> {
  const { signal, metadataOnly = false } = more;
  const found: T[] = [];
  for await (const page of client.list(
    kind,
    { namespace, labels, ...(metadataOnly && { metadataOnly }) },
    signal,
  )) {
    append(found, page.items);
  }
  return found;
}

/** What is gone already is fine. */
export async function drop(place: Place, kind: Kind<Obj>, name: string, signal?: AbortSignal): Promise<void> {
  await unlessGone(place.client.send({ verb: 'delete', kind, key: joinKey(place.namespace, name) }, signal));
}

/** Lets a pod go: first our hold on it, then the pod itself. Containers that run get half a minute. */
export async function dropPod({ client }: Place, pod: View<Pod>, signal?: AbortSignal): Promise<void> {
  const key = keyOf(pod);
  const finalizers = pod.metadata.finalizers ?? [];
  const uid = pod.metadata.uid;
  if (finalizers.includes(POD_FINALIZER)) {
    const others = finalizers.filter((one) => one !== POD_FINALIZER);
    const metadata = { finalizers: others.length > 0 ? others : null, ...(uid !== undefined && { uid }) };
    await unlessGone(client.send({ verb: 'merge', kind: POD, key, body: { metadata } }, signal));
  }
  if (pod.metadata.deletionTimestamp !== undefined) return;
  await unlessGone(
    client.send(
      {
        ...{ verb: 'delete', kind: POD, key, gracePeriodSeconds: GRACE_SECONDS },
        ...(uid !== undefined && { uid }),
      },
      signal,
    ),
  );
}

async function unlessGone(request: Promise<unknown>): Promise<void> {
  try {
    await request;
  } catch (error) {
    if (!(error instanceof NotFound)) throw error;
  }
}
