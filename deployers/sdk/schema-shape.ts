/**
 * Finds the fields that a schema of zod 4 leaves out. Authors of deployers may have another copy of zod than Espalier, so
 * schemas are recognized by their definitions and not by their classes. Schemas of other libraries, and parts whose
 * fields are not known, have no unread fields.
 */
import type { Path } from '../../src/api/decode.ts';
import { isObject } from '../../src/lib/objects.ts';
import type { UnreadField } from './shape.ts';

interface Definition {
  readonly type: string;
  readonly shape?: Readonly<Record<string, unknown>>;
  readonly catchall?: unknown;
  readonly innerType?: unknown;
  readonly element?: unknown;
  readonly valueType?: unknown;
  readonly options?: readonly unknown[];
  readonly in?: unknown;
  readonly getter?: () => unknown;
}

/**
 * In the order of the document.
 * @param alsoRead fields of the document that its schema need not have
 */
export const unreadBySchema = (
  schema: unknown,
  document: unknown,
  alsoRead: readonly string[],
): readonly UnreadField[] => unreadIn(schema, document, [], alsoRead);

function unreadIn(
  schema: unknown,
  value: unknown,
  path: Path,
  alsoRead: readonly string[] = [],
): readonly UnreadField[] {
  const definition = definitionOf(schema);
  if (!definition) return [];
  switch (definition.type) {
    case 'object':
      return isObject(value) ? unreadInObject(definition, value, path, alsoRead) : [];
    case 'array':
      return listOf(value).flatMap((item, i) => unreadIn(definition.element, item, [...path, i]));
    case 'record':
      return Object.entries(isObject(value) ? value : {}).flatMap(([key, item]) =>
        unreadIn(definition.valueType, item, [...path, key]),
      );
    case 'union':
      return fewest((definition.options ?? []).map((option) => unreadIn(option, value, path, alsoRead)));
    case 'pipe':
      return unreadIn(definition.in, value, path, alsoRead);
    case 'lazy':
      return unreadIn(definition.getter?.(), value, path, alsoRead);
    default:
      return unreadIn(definition.innerType, value, path, alsoRead);
  }
}

/** A schema with a catchall accepts other fields: it is loose, or its own check refuses them. */
function unreadInObject(
  { shape = {}, catchall }: Definition,
  value: Readonly<Record<string, unknown>>,
  path: Path,
  alsoRead: readonly string[],
): readonly UnreadField[] {
  return Object.entries(value).flatMap(([key, item]) => {
    if (Object.hasOwn(shape, key)) return unreadIn(shape[key], item, [...path, key]);
    if (catchall !== undefined || alsoRead.includes(key)) return [];
    return [{ path: [...path, key], key, known: Object.keys(shape) }];
  });
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const fewest = (found: readonly (readonly UnreadField[])[]): readonly UnreadField[] =>
  found.reduce((a, b) => (b.length < a.length ? b : a), found[0] ?? []);

/** Instances of zod have their definition in `def`. */
function definitionOf(schema: unknown): Definition | undefined {
  if (typeof schema !== 'object' || schema === null) return undefined;
  const { def: definition } = schema as { readonly def?: unknown };
  return isObject(definition) && typeof definition['type'] === 'string'
    ? (definition as unknown as Definition)
    : undefined;
}
