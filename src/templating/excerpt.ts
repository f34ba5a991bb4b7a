/** Makes template errors readable: the lines around the place, and what the template was given, with values masked. */
import { goJson } from '../lib/gojson.ts';
import { maskOf } from '../lib/masking.ts';
import { isObject } from '../lib/objects.ts';
import { fromJson, typeName } from './gotemplate/values.ts';

const LINES_AROUND = 5;
const NUMBER_WIDTH = 6;
const TEMPLATE_SOURCE = 'template source';
const MARKER = `\u02c6${'\u2248'.repeat(7)}`;

/** Lines around a position, each with its number, and a marker below the line. @param column 0-based */
export function excerpt(source: string, line: number, column: number): string {
  const lines = source.split('\n');
  const first = Math.max(line - LINES_AROUND, 1);
  const last = Math.min(line + LINES_AROUND, lines.length);
  let out = '';
  for (let n = first; n <= last; n++) {
    out += `${`${String(n)}:`.padEnd(NUMBER_WIDTH)}${lines[n - 1] ?? ''}\n`;
    if (n === line) out += `${' '.repeat(NUMBER_WIDTH + column)}${MARKER}\n`;
  }
  return out;
}

/** `template source:` and the lines around a position. @param line 1-based @param column 0-based */
export const blockAt = (
  source: string,
  line: number,
  column: number,
  title: string = TEMPLATE_SOURCE,
): string => `\n${title}:\n${excerpt(source, line, column)}`;

/** The same around the first position that the message names. */
export function sourceBlock(message: string, source: string): string {
  const place = /:(\d+)(?::(\d+))?:/.exec(message);
  if (!place) return '';
  return blockAt(source, Number(place[1]), Number(place[2] ?? 0));
}

/** Root values whose leaves may be secret. */
const MASKED = new Set(['imports', 'targets', 'values', 'state', 'deployitems', 'dataobjects']);
const MAX_DEPTH = 10;
const MAX_PLAIN_BYTES = 512;

function mask(value: unknown, depth = 0): unknown {
  if (isObject(value) && depth < MAX_DEPTH) {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mask(item, depth + 1)]));
  }
  return value === null || value === undefined
    ? '[...] (%!s(<nil>))'
    : `[...] (${typeName(fromJson(value))})`;
}

/** An engine's message without the values that it quotes; what the template itself contains may stay. */
export function withoutValues(
  message: string,
  source: string,
  values: Readonly<Record<string, unknown>>,
): string {
  const secret = Object.entries(values).filter(([key]) => MASKED.has(key));
  const mask = maskOf(secret.map(([, value]) => value));
  // The template's call of `fail` has its own message.
  if (message.includes('error calling fail: ')) return message;
  return message
    .split(QUOTED_SOURCE)
    .map((part) => (source.includes(part) ? part : mask(part)))
    .join('');
}

/** The code in `at <.imports.x>`, kept as a part of its own. */
const QUOTED_SOURCE = /(?<= at <)([^>]*)(?=>: )/;

function inputLine(key: string, value: unknown, isSecret: boolean): string {
  const json = goJson(isSecret ? mask(value) : value);
  const isLong = Buffer.byteLength(json) > MAX_PLAIN_BYTES;
  return `\t${key}: ${isLong ? outline(value, json) : json}\n`;
}

const MAX_FIELDS = 20;

/** Of a value that is too long to be shown: its size and the names of its fields. */
function outline(value: unknown, json: string): string {
  const size = `${String(Buffer.byteLength(json))} bytes`;
  if (!isObject(value)) return `[...] (${size})`;
  const fields = Object.keys(value).sort();
  const more = fields.length > MAX_FIELDS ? `, and ${String(fields.length - MAX_FIELDS)} more` : '';
  return `[...] (${size}, with the fields ${fields.slice(0, MAX_FIELDS).join(', ')}${more})`;
}

/** `template input:` and a line for each root value, in the order of their names. */
export function inputBlock(values: Readonly<Record<string, unknown>>): string {
  return `\ntemplate input:\n${inputLines(values, (key) => MASKED.has(key))}`;
}

/** The same for a mapping, whose values may all be secret. */
export const mappingInputBlock = (bindings: Readonly<Record<string, unknown>>): string =>
  `\nmapping input:\n${inputLines(bindings, () => true)}`;

function inputLines(values: Readonly<Record<string, unknown>>, isSecret: (key: string) => boolean): string {
  const keys = Object.keys(values).sort();
  return keys.map((key) => inputLine(key, values[key], isSecret(key))).join('');
}
