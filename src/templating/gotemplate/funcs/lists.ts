/** sprig's functions on lists. They return new lists; the `must…` variants are the same here. */
import type { Env, FunctionTable } from '../env.ts';
import { FunctionError } from '../errors.ts';
import { envFn, fn } from '../signature.ts';
import {
  deepEqual,
  elemType,
  isList,
  isSlice,
  isTrue,
  itemsOf,
  kindName,
  nilList,
  typedList,
  type Value,
} from '../values.ts';
import { toInt64 } from './cast.ts';

const NIL_POINTER = 'runtime error: invalid memory address or nil pointer dereference';

/** The elements of a list. @throws FunctionError with the function's message */
function items(value: Value, complaint: (kind: string) => string): readonly Value[] {
  if (isSlice(value)) return itemsOf(value);
  if (value === undefined || value === null) throw new FunctionError(NIL_POINTER);
  throw new FunctionError(complaint(kindName(value)));
}

const finder =
  (what: string) =>
  (kind: string): string =>
    `Cannot find ${what} on type ${kind}`;

function chunk(size: number, value: Value): Value {
  const all = items(value, (kind) => `Cannot chunk type ${kind}`);
  if (size <= 0) {
    if (size < 0 && Math.floor((all.length - 1) / size) === -1) return typedList('[]interface {}', []);
    throw new FunctionError('runtime error: makeslice: len out of range');
  }
  const chunks: Value[] = [];
  for (let i = 0; i < all.length; i += size) chunks.push(all.slice(i, i + size));
  return typedList('[]interface {}', chunks);
}

function slice(list: Value, ...bounds: Value[]): Value {
  const all = items(list, (kind) => `list should be type of slice or array but ${kind}`);
  if (all.length === 0) return null;
  const start = bounds.length > 0 ? Number(toInt64(bounds[0])) : 0;
  const end = bounds.length > 1 ? Number(toInt64(bounds[1])) : all.length;
  if (start < 0 || end < start || end > all.length)
    throw new FunctionError('reflect.Value.Slice: slice index out of bounds');
  if (list instanceof Uint8Array) return list.subarray(start, end);
  const part = all.slice(start, end);
  return isList(list) && elemType(list) !== 'interface {}' ? typedList(elemType(list), part) : part;
}

/** Whether a list contains a value; compares with Go's DeepEqual, and counts the work. */
function isIn(env: Env, list: readonly Value[], wanted: Value): boolean {
  env.charge(list.length / 8);
  return list.some((item) => deepEqual(item, wanted));
}

function unique(env: Env, list: readonly Value[]): Value[] {
  const out: Value[] = [];
  for (const item of list) if (!isIn(env, out, item)) out.push(item);
  return out;
}

function countUp(env: Env, start: number, stop: number, step: number): bigint[] {
  const isDown = stop < start;
  if (isDown ? step >= 0 : step <= 0) return [];
  env.reserve(Math.ceil((stop - start) / step) * 8);
  const out: bigint[] = [];
  for (let i = start; isDown ? i > stop : i < stop; i += step) out.push(BigInt(i));
  return out;
}

const until = (env: Env, count: number): Value =>
  typedList('int', countUp(env, 0, count, count < 0 ? -1 : 1));

function seq(env: Env, ...params: number[]): string {
  if (params.length === 0 || params.length > 3) return '';
  const [start, step, end] = (
    params.length === 1
      ? [1, undefined, params[0]]
      : params.length === 2
        ? [params[0], undefined, params[1]]
        : params
  ) as [number, number | undefined, number];
  const increment = end < start ? -1 : 1;
  if (step !== undefined && end < start && step > 0) return '';
  return countUp(env, start, end + increment, step ?? increment).join(' ');
}

const functions = {
  list: fn('...any', (...v: Value[]) => v),
  append: fn('any any', (list: Value, v: Value) => [...items(list, (k) => `Cannot push on type ${k}`), v]),
  prepend: fn('any any', (list: Value, v: Value) => [
    v,
    ...items(list, (k) => `Cannot prepend on type ${k}`),
  ]),
  first: fn('any', (list: Value) => items(list, finder('first'))[0] ?? null),
  last: fn('any', (list: Value) => items(list, finder('last')).at(-1) ?? null),
  rest: fn('any', (list: Value) => {
    const all = items(list, finder('rest'));
    return all.length === 0 ? nilList() : all.slice(1);
  }),
  initial: fn('any', (list: Value) => {
    const all = items(list, finder('initial'));
    return all.length === 0 ? nilList() : all.slice(0, -1);
  }),
  reverse: fn('any', (list: Value) => [...items(list, finder('reverse'))].reverse()),
  compact: fn('any', (list: Value) => items(list, (k) => `Cannot compact on type ${k}`).filter(isTrue)),
  uniq: envFn('any', (env: Env, list: Value) => unique(env, items(list, finder('uniq')))),
  without: envFn('any ...any', (env: Env, list: Value, ...omit: Value[]) =>
    items(list, finder('without')).filter((item) => !isIn(env, omit, item)),
  ),
  has: envFn('any any', (env: Env, needle: Value, list: Value) =>
    list === null ? false : isIn(env, items(list, finder('has')), needle),
  ),
  slice: fn('any ...any', slice),
  chunk: fn('int any', chunk),
} as const;

const must = Object.fromEntries(
  Object.entries(functions)
    .filter(([name]) => name !== 'list')
    .map(([name, f]) => [`must${name.charAt(0).toUpperCase()}${name.slice(1)}`, f]),
);

export const listFunctions: FunctionTable = {
  ...functions,
  ...must,
  tuple: functions.list,
  push: functions.append,
  mustPush: functions.append,
  concat: fn('...any', (...lists: Value[]) => {
    const all = lists.flatMap((list) => items(list, (kind) => `Cannot concat type ${kind} as list`));
    return all.length === 0 ? nilList() : all;
  }),
  until: envFn('int', until),
  untilStep: envFn('int int int', (env: Env, start: number, stop: number, step: number) =>
    typedList('int', countUp(env, start, stop, step)),
  ),
  seq: envFn('...int', seq),
};
