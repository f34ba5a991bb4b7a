/** Base 64, JSON and YAML in strings. */
import { formatGoFloat } from '../../../lib/go-float.ts';
import { goJson } from '../../../lib/gojson.ts';
import { bytesOf, stringOf } from '../../go/go-string.ts';
import type { SpiffFunctionTable } from '../function.ts';
import { isSpiffList, isSpiffMap, SpiffCallable, SpiffTemplate, type SpiffValue } from '../value.ts';
import { writeSpiffYaml } from '../yaml/index.ts';
import { count, fail, parseInteger, text } from './arguments.ts';

const LINE = /^[A-Za-z0-9+/]*={0,2}$/;

/** @throws Unresolvable unless it is base 64 with padding; line breaks are ignored */
function decodeBase64(source: string, message: string): Buffer {
  const plain = source.replace(/[\r\n]/g, '');
  if (plain.length % 4 !== 0 || !LINE.test(plain)) fail(message);
  return Buffer.from(plain, 'base64');
}

/** @param width of a line in characters; 0 or less for one line */
export function encodeBase64(bytes: Uint8Array, width = 0): string {
  const encoded = Buffer.from(bytes).toString('base64');
  if (width <= 0) return encoded;
  const lines: string[] = [];
  for (let i = 0; i < encoded.length; i += width) lines.push(encoded.slice(i, i + width));
  return lines.join('\n');
}

function base64(args: readonly SpiffValue[]): SpiffValue {
  count(args, 1, 2, 'base64 takes one or two argumenta');
  const source = text(args[0], 'first argument for base64 must be a string');
  return encodeBase64(bytesOf(source), args.length > 1 ? lineWidth(args[1]) : 0);
}

function lineWidth(value: SpiffValue | undefined): number {
  const message = 'second argument for base64 must be an integer or interger string';
  if (typeof value === 'bigint') return Number(value);
  const source = text(value, message);
  try {
    return Number(parseInteger(source));
  } catch (cause) {
    return fail(`${message}: ${(cause as Error).message}`, cause);
  }
}

function base64Decode(args: readonly SpiffValue[]): SpiffValue {
  count(args, 1, 1, 'base64_decode takes exactly one argument');
  const source = text(args[0], 'first argument for base64_decode must be a string');
  return stringOf(decodeBase64(source, 'cannot decode string'));
}

function jsonOf(value: SpiffValue): unknown {
  if (isSpiffList(value)) return value.map(jsonOf);
  if (isSpiffMap(value)) {
    const object = Object.create(null) as Record<string, unknown>;
    for (const [key, item] of value) object[key] = jsonOf(item);
    return object;
  }
  if (value instanceof SpiffCallable || value instanceof SpiffTemplate) return `(( ${value.text} ))`;
  if (typeof value === 'number' && !Number.isFinite(value)) {
    throw new TypeError(`json: unsupported value: ${formatGoFloat(value, 'g')}`);
  }
  return value;
}

function asJson(args: readonly SpiffValue[]): SpiffValue {
  count(args, 1, 1, 'asjson takes exactly one argument');
  try {
    return goJson(jsonOf(args[0] ?? null));
  } catch (cause) {
    return fail(`cannot jsonencode: ${(cause as Error).message}`, cause);
  }
}

function asYaml(args: readonly SpiffValue[]): SpiffValue {
  count(args, 1, 1, 'asyaml takes exactly one argument');
  return writeSpiffYaml(args[0] ?? null);
}

export const encodingFunctions: SpiffFunctionTable = {
  base64,
  base64_decode: base64Decode,
  asjson: asJson,
  asyaml: asYaml,
};
