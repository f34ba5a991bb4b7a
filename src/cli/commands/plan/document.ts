/** A plan as JSON. Secrets are masked here, after all comparisons. Pure. */
import type { PlannedChange, PlannedObject } from '../../../../deployers/sdk/index.ts';
import { MASK, type Mask } from '../blueprints/rendering/mask.ts';
import { countsOf, type Counts } from './counts.ts';
import type { ItemState, PlannedTree, PlannedWait } from './planned.ts';
import { changesOf, withoutSecrets, type ShownChange } from './shown-changes.ts';

interface FieldDocument {
  readonly path: string;
  readonly before?: unknown;
  readonly after?: unknown;
}

export interface ObjectDocument {
  readonly change: PlannedChange;
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
  readonly note?: string;
  readonly problem?: string;
  readonly fields?: readonly FieldDocument[];
  /** Only in saved plans: the object that the job would create. */
  readonly content?: unknown;
}

export interface ItemDocument {
  readonly path: string;
  readonly type: string;
  readonly target?: string | undefined;
  readonly state: ItemState;
  readonly isKnown: boolean;
  readonly problem?: string;
  readonly note?: string;
  readonly objects: readonly ObjectDocument[];
  readonly notes: readonly string[];
  /** Live objects that differ although the job skips the item. */
  readonly drift?: { readonly objects: readonly ObjectDocument[]; readonly problem?: string };
}

export interface PlanDocument {
  readonly apiVersion: 'espalier.dev/v1alpha1';
  readonly kind: 'Plan';
  readonly items: readonly ItemDocument[];
  readonly problems: PlannedTree['problems'];
  readonly waits: readonly PlannedWait[];
  readonly summary: Counts;
}

/** @param hasContent whether objects that the job would create are included completely */
export function planDocument(tree: PlannedTree, mask: Mask, hasContent = false): PlanDocument {
  return {
    apiVersion: 'espalier.dev/v1alpha1',
    kind: 'Plan',
    items: tree.items.map(({ path, type, target, state, plan, problem, note, drift }) => ({
      path,
      type,
      target,
      state,
      isKnown: plan !== undefined,
      ...(problem !== undefined && { problem: mask.text(problem) }),
      ...(note !== undefined && { note }),
      objects: (plan?.objects ?? []).map((object) => objectDocument(object, mask, hasContent)),
      notes: (plan?.notes ?? []).map((text) => mask.text(text)),
      ...(drift && {
        drift: {
          objects: drift.objects.map((object) => objectDocument(object, mask, false)),
          ...(drift.problem !== undefined && { problem: mask.text(drift.problem) }),
        },
      }),
    })),
    problems: tree.problems.map((one) => ({ ...one, message: mask.text(one.message) })),
    waits: tree.waits,
    summary: countsOf(tree),
  };
}

function objectDocument(object: PlannedObject, mask: Mask, hasContent: boolean): ObjectDocument {
  const { apiVersion, kind, namespace, name } = object.ref;
  const fields = object.change === 'change' ? changesOf(object) : [];
  const value = (change: ShownChange, side: 'before' | 'after'): object =>
    change[side] === undefined ? {} : { [side]: change.isSecret ? MASK : mask.value(change[side]) };
  return {
    change: object.change,
    apiVersion,
    kind,
    ...(namespace && { namespace }),
    name,
    ...(object.note !== undefined && { note: mask.text(object.note) }),
    ...(object.problem !== undefined && { problem: mask.text(object.problem) }),
    ...(fields.length > 0 && {
      fields: fields.map((change) => ({
        path: change.path,
        ...value(change, 'before'),
        ...value(change, 'after'),
      })),
    }),
    ...(hasContent &&
      object.change === 'create' &&
      object.after && { content: mask.value(withoutSecrets(object.after)) }),
  };
}
