/**
 * Reads known structures out of YAML values as upstream's decoder does: field names in any case, numbers and
 * booleans where texts are wanted, unknown fields ignored; a wrong type is an error that names its place.
 */
import { anyCaseField, isObject } from '../lib/objects.ts';

/** A value has the wrong type. */
export class WrongType extends Error {
  constructor(path: string, wanted: string, value: unknown) {
    super(`${path}: expected ${wanted}, found ${typeName(value)}`);
    this.name = 'WrongType';
  }
}

export const typeName = (value: unknown): string => {
  if (value === null || value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (isObject(value)) return 'a map';
  return typeof value === 'string' ? 'a string' : `a ${typeof value}`;
};

/** Number of elements of a list that has not been read yet; 0 when there is no list. */
export function lengthOf(value: unknown, key: string): number {
  const found = anyCaseField(value, key);
  return Array.isArray(found) ? found.length : 0;
}

/** One map being read; every method answers undefined when the field is absent or null. */
export interface FieldReader {
  readonly path: string;
  raw(key: string): unknown;
  has(key: string): boolean;
  text(key: string): string | undefined;
  flag(key: string): boolean | undefined;
  integer(key: string): number | undefined;
  map(key: string): Readonly<Record<string, unknown>> | undefined;
  texts(key: string): readonly string[] | undefined;
  textMap(key: string): Readonly<Record<string, string>> | undefined;
  inner(key: string): FieldReader | undefined;
  list(key: string): readonly FieldReader[] | undefined;
}

/** @throws WrongType when `value` is no map; null counts as an empty one */
export function fieldsOf(value: unknown, path: string): FieldReader {
  if (value !== null && value !== undefined && !isObject(value)) throw new WrongType(path, 'a map', value);
  const at = (key: string): string => (path === '' ? key : `${path}.${key}`);
  const raw = (key: string): unknown => anyCaseField(value, key);
  const optional = <T>(key: string, read: (found: unknown, where: string) => T): T | undefined => {
    const found = raw(key);
    return found === undefined || found === null ? undefined : read(found, at(key));
  };
  return {
    path,
    raw,
    has: (key) => raw(key) !== undefined,
    text: (key) => optional(key, textOf),
    flag: (key) => optional(key, flagOf),
    integer: (key) => optional(key, integerOf),
    map: (key) => optional(key, mapOf),
    texts: (key) => optional(key, (found, where) => elements(found, where, textOf)),
    textMap: (key) => optional(key, textMapOf),
    inner: (key) => optional(key, fieldsOf),
    list: (key) => optional(key, (found, where) => elements(found, where, fieldsOf)),
  };
}

function textOf(value: unknown, path: string): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  throw new WrongType(path, 'a string', value);
}

function flagOf(value: unknown, path: string): boolean {
  if (typeof value !== 'boolean') throw new WrongType(path, 'true or false', value);
  return value;
}

function integerOf(value: unknown, path: string): number {
  if (typeof value !== 'number' || !Number.isInteger(value)) throw new WrongType(path, 'an integer', value);
  return value;
}

function mapOf(value: unknown, path: string): Readonly<Record<string, unknown>> {
  if (!isObject(value)) throw new WrongType(path, 'a map', value);
  return value;
}

function textMapOf(value: unknown, path: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(mapOf(value, path)).map(([key, field]) => [key, textOf(field ?? '', `${path}.${key}`)]),
  );
}

function elements<T>(
  value: unknown,
  path: string,
  read: (element: unknown, path: string) => T,
): readonly T[] {
  if (!Array.isArray(value)) throw new WrongType(path, 'a list', value);
  return value.map((element, i) => read(element, `${path}[${i}]`));
}

type MaybeMissing<T> = { [K in keyof T]: undefined extends T[K] ? K : never }[keyof T];

/** The fields without those that are undefined. */
export function present<T extends object>(
  fields: T,
): { [K in Exclude<keyof T, MaybeMissing<T>>]: T[K] } & {
  [K in MaybeMissing<T>]?: Exclude<T[K], undefined>;
} {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}
