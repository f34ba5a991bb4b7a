/** Go's encoding/json over template values: sorted keys, escaped `<`, `>` and `&`, bytes as base64. */
import { JsonTooLarge, parseBoundedJson } from '../../../lib/json-bounds.ts';
import type { FunctionTable } from '../env.ts';
import { FunctionError } from '../errors.ts';
import { sprintValue } from '../format.ts';
import { toValidText } from '../../go/go-string.ts';
import { fn } from '../signature.ts';
import { fromJson, GoInt, GoMap, GoObject, isFunction, isList, isNilList, type Value } from '../values.ts';
import { parseYaml } from '../../../lib/yaml.ts';

interface Style {
  readonly escapeHtml: boolean;
  /** Spaces per level; 0 writes everything on one line. */
  readonly indent: number;
}

const PLAIN = /^[ !#-%'-;=?-[\]-~]*$/;

function quote(text: string, escapeHtml: boolean): string {
  if (PLAIN.test(text)) return `"${text}"`;
  const json = JSON.stringify(text)
    .replace(/\\ud[89a-f][0-9a-f]{2}/g, '\\ufffd')
    .replace(/[\u2028\u2029]/g, (c) => `\\u${c.charCodeAt(0).toString(16)}`);
  if (!escapeHtml) return json;
  return json.replace(/[<>&]/g, (c) => `\\u00${c.charCodeAt(0).toString(16)}`);
}

function numberText(value: number): string {
  if (!Number.isFinite(value)) throw new FunctionError(`json: unsupported value: ${sprintValue(value)}`);
  return Object.is(value, -0) ? '-0' : String(value);
}

/** @throws FunctionError for values that JSON cannot represent */
export function writeJson(value: Value, style: Style, depth = 0): string {
  if (value === undefined || value === null) return 'null';
  if (typeof value === 'string') return quote(value, style.escapeHtml);
  if (typeof value === 'number') return numberText(value);
  if (typeof value === 'boolean' || typeof value === 'bigint') return value.toString();
  if (value instanceof GoInt) return value.value.toString();
  if (value instanceof Uint8Array) return `"${Buffer.from(value).toString('base64')}"`;
  if (isFunction(value)) throw new FunctionError('json: unsupported type: func()');
  if (isList(value)) {
    if (isNilList(value)) return 'null';
    return wrap(
      '[]',
      value.map((item) => writeJson(item, style, depth + 1)),
      style,
      depth,
    );
  }
  const separator = style.indent > 0 ? ': ' : ':';
  if (value instanceof GoObject) {
    if (value.json) return writeJson(fromJson(value.json()), style, depth);
    const fields = [...value.fields].map(([k, v]) => `"${k}"${separator}${writeJson(v, style, depth + 1)}`);
    return wrap('{}', fields, style, depth);
  }
  const map = value;
  if (map.isNil) return 'null';
  const entries = map
    .sortedKeys()
    .map((key) => `${quote(key, style.escapeHtml)}${separator}${writeJson(map.get(key), style, depth + 1)}`);
  return wrap('{}', entries, style, depth);
}

function wrap(brackets: string, parts: readonly string[], { indent }: Style, depth: number): string {
  const [open = '', close = ''] = brackets;
  if (parts.length === 0) return brackets;
  if (indent === 0) return `${open}${parts.join(',')}${close}`;
  const pad = '\n' + ' '.repeat(indent * depth);
  const inner = pad + ' '.repeat(indent);
  return `${open}${inner}${parts.join(`,${inner}`)}${pad}${close}`;
}

/** The value as JSON data for writers outside of the template engine; integers stay exact as bigint. */
export function toPlain(value: Value): unknown {
  if (value === undefined || value === null) return null;
  if (typeof value !== 'object') return typeof value === 'string' ? toValidText(value) : value;
  if (value instanceof GoInt) return value.value;
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (isList(value)) return isNilList(value) ? null : value.map(toPlain);
  if (value instanceof GoMap) {
    if (value.isNil) return null;
    return Object.fromEntries([...value.entries].map(([k, v]) => [toValidText(k), toPlain(v)]));
  }
  if (value instanceof GoObject) {
    return value.json
      ? toPlain(fromJson(value.json()))
      : Object.fromEntries([...value.fields].map(([k, v]) => [k, toPlain(v)]));
  }
  throw new FunctionError('json: unsupported type: func()');
}

const MAY_LOSE_DIGITS = /\d{16}/;

/** @throws FunctionError with the message of encoding/json */
export function readJson(text: string): Value {
  try {
    const value = parseBoundedJson(text);
    return fromJson(MAY_LOSE_DIGITS.test(text) ? parseYaml(text, { integers: 'exact' }) : value);
  } catch (error) {
    if (error instanceof JsonTooLarge) throw new FunctionError(error.message, { cause: error });
    throw new FunctionError(complaint(text, error as Error), { cause: error });
  }
}

function complaint(text: string, error: Error): string {
  const at = /position (\d+)/.exec(error.message)?.[1];
  const token = /Unexpected token '(.)'|Unexpected token (.) in/u.exec(error.message);
  const char = token?.[1] ?? token?.[2] ?? (at === undefined ? undefined : text[Number(at)]);
  if (char === undefined || error.message.includes('Unexpected end')) return 'unexpected end of JSON input';
  return `invalid character '${char}' looking for beginning of value`;
}

export const COMPACT: Style = { escapeHtml: true, indent: 0 };
const PRETTY: Style = { escapeHtml: true, indent: 2 };
const RAW: Style = { escapeHtml: false, indent: 0 };

const writer = (style: Style) => fn('any', (v: Value) => writeJson(v, style));
const lenient = (style: Style) =>
  fn('any', (v: Value) => {
    try {
      return writeJson(v, style);
    } catch (error) {
      if (error instanceof FunctionError) return '';
      throw error;
    }
  });

export const jsonFunctions: FunctionTable = {
  toJson: lenient(COMPACT),
  toPrettyJson: lenient(PRETTY),
  toRawJson: writer(RAW),
  mustToJson: writer(COMPACT),
  mustToPrettyJson: writer(PRETTY),
  mustToRawJson: writer(RAW),
  fromJson: fn('string', (text: string) => {
    try {
      return readJson(text);
    } catch {
      return null;
    }
  }),
  mustFromJson: fn('string', readJson),
};
