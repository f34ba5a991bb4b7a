/** Finds fields that are not read, which are usually misspelt. Pure. */
import { hintFor } from '../../src/lib/closest.ts';
import { isObject, type Fields } from '../../src/lib/objects.ts';

/**
 * Which fields a document may have. `anything`: the value is not validated here, such as a manifest or the values of
 * a chart; `[shape]`: a list of such values.
 */
export type Shape = 'anything' | readonly [Shape] | { readonly [field: string]: Shape };

/** The shape of values with any content, and of scalars. */
export const anything = 'anything' as const;

/** @returns a sentence for each unknown field, with its path, in the order of the document */
export function unreadFields(shape: Shape, value: unknown, path = ''): readonly string[] {
  if (shape === anything) return [];
  if (isList(shape)) {
    if (!Array.isArray(value)) return [];
    return value.flatMap((item, i) => unreadFields(shape[0], item, `${path}[${String(i)}]`));
  }
  return isObject(value) ? unreadIn(shape, value, path) : [];
}

function unreadIn(shape: Readonly<Record<string, Shape>>, value: Fields, path: string): readonly string[] {
  return Object.entries(value).flatMap(([key, item]) => {
    const here = path === '' ? key : `${path}.${key}`;
    const known = Object.hasOwn(shape, key) ? shape[key] : undefined;
    return known === undefined ? [ignored(here, key, Object.keys(shape))] : unreadFields(known, item, here);
  });
}

export function ignored(path: string, key: string, known: readonly string[]): string {
  return `${path} is not a known field; ${hintFor(key, known, `known fields are ${known.join(', ')}`)}`;
}

/** TypeScript does not narrow readonly tuples by Array.isArray. */
const isList = (shape: Exclude<Shape, 'anything'>): shape is readonly [Shape] => Array.isArray(shape);
