/** ConfigMap: keys, size, immutability. */
import { append } from '../../../lib/lists.ts';
import * as field from '../../schema/field-errors.ts';
import type { Strategy } from '../kinds.ts';
import { badRequest } from '../../status.ts';
import { equalJson, isObject } from '../../types.ts';
import type { FieldError, KubeObject } from '../../types.ts';

const MAX_BYTES = 1_048_576;
const KEY = /^[-._a-zA-Z0-9]+$/;
const KEY_RULE =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";

export const configMap: Strategy = {
  defaults(object) {
    checkStrings(object, 'data', 'ConfigMap');
    dropEmpty(object, 'data');
    dropEmpty(object, 'binaryData');
  },
  validate(object) {
    const data = members(object, 'data');
    const binary = members(object, 'binaryData');
    const errors: FieldError[] = [];
    let size = 0;
    for (const [key, value] of Object.entries(data)) {
      append(errors, keyErrors('data', key));
      if (key in binary)
        errors.push(field.invalid(`data[${key}]`, key, 'duplicate of key present in binaryData'));
      size += Buffer.byteLength(value);
    }
    for (const [key, value] of Object.entries(binary)) {
      append(errors, keyErrors('binaryData', key));
      size += Math.floor((value.length * 3) / 4);
    }
    if (size > MAX_BYTES) errors.push(field.tooLong('[]', MAX_BYTES));
    return errors;
  },
  validateUpdate: (object, old) => immutableErrors(object, old, ['data', 'binaryData']),
};

/** What is wrong with a key of a ConfigMap or Secret. */
function keyProblem(key: string): string | undefined {
  if (key.length > 253) return 'must be no more than 253 characters';
  if (!KEY.test(key)) return KEY_RULE;
  if (key === '.') return "must not be '.'";
  if (key === '..') return "must not be '..'";
  return key.startsWith('..') ? "must not start with '..'" : undefined;
}

export function keyErrors(path: string, key: string): FieldError[] {
  const problem = keyProblem(key);
  return problem === undefined ? [] : [field.invalid(`${path}[${key}]`, key, problem)];
}

/** The rule of a member that names a key; an empty one is another rule's. */
export function isConfigKey(key: unknown, path: string): FieldError[] {
  const problem = typeof key === 'string' && key !== '' ? keyProblem(key) : undefined;
  return problem === undefined ? [] : [field.invalid(path, key, problem)];
}

/** Errors for changes that `immutable: true` forbids. */
export function immutableErrors(
  object: KubeObject,
  old: KubeObject,
  frozen: readonly string[],
): FieldError[] {
  if (old['immutable'] !== true) return [];
  const errors: FieldError[] = [];
  if (object['immutable'] !== true)
    errors.push(field.forbidden('immutable', 'field is immutable when `immutable` is set'));
  for (const member of frozen)
    if (!equalJson(object[member] ?? {}, old[member] ?? {}))
      errors.push(field.forbidden(member, 'field is immutable when `immutable` is set'));
  return errors;
}

export function members(object: KubeObject, member: string): Record<string, string> {
  const value = object[member];
  return isObject(value) ? (value as Record<string, string>) : {};
}

export function dropEmpty(object: KubeObject, member: string): void {
  const value = object[member];
  if (isObject(value) && Object.keys(value).length === 0) delete object[member];
}

/** @throws ApiError 400 like upstream's decoder */
export function checkStrings(object: KubeObject, member: string, kind: string): void {
  const value = object[member];
  if (value === undefined) return;
  const refuse = (actual: unknown, type: string): Error =>
    badRequest(
      `${kind} in version "v1" cannot be handled as a ${kind}: json: cannot unmarshal ${goName(actual)} into Go struct field ${kind}.${member} of type ${type}`,
    );
  if (!isObject(value)) throw refuse(value, 'map[string]string');
  for (const item of Object.values(value)) if (typeof item !== 'string') throw refuse(item, 'string');
}

const goName = (value: unknown): string =>
  Array.isArray(value)
    ? 'array'
    : typeof value === 'boolean'
      ? 'bool'
      : value === null
        ? 'null'
        : typeof value;
