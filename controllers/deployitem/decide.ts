/**
 * Decides when a deploy item's job ends without its deployer: after the pickup timeout, for an invalid item, or
 * after an interrupt. Pure.
 */
import { hasOperation, isBeingDeleted, isFinished } from '../../src/api/job.ts';
import { deployItemKind, type DeployItem } from '../../src/api/kinds/deployitem.ts';
import { annotations, operations } from '../../src/api/labels.ts';
import { refusalForJob } from '../../src/api/validation/index.ts';
import { amend, type Effect, type Problem } from '../../src/machine/decision.ts';
import { INTERRUPTED, PICKUP_TIMEOUT, endItem } from '../../src/landscape/item-end.ts';
import { isPickedUp } from '../../src/landscape/pickup.ts';
import type { View } from '../../src/runtime/types.ts';

export interface Snapshot {
  readonly self: View<DeployItem>;
  /** RFC 3339, whole seconds. */
  readonly now: string;
  /** 0 disables the check. */
  readonly pickupTimeoutMs: number;
  /** Name of the item's target if the target does not exist. */
  readonly missingTarget: string | undefined;
}

type PickupDecision =
  | { readonly do: 'rest' }
  | { readonly do: 'requeue'; readonly requeueAfterMs: number }
  | { readonly do: 'fail'; readonly problem: Problem; readonly effect: Effect };

/** Tolerance for the clock skew between deployers and this controller. */
const GRACE_MS = 5_000;

export function decidePickup(snapshot: Snapshot): PickupDecision {
  const { self, now, pickupTimeoutMs } = snapshot;
  if (isFinished(self) || isPickedUp(self)) return { do: 'rest' };
  const refusal = isBeingDeleted(self.metadata) ? undefined : refusalForJob('deployitems', self);
  if (refusal !== undefined) {
    const problem = { operation: 'reconcile', reason: 'ValidateDeployItem', message: refusal };
    return failing(snapshot, { ...problem, codes: ['ERR_CONFIGURATION_PROBLEM'] });
  }
  if (pickupTimeoutMs === 0) return { do: 'rest' };
  const since = self.status?.jobIDGenerationTime;
  if (since === undefined) return { do: 'rest' };
  const leftMs = pickupTimeoutMs - (Date.parse(now) - Date.parse(since));
  return leftMs > 0
    ? { do: 'requeue', requeueAfterMs: leftMs + GRACE_MS }
    : failing(snapshot, timedOut(snapshot));
}

function timedOut({ self, pickupTimeoutMs, missingTarget }: Snapshot): Problem {
  const seconds = Math.round(pickupTimeoutMs / 1000);
  return {
    ...PICKUP_TIMEOUT,
    message:
      `no deployer has reconciled this deployitem within ${seconds} seconds` +
      (missingTarget === undefined
        ? ''
        : `, probably because the referenced Target does not exist: ${missingTarget}`) +
      `; is a deployer for type ${self.spec.type} running?`,
    codes: ['ERR_TIMEOUT'],
  };
}

function failing({ self, now }: Snapshot, problem: Problem): PickupDecision {
  const { generation } = self.metadata;
  const end = { problem, now, jobID: self.status?.jobID, observedGeneration: generation };
  const effect = endItem(self, { ...end, isUnstarted: true });
  return { do: 'fail', problem, effect };
}

/**
 * The writes of an interrupt that a user requested for this item; undefined if there is none. They remove the
 * annotation last, so an interrupt that fails halfway is repeated.
 */
export function interruptRequested({
  self,
  now,
}: Pick<Snapshot, 'self' | 'now'>): readonly Effect[] | undefined {
  if (!hasOperation(self.metadata, operations.interrupt)) return undefined;
  const { jobID, observedGeneration = 0 } = self.status ?? {};
  return [
    ...(isFinished(self) ? [] : [endItem(self, { problem: INTERRUPTED, now, jobID, observedGeneration })]),
    amend(deployItemKind, self, { dropAnnotations: { [annotations.operation]: operations.interrupt } }),
  ];
}
