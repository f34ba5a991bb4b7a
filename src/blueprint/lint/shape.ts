/** Compares YAML values with the schemas of src/api: fields that nobody reads, and values of the wrong type. */
import { z } from 'zod';
import { isObject } from '../../lib/objects.ts';
import { typeName } from '../decode.ts';
import { hintFor } from './words.ts';
import type { Path } from './yaml-text.ts';

interface Misfit {
  readonly kind: 'unknown' | 'capitals' | 'type';
  readonly path: Path;
  readonly message: string;
}

/** As lenient as decode.ts: null is nothing, numbers and booleans are texts too, capitals do not matter. */
export function misfits(schema: z.ZodType, value: unknown, path: Path = []): readonly Misfit[] {
  if (value === null || value === undefined) return [];
  const wrong = (wanted: string): readonly Misfit[] => [
    { kind: 'type', path, message: `${nameOf(path)} must be ${wanted}, but is ${typeName(value)}` },
  ];
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) {
    return misfits(schema.unwrap() as z.ZodType, value, path);
  }
  if (schema instanceof z.ZodObject) {
    return isObject(value) ? fieldMisfits(schema, value, path) : wrong('a map');
  }
  if (schema instanceof z.ZodArray) {
    if (!Array.isArray(value)) return wrong('a list');
    return value.flatMap((item, i) => misfits(schema.element as z.ZodType, item, [...path, i]));
  }
  if (schema instanceof z.ZodRecord) {
    if (!isObject(value)) return wrong('a map');
    return Object.entries(value).flatMap(([key, item]) =>
      misfits(schema.valueType as z.ZodType, item, [...path, key]),
    );
  }
  if (schema instanceof z.ZodUnion) return closestOption(schema, value, path);
  if (schema instanceof z.ZodString) {
    return ['string', 'number', 'boolean'].includes(typeof value) ? [] : wrong('a string');
  }
  if (schema instanceof z.ZodBoolean) return typeof value === 'boolean' ? [] : wrong('true or false');
  if (schema instanceof z.ZodNumber) return Number.isInteger(value) ? [] : wrong('an integer');
  return [];
}

/** Of alternatives the one that fits best is what was meant. */
function closestOption(schema: z.ZodUnion, value: unknown, path: Path): readonly Misfit[] {
  const tried = schema.options.map((option) => misfits(option as z.ZodType, value, path));
  return tried.reduce((best, next) => (next.length < best.length ? next : best));
}

function fieldMisfits(
  schema: z.ZodObject,
  value: Readonly<Record<string, unknown>>,
  path: Path,
): readonly Misfit[] {
  const shape = schema.shape as Readonly<Record<string, z.ZodType>>;
  const known = Object.keys(shape);
  return Object.entries(value).flatMap(([key, item]): readonly Misfit[] => {
    const here = [...path, key];
    const field = Object.hasOwn(shape, key) ? shape[key] : undefined;
    if (field) return misfits(field, item, here);
    const meant = known.find((name) => name.toLowerCase() === key.toLowerCase());
    if (meant !== undefined) {
      const message = `"${key}" is read as "${meant}"; write it like that`;
      return [{ kind: 'capitals', path: here, message }, ...misfits(shape[meant] as z.ZodType, item, here)];
    }
    return [{ kind: 'unknown', path: here, message: unknownField(key, known) }];
  });
}

function unknownField(key: string, known: readonly string[]): string {
  return `unknown field "${key}", which is ignored; ${hintFor(key, known, `known fields are ${known.join(', ')}`)}`;
}

/** The last name on a path, with the position behind it. */
function nameOf(path: Path): string {
  const at = path.findLastIndex((step) => typeof step === 'string');
  const name = at < 0 ? 'the document' : `"${path[at] ?? ''}"`;
  return at < path.length - 1 ? `element ${Number(path.at(-1)) + 1} of ${name}` : name;
}
