/** Requests for the objects of an item in the deployer's namespace. All of them can be repeated. */
import { append } from '../../src/lib/lists.ts';
import { CREATE_ONLY } from '../../src/runtime/controller/optimistic-lock.ts';
import { isConflict } from '../../src/workflow/access.ts';
import { isAsApplied } from '../../src/workflow/match-ssa.ts';
import { inSteps } from '../objects/manifests/order.ts';
import { inParallel } from '../objects/manifests/parallel.ts';
import { AlreadyExists, Conflict, NotFound } from '../../src/runtime/errors.ts';
import { joinKey, keyOf } from '../../src/runtime/keys.ts';
import { getIfThere } from '../../src/runtime/transport/read.ts';
import type { Client, Kind, Obj, View } from '../../src/runtime/types.ts';
import { ConfigurationError } from '../sdk/errors.ts';
import { nameTaken } from '../sdk/export-owner.ts';
import { CONTAINER_GROUP, labels, POD_FINALIZER } from './contract.ts';
import { POD, type Pod } from './kinds.ts';
import type { ItemRef } from './names.ts';

export interface Place {
  readonly client: Client;
  readonly namespace: string;
}

/** Termination grace period of a pod whose job has ended, in seconds. */
const GRACE_SECONDS = 30;

/** An object that an item needs in the deployer's namespace. */
export interface Wanted {
  readonly kind: Kind<Obj>;
  readonly object: Obj;
  /** Called with an error of its requests; returns the error to throw. */
  readonly translateError?: (error: unknown) => Error;
}

/**
 * Creates or updates the objects: those that others need first, and several in parallel.
 * @throws the error of `put` for the first object that failed
 */
export async function putAll(
  place: Place,
  item: ItemRef,
  wanted: readonly Wanted[],
  signal?: AbortSignal,
): Promise<void> {
  const write = async ({ kind, object, translateError }: Wanted): Promise<void> => {
    try {
      await put(place, item, kind, object, signal);
    } catch (error) {
      throw translateError?.(error) ?? error;
    }
  };
  for (const step of inSteps(wanted, ({ kind }) => kind)) await inParallel(step, write);
}

/**
 * Creates the object, or updates it if it differs. An object that a user created under the same name is not changed.
 * @throws ConfigurationError when the name is taken
 */
export async function put<T extends Obj>(
  place: Place,
  item: ItemRef,
  kind: Kind<T>,
  object: T,
  signal?: AbortSignal,
): Promise<T> {
  const { client, namespace } = place;
  const key = joinKey(namespace, object.metadata.name);
  const apply = (identity: {
    readonly uid?: string | undefined;
    readonly resourceVersion?: string;
  }): Promise<T> => {
    const metadata = { ...object.metadata, ...identity };
    const write = { verb: 'apply', kind, object: { ...object, metadata }, manager: CONTAINER_GROUP } as const;
    return client.send({ ...write, force: true }, signal);
  };
  let existing = await getIfThere(client, kind, key, signal);
  if (!existing) {
    try {
      return await apply({ resourceVersion: CREATE_ONLY });
    } catch (error) {
      if (!isConflict(error)) throw error;
      existing = await getIfThere(client, kind, key, signal);
      if (!existing) throw error;
    }
  }
  assertOurs(kind, existing, item);
  if (isAsApplied(existing, object, CONTAINER_GROUP)) return existing;
  return apply({ uid: existing.metadata.uid });
}

/**
 * Creates an object of an item, or returns the existing one.
 * @throws ConfigurationError if a user created the existing object; AlreadyExists if the object is recreated and
 * deleted repeatedly
 */
export async function createOrFind<T extends Obj>(
  { client, namespace }: Place,
  item: ItemRef,
  kind: Kind<T>,
  object: T,
  signal?: AbortSignal,
): Promise<{ readonly object: T; readonly isNew: boolean }> {
  const key = joinKey(namespace, object.metadata.name);
  let existing = await getIfThere(client, kind, key, signal);
  if (!existing) {
    try {
      return { object: await client.send({ verb: 'create', kind, object }, signal), isNew: true };
    } catch (error) {
      if (!(error instanceof AlreadyExists)) throw error;
      existing = await getIfThere(client, kind, key, signal);
      if (!existing) throw error;
    }
  }
  assertOurs(kind, existing, item);
  return { object: existing, isNew: false };
}

/** @param item that needs the name. @throws ConfigurationError unless a container deployer created `existing` */
export function assertOurs(kind: Kind<Obj>, existing: View<Obj>, item: ItemRef): void {
  if (isOurs(existing)) return;
  const consequenceText = 'the objects that the pod of the item needs cannot be stored there';
  const noun = kind.kind.replace(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase();
  const message = nameTaken(noun, keyOf(existing), item, consequenceText);
  throw new ConfigurationError({ operation: 'ClaimNames', reason: 'NameTaken', message });
}

/** Whether a container deployer created the object; upstream's objects have the same labels. */
const isOurs = ({ metadata }: View<Obj>): boolean =>
  Object.values(labels).some((label) => metadata.labels?.[label] !== undefined);

/** All objects that match a selector. */
export async function all<T extends Obj>(
  { client, namespace }: Place,
  kind: Kind<T>,
  selector: string,
  more: { readonly signal?: AbortSignal | undefined; readonly metadataOnly?: boolean } = {},
): Promise<T[]> {
  const { signal, metadataOnly = false } = more;
  const found: T[] = [];
  for await (const page of client.list(
    kind,
    { namespace, labels: selector, ...(metadataOnly && { metadataOnly }) },
    signal,
  )) {
    append(found, page.items);
  }
  return found;
}

/**
 * Deletes the object with the uid that was read. It is not an error if it is already gone; a replacement with the
 * same name stays.
 */
export async function deleteByUid(
  { client }: Place,
  kind: Kind<Obj>,
  object: View<Obj>,
  signal?: AbortSignal,
): Promise<void> {
  const { uid } = object.metadata;
  const request = { verb: 'delete', kind, key: keyOf(object), ...(uid !== undefined && { uid }) } as const;
  try {
    await unlessGone(client.send(request, signal));
  } catch (error) {
    if (!(error instanceof Conflict)) throw error;
  }
}

/** Removes our finalizer from a pod, then deletes it. Running containers get a grace period of half a minute. */
export async function deletePod({ client }: Place, pod: View<Pod>, signal?: AbortSignal): Promise<void> {
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
        verb: 'delete',
        kind: POD,
        key,
        gracePeriodSeconds: GRACE_SECONDS,
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
