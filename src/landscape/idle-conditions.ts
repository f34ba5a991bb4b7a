/**
 * Conditions of installations and executions whose job has ended. No phase writes them. They are removed when they
 * no longer apply, and when the next job starts. Pure.
 */
import { conditionReasons, conditionTypes } from '../api/conditions.ts';
import { hasFinishedJob, isFinished } from '../api/job.ts';
import type { DeployItem } from '../api/kinds/deployitem.ts';
import type { Execution } from '../api/kinds/execution.ts';
import type { Installation } from '../api/kinds/installation.ts';
import type { Condition } from '../api/shared.ts';
import { equal } from '../lib/json.ts';
import type { Kind, View } from '../runtime/types.ts';
import { causesText } from '../machine/causes.ts';
import { named, patchStatus, type PhaseCondition } from '../machine/decision.ts';
import type { Intake } from '../machine/reconcile.ts';
import { mergeConditions } from '../machine/status.ts';

type Parent = View<Installation> | View<Execution>;
type Child = Parent | View<DeployItem>;

/** Conditions that are removed when a job starts. */
const idleOnly: readonly string[] = [conditionTypes.AutomaticReconcile, conditionTypes.Drifted];
/** The same, and a condition of an earlier job that ended while it retried requests to a server. */
const removedAtStart: readonly string[] = [...idleOnly, conditionTypes.RemoteUnavailable];

const conditionsOf = ({ status }: Parent): readonly View<Condition>[] => status?.conditions ?? [];

/** The conditions with which a job of `self` starts. */
export const conditionsAtStart = (self: Parent): readonly View<Condition>[] | undefined => {
  const left = conditionsOf(self).filter(({ type }) => !removedAtStart.includes(type));
  return left.length > 0 ? left : undefined;
};

/** Sets the conditions of an idle object to exactly the wanted ones; undefined if they are already set. */
export function updateIdleConditions(
  kind: Kind,
  self: Parent,
  wanted: readonly PhaseCondition[],
  now: string,
): Intake | undefined {
  const before = conditionsOf(self);
  const kept = before.filter(
    ({ type }) => !idleOnly.includes(type) || wanted.some((change) => change.type === type),
  );
  const after = mergeConditions(kept, wanted, now);
  if (equal(before, after)) return undefined;
  const [added] = wanted.filter(({ type }) => !before.some((c) => c.type === type));
  return {
    effects: [patchStatus(kind, self, { conditions: after.length > 0 ? after : null })],
    then: 'continue',
    ...(added && { event: { reason: added.reason, note: added.message } }),
  };
}

// ---------------------------------------------------------------- drift

/** The message about drift since the last job, if there is one. */
export const driftOf = (object: Parent): string | undefined =>
  conditionsOf(object).find(({ type }) => type === conditionTypes.Drifted)?.message;

/**
 * Reports objects below that have failed since the job of `self` succeeded: deployers reconcile their items without
 * a job to repair drift, and that can fail.
 */
export function drift(self: Parent, below: readonly Child[]): PhaseCondition[] {
  const jobID = self.status?.jobID ?? '';
  if (!isFinished(self) || self.status?.phase !== 'Succeeded') return [];
  const causes = below.flatMap((object) => {
    const why = object.kind === 'DeployItem' ? failureSince(object, jobID) : driftOf(object);
    return why === undefined ? [] : [{ text: `${named(object)}: ${why}` }];
  });
  if (causes.length === 0) return [];
  const reason = conditionReasons.FailedAfterJob;
  return [{ type: conditionTypes.Drifted, status: 'True', reason, message: causesText(causes) }];
}

/** Why an item failed after the job; undefined if it did not. */
function failureSince(item: Child, jobID: string): string | undefined {
  const { status } = item;
  if (!isFinished(item) || hasFinishedJob(item, jobID) || status?.phase !== 'Failed') return undefined;
  return status.lastError?.message ?? 'it failed';
}
