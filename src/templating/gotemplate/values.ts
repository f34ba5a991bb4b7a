/**
 * Go values in JavaScript. JSON numbers are Go's float64; `bigint` is Go's int, so `eq .imports.n 3` fails as in
 * upstream, and integers never lose digits. `null` is a nil interface (a field of it is an error), `undefined` is
 * a missing value (a field of it is missing as well); Go distinguishes them as well.
 */
import { table } from '../../lib/objects.ts';
import { compareStrings } from '../go/go-string.ts';

/** What a Go integer type such as `time.Month` has besides its number. */
interface IntegerType {
  /** The form in which it is printed. */
  readonly text: string;
  readonly methods: ReadonlyMap<string, GoFunction>;
}

/** An integer of a Go type other than int. */
export class GoInt {
  readonly type: string;
  readonly value: bigint;
  readonly named: IntegerType | undefined;

  constructor(type: string, value: bigint, named?: IntegerType) {
    this.type = type;
    this.value = value;
    this.named = named;
  }
}

export const int64 = (value: bigint): GoInt => new GoInt('int64', BigInt.asIntN(64, value));

/** Name and methods of a named Go map or slice type. */
interface NamedType {
  readonly type: string;
  readonly methods: ReadonlyMap<string, GoFunction>;
}

/** A Go map with string keys. Values from JSON are converted when they are read. */
export class GoMap {
  /** Go's name of the value type. */
  readonly elem: string;
  /** Name and methods of a named type; undefined for a plain map. */
  readonly named: NamedType | undefined;
  #isNil = false;
  #source: object | undefined;
  #entries: Map<string, Value> | undefined;

  constructor(entries?: Map<string, Value>, elem = 'interface {}', named?: NamedType) {
    this.#entries = entries ?? new Map();
    this.elem = elem;
    this.named = named;
  }

  /** Go's nil map: prints like an empty one and is `null` in JSON. */
  static nil(elem: string): GoMap {
    const map = new GoMap(undefined, elem);
    map.#isNil = true;
    return map;
  }

  get isNil(): boolean {
    return this.#isNil;
  }

  static ofObject(source: object): GoMap {
    const map = new GoMap();
    map.#source = source;
    map.#entries = undefined;
    return map;
  }

  get entries(): Map<string, Value> {
    if (this.#entries === undefined) {
      this.#entries = new Map();
      for (const [key, value] of Object.entries(this.#source as object)) {
        if (value !== undefined) this.#entries.set(key, fromJson(value));
      }
      this.#source = undefined;
    }
    return this.#entries;
  }

  get(key: string): Value {
    return this.entries.get(key);
  }

  /** Go sorts map keys wherever the order is visible. */
  sortedKeys(): string[] {
    return [...this.entries.keys()].sort(compareStrings);
  }
}

/** A Go value with methods or fields: a time, a version, a file, a certificate. */
export class GoObject {
  readonly type: string;
  readonly fields: ReadonlyMap<string, Value>;
  readonly methods: ReadonlyMap<string, GoFunction>;
  /** String form for printing; undefined if it prints as a struct. */
  readonly text: (() => string) | undefined;
  /** The underlying value for functions of the same family. */
  readonly native: unknown;
  readonly json: (() => unknown) | undefined;

  constructor(options: {
    type: string;
    fields?: Readonly<Record<string, Value>>;
    methods?: Readonly<Record<string, GoFunction>>;
    text?: () => string;
    native?: unknown;
    json?: () => unknown;
  }) {
    this.type = options.type;
    this.fields = new Map(Object.entries(options.fields ?? {}));
    this.methods = new Map(Object.entries(options.methods ?? {}));
    this.text = options.text;
    this.native = options.native;
    this.json = options.json;
  }
}

/** A template function; the parameter types determine which arguments Go would accept. */
export interface GoFunction {
  readonly kind: 'function';
  readonly params: readonly string[];
  /** Type of each variadic argument. */
  readonly variadic: string | undefined;
  readonly call: (env: unknown, args: readonly Value[]) => Value;
}

export type Value =
  | undefined
  | null
  | boolean
  | string
  | number
  | bigint
  | GoInt
  | readonly Value[]
  | Uint8Array
  | GoMap
  | GoObject
  | GoFunction;

const ELEM = Symbol('element type');
const NIL = Symbol('nil slice');
const NAMED = Symbol('named type');
type Tagged = readonly Value[] & { [ELEM]?: string; [NIL]?: true; [NAMED]?: NamedType };

/** A slice with another element type than interface{}. */
export function typedList(elem: string, items: Value[]): readonly Value[] {
  (items as unknown as { [ELEM]: string })[ELEM] = elem;
  return items;
}

/** A slice of a named type. */
export function namedList(elem: string, items: Value[], named: NamedType): readonly Value[] {
  (items as unknown as { [NAMED]: NamedType })[NAMED] = named;
  return typedList(elem, items);
}

/** The methods of a value, if it has any. */
export function methodsOf(value: Value): ReadonlyMap<string, GoFunction> | undefined {
  if (value instanceof GoObject) return value.methods;
  if (value instanceof GoMap || value instanceof GoInt) return value.named?.methods;
  return isList(value) ? (value as Tagged)[NAMED]?.methods : undefined;
}

/** Go's nil slice: prints as `[]` and is `null` in JSON. */
export function nilList(elem?: string): readonly Value[] {
  const items: Value[] = [];
  (items as unknown as { [NIL]: true })[NIL] = true;
  return elem === undefined ? items : typedList(elem, items);
}

export const isNilList = (list: readonly Value[]): boolean => (list as Tagged)[NIL] === true;
export const elemType = (list: readonly Value[]): string => (list as Tagged)[ELEM] ?? 'interface {}';
export const isList = (value: Value): value is readonly Value[] => Array.isArray(value);
export const isFunction = (value: Value): value is GoFunction =>
  typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'function';

/** Wraps JSON; objects are not copied and must not change meanwhile. */
export function fromJson(value: unknown): Value {
  if (typeof value !== 'object' || value === null) return value as Value;
  if (Array.isArray(value)) return value.map(fromJson);
  if (value instanceof Uint8Array || value instanceof GoMap || value instanceof GoInt) return value;
  if (value instanceof GoObject || isFunction(value as Value)) return value as Value;
  return GoMap.ofObject(value);
}

/** Elements of a slice or of bytes as plain values. */
export const itemsOf = (list: readonly Value[] | Uint8Array): readonly Value[] =>
  list instanceof Uint8Array ? Array.from(list, (b) => new GoInt('uint8', BigInt(b))) : list;

export const isSlice = (value: Value): value is readonly Value[] | Uint8Array =>
  Array.isArray(value) || value instanceof Uint8Array;

/** Go's name of the dynamic type, `%T`. */
export function typeName(value: Value): string {
  switch (typeof value) {
    case 'undefined':
      return '<nil>';
    case 'boolean':
      return 'bool';
    case 'string':
      return 'string';
    case 'number':
      return 'float64';
    case 'bigint':
      return 'int';
    default:
  }
  if (value === null) return '<nil>';
  if (isList(value)) return (value as Tagged)[NAMED]?.type ?? `[]${elemType(value)}`;
  if (value instanceof Uint8Array) return '[]uint8';
  if (value instanceof GoMap) return value.named?.type ?? `map[string]${value.elem}`;
  if (value instanceof GoInt || value instanceof GoObject) return value.type;
  return 'func()';
}

/** Go's kind of the dynamic type, as `reflect` names it. */
export function kindName(value: Value): string {
  if (isList(value)) return 'slice';
  if (value instanceof GoMap) return 'map';
  const type = typeName(value);
  if (type === '<nil>') return 'invalid';
  if (type.startsWith('[]')) return 'slice';
  if (value instanceof GoObject) return type.startsWith('*') ? 'ptr' : 'struct';
  return INTEGER_KINDS[type] ?? (type === 'func()' ? 'func' : type);
}

const INTEGER_KINDS: Readonly<Record<string, string>> = table({
  'time.Duration': 'int64',
  'time.Month': 'int',
  'time.Weekday': 'int',
});

/** Truth for `if`, `and`, `empty` and `default`. */
export function isTrue(value: Value): boolean {
  if (value === undefined || value === null) return false;
  if (typeof value !== 'object') return typeof value === 'number' ? value !== 0 : Boolean(value);
  if (value instanceof GoInt) return value.value !== 0n;
  if (isSlice(value)) return value.length > 0;
  if (value instanceof GoMap) return value.entries.size > 0;
  return true;
}

/** The integer in a value of an integer type. */
export const integerOf = (value: Value): bigint | undefined =>
  typeof value === 'bigint' ? value : value instanceof GoInt ? value.value : undefined;

/** Go's `reflect.DeepEqual`: types count. */
export function deepEqual(a: Value, b: Value): boolean {
  if (a === b) return true;
  if ((a ?? undefined) === undefined || (b ?? undefined) === undefined)
    return (a ?? undefined) === (b ?? undefined);
  if (typeName(a) !== typeName(b)) return false;
  if (a instanceof GoInt) return a.value === (b as GoInt).value;
  if (isSlice(a)) {
    const x = itemsOf(a);
    const y = itemsOf(b as readonly Value[]);
    return x.length === y.length && x.every((item, i) => deepEqual(item, y[i]));
  }
  if (a instanceof GoMap) {
    const y = (b as GoMap).entries;
    return (
      a.isNil === (b as GoMap).isNil &&
      a.entries.size === y.size &&
      [...a.entries].every(([key, v]) => y.has(key) && deepEqual(v, y.get(key)))
    );
  }
  if (a instanceof GoObject) return a.text !== undefined && a.text() === (b as GoObject).text?.();
  return false;
}
