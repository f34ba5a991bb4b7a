/** Applies changes to items. Pure. */
import type { Changes } from '../../src/cli/console/wire.ts';

/** The items after a change. */
export function changedItems<T extends { readonly id: string }>(
  items: ReadonlyMap<string, T>,
  { set, gone }: Changes<T>,
): ReadonlyMap<string, T> {
  const next = new Map(items);
  for (const id of gone) next.delete(id);
  for (const item of set) next.set(item.id, item);
  return next;
}
