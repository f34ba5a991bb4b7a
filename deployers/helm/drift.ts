/**
 * Detects drift: whether the objects of a release on the cluster still match the chart. Additional fields do not
 * count as drift.
 */
import { equal } from '../../src/lib/json.ts';
import type { Fields } from '../../src/lib/objects.ts';
import { ApiError, NoSuchKind, NotFound } from '../../src/runtime/errors.ts';
import type { Obj } from '../../src/runtime/types.ts';
import type { KubeAccess } from '../sdk/access.ts';
import type { KubeObject } from '../objects/manifests/model.ts';
import { inParallel } from '../objects/manifests/parallel.ts';
import { hasAllOf } from './stored.ts';
import { repairOf } from './release/update.ts';

/** Whether all objects exist and match. @param namespace for objects that do not specify one */
export async function isUnchangedOnCluster(
  objects: readonly KubeObject[],
  namespace: string,
  access: KubeAccess,
  signal: AbortSignal,
): Promise<boolean> {
  const found = await inParallel(objects, async (object) => {
    const live = await liveOf(object, namespace, access, signal);
    if (live === undefined) return false;
    return hasAllOf(live, object) || (await isSameToServer(object, live as Obj, access, signal));
  });
  return found.every(Boolean);
}

/**
 * Whether the server would store the same object if the fields of the chart were applied: it knows its defaults, and other
 * forms of one value. A server or webhook that refuses a dry run does not say, so the object counts as changed.
 */
async function isSameToServer(
  object: KubeObject,
  live: Obj,
  access: KubeAccess,
  signal: AbortSignal,
): Promise<boolean> {
  const kind = await access.kindOf(object.apiVersion, object.kind);
  const write = repairOf(object, live, kind);
  if (!write) return true;
  try {
    const result = await access.client.send({ ...write, isDryRun: true }, signal);
    return equal(comparable(result), comparable(live));
  } catch (error) {
    if (error instanceof ApiError && !signal.aborted) return false;
    throw error;
  }
}

/** Without what changes with every write, and what controllers write meanwhile. */
function comparable(object: Obj): unknown {
  const { metadata, status: _, ...rest } = object as Obj & Fields;
  const {
    resourceVersion: __,
    generation: ___,
    managedFields: ____,
    ...kept
  } = metadata as Obj['metadata'] & Fields;
  return { ...rest, metadata: kept };
}

/** @param fallback namespace. @returns undefined if the object or its kind does not exist */
export async function liveOf(
  { apiVersion, kind: name, metadata }: KubeObject,
  fallback: string,
  access: KubeAccess,
  signal: AbortSignal,
): Promise<unknown> {
  try {
    const kind = await access.kindOf(apiVersion, name);
    const namespace = kind.namespaced ? (metadata.namespace ?? fallback) : undefined;
    return await access.client.get(
      kind,
      namespace === undefined ? metadata.name : `${namespace}/${metadata.name}`,
      signal,
    );
  } catch (error) {
    if (error instanceof NotFound || error instanceof NoSuchKind) return undefined;
    throw error;
  }
}
