/** Lists and maps: access, sort, filter, convert. */
import { formatGoFloat } from '../../../lib/go-float.ts';
import { byteLength, compareStrings } from '../../go/go-string.ts';
import {
  Unresolvable,
  type FunctionWorld,
  type SpiffFunction,
  type SpiffFunctionTable,
} from '../function.ts';
import { areEqual } from '../tree/equivalence.ts';
import { isSpiffList, isSpiffMap, type SpiffValue, typeName } from '../value.ts';
import { count, fail, isCallable, list, map, parseInteger, simpleText, sortedKeys } from './arguments.ts';
import { sortStable } from './sort.ts';

function length(args: readonly SpiffValue[]): SpiffValue {
  count(args, 1, 1, 'length takes exactly 1 argument');
  const [of] = args;
  if (typeof of === 'string') return BigInt(byteLength(of));
  if (of !== undefined && isSpiffList(of)) return BigInt(of.length);
  return BigInt(map(of, 'invalid type for function length').size);
}

const textToFind = (value: SpiffValue | undefined): string =>
  simpleText(value) ?? fail('invalid type for check string');

function contains(args: readonly SpiffValue[]): SpiffValue {
  count(args, 2, 2, 'function contains takes exactly two arguments');
  const [of, wanted = null] = args;
  if (typeof of === 'string') return of.includes(textToFind(wanted));
  if (of !== undefined && isSpiffMap(of)) return typeof wanted === 'string' && of.has(wanted);
  const items = list(of, 'list or string expected for argument one of function contains');
  return wanted !== null && items.some((item) => areEqual(item, wanted));
}

/** @param isLast whether to return the last position */
const indexOf =
  (isLast: boolean): SpiffFunction =>
  (args) => {
    count(args, 2, 2, 'function index takes exactly two arguments');
    const [of, wanted = null] = args;
    if (typeof of === 'string') {
      const part = textToFind(wanted);
      const at = isLast ? of.lastIndexOf(part) : of.indexOf(part);
      return BigInt(at < 0 ? -1 : byteLength(of.slice(0, at)));
    }
    const items = list(of, 'list or string expected for argument one of function index');
    if (wanted === null) return -1n;
    const isWanted = (item: SpiffValue): boolean => areEqual(item, wanted);
    return BigInt(isLast ? items.findLastIndex(isWanted) : items.findIndex(isWanted));
  };

function positionOf(value: SpiffValue): bigint {
  if (typeof value === 'bigint') return value;
  if (typeof value !== 'string') return fail('invalid type of index argument for function element');
  try {
    return parseInteger(value);
  } catch {
    return fail(`invalid value '${value}' of index argument for function element`);
  }
}

function element(args: readonly SpiffValue[]): SpiffValue {
  count(args, 2, 2, 'element takes exactly two arguments');
  const [of = null, at = null] = args;
  if (of === null || at === null) return fail('function element does not take nil arguments');
  if (isSpiffMap(of)) {
    if (typeof at !== 'string') return fail(`map key (${keyText(at)}) must be of type string`);
    return of.get(at) ?? (of.has(at) ? null : fail(`map key '${at}' not found`));
  }
  const items = list(of, 'invalid type for first argument of function element');
  const position = positionOf(at);
  if (position < 0n) fail('index lower than 0');
  if (position >= BigInt(items.length)) fail('index greater or equal list size');
  return items[Number(position)] as SpiffValue;
}

const keyText = (value: SpiffValue): string =>
  typeof value === 'number' ? formatGoFloat(value, 'g') : (simpleText(value) ?? typeName(value));

const isEmpty = (value: SpiffValue): boolean =>
  value === null ||
  value === '' ||
  (isSpiffList(value) && value.length === 0) ||
  (isSpiffMap(value) && value.size === 0);

function compact(args: readonly SpiffValue[]): SpiffValue {
  count(args, 1, 1, 'compact takes exactly 1 argument');
  return list(args[0], 'invalid type for function compact').filter((item) => !isEmpty(item));
}

function uniq(args: readonly SpiffValue[]): SpiffValue {
  count(args, 1, 1, 'uniq takes exactly 1 argument');
  const kept: SpiffValue[] = [];
  for (const item of list(args[0], 'invalid type for function uniq')) {
    if (!kept.some((known) => areEqual(item, known))) kept.push(item);
  }
  return kept;
}

function isLess(a: SpiffValue, b: SpiffValue): boolean {
  if (typeof a === 'string' && typeof b === 'string') return compareStrings(a, b) < 0;
  if (typeof a === 'bigint' && typeof b === 'bigint') return a < b;
  return fail('list elements must either be strings or integers');
}

function sort(args: readonly SpiffValue[], world: FunctionWorld): SpiffValue {
  count(args, 1, 2, 'sort takes one or two arguments');
  const items = list(args[0], 'argument for sort must be a list');
  const [, lambda] = args;
  if (args.length > 1 && !isCallable(lambda)) fail('second argument for sort must be a lambda function');
  const isBefore = (a: SpiffValue, b: SpiffValue): boolean => {
    if (!isCallable(lambda)) return isLess(a, b);
    const answer = world.call(lambda, [a, b]);
    if (typeof answer === 'boolean') return answer;
    return typeof answer === 'bigint' ? answer < 0n : fail('lambda must return a bool or integer');
  };
  try {
    return sortStable(items, isBefore);
  } catch (cause) {
    throw cause instanceof Unresolvable ? new Unresolvable('sort failed', { cause }) : cause;
  }
}

function reverse(args: readonly SpiffValue[]): SpiffValue {
  count(args, 1, 1, 'reverse takes one list argument');
  return [...list(args[0], 'argument for reverse must be a list')].reverse();
}

function intersect(args: readonly SpiffValue[]): SpiffValue {
  let common: readonly SpiffValue[] | undefined;
  args.forEach((arg, i) => {
    if (arg === null) return;
    if (!isSpiffList(arg)) {
      fail(`intersect: argument ${String(i)}: type '${typeName(arg)}'(%!s(MISSING)) cannot be intersected`);
    }
    common = common?.filter((item) => arg.some((other) => areEqual(item, other))) ?? arg;
  });
  return common ?? [];
}

function keys(args: readonly SpiffValue[]): SpiffValue {
  count(args, 1, 1, 'one argument required for keys');
  return sortedKeys(map(args[0], 'map argument required for keys'));
}

function makeMap(args: readonly SpiffValue[]): SpiffValue {
  if (args.length === 1) {
    const entries = list(args[0], 'single argument flavor of mapentry requires a list');
    return new Map(entries.map((entry, i) => entryOf(entry, String(i))));
  }
  if (args.length % 2 === 1) fail('mapentry takes one or two arguments');
  const made = new Map<string, SpiffValue>();
  for (let i = 0; i < args.length; i += 2) {
    const key = simpleText(args[i]) ?? fail(`invalid type for key value of arument pair ${String(i / 2)}`);
    made.set(key, args[i + 1] as SpiffValue);
  }
  return made;
}

function entryOf(entry: SpiffValue, place: string): [string, SpiffValue] {
  const fields = map(entry, `entry ${place} is no map entry`);
  const key = fields.get('key');
  if (key === undefined) fail(`entry ${place} has no entry 'key'`);
  const name = simpleText(key) ?? fail(`invalid type for 'key' value of entry ${place}`);
  const value = fields.get('value');
  return value === undefined ? fail(`entry ${place} has no entry 'value'`) : [name, value];
}

/** The default key is `name`. */
function listToMap(args: readonly SpiffValue[]): SpiffValue {
  count(args, 1, 2, 'list_to_map takes 1 or 2 arguments');
  const items = list(args[0], 'list_to_map requires a list as first argument');
  const name = args.length > 1 ? args[1] : 'name';
  if (typeof name !== 'string') return fail('second argument of list_to_map must be a key name');
  return new Map(
    items.map((item): [string, SpiffValue] => {
      const fields = map(item, `list entries must by maps%!(EXTRA string=${name})`);
      if (!fields.has(name)) fail(`key field '${name}' not found`);
      const key = fields.get(name);
      if (typeof key !== 'string') return fail(`key field '${name}' contains no string value`);
      return [key, new Map([...fields].filter(([field]) => field !== name))];
    }),
  );
}

export const listFunctions: SpiffFunctionTable = {
  length,
  contains,
  index: indexOf(false),
  lastindex: indexOf(true),
  element,
  compact,
  uniq,
  sort,
  reverse,
  intersect,
  keys,
  makemap: makeMap,
  list_to_map: listToMap,
};
