/** Functions for empty values, defaults and types. */
import type { FunctionTable } from '../env.ts';
import { fn } from '../signature.ts';
import { deepEqual, isTrue, kindName, typeName, type Value } from '../values.ts';

export const defaultFunctions: FunctionTable = {
  default: fn('any ...any', (fallback: Value, ...given: Value[]) => (isTrue(given[0]) ? given[0] : fallback)),
  empty: fn('any', (v: Value) => !isTrue(v)),
  coalesce: fn('...any', (...v: Value[]) => v.find(isTrue) ?? null),
  all: fn('...any', (...v: Value[]) => v.every(isTrue)),
  any: fn('...any', (...v: Value[]) => v.some(isTrue)),
  ternary: fn('any any bool', (yes: Value, no: Value, test: boolean) => (test ? yes : no)),
  typeOf: fn('any', typeName),
  typeIs: fn('string any', (type: string, v: Value) => typeName(v) === type),
  typeIsLike: fn('string any', (type: string, v: Value) => [type, `*${type}`].includes(typeName(v))),
  kindOf: fn('any', kindName),
  kindIs: fn('string any', (kind: string, v: Value) => kindName(v) === kind),
  deepEqual: fn('any any', (a: Value, b: Value) => deepEqual(a, b)),
};
