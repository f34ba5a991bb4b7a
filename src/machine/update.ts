/**
 * Changes of objects whose content may contain null. In a merge patch null means "remove", so a patch cannot set a field to
 * null; in this case the whole object is sent.
 */
import { equal } from '../lib/json.ts';
import { mergeDiff, mergePatch } from '../lib/merge.ts';
import type { Kind, Obj, View } from '../runtime/types.ts';
import { patch, replace, type Effect } from './decision.ts';

/**
 * The write after which the object has the wanted fields; undefined if it already has them.
 * @param body a merge patch with further changes
 * @param wanted complete values by field of the object
 */
export function update(
  kind: Kind,
  existing: View<Obj>,
  wanted: Readonly<Record<string, unknown>>,
  body: object = {},
): Effect | undefined {
  const before = existing as unknown as Readonly<Record<string, unknown>>;
  const actual = Object.fromEntries(Object.keys(wanted).map((field) => [field, before[field]]));
  const change = { ...mergeDiff(actual, wanted), ...body };
  const next = mergePatch(existing, change) as unknown as Readonly<Record<string, unknown>>;
  const isExpressible = Object.entries(wanted).every(([field, value]) => equal(next[field], value));
  if (!isExpressible) return replace(kind, existing, { ...next, ...wanted } as unknown as View<Obj>);
  return Object.keys(change).length === 0 ? undefined : patch(kind, existing, change);
}
