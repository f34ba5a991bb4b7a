/** The JSON patch between two values. */
import { copy, equal } from '../../lib/json.ts';
import { append } from '../../lib/lists.ts';
import { isObject } from '../../lib/objects.ts';
import type { JsonOp } from '../types.ts';

/** Operations that turn `base` into `next`; arrays are replaced completely. */
export function jsonDiff(base: object, next: object, path = ''): JsonOp[] {
  const before = base as Record<string, unknown>;
  const after = next as Record<string, unknown>;
  const ops: JsonOp[] = [];
  for (const key of Object.keys(before)) {
    if (before[key] !== undefined && after[key] === undefined)
      ops.push({ op: 'remove', path: at(path, key) });
  }
  for (const [key, value] of Object.entries(after)) {
    const old = before[key];
    if (value === undefined || equal(old, value)) continue;
    if (isObject(old) && isObject(value)) append(ops, jsonDiff(old, value, at(path, key)));
    else ops.push({ op: old === undefined ? 'add' : 'replace', path: at(path, key), value: copy(value) });
  }
  return ops;
}

const at = (path: string, key: string): string =>
  `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
