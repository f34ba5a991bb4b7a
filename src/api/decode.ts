/**
 * Reads YAML values with the schemas of this folder, as Go's decoder does: null is nothing, a missing field has its zero
 * value, capitals of field names do not matter, numbers and booleans are strings where strings are expected, and fields
 * that the schema does not have are left out.
 */
import { z } from 'zod';
import { define } from '../lib/json.ts';
import { anyCaseField, isObject, type Fields } from '../lib/objects.ts';

export type Path = readonly (string | number)[];

type MisfitKind =
  | { readonly kind: 'type'; readonly expected: string; readonly found: unknown }
  | { readonly kind: 'unknown'; readonly known: readonly string[] }
  /** The field is read as the one that differs in capitals only. */
  | { readonly kind: 'capitals'; readonly field: string }
  /** The schema says why the field has no effect. */
  | { readonly kind: 'unused'; readonly why: string };

/** A difference between a value and its schema. Only a wrong type keeps the value from being read. */
export type Misfit = { readonly path: Path } & MisfitKind;

/** A value has the wrong type. */
export class WrongType extends Error {
  override readonly name = 'WrongType';

  constructor(path: string, expected: string, found: unknown) {
    super(`${path}: expected ${expected}, found ${typeName(found)}`);
  }
}

export const typeName = (value: unknown): string => {
  if (value === null || value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (isObject(value)) return 'a map';
  return typeof value === 'string' ? 'a string' : `a ${typeof value}`;
};

/** @param at where the value stands, for messages. @throws WrongType */
export function decode<S extends z.ZodType>(schema: S, value: unknown, at = ''): z.infer<S> {
  const reader = new Reader();
  const decoded = reader.read(schema, value);
  for (const misfit of reader.misfits) {
    if (misfit.kind === 'type') throw new WrongType(pathText(misfit.path, at), misfit.expected, misfit.found);
  }
  return decoded as z.infer<S>;
}

/** In the order of the document. */
export function misfits(schema: z.ZodType, value: unknown): readonly Misfit[] {
  const reader = new Reader();
  reader.read(schema, value);
  return reader.misfits;
}

/** Number of elements of a list that has not been read yet; 0 when there is no list. */
export function lengthOf(value: unknown, key: string): number {
  const found = anyCaseField(value, key);
  return Array.isArray(found) ? found.length : 0;
}

/** `spec.imports[0].name` */
export const pathText = (path: Path, before = ''): string =>
  path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${String(step)}]`;
    return text === '' ? step : `${text}.${step}`;
  }, before);

class Reader {
  misfits: Misfit[] = [];
  readonly #path: (string | number)[] = [];

  read(schema: z.ZodType, value: unknown): unknown {
    if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) {
      const inner = schema.unwrap() as z.ZodType;
      return value === null || value === undefined ? undefined : this.read(inner, value);
    }
    if (schema instanceof z.ZodObject) return this.#object(schema, value ?? {});
    if (schema instanceof z.ZodArray) return this.#list(schema.element as z.ZodType, value ?? []);
    if (schema instanceof z.ZodRecord) return this.#map(schema.valueType as z.ZodType, value ?? {});
    if (schema instanceof z.ZodUnion) return this.#closestOption(schema, value);
    return this.#scalar(schema, value);
  }

  #scalar(schema: z.ZodType, value: unknown): unknown {
    if (schema instanceof z.ZodString) return this.#text(value ?? '');
    if (schema instanceof z.ZodBoolean) {
      const flag = value ?? false;
      return typeof flag === 'boolean' ? flag : this.#wrong('true or false', value);
    }
    if (schema instanceof z.ZodNumber) {
      const number = value ?? 0;
      return Number.isInteger(number) ? number : this.#wrong('an integer', value);
    }
    return value;
  }

  #wrong(expected: string, found: unknown): unknown {
    this.misfits.push({ kind: 'type', path: [...this.#path], expected, found });
    return undefined;
  }

  #at(step: string | number, schema: z.ZodType, value: unknown): unknown {
    this.#path.push(step);
    const read = this.read(schema, value);
    this.#path.pop();
    return read;
  }

  #text(value: unknown): unknown {
    if (typeof value === 'string') return value;
    return typeof value === 'number' || typeof value === 'boolean'
      ? String(value)
      : this.#wrong('a string', value);
  }

  #list(element: z.ZodType, value: unknown): unknown {
    if (!Array.isArray(value)) return this.#wrong('a list', value);
    return value.map((item, i) => this.#at(i, element, item));
  }

  #map(schema: z.ZodType, value: unknown): unknown {
    if (!isObject(value)) return this.#wrong('a map', value);
    const result: Fields = {};
    for (const [key, item] of Object.entries(value)) define(result, key, this.#at(key, schema, item));
    return result;
  }

  /** The alternative that fits the value best. */
  #closestOption(schema: z.ZodUnion, value: unknown): unknown {
    if (value === null || value === undefined) return undefined;
    const before = this.misfits;
    const tried = schema.options.map((option) => {
      this.misfits = [];
      return { read: this.read(option as z.ZodType, value), misfits: this.misfits };
    });
    const best = tried.reduce((a, b) => (b.misfits.length < a.misfits.length ? b : a));
    this.misfits = [...before, ...best.misfits];
    return best.read;
  }

  #object(schema: z.ZodObject, value: unknown): unknown {
    if (!isObject(value)) return this.#wrong('a map', value);
    const fields = fieldsOf(schema);
    const found = new Map<string, unknown>();
    for (const [key, item] of Object.entries(value)) {
      const field = this.#fieldOf(fields, key);
      if (!field) continue;
      const read = this.#at(key, field.schema, item);
      if (field.name === key || !found.has(field.name)) found.set(field.name, read);
    }
    const result: Fields = {};
    for (const { name, schema: inner } of fields.values()) {
      const read = found.has(name) ? found.get(name) : this.#at(name, inner, undefined);
      if (read !== undefined) result[name] = read;
    }
    return result;
  }

  /** The field that a key stands for; undefined when nothing reads it. */
  #fieldOf(fields: FieldTable, key: string): Field | undefined {
    const field = fields.get(key.toLowerCase());
    const note = (misfit: MisfitKind): void => {
      this.misfits.push({ path: [...this.#path, key], ...misfit });
    };
    if (!field) note({ kind: 'unknown', known: [...fields.values()].map(({ name }) => name) });
    else if (field.name !== key) note({ kind: 'capitals', field: field.name });
    else if (field.unused !== undefined) note({ kind: 'unused', why: field.unused });
    return field;
  }
}

interface Field {
  readonly name: string;
  readonly schema: z.ZodType;
  /** Why nothing reads it. */
  readonly unused: string | undefined;
}

/** By the name in lower case. */
type FieldTable = ReadonlyMap<string, Field>;

const tables = new WeakMap<z.ZodObject, FieldTable>();

function fieldsOf(object: z.ZodObject): FieldTable {
  const known = tables.get(object);
  if (known) return known;
  const fields = Object.entries(object.shape as Readonly<Record<string, z.ZodType>>).map(
    ([name, schema]): Field => {
      const why = schema.meta()?.['unused'];
      return { name, schema, unused: typeof why === 'string' ? why : undefined };
    },
  );
  const table = new Map(fields.map((field) => [field.name.toLowerCase(), field]));
  tables.set(object, table);
  return table;
}
