/**
 * Validates values with a schema, compiled into closures, with upstream's exact messages.
 *
 * Ratcheting: an update is not refused for an invalid value that it does not change. So validation first runs
 * without the old object. If there are errors, it runs again with the old object and skips every value that is
 * equal to its old value. List items have an old value only if the list is a map.
 */
import { equal } from '../../lib/json.ts';
import {
  goNumber,
  goQuote,
  invalid,
  notSupported,
  required,
  tooLong,
  tooMany,
  typeInvalid,
} from './field-errors.ts';
import { compileComposition, NO_PATH, type Findings, type Validator } from './compose.ts';
import { formatCheck, matchesPattern } from './formats.ts';
import { childPath, valueSchema, type JsonSchema } from './types.ts';
import { isObject, type FieldError, type JsonObject } from '../types.ts';

type Check = (value: unknown, path: string, out: Findings) => void;

/** A compiled validator of whole objects. */
type Validate = (value: unknown, old?: unknown) => FieldError[];

export function compileValidator(schema: JsonSchema): Validate {
  const validator = compile(schema);
  return (value, old) => {
    const first: Findings = { errors: [], matches: 0 };
    validator(value, '', undefined, first);
    if (first.errors.length === 0 || old === undefined) return first.errors;
    const second: Findings = { errors: [], matches: 0 };
    validator(value, '', old, second);
    return second.errors;
  };
}

function compile(schema: JsonSchema): Validator {
  const isTyped = compileType(schema);
  const composed = compileComposition(schema, compile);
  const strings = compileString(schema);
  const numbers = compileNumber(schema);
  const lists = compileList(schema);
  const objects = compileObject(schema);
  const choices = compileEnum(schema);
  return (value, path, old, out) => {
    if (old !== undefined && equal(value, old)) return;
    if (isTyped(value, path, out)) out.matches++;
    if (value !== null && value !== undefined) {
      composed?.(value, path, old, out);
      if (typeof value === 'string') strings?.(value, path, out);
      else if (typeof value === 'number') numbers?.(value, path, out);
      else if (Array.isArray(value)) lists?.(value, path, old, out);
      else if (isObject(value)) objects?.(value, path, old, out);
    }
    choices?.(value, path, out);
  };
}

/** The JSON type of a value with the name that schemas use. */
function typeName(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

/** The error "must be of type"; its value is the actual type. */
const wrongType = (path: string, wanted: string, found: string): FieldError =>
  typeInvalid(
    path === '' ? NO_PATH : path,
    found,
    `${path} in body must be of type ${wanted}: ${goQuote(found)}`,
  );

function compileType(schema: JsonSchema): (value: unknown, path: string, out: Findings) => boolean {
  const wanted =
    schema['x-kubernetes-int-or-string'] === true ? ['integer', 'string'] : schema.type ? [schema.type] : [];
  if (wanted.length === 0) return () => true;
  const text = wanted.join(',');
  const isNullable = schema.nullable === true || wanted.includes('null');
  return (value, path, out) => {
    const found = typeName(value);
    if (wanted.includes(found)) return true;
    if (found === 'null' && isNullable) return true;
    if (found === 'integer' && wanted.includes('number')) return true;
    out.errors.push(wrongType(path, text, found));
    return false;
  };
}

function compileEnum(schema: JsonSchema): Check | undefined {
  const values = schema.enum;
  if (!values || values.length === 0) return undefined;
  const texts = values.map((value) => (typeof value === 'string' ? value : JSON.stringify(value)));
  return (value, path, out) => {
    if (value === null && schema.nullable === true && values.includes(null)) return;
    if (values.some((allowed) => equal(allowed, value))) out.matches++;
    else out.errors.push(notSupported(path, value, texts));
  };
}

function compileString(schema: JsonSchema): Check | undefined {
  const { minLength, maxLength, pattern } = schema;
  const isFormat = schema.format === undefined ? undefined : formatCheck(schema.format);
  if (minLength === undefined && maxLength === undefined && pattern === undefined && !isFormat)
    return undefined;
  return (value, path, out) => {
    const text = value as string;
    const before = out.errors.length;
    const add = (why: string): number =>
      out.errors.push(invalid(path, text, `${path} in body should ${why}`));
    if (maxLength !== undefined && runes(text) > maxLength) out.errors.push(tooLong(path, maxLength));
    else if (minLength !== undefined && runes(text) < minLength) add(`be at least ${minLength} chars long`);
    else if (pattern !== undefined && !matchesPattern(pattern, text)) add(`match '${pattern}'`);
    if (isFormat && !isFormat(text)) {
      const detail = `${path} in body must be of type ${schema.format ?? ''}: ${goQuote(text)}`;
      out.errors.push(typeInvalid(path, text, detail));
    }
    if (out.errors.length === before) out.matches++;
  };
}

/** Counts characters, not UTF-16 units. */
function runes(text: string): number {
  let count = text.length;
  for (let i = 0; i + 1 < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code >= 0xd800 && code < 0xdc00) count--;
  }
  return count;
}

function compileNumber(schema: JsonSchema): Check | undefined {
  const { minimum, maximum, multipleOf } = schema;
  if (minimum === undefined && maximum === undefined && multipleOf === undefined) return undefined;
  const [above, below] = [schema.exclusiveMinimum === true, schema.exclusiveMaximum === true];
  return (value, path, out) => {
    const number = value as number;
    const before = out.errors.length;
    const add = (why: string): number =>
      out.errors.push(invalid(path, number, `${path} in body should be ${why}`));
    if (multipleOf !== undefined && !isMultiple(number, multipleOf))
      add(`a multiple of ${goNumber(multipleOf)}`);
    if (maximum !== undefined && (number > maximum || (below && number === maximum)))
      add(`less than ${below ? '' : 'or equal to '}${goNumber(maximum)}`);
    if (minimum !== undefined && (number < minimum || (above && number === minimum)))
      add(`greater than ${above ? '' : 'or equal to '}${goNumber(minimum)}`);
    if (out.errors.length === before) out.matches++;
  };
}

/**
 * As Go's validation has it. For an integer the factor loses its fraction; another number is compared with the integer
 * below: 0.29 is not a multiple of 0.01.
 */
function isMultiple(number: number, factor: number): boolean {
  if (Number.isInteger(number)) return Math.trunc(factor) > 0 && number % Math.trunc(factor) === 0;
  const times = factor < 1 ? (1 / factor) * number : number / factor;
  if (Math.abs(times) > Number.MAX_SAFE_INTEGER) return false;
  const whole = Math.trunc(times);
  return times === whole || (times > 0 && (times - whole) / (times + whole) < 1e-9);
}

function compileList(schema: JsonSchema): Validator | undefined {
  const item = schema.items ? compile(schema.items) : undefined;
  const { minItems, maxItems } = schema;
  const keys =
    schema['x-kubernetes-list-type'] === 'map' ? (schema['x-kubernetes-list-map-keys'] ?? []) : undefined;
  if (!item && minItems === undefined && maxItems === undefined) return undefined;
  return (value, path, old, out) => {
    const list = value as readonly unknown[];
    if (item) {
      const oldItem = oldItems(old, keys);
      list.forEach((element, index) => item(element, `${path}[${index}]`, oldItem(element), out));
    }
    if (minItems !== undefined && list.length < minItems)
      out.errors.push(invalid(path, list.length, `${path} in body should have at least ${minItems} items`));
    if (maxItems !== undefined && list.length > maxItems)
      out.errors.push(tooMany(path, list.length, maxItems));
    if (schema.uniqueItems === true && hasTwins(list))
      out.errors.push(invalid(path, '', `${path} in body shouldn't contain duplicates`));
    out.matches++;
  };
}

const hasTwins = (list: readonly unknown[]): boolean =>
  list.some((element, index) => list.slice(0, index).some((earlier) => equal(earlier, element)));

/** Finds the old value of a list map's item; items of other lists have none. */
function oldItems(old: unknown, keys: readonly string[] | undefined): (item: unknown) => unknown {
  if (!keys || !Array.isArray(old)) return () => undefined;
  const keyOf = (item: unknown): string =>
    JSON.stringify(isObject(item) ? keys.map((key) => item[key] ?? null) : item);
  const byKey = new Map(old.map((item) => [keyOf(item), item as unknown]));
  return (item) => byKey.get(keyOf(item));
}

function compileObject(schema: JsonSchema): Validator | undefined {
  const fields = new Map(
    Object.entries(schema.properties ?? {}).map(([name, field]) => [name, compile(field)]),
  );
  const values = valueSchema(schema);
  const others = values ? compile(values) : undefined;
  const isClosed = schema.additionalProperties === false;
  const { minProperties, maxProperties, required: needed = [] } = schema;
  return (value, path, old, out) => {
    const object = value as JsonObject;
    const before = isObject(old) ? old : undefined;
    const names = Object.keys(object).filter((name) => object[name] !== undefined);
    if (minProperties !== undefined && names.length < minProperties)
      out.errors.push(
        invalid(path, names.length, `${path} in body should have at least ${minProperties} properties`),
      );
    if (maxProperties !== undefined && names.length > maxProperties)
      out.errors.push(tooMany(path, names.length, maxProperties));
    for (const name of names) {
      const field = fields.get(name) ?? others;
      if (field) field(object[name], childPath(path, name), before?.[name], out);
      else if (isClosed)
        out.errors.push(invalid(path, '', `${path}.${name} in body is a forbidden property`));
    }
    for (const name of needed) {
      if (object[name] === undefined) out.errors.push(required(childPath(path, name)));
    }
    out.matches++;
  };
}
