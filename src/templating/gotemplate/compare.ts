/** `eq` and `lt` with Go's rules: integers of all types can be compared, all other values must be of one kind. */
import { FunctionError } from './errors.ts';
import { formatValue, NO_FLAGS } from './format-value.ts';
import { sprintf } from './format.ts';
import { compareStrings } from '../go/go-string.ts';
import { GoInt, integerOf, typeName, type Value } from './values.ts';

type Kind = 'bool' | 'int' | 'float' | 'string' | 'other';

function kindOf(value: Value): Kind {
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'number') return 'float';
  if (typeof value === 'string') return 'string';
  return typeof value === 'bigint' || value instanceof GoInt ? 'int' : 'other';
}

/** Go's message, with a hint for the most frequent mistake. */
function incompatible(a: Value, b: Value): FunctionError {
  const kinds = new Set([kindOf(a), kindOf(b)]);
  const hint =
    kinds.has('int') && kinds.has('float')
      ? ' (imported numbers are floating point: convert with int, or compare with 3.0)'
      : '';
  return new FunctionError(`incompatible types for comparison: ${typeName(a)} and ${typeName(b)}${hint}`);
}

const isNil = (value: Value): boolean => value === undefined || value === null;

/** @throws FunctionError if Go cannot compare such values */
export function compareEqual(a: Value, b: Value): boolean {
  const kind = kindOf(a);
  if (kind !== kindOf(b)) {
    if (isNil(a) || isNil(b)) return false;
    throw incompatible(a, b);
  }
  if (kind === 'int') return integerOf(a) === integerOf(b);
  if (kind !== 'other') return a === b;
  if (isNil(a) || isNil(b)) return isNil(a) === isNil(b);
  if (typeName(a) !== typeName(b)) {
    throw new FunctionError(
      `non-comparable types ${sprintf('%s', [a])}: ${typeName(a)}, ${typeName(b)}: ${formatValue(b, 'v', NO_FLAGS, 0)}`,
    );
  }
  if (/^(map|\[\])/.test(typeName(b))) {
    throw new FunctionError(`non-comparable type ${sprintf('%s', [b])}: ${typeName(b)}`);
  }
  return a === b;
}

/** @throws FunctionError if Go cannot order such values */
export function compareLess(a: Value, b: Value): boolean {
  const kind = kindOf(a);
  if (kind === 'other' || kindOf(b) === 'other') throw new FunctionError('invalid type for comparison');
  if (kind !== kindOf(b)) throw incompatible(a, b);
  if (kind === 'bool') throw new FunctionError('invalid type for comparison');
  if (kind === 'int') return (integerOf(a) as bigint) < (integerOf(b) as bigint);
  if (kind === 'string') return compareStrings(a as string, b as string) < 0;
  return (a as number) < (b as number);
}
