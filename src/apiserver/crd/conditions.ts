/** The status of CustomResourceDefinitions: conditions and name conflicts. Pure. */
import { append } from '../../lib/lists.ts';
import { specOf, type CrdNames } from './kinds.ts';
import { APPROVAL, isProtectedGroup } from './names.ts';
import { CLEANUP_FINALIZER } from './strategy.ts';
import { equalJson } from '../types.ts';
import type { JsonObject, KubeObject } from '../types.ts';

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly lastTransitionTime: string;
  readonly reason: string;
  readonly message: string;
}

const conditionsOf = (crd: KubeObject): Condition[] =>
  ((crd['status'] as JsonObject | undefined)?.['conditions'] ?? []) as Condition[];
export const isTrue = (crd: KubeObject, type: string): boolean =>
  conditionsOf(crd).some((c) => c.type === type && c.status === 'True');

/** Names of other definitions of the same group. */
interface TakenNames {
  readonly resources: ReadonlySet<string>;
  readonly kinds: ReadonlySet<string>;
}

export function takenBy(others: Iterable<CrdNames>): TakenNames {
  const resources = new Set<string>();
  const kinds = new Set<string>();
  for (const { plural, singular, shortNames = [], kind, listKind } of others) {
    for (const name of [plural, singular, ...shortNames]) resources.add(name);
    for (const name of [kind, listKind]) kinds.add(name);
  }
  return { resources, kinds };
}

interface Acceptance {
  readonly names: JsonObject;
  /** The last conflict, if there is one. */
  readonly problem?: { readonly reason: string; readonly message: string };
}

/** Each name is accepted on its own; if it is taken, the one accepted before stays. */
export function acceptNames(wanted: CrdNames, accepted: JsonObject, taken: TakenNames): Acceptance {
  const names: JsonObject = { ...accepted };
  const { categories } = wanted;
  if (categories) names['categories'] = categories;
  else delete names['categories'];
  let problem: Acceptance['problem'];
  const inUse = (list: readonly string[]): string =>
    list.map((name) => `${JSON.stringify(name)} is already in use`).join(', ');
  const accept = (member: keyof CrdNames, used: ReadonlySet<string>, reason: string): void => {
    const requested = wanted[member] ?? [];
    const list = [requested].flat();
    const before = [accepted[member] ?? []].flat();
    const conflicts = list.filter((name) => !before.includes(name) && used.has(name));
    if (conflicts.length > 0) problem = { reason, message: inUse(conflicts) };
    else if (list.length === 0) delete names[member];
    else names[member] = requested;
  };
  accept('plural', taken.resources, 'PluralConflict');
  accept('singular', taken.resources, 'SingularConflict');
  accept('shortNames', taken.resources, 'ShortNamesConflict');
  accept('kind', taken.kinds, 'KindConflict');
  accept('listKind', taken.kinds, 'ListKindConflict');
  return { names, ...(problem && { problem }) };
}

/** The status of a definition after its names have been judged. */
export function statusOf(crd: KubeObject, { names, problem }: Acceptance, now: string): JsonObject {
  const wanted = [
    problem
      ? condition('NamesAccepted', 'False', problem.reason, problem.message, now)
      : condition('NamesAccepted', 'True', 'NoConflicts', 'no conflicts found', now),
  ];
  if (!problem)
    wanted.push(
      condition('Established', 'True', 'InitialNamesAccepted', 'the initial names have been accepted', now),
    );
  else if (!isTrue(crd, 'Established'))
    wanted.push(condition('Established', 'False', 'NotAccepted', 'not all names are accepted', now));
  append(wanted, approvalConditions(crd, now));
  return {
    ...(crd['status'] as JsonObject),
    conditions: mergeConditions(conditionsOf(crd), wanted),
    acceptedNames: names,
  };
}

/** Definitions in groups of Kubernetes itself say whether it has approved them. */
function approvalConditions(crd: KubeObject, now: string): Condition[] {
  const approval = crd.metadata.annotations?.[APPROVAL];
  if (!isProtectedGroup(specOf(crd).group) || approval === undefined) return [];
  const type = 'KubernetesAPIApprovalPolicyConformant';
  return [
    approval.startsWith('unapproved')
      ? condition(type, 'False', 'UnapprovedAnnotation', `not approved: ${JSON.stringify(approval)}`, now)
      : condition(type, 'True', 'ApprovedAnnotation', `approved in ${approval}`, now),
  ];
}

/** Marks a definition whose instances are gone, and that other finalizers keep. */
export const instancesRemoved = (crd: KubeObject, now: string): Condition[] =>
  mergeConditions(conditionsOf(crd), [
    condition('Terminating', 'False', 'InstanceDeletionCompleted', 'removed all instances', now),
  ]);

const condition = (
  type: string,
  status: string,
  reason: string,
  message: string,
  now: string,
): Condition => ({
  type,
  status,
  lastTransitionTime: now,
  reason,
  message,
});

/** Keeps the transition time of conditions with an unchanged status. */
function mergeConditions(old: readonly Condition[], wanted: readonly Condition[]): Condition[] {
  const merged = [...old];
  for (const want of wanted) {
    const i = merged.findIndex((c) => c.type === want.type);
    const before = merged[i];
    if (!before) merged.push(want);
    else if (!equalJson({ ...before, lastTransitionTime: '' }, { ...want, lastTransitionTime: '' }))
      merged[i] =
        before.status === want.status ? { ...want, lastTransitionTime: before.lastTransitionTime } : want;
  }
  return merged;
}

/** Marks a deleted definition as terminating until its instances are gone. */
export function markTerminating(crd: KubeObject, now: string): void {
  crd.metadata.finalizers = [
    ...(crd.metadata.finalizers ?? []).filter((f) => f !== CLEANUP_FINALIZER),
    CLEANUP_FINALIZER,
  ];
  const status = crd['status'] as JsonObject;
  const terminating = condition(
    'Terminating',
    'True',
    'InstanceDeletionInProgress',
    'CustomResource deletion is in progress',
    now,
  );
  crd['status'] = { ...status, conditions: mergeConditions(conditionsOf(crd), [terminating]) };
}
