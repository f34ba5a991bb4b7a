/** Follows paths in documents. */
import { type Path } from '../syntax/ast.ts';
import { isFields, isList, type Fields, type List, type Node } from './node.ts';

const INDEX = /^\[(-?\d+)\]$/;
const MERGE_KEYS = ['<<', '<<<'] as const;

/** The merge key of a map. */
export const mergeKeyOf = (fields: Fields): string | undefined => MERGE_KEYS.find((key) => fields.has(key));

/** A splice entry, which inserts several entries: `- <<<: (( l ))`. */
export function splicedEntry({ value }: Node): { readonly key: string; readonly inner: Node } | undefined {
  if (!isFields(value) || value.size !== 1) return undefined;
  const key = mergeKeyOf(value);
  const inner = key === undefined ? undefined : value.get(key);
  return key === undefined || inner === undefined ? undefined : { key, inner };
}

export const isMapComplete = (fields: Fields): boolean => mergeKeyOf(fields) === undefined;
export const isListComplete = (list: List): boolean => !list.some((it) => splicedEntry(it) !== undefined);

/**
 * The node at a path.
 * @param isRaw whether to search in maps and lists that are not merged yet
 */
export function find(root: Node, path: Path, isRaw = false): Node | undefined {
  let at: Node | undefined = root;
  for (const step of path) {
    if (at === undefined) return undefined;
    at = next(at, step, isRaw);
  }
  return at;
}

function next({ value, keyName }: Node, step: string, isRaw: boolean): Node | undefined {
  if (isFields(value)) return isRaw || isMapComplete(value) ? value.get(step) : undefined;
  if (!isList(value) || (!isRaw && !isListComplete(value))) return undefined;
  const index = INDEX.exec(step);
  if (index) return value.at(Number(index[1]));
  return named(value, step, keyName, isRaw);
}

/** The entry whose `name`, or other identifying field, is the step: `x`, `key:x`. */
function named(list: List, step: string, keyName: string | undefined, isRaw: boolean): Node | undefined {
  const colon = step.indexOf(':');
  const key = colon > 0 ? step.slice(0, colon) : (keyName ?? 'name');
  const wanted = colon > 0 ? step.slice(colon + 1) : step;
  return list.find((it) => isFields(it.value) && find(it, [key], isRaw)?.value === wanted);
}
