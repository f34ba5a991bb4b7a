/** Random objects that a schema of a CustomResourceDefinition allows. */
import { table } from '../lib/objects.ts';
import type { JsonSchema } from '../apiserver/schema/schema.ts';
import type { Chance } from './engine/chance.ts';

/** A schema has a value that cannot be generated; the author has to provide one. */
export class SampleError extends Error {
  override readonly name = 'SampleError';
}

const OPTIONAL_SHARE = 0.7;
const MAX_ITEMS = 3;
const WORDS = ['alpha', 'beta', 'gamma', 'delta', 'omega'];

/** Fields of every object that the schema of a kind does not describe. */
const STANDARD = new Set(['apiVersion', 'kind', 'metadata']);

interface Source {
  readonly chance: Chance;
  /** Values that cannot be generated are replaced afterwards, so they may be invalid. */
  readonly isCompleted: boolean;
}

/**
 * The fields of an object, without apiVersion, kind and metadata.
 * @param isCompleted whether the author replaces values that cannot be generated, so these may be invalid
 * @throws SampleError naming the field
 */
export const sampleObject = (
  schema: JsonSchema,
  chance: Chance,
  isCompleted = false,
): Record<string, unknown> =>
  objectOf({ ...schema, properties: withoutStandard(schema) }, { chance, isCompleted }, '');

const withoutStandard = ({ properties = {} }: JsonSchema) =>
  Object.fromEntries(Object.entries(properties).filter(([name]) => !STANDARD.has(name)));

function sample(schema: JsonSchema, source: Source, path: string): unknown {
  if (schema.enum) return source.chance.pick(schema.enum);
  if (schema['x-kubernetes-int-or-string'])
    return source.chance.happens(0.5)
      ? source.chance.between(0, 100)
      : `${String(source.chance.between(0, 100))}%`;
  switch (schema.type) {
    case 'object':
      return objectOf(schema, source, path);
    case 'array':
      return listOf(schema, source, path);
    case 'string':
      return stringOf(schema, source, path);
    case 'integer':
    case 'number':
      return numberOf(schema, source.chance);
    case 'boolean':
      return source.chance.happens(0.5);
    default:
      return { any: source.chance.pick(WORDS) };
  }
}

function objectOf(schema: JsonSchema, source: Source, path: string): Record<string, unknown> {
  const { properties = {}, required = [], additionalProperties } = schema;
  const at = (name: string): string => (path === '' ? name : `${path}.${name}`);
  const result: Record<string, unknown> = {};
  for (const [name, child] of Object.entries(properties))
    if (required.includes(name) || source.chance.happens(OPTIONAL_SHARE))
      result[name] = sample(child, source, at(name));
  if (typeof additionalProperties === 'object') {
    const names = source.chance.some(WORDS, 0.4).slice(0, schema.maxProperties ?? MAX_ITEMS);
    for (const name of names) result[name] = sample(additionalProperties, source, at('*'));
  }
  return result;
}

function listOf(schema: JsonSchema, source: Source, path: string): unknown[] {
  const { items = {}, minItems = 0, maxItems = minItems + MAX_ITEMS } = schema;
  const length = source.chance.between(minItems, Math.min(maxItems, minItems + MAX_ITEMS));
  return Array.from({ length }, () => sample(items, source, `${path}[]`));
}

/** Values of formats; others have any string. */
const FORMATS: Readonly<Record<string, (chance: Chance) => string>> = table({
  'date-time': (chance) => new Date(Date.UTC(2026, 0, 1, 0, 0, chance.between(0, 9_999_999))).toISOString(),
  date: (chance) => new Date(Date.UTC(2026, 0, chance.between(1, 365))).toISOString().slice(0, 10),
  duration: (chance) => `${String(chance.between(1, 90))}m`,
  byte: (chance) => Buffer.from(chance.pick(WORDS)).toString('base64'),
  uri: (chance) => `https://${chance.pick(WORDS)}.example.org`,
  ipv4: (chance) => `10.0.0.${String(chance.between(1, 250))}`,
});

function stringOf(schema: JsonSchema, { chance, isCompleted }: Source, path: string): string {
  const { pattern, format, minLength = 0, maxLength = Infinity } = schema;
  const formatted = format === undefined ? undefined : FORMATS[format]?.(chance);
  if (formatted !== undefined) return formatted;
  const word = `${chance.pick(WORDS)}${String(chance.between(0, 999))}`
    .padEnd(minLength, 'x')
    .slice(0, maxLength);
  if (isCompleted || pattern === undefined || new RegExp(pattern, 'u').test(word)) return word;
  throw new SampleError(
    `${path} has the pattern ${pattern}, for which no value can be generated; set it with "sample"`,
  );
}

function numberOf(schema: JsonSchema, chance: Chance): number {
  const { minimum = 0, exclusiveMinimum, maximum, exclusiveMaximum, multipleOf: step = 1 } = schema;
  const low = Math.ceil((exclusiveMinimum ? minimum + 1 : minimum) / step);
  const top =
    maximum === undefined ? low + 1_000 : Math.floor((exclusiveMaximum ? maximum - 1 : maximum) / step);
  return chance.between(low, Math.max(low, top)) * step;
}
