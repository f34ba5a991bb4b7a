/** Plain maps among unknown values. */

export type Fields = Record<string, unknown>;

/** Read-only, all the way down. */
export type View<T> = T extends readonly (infer E)[]
  ? readonly View<E>[]
  : T extends object
    ? { readonly [P in keyof T]: View<T[P]> }
    : T;

export const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The field of that name if it is the object's own; safe for `constructor` and `__proto__`. */
export const ownField = (value: unknown, key: string): unknown =>
  isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;

/** The field whose name equals `key` whatever the case; the exact one wins, as in Go's decoder. */
export function anyCaseField(value: unknown, key: string): unknown {
  if (!isObject(value)) return undefined;
  if (Object.hasOwn(value, key)) return value[key];
  const wanted = key.toLowerCase();
  const found = Object.keys(value).find((k) => k.toLowerCase() === wanted);
  return found === undefined ? undefined : value[found];
}
