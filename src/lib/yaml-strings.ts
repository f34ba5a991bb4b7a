/**
 * Scalars that become strings. A Go program reads YAML into a struct, and sigs.k8s.io/yaml writes a number or a boolean as
 * a string where the struct has one: `version: 1.10` is "1.1". A `YamlStrings` describes such a struct.
 */
import { table } from './objects.ts';
import { formatGoFloat } from './go-float.ts';

/**
 * The strings in a type of Go: a string, a struct by the names of its fields, or the elements of a list or map.
 * An element that is null is an empty string; a field that is null is not set.
 */
export type YamlStrings =
  | 'string'
  | 'element'
  | {
      readonly fields: Readonly<Record<string, YamlStrings | undefined>>;
      /** A field is found by its exact name only. */
      readonly isExact?: true;
    }
  | { readonly each: YamlStrings };

/** A list or map of strings. */
export const EACH_STRING: YamlStrings = { each: 'element' };

/** These fields are strings. */
export const stringFields = (...names: readonly string[]): Readonly<Record<string, YamlStrings>> =>
  Object.fromEntries(names.map((name) => [name, 'string']));

type Inside = Exclude<YamlStrings, string>;
const isInside = (strings: YamlStrings | undefined): strings is Inside => typeof strings === 'object';

/** The name of the field that Go reads a key into; the key itself if there is none. */
export function fieldOf(strings: YamlStrings | undefined, key: string): string {
  if (!isInside(strings) || !('fields' in strings)) return key;
  if (strings.isExact || Object.hasOwn(strings.fields, key)) return key;
  const folded = key.toLowerCase();
  return Object.keys(strings.fields).find((name) => name.toLowerCase() === folded) ?? key;
}

/** What the value of a field, or an element, is read into. */
export function innerOf(strings: YamlStrings | undefined, field?: string): YamlStrings | undefined {
  if (!isInside(strings)) return undefined;
  if ('each' in strings) return strings.each;
  return field !== undefined && Object.hasOwn(strings.fields, field) ? strings.fields[field] : undefined;
}

export function goText(
  value: string | number | bigint | boolean | null,
  into: 'string' | 'element',
): string | null {
  if (value === null) return into === 'element' ? '' : null;
  if (typeof value === 'string') return value;
  return typeof value === 'number' ? goFloatText(value) : String(value);
}

/** The same for a value of a document that was read before, whose integers are numbers. */
export const goTextOf = (value: unknown): unknown => {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? String(value) : goFloatText(value);
  return typeof value === 'bigint' || typeof value === 'boolean' ? String(value) : value;
};

/** sigs.k8s.io/yaml writes floating point numbers with the precision of 32 bits. */
function goFloatText(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  const single = Math.fround(value);
  if (!Number.isFinite(single)) return single > 0 ? '+Inf' : '-Inf';
  if (single === 0) return formatGoFloat(single, 'g');
  for (let digits = 1; digits < 9; digits++) {
    const short = Number(single.toPrecision(digits));
    if (Math.fround(short) === single) return formatGoFloat(short, 'g');
  }
  return formatGoFloat(Number(single.toPrecision(9)), 'g');
}

const KEYS: Readonly<Record<string, string>> = table({ NaN: '.nan', '+Inf': '.inf', '-Inf': '-.inf' });

/** A floating point number as the key of a map. */
export const yamlFloatKey = (key: number): string => {
  const text = goFloatText(key);
  return KEYS[text] ?? text;
};
