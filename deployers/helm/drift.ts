/**
 * Detects drift: whether the objects of a release on the cluster still match the chart. Additional fields do not
 * count as drift.
 */
import { isObject, ownField, type Fields } from '../../src/lib/objects.ts';
import { canonicalQuantity } from '../../src/lib/quantity.ts';
import { NoSuchKind, NotFound } from '../../src/runtime/errors.ts';
import type { KubeAccess } from '../sdk/access.ts';
import type { KubeObject } from '../objects/manifests/model.ts';
import { inParallel } from '../objects/manifests/parallel.ts';

/** Whether all objects exist and match. @param namespace for objects that do not specify one */
export async function isUnchangedOnCluster(
  objects: readonly KubeObject[],
  namespace: string,
  access: KubeAccess,
  signal: AbortSignal,
): Promise<boolean> {
  const found = await inParallel(objects, async (object) => {
    const live = await liveOf(object, namespace, access, signal);
    return live !== undefined && hasAllOf(live, object);
  });
  return found.every(Boolean);
}

/** Whether an object on the cluster has all fields of the chart's object. */
export const hasAllOf = (live: unknown, object: KubeObject): boolean => contains(live, asStored(object));

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

/**
 * The object as the API server would store it: `stringData` of a secret becomes `data`. The namespace is left out,
 * because the object was found there or its kind is not namespaced.
 */
function asStored(object: KubeObject): unknown {
  const { status: _, stringData, ...given }: Fields = object;
  const rest: Fields = { ...given, metadata: { ...object.metadata, namespace: undefined } };
  if (object.kind !== 'Secret' || !isObject(stringData)) return rest;
  const texts = Object.entries(stringData).map(
    ([key, value]) => [key, Buffer.from(String(value)).toString('base64')] as const,
  );
  const data = isObject(rest['data']) ? rest['data'] : {};
  return { ...rest, data: { ...data, ...Object.fromEntries(texts) } };
}

/** Fields with quantities; the API server normalizes them: `1000m` becomes `1`. */
const QUANTITIES: ReadonlySet<string> = new Set(['requests', 'limits', 'hard', 'capacity', 'sizeLimit']);

/** Whether the live value contains the wanted one: maps may have more keys, lists must not have more elements. */
function contains(live: unknown, wanted: unknown, isQuantity = false): boolean {
  if (wanted === null || wanted === undefined) return true;
  if (Array.isArray(wanted)) {
    if (wanted.length === 0) return live === undefined || (Array.isArray(live) && live.length === 0);
    return holdsAll(live, wanted);
  }
  if (isObject(wanted)) {
    if (Object.keys(wanted).length === 0) return live === undefined || isObject(live);
    return (
      isObject(live) &&
      Object.entries(wanted).every(([key, value]) =>
        contains(ownField(live, key), value, isQuantity || QUANTITIES.has(key)),
      )
    );
  }
  // The API server omits empty values.
  if (live === undefined) return wanted === '' || wanted === false || wanted === 0;
  if (!isScalar(live) || !isScalar(wanted)) return false;
  const form = (value: Scalar): string => (isQuantity && canonicalQuantity(String(value))) || String(value);
  return form(live) === form(wanted);
}

const holdsAll = (live: unknown, wanted: readonly unknown[]): boolean =>
  Array.isArray(live) &&
  live.length === wanted.length &&
  wanted.every((element, i) => contains((live as readonly unknown[])[i], element));

type Scalar = string | number | bigint | boolean;

const isScalar = (value: unknown): value is Scalar => value !== null && typeof value !== 'object';
