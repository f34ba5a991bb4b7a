/**
 * Conditions that tell of an object at rest: no phase writes them, for no job runs. They are there as long as what they
 * say is so; a new job begins without them. Pure.
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

/** Conditions that must go when a job begins. */
const atRestOnly: readonly string[] = [conditionTypes.AutomaticReconcile, conditionTypes.Drifted];
/** And those of an earlier job that was cut off while it tried a server again. */
const leftOver: readonly string[] = [...atRestOnly, conditionTypes.RemoteUnavailable];

const conditionsOf = ({ status }: Parent): readonly View<Condition>[] => status?.conditions ?? [];

/** The conditions with which a job of `self` begins. */
export const conditionsAtStart = (self: Parent): readonly View<Condition>[] | undefined => {
  const left = conditionsOf(self).filter(({ type }) => !leftOver.includes(type));
  return left.length > 0 ? left : undefined;
};

/** Makes it so that of the conditions of an object at rest those wanted are there and no others; undefined when it is. */
export function updateRestConditions(
  kind: Kind,
  self: Parent,
  wanted: readonly PhaseCondition[],
  now: string,
): Intake | undefined {
  const before = conditionsOf(self);
  const kept = before.filter(
    ({ type }) => !atRestOnly.includes(type) || wanted.some((change) => change.type === type),
  );
  const after = mergeConditions(kept, wanted, now);
  if (equal(before, after)) return undefined;
  const [news] = wanted.filter(({ type }) => !before.some((c) => c.type === type));
  return {
    effects: [patchStatus(kind, self, { conditions: after.length > 0 ? after : null })],
    then: 'continue',
    ...(news && { event: { reason: news.reason, note: news.message } }),
  };
}

// ---------------------------------------------------------------- drift

/** What an object says that has drifted since its job. */
export const driftOf = (object: Parent): string | undefined =>
  conditionsOf(object).find(({ type }) => type === conditionTypes.Drifted)?.message;

/**
 * Says what below has failed since the job of `self` succeeded: deployers carry items out again by themselves, to repair
 * what drifted, and may not be able to.
 */
export function drift(self: Parent, below: readonly Child[]): PhaseCondition[] {
  const jobID = self.status?.jobID ?? '';
  if (!isFinished(self) || self.status?.phase !== 'Succeeded') return [];
  const causes = below.flatMap((object) => {
    const why = object.kind === 'DeployItem' ? failureSince(object, jobID) : driftOf(object);
    return why === undefined ? [] : [`${named(object)}: ${why}`];
  });
  if (causes.length === 0) return [];
  const reason = conditionReasons.FailedAfterJob;
  return [{ type: conditionTypes.Drifted, status: 'True', reason, message: causesText(causes) }];
}

/** Why an item failed in a job of its own, if it did. */
function failureSince(item: Child, jobID: string): string | undefined {
  const { status } = item;
  if (!isFinished(item) || hasFinishedJob(item, jobID) || status?.phase !== 'Failed') return undefined;
  return status.lastError?.message ?? 'it failed';
}
