/** What the runtime may do with an external resource, as its object specifies (pure). */
import { exactJson } from '../../lib/exact-json.ts';
import { isObject, ownField } from '../../lib/objects.ts';
import type { Obj, View } from '../types.ts';

export const steps = ['Observe', 'Create', 'Update', 'Delete', 'LateInitialize'] as const;
/** An action on the external resource that `managementPolicies` allows or not. */
export type ManagementPolicy = (typeof steps)[number];
type Step = ManagementPolicy;

/** Whether the resource is deleted with its object. */
export type Reclaim = 'Delete' | 'Retain';

export interface Policies {
  readonly allowed: ReadonlySet<Step>;
  readonly reclaim: Reclaim;
}

/**
 * The combinations that Crossplane supports by default besides `*`: nothing, only `Observe`, and `Observe` and `Create` with any
 * of the others.
 */
export const crossplanePolicySets: readonly (readonly ManagementPolicy[])[] = [
  [],
  ['Observe'],
  ...[[], ['Update'], ['Delete'], ['Update', 'Delete']].flatMap((more) => [
    ['Observe', 'Create', ...more] as ManagementPolicy[],
    ['Observe', 'Create', ...more, 'LateInitialize'] as ManagementPolicy[],
  ]),
];

type PolicyReading =
  { readonly ok: true; readonly policies: Policies } | { readonly ok: false; readonly problem: string };

/**
 * Reads `spec.managementPolicies`, a list of steps or `*` (default: all; empty: none, like a pause), and
 * `spec.reclaimPolicy`, `Delete` (default) or `Retain`.
 * @param sets the allowed combinations, besides `*`; default: all with `Observe`
 */
export function readPolicies(
  object: View<Obj>,
  sets?: readonly (readonly ManagementPolicy[])[],
): PolicyReading {
  const spec = ownField(object, 'spec');
  const listed = ownField(spec, 'managementPolicies') ?? ['*'];
  const reclaim = ownField(spec, 'reclaimPolicy') ?? 'Delete';
  if (reclaim !== 'Delete' && reclaim !== 'Retain') {
    return refuse(`spec.reclaimPolicy is ${exactJson(reclaim)}; it can be "Delete" or "Retain"`);
  }
  if (!Array.isArray(listed)) return refuse('spec.managementPolicies is not a list');
  const unknown: unknown = listed.find(
    (each) => each !== '*' && !(steps as readonly unknown[]).includes(each),
  );
  if (unknown !== undefined) {
    return refuse(
      `spec.managementPolicies has ${describe(unknown)}; it can hold "*", ${steps.map((each) => `"${each}"`).join(', ')}`,
    );
  }
  const allowed = new Set<Step>(listed.includes('*') ? steps : (listed as Step[]));
  if (allowed.size > 0 && !allowed.has('Observe')) {
    return refuse('spec.managementPolicies must include "Observe"');
  }
  if (sets && !listed.includes('*') && !sets.some((set) => isSame(set, allowed))) {
    const known = sets.map((set) => `[${set.join(', ')}]`).join(', ');
    return refuse(
      `spec.managementPolicies is [${[...allowed].join(', ')}], which this controller does not support; it can be ["*"], ${known}`,
    );
  }
  return { ok: true, policies: { allowed, reclaim } };
}

const isSame = (set: readonly Step[], allowed: ReadonlySet<Step>): boolean =>
  new Set(set).size === allowed.size && set.every((step) => allowed.has(step));
const refuse = (problem: string): PolicyReading => ({ ok: false, problem });
const describe = (value: unknown): string => (isObject(value) ? 'an object' : exactJson(value));

/** Whether the resource is deleted when its object is deleted. */
export const deletesResource = ({ allowed, reclaim }: Policies): boolean =>
  reclaim === 'Delete' && allowed.has('Delete');

/** Whether the object needs a finalizer. */
export const needsFinalizer = ({ allowed }: Policies): boolean =>
  allowed.has('Create') || allowed.has('Update') || allowed.has('Delete');
