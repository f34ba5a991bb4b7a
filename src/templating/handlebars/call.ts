/** Calls the functions of Go templates with arguments in the form of Handlebars. */
import { table } from '../../lib/objects.ts';
import { FunctionError } from '../gotemplate/errors.ts';
import type { Env, FunctionTable } from '../gotemplate/env.ts';
import { rejoin, stringOf } from '../go/go-string.ts';
import { forImplementation, isAssignable } from '../gotemplate/signature.ts';
import { GoInt, isList, type GoFunction, type Value } from '../gotemplate/values.ts';
import { kindOf } from './values.ts';

/** The language's own keywords, and functions that would need functions as values. */
const HIDDEN: ReadonlySet<string> = new Set(['call', 'html', 'js', 'and', 'or']);

export const findFunction = (functions: FunctionTable, name: string): GoFunction | undefined =>
  Object.hasOwn(functions, name) && !HIDDEN.has(name) ? functions[name] : undefined;

/** Functions that accept a missing value. */
const TOLERANT: ReadonlySet<string> = new Set([
  'default',
  'empty',
  'coalesce',
  'not',
  'all',
  'any',
  'ternary',
]);

export const toleratesMissing = (name: string): boolean => TOLERANT.has(name);

/** @param args null where a value is missing and the function tolerates it. @throws FunctionError, LimitError */
export function callFunction(env: Env, target: GoFunction, args: readonly Value[]): Value {
  const { params, variadic } = target;
  const wanted = variadic === undefined ? String(params.length) : `at least ${String(params.length)}`;
  if (args.length < params.length || (variadic === undefined && args.length > params.length)) {
    throw new FunctionError(`expected ${wanted} arguments, found ${String(args.length)}`);
  }
  const given = args.map((value, i) => argument(value, params[i] ?? variadic ?? 'any', i));
  for (const value of given) {
    if (typeof value === 'string' && value.length > 1024) env.charge(value.length / 16);
  }
  const result = target.call(env, given);
  if (isList(result) && result.length > 64) env.charge(result.length / 16);
  if (typeof result !== 'string') return result ?? null;
  env.checkText(result);
  return rejoin(result);
}

const NAMES: Readonly<Record<string, string>> = table({
  string: 'a string',
  int: 'an integer',
  int64: 'an integer',
  uint32: 'an integer',
  float64: 'a number',
  bool: 'true or false',
  map: 'a map',
  list: 'a list',
});

function argument(value: Value, param: string, index: number): Value {
  const fitting = converted(value, param);
  if (fitting !== undefined) return forImplementation(fitting, param);
  throw new FunctionError(
    `argument ${String(index + 1)}: expected ${NAMES[param] ?? param}, found ${kindOf(value)}`,
  );
}

/** undefined if the value has another type. */
function converted(value: Value, param: string): Value {
  switch (param) {
    case 'any':
    case 'value':
      return value ?? null;
    case 'string':
      return value instanceof Uint8Array ? stringOf(value) : typeof value === 'string' ? value : undefined;
    case 'int':
    case 'int64':
    case 'uint32':
      if (value instanceof GoInt) return value.value;
      if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : undefined;
      return typeof value === 'bigint' ? value : undefined;
    case 'float64':
      if (value instanceof GoInt) return Number(value.value);
      return typeof value === 'bigint' || typeof value === 'number' ? Number(value) : undefined;
    default:
      return isAssignable(value, param) ? value : undefined;
  }
}
