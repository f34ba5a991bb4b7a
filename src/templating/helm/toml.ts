/** TOML in Helm's format (BurntSushi's encoder): sorted keys, plain values before tables, two blanks per level. */
import { table } from '../../lib/objects.ts';
import { parse, TomlDate, TomlError } from 'smol-toml';
import { formatGoFloat } from '../../lib/go-float.ts';
import { FunctionError } from '../gotemplate/errors.ts';
import { compareStrings } from '../go/go-string.ts';
import {
  GoInt,
  GoMap,
  GoObject,
  int64,
  isFunction,
  isList,
  isNilList,
  typeName,
  type Value,
} from '../gotemplate/values.ts';

const isNil = (value: Value): boolean =>
  value === undefined ||
  value === null ||
  (isList(value) && isNilList(value)) ||
  (value instanceof GoMap && value.isNil);
const isTable = (value: Value): value is GoMap => value instanceof GoMap;
const isTableList = (value: Value): value is readonly GoMap[] => {
  if (!isList(value) || value.length === 0) return false;
  if (value.some(isNil)) throw new FunctionError('toml: cannot encode array with nil element');
  return value.every(isTable);
};

/** @throws FunctionError for values that TOML cannot represent */
export function writeToml(value: Value): string {
  if (value === undefined || value === null) return '';
  if (!isTable(value)) return element(value);
  const out: string[] = [];
  writeEntries(value, [], out);
  return out.join('');
}

function writeEntries(map: GoMap, path: readonly string[], out: string[]): void {
  const keys = map.sortedKeys();
  const isBelow = (key: string): boolean => isTable(map.get(key)) || isTableList(map.get(key));
  for (const key of [...keys.filter((k) => !isBelow(k)), ...keys.filter(isBelow)]) {
    const value = map.get(key);
    if (isNil(value)) continue;
    writeEntry([...path, key], value, out);
  }
}

function writeEntry(path: readonly string[], value: Value, out: string[]): void {
  const indent = '  '.repeat(path.length - 1);
  const name = path.map(keyText).join('.');
  if (isTableList(value)) {
    for (const table of value) {
      if (out.length > 0) out.push('\n');
      out.push(`${indent}[[${name}]]\n`);
      writeEntries(table, path, out);
    }
  } else if (isTable(value)) {
    if (path.length === 1 && out.length > 0) out.push('\n');
    out.push(`${indent}[${name}]\n`);
    writeEntries(value, path, out);
  } else out.push(`${indent}${keyText(path.at(-1) ?? '')} = ${element(value)}\n`);
}

/** An inline value; maps are on one line. */
function element(value: Value): string {
  if (typeof value === 'string') return quoted(value);
  if (typeof value === 'boolean' || typeof value === 'bigint') return String(value);
  if (value instanceof GoInt) return String(value.value);
  if (typeof value === 'number') return floatText(value);
  if (isList(value)) {
    isTableList(value); // refuses nil elements
    return `[${value.map(element).join(', ')}]`;
  }
  if (isTable(value)) {
    const keys = value.sortedKeys();
    const isBelow = (key: string): boolean => isTable(value.get(key)) || isTableList(value.get(key));
    const order = [...keys.filter((k) => !isBelow(k)), ...keys.filter(isBelow)];
    const parts = order
      .filter((key) => !isNil(value.get(key)))
      .map((key) => `${keyText(key)} = ${element(value.get(key))}`);
    return `{${parts.join(', ')}}`;
  }
  if (value instanceof GoObject && value.text) return quoted(value.text());
  throw new FunctionError(`unsupported type: ${isFunction(value) ? 'func' : typeName(value)}`);
}

function floatText(value: number): string {
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value < 0 ? '-inf' : 'inf';
  const text = formatGoFloat(value, 'f');
  return text.includes('.') ? text : `${text}.0`;
}

const ESCAPES: Readonly<Record<string, string>> = table({
  '"': '\\"',
  '\\': '\\\\',
  '\b': '\\b',
  '\t': '\\t',
  '\n': '\\n',
  '\f': '\\f',
  '\r': '\\r',
});

const quoted = (text: string): string =>
  `"${text.replace(/["\\\u0000-\u001f\u007f]/g, (c) => ESCAPES[c] ?? `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)}"`;

const keyText = (key: string): string =>
  /^[A-Za-z0-9_-]+$/.test(key) ? key : key === '' ? '""' : quoted(key);

/** @throws FunctionError for invalid TOML */
export function readToml(text: string): GoMap {
  try {
    return valueOf(parse(text, { integersAsBigInt: true })) as GoMap;
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    throw new FunctionError(`toml: line ${String(error.line)}: ${error.message.split('\n')[0] ?? ''}`, {
      cause: error,
    });
  }
}

function valueOf(value: unknown): Value {
  if (typeof value === 'bigint') return int64(value);
  if (Array.isArray(value)) return value.map(valueOf);
  if (value instanceof TomlDate) return value.toISOString();
  if (typeof value !== 'object' || value === null) return value as Value;
  const entries = Object.entries(value).sort(([a], [b]) => compareStrings(a, b));
  return new GoMap(new Map(entries.map(([key, inner]) => [key, valueOf(inner)])));
}
