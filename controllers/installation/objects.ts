/** Data objects and targets as effects: written when they differ, deleted when they are from an earlier job. Pure. */
import { dataObjectKind } from '../../src/api/kinds/dataobject.ts';
import { targetKind } from '../../src/api/kinds/target.ts';
import { overlay } from '../../src/dataflow/objects.ts';
import { mergeDiff } from '../../src/lib/merge.ts';
import { create, patch, remove, type Effect } from '../../src/machine/decision.ts';
import type { Kind } from '../../src/runtime/types.ts';
import type { DataOrTarget, Upsert } from './snapshot.ts';

const kindOf = (object: { readonly kind: string }): Kind =>
  object.kind === targetKind.kind ? targetKind : dataObjectKind;

/** Creates or updates; nothing when the object is as it should be. */
export function upsert({ wanted, existing }: Upsert): Effect[] {
  if (!existing) return [create(kindOf(wanted), wanted)];
  const next = overlay(existing, wanted);
  const diff = next && mergeDiff(existing, next);
  return diff ? [patch(kindOf(wanted), existing, diff)] : [];
}

export const deleteObject = (object: DataOrTarget): Effect => remove(kindOf(object), object);
