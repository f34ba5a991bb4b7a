/** Compares an object of a chart with the one that the server stores: additional fields do not count. Pure. */
import { isObject, ownField, type Fields } from '../../src/lib/objects.ts';
import { canonicalQuantity } from '../../src/lib/quantity.ts';
import type { KubeObject } from '../objects/manifests/model.ts';

/** Whether an object on the cluster has all fields of the chart's object. */
export const hasAllOf = (live: unknown, object: KubeObject): boolean => contains(live, asStored(object));

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
