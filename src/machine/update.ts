/**
 * Changes of objects whose content may hold null. A merge patch takes null for "remove", and a difference of merge patches
 * sees none between null and nothing: where it matters, the whole object is sent.
 */
import { equal } from '../lib/json.ts';
import { mergeDiff, mergePatch } from '../lib/merge.ts';
import type { Kind, Obj, View } from '../runtime/types.ts';
import { patch, replace, type Effect } from './decision.ts';

/**
 * The write after which the object has these fields, or undefined when it has them already.
 * @param body a merge patch with what else is to change
 * @param wanted fields of the object, each as a whole
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
  const isSaid = Object.entries(wanted).every(([field, value]) => equal(next[field], value));
  if (!isSaid) return replace(kind, existing, { ...next, ...wanted } as unknown as View<Obj>);
  return Object.keys(change).length === 0 ? undefined : patch(kind, existing, change);
}
