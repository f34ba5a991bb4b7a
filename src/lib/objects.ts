/** Plain maps in unknown values, and the common fields of Kubernetes objects. */

/** A plain map with unknown fields. */
export type Fields = Record<string, unknown>;

/** Read-only at all levels. */
export type View<T> = T extends readonly (infer E)[]
  ? readonly View<E>[]
  : T extends object
    ? { readonly [P in keyof T]: View<T[P]> }
    : T;

/** A table for names from outside: it has its entries, and none of the properties that all objects have. */
export const table = <T>(entries: Readonly<Record<string, T>>): Readonly<Record<string, T>> =>
  Object.assign(Object.create(null) as Record<string, T>, entries);

/** A copy without one of the optional fields. */
export function without<K extends string, T extends Readonly<Partial<Record<K, unknown>>>>(
  value: T,
  key: K,
): T {
  const { [key]: _left, ...rest } = value;
  return rest as unknown as T;
}

type MaybeMissing<T> = { [K in keyof T]: undefined extends T[K] ? K : never }[keyof T];

/** The fields without undefined values. */
export function present<T extends object>(
  fields: T,
): { [K in Exclude<keyof T, MaybeMissing<T>>]: T[K] } & {
  [K in MaybeMissing<T>]?: Exclude<T[K], undefined>;
} {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}

// ---------------------------------------------------------------- Kubernetes

/** One entry of `metadata.ownerReferences`; an object is garbage collected when its owners are gone. */
export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

/** `metadata` of any object: the fields that clients use. */
export interface ObjectMeta {
  name: string;
  namespace?: string;
  generateName?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: string[];
  ownerReferences?: OwnerReference[];
  managedFields?: unknown[];
}

/** The reference to a controlling object; the controlled objects are deleted when it is gone. */
export const controllerReference = ({
  apiVersion,
  kind,
  metadata,
}: {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: View<ObjectMeta>;
}): OwnerReference => ({
  apiVersion,
  kind,
  name: metadata.name,
  uid: metadata.uid ?? '',
  controller: true,
  blockOwnerDeletion: true,
});

// ---------------------------------------------------------------- maps

export const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The own field of that name; safe for `constructor` and `__proto__`. */
export const ownField = (value: unknown, key: string): unknown =>
  isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;

/** The field whose name equals `key`, ignoring case; an exact match wins, as in Go's decoder. */
export function anyCaseField(value: unknown, key: string): unknown {
  if (!isObject(value)) return undefined;
  if (Object.hasOwn(value, key)) return value[key];
  const wanted = key.toLowerCase();
  const found = Object.keys(value).find((k) => k.toLowerCase() === wanted);
  return found === undefined ? undefined : value[found];
}
