/** The differences between two JSON values, for a log; values are shown unless they may be secret. Pure. */
import { exactJson } from '../lib/exact-json.ts';
import { isObject } from '../lib/objects.ts';
import { isSameQuantity } from './shapes.ts';

export interface Compared {
  /** Whether values must not be shown. */
  readonly isSecret: boolean;
  /** Whether fields that exist only in `actual` are ignored. */
  readonly ignoresExtra: boolean;
  /** Whether a field is ignored; a JSON pointer. */
  isIgnored(pointer: string): boolean;
}

/** Number of differences that are listed; further ones are only counted. */
const SHOWN = 10;

/**
 * Each difference between `actual` and `wanted`: `/spec/replicas: 1, wanted 2`. Undefined fields count as absent.
 * Elements of lists are compared by position.
 */
export function differences(actual: unknown, wanted: unknown, how: Compared, from = ''): string[] {
  const found: string[] = [];
  let more = 0;
  const visit = (a: unknown, w: unknown, path: string): void => {
    if (how.isIgnored(path)) return;
    if (w === undefined ? a === undefined || how.ignoresExtra : isAlike(a, w, path)) return;
    if (isObject(a) && isObject(w)) {
      for (const key of new Set([...Object.keys(w), ...Object.keys(a)]))
        visit(own(a, key), own(w, key), `${path}/${escaped(key)}`);
    } else if (Array.isArray(a) && Array.isArray(w)) {
      for (let i = 0; i < Math.max(a.length, w.length); i++) visit(a[i], w[i], `${path}/${String(i)}`);
    } else if (found.length < SHOWN)
      found.push(how.isSecret ? path : `${path}: ${shown(a)}, wanted ${shown(w)}`);
    else more++;
  };
  visit(actual, wanted, from);
  return more > 0 ? [...found, `and ${String(more)} more`] : found;
}

const isAlike = (a: unknown, w: unknown, path: string): boolean =>
  a === w || (a !== a && w !== w) || isSameQuantity(a, w, path);

const own = (fields: Readonly<Record<string, unknown>>, key: string): unknown =>
  Object.hasOwn(fields, key) ? fields[key] : undefined;

/** A key as a part of a JSON pointer. */
export const escaped = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1');

const MAX_LENGTH = 60;

function shown(value: unknown): string {
  if (value === undefined) return 'nothing';
  const text = exactJson(value);
  return text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text;
}
