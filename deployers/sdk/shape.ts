/** Finds fields that are not read, which are usually misspelt. Pure. */
import { pathText, type Path } from '../../src/api/decode.ts';
import { hintFor } from '../../src/lib/closest.ts';
import { isObject, type Fields } from '../../src/lib/objects.ts';

/**
 * Which fields a document may have. `anything`: the value is not validated here, such as a manifest or the values of
 * a chart; `[shape]`: a list of such values.
 */
export type Shape = 'anything' | readonly [Shape] | { readonly [field: string]: Shape };

/** The shape of values with any content, and of scalars. */
export const anything = 'anything' as const;

/** A field that is not read, and those that are read beside it. */
export interface UnreadField {
  readonly path: Path;
  readonly key: string;
  readonly known: readonly string[];
}

/** Fields that are compared with known ones; a hostile document has as many as fit into it. */
const MAX_COMPARED = 20;

/** A sentence for each field. */
export const sentencesOn = (unread: readonly UnreadField[]): readonly string[] =>
  unread.map(({ path, key, known }, i) => {
    const hint = i < MAX_COMPARED ? `; ${hintFor(key, known, `known fields are ${known.join(', ')}`)}` : '';
    return `${pathText(path)} is not a known field${hint}`;
  });

/** @returns a sentence for each unknown field, with its path, in the order of the document */
export const unreadFields = (shape: Shape, value: unknown): readonly string[] =>
  sentencesOn(unreadBelow(shape, value, []));

function unreadBelow(shape: Shape, value: unknown, path: Path): readonly UnreadField[] {
  if (shape === anything) return [];
  if (isList(shape)) {
    if (!Array.isArray(value)) return [];
    return value.flatMap((item, i) => unreadBelow(shape[0], item, [...path, i]));
  }
  return isObject(value) ? unreadIn(shape, value, path) : [];
}

function unreadIn(shape: Readonly<Record<string, Shape>>, value: Fields, path: Path): readonly UnreadField[] {
  return Object.entries(value).flatMap(([key, item]) => {
    const here = [...path, key];
    const known = Object.hasOwn(shape, key) ? shape[key] : undefined;
    return known === undefined
      ? [{ path: here, key, known: Object.keys(shape) }]
      : unreadBelow(known, item, here);
  });
}

/** TypeScript does not narrow readonly tuples by Array.isArray. */
const isList = (shape: Exclude<Shape, 'anything'>): shape is readonly [Shape] => Array.isArray(shape);
