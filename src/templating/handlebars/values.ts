/** Values of Handlebars templates: the values of Go templates, except that integers stay integers. */
import { writeJson } from '../gotemplate/funcs/json.ts';
import { stringOf } from '../go/go-string.ts';
import { GoInt, GoMap, GoObject, isFunction, isList, type Value } from '../gotemplate/values.ts';

/**
 * Converts whole numbers of JSON to integers, recursively; Go's doubles print as `1e+06` and equal no integer. Maps
 * and lists are copied, so that the input is not modified.
 */
export function withIntegers(value: unknown): Value {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : value;
  if (typeof value !== 'object' || value === null) return value as Value;
  if (Array.isArray(value)) return value.map(withIntegers);
  if (value instanceof GoMap) {
    return new GoMap(new Map([...value.entries].map(([key, item]) => [key, withIntegers(item)])), value.elem);
  }
  if (isSpecial(value as Value)) return value as Value;
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  return new GoMap(new Map(entries.map(([key, item]) => [key, withIntegers(item)])));
}

const isSpecial = (value: Value): boolean =>
  value instanceof Uint8Array || value instanceof GoInt || value instanceof GoObject || isFunction(value);

/** The printed form of a value: strings as they are, numbers in decimal, maps and lists as JSON. */
export function textOf(value: Exclude<Value, null | undefined>): string {
  if (typeof value === 'string') return value;
  if (value instanceof Uint8Array) return stringOf(value);
  if (value instanceof GoObject && value.text) return value.text();
  return writeJson(value, { escapeHtml: false, indent: 0 });
}

/** Handlebars' definition of empty, for `if`, `unless` and `with`: 0 and empty lists are empty, empty maps are not. */
export function isEmpty(value: Value, { includeZero = false } = {}): boolean {
  if (isList(value)) return value.length === 0;
  const isZero = value === 0n || value === 0 || (value instanceof GoInt && value.value === 0n);
  return isZero ? !includeZero : !value;
}

/** The kind of a value in words; never the value, which may be secret. */
export function kindOf(value: Value): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (isList(value)) return 'a list';
  if (value instanceof GoMap) return 'a map';
  if (value instanceof Uint8Array) return 'the bytes of a file';
  if (value instanceof GoInt || typeof value === 'bigint') return 'an integer';
  if (value instanceof GoObject) return `a ${value.type}`;
  if (isFunction(value)) return 'a function';
  return typeof value === 'string' ? 'a string' : `a ${typeof value}`;
}

/**
 * A field of a map, or an element of a list; undefined if there is none. Other values have no fields, and
 * prototypes are ignored.
 */
export function fieldOf(value: Value, name: string): Value {
  if (value instanceof GoMap) return value.entries.get(name);
  if (isList(value)) {
    if (name === 'length') return BigInt(value.length);
    return /^\d+$/.test(name) ? value[Number(name)] : undefined;
  }
  return value instanceof GoObject ? value.fields.get(name) : undefined;
}
