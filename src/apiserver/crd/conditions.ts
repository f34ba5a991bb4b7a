/** The status of CustomResourceDefinitions: conditions and name conflicts. Pure. */
import type { CrdNames } from './kinds.ts';
import { CLEANUP_FINALIZER } from './strategy.ts';
import type { JsonObject, KubeObject } from '../types.ts';

export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly lastTransitionTime: string;
  readonly reason: string;
  readonly message: string;
}

export const conditionsOf = (crd: KubeObject): Condition[] =>
  ((crd['status'] as JsonObject | undefined)?.['conditions'] ?? []) as Condition[];
export const isTrue = (crd: KubeObject, type: string): boolean =>
  conditionsOf(crd).some((c) => c.type === type && c.status === 'True');

export interface Problem {
  readonly reason: string;
  readonly name: string;
}

export function conflictOf(mine: CrdNames, theirs: CrdNames): Problem | undefined {
  const resources = [theirs.plural, theirs.singular, ...(theirs.shortNames ?? [])];
  const kinds = [theirs.kind, theirs.listKind];
  if (resources.includes(mine.plural)) return { reason: 'PluralConflict', name: mine.plural };
  if (resources.includes(mine.singular)) return { reason: 'SingularConflict', name: mine.singular };
  const short = (mine.shortNames ?? []).find((name) => resources.includes(name));
  if (short !== undefined) return { reason: 'ShortNamesConflict', name: short };
  if (kinds.includes(mine.kind)) return { reason: 'KindConflict', name: mine.kind };
  if (kinds.includes(mine.listKind)) return { reason: 'ListKindConflict', name: mine.listKind };
  return undefined;
}

export const condition = (
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
export function mergeConditions(old: readonly Condition[], wanted: readonly Condition[]): Condition[] {
  const merged = [...old];
  for (const want of wanted) {
    const i = merged.findIndex((c) => c.type === want.type);
    const before = merged[i];
    if (!before) merged.push(want);
    else if (before.status !== want.status || before.reason !== want.reason)
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
