/** The steps of a job that removes all objects of an item. */
import { shownTargetName } from '../../../src/api/target-name.ts';
import type { Problem } from '../../../src/machine/decision.ts';
import type { DeployContext } from '../../sdk/deployer.ts';
import { at, DeployerError, RetryError, TimeoutError, type Place } from '../../sdk/errors.ts';
import { done, retry, wait, type Outcome } from '../../sdk/outcome.ts';
import type { KubeAccess } from '../../sdk/access.ts';
import type { ResolvedTarget } from '../../sdk/target.ts';
import { timeoutAt } from '../../sdk/timeout.ts';
import {
  CHECKPOINT,
  leaveToOthersPorts,
  newProgress,
  removeRound,
  type RemainingObject,
  type Progress,
} from './delete.ts';
import type { DeletionGroup } from './groups.ts';
import type { Ownership } from './label.ts';
import { describeRef, type ManagedResource } from './model.ts';

export interface RemovalPlan {
  readonly prefix: string;
  /** Operation for errors about the access to the target. */
  readonly operation: string;
  readonly ownership: Ownership;
  readonly old: readonly ManagedResource[];
  readonly groups: readonly DeletionGroup[];
}

const ERROR = { operation: 'delete', reason: 'DeleteWithUninstall' } as const;
const MAX_LISTED = 5;

/** The message about objects that still exist. */
export function remainingObjectsProblem(
  left: readonly RemainingObject[],
  targetName: string,
  place: Place,
): { why: Problem; onTimeout: Problem } {
  const shown = left.slice(0, MAX_LISTED).map(({ ref, why }) => `${describeRef(ref)} (${why})`);
  const more = left.length > MAX_LISTED ? ` and ${String(left.length - MAX_LISTED)} more` : '';
  const { operation, reason, message } = timeoutAt(CHECKPOINT);
  return {
    why: {
      ...place,
      message: `waiting for the deletion of ${shown.join(', ')}${more} on target ${targetName}`,
    },
    onTimeout: {
      ...place,
      message: `failed deleting managed resources: timeout during processing deletiongroup: Op: ${operation} - Reason: ${reason} - Message: ${message}`,
      codes: ['ERR_TIMEOUT'],
    },
  };
}

/**
 * The cluster of the item's target.
 * @param operation for the error if the target cannot be accessed
 * @throws RetryError, or the client's Unauthorized
 */
export async function accessOf(target: ResolvedTarget | undefined, operation: string): Promise<KubeAccess> {
  if (!target)
    throw new RetryError({ operation, reason: 'ensureTargetAccess', message: 'no target defined' });
  try {
    return await target.kube();
  } catch (error) {
    if (!(error instanceof RetryError)) throw error;
    throw new RetryError({ operation, reason: error.reason, message: error.message, cause: error });
  }
}

export async function removeAll<S>(ctx: DeployContext<unknown, S>, plan: RemovalPlan): Promise<Outcome<S>> {
  ctx.assertTimeLeft(`${plan.prefix}: start delete`);
  if (plan.old.length === 0) return done();
  const progress = (ctx.scratch.get('removed') as Progress | undefined) ?? newProgress();
  ctx.scratch.set('removed', progress);
  try {
    const { left } = await removeRound(plan.old, {
      access: await accessOf(ctx.target, plan.operation),
      secondary: async (name) => (await ctx.secondaryTarget(name)).kube(),
      ownership: plan.ownership,
      groups: plan.groups,
      signal: ctx.signal,
      log: ctx.log,
      ...leaveToOthersPorts(ctx),
      assertTimeLeft: (name) => ctx.assertTimeLeft(name),
      progress,
    });
    return left.length === 0
      ? done()
      : wait(remainingObjectsProblem(left, shownTargetName(ctx.target), ERROR));
  } catch (error) {
    if (ctx.signal.aborted || error instanceof TimeoutError) throw error;
    if (error instanceof DeployerError) return retry(error.problem);
    return retry(
      at(
        ERROR,
        error,
        (message) => `failed deleting managed resources on target ${shownTargetName(ctx.target)}: ${message}`,
      ).problem,
    );
  }
}
