/** Declares template functions with their Go parameter types, and checks arguments against them. */
import { table } from '../../lib/objects.ts';
import { GoInt, GoMap, GoObject, elemType, isList, typeName, type GoFunction, type Value } from './values.ts';

type Implementation = (...args: never[]) => Value;

function parseSignature(signature: string): { params: string[]; variadic: string | undefined } {
  const params = signature.split(' ').filter((p) => p !== '');
  const last = params.at(-1);
  if (!last?.startsWith('...')) return { params, variadic: undefined };
  return { params: params.slice(0, -1), variadic: last.slice(3) };
}

/**
 * A template function.
 * @param signature Go parameter types: `any value string int int64 uint32 float64 bool map list`, a type name such
 * as `time.Time`, and `...type` at the end for any number. `value` distinguishes `null` from a missing value.
 * @param implementation receives strings, numbers (for int, float64, uint32), bigint (int64), GoMap, lists
 */
export function fn(signature: string, implementation: Implementation): GoFunction {
  const call = implementation as unknown as (...args: readonly Value[]) => Value;
  return { kind: 'function', ...parseSignature(signature), call: (_env, args) => call(...args) };
}

/** A function that receives the environment of the execution as its first argument. */
export function envFn<E>(signature: string, implementation: (env: E, ...args: never[]) => Value): GoFunction {
  const call = implementation as unknown as (env: unknown, ...args: readonly Value[]) => Value;
  return { kind: 'function', ...parseSignature(signature), call: (env, args) => call(env, ...args) };
}

const NAMES: Readonly<Record<string, string>> = table({
  any: 'interface {}',
  value: 'reflect.Value',
  map: 'map[string]interface {}',
  list: '[]interface {}',
});

/** The Go name of a parameter type. */
export const paramName = (param: string): string => NAMES[param] ?? param;

/** Whether nil is valid for this type in Go. */
export const canBeNil = (param: string): boolean =>
  param in NAMES || param.startsWith('*') || param.startsWith('[]');

/** The implementation's argument for Go's nil. */
export function nilOf(param: string): Value {
  if (param === 'map') return new GoMap();
  if (param === 'value') return undefined;
  return param === 'list' || param.startsWith('[]') ? [] : null;
}

/** Whether a value has the type of the parameter. */
export function isAssignable(value: Value, param: string): boolean {
  switch (param) {
    case 'any':
    case 'value':
      return true;
    case 'string':
      return typeof value === 'string';
    case 'int':
      return typeof value === 'bigint';
    case 'float64':
      return typeof value === 'number';
    case 'bool':
      return typeof value === 'boolean';
    case 'map':
      return value instanceof GoMap && value.elem === 'interface {}';
    case 'list':
      return isList(value) && elemType(value) === 'interface {}';
    default:
      return (
        (value instanceof GoInt || value instanceof GoObject || isList(value)) && typeName(value) === param
      );
  }
}

/** Converts an argument for the implementation. */
export function forImplementation(value: Value, param: string): Value {
  if (param === 'any') return value === undefined ? null : value;
  if (param === 'int') return Number(value);
  if (value instanceof GoInt && param === 'int64') return value.value;
  if (param === 'uint32') return Number(value instanceof GoInt ? value.value : value);
  return value;
}
