/** Converts JSON to the values of expressions, and back. */
import { define } from '../../lib/json.ts';
import { isObject } from '../../lib/objects.ts';
import { Unresolvable } from './function.ts';
import { SpiffProblem } from './problem.ts';
import { isSpiffList, isSpiffMap, type SpiffValue } from './value.ts';

/** Each level of a document takes several levels of our stack. */
const MAX_DEPTH = 200;

/**
 * Whole numbers of a document become integers. Numbers of the input are always doubles, as in the original, which
 * reads them from JSON.
 * @throws SpiffProblem
 */
export function fromJsonValue(value: unknown, role: 'document' | 'input', depth = 0): SpiffValue {
  if (depth > MAX_DEPTH)
    throw new SpiffProblem(`the ${role} is nested deeper than ${MAX_DEPTH} levels, a fixed limit`);
  const inner = (item: unknown): SpiffValue => fromJsonValue(item, role, depth + 1);
  if (Array.isArray(value)) return value.map(inner);
  if (isObject(value)) return new Map(Object.entries(value).map(([key, item]) => [key, inner(item)]));
  if (typeof value === 'number') {
    return role === 'document' && Number.isSafeInteger(value) ? BigInt(value) : value;
  }
  return value === undefined ? null : (value as SpiffValue);
}

/** @throws Unresolvable for numbers that JSON cannot represent */
export function toJsonValue(value: SpiffValue, path = ''): unknown {
  if (typeof value === 'bigint') {
    if (BigInt.asIntN(64, value) === value && Number.isSafeInteger(Number(value))) return Number(value);
    throw new Unresolvable(`${path}: the integer ${value} cannot be kept exactly; write it as text`);
  }
  if (typeof value === 'number' && !Number.isFinite(value)) {
    throw new Unresolvable(`${path}: ${value} is no number that can be stored`);
  }
  if (isSpiffList(value)) return value.map((item, i) => toJsonValue(item, `${path}.[${i}]`));
  if (!isSpiffMap(value)) return value;
  const fields = {};
  for (const [key, item] of value)
    define(fields, key, toJsonValue(item, path === '' ? key : `${path}.${key}`));
  return fields;
}
