/**
 * Objects without a parent: a create request arrived after their installation or execution was deleted. The garbage
 * collector deletes them, but the controller that would have given them a job to uninstall no longer exists.
 */
import { hasFinalizer, isBeingDeleted, parentInstallation, type JobView } from '../api/job.ts';
import type { DeployItem } from '../api/kinds/deployitem.ts';
import { executionKind } from '../api/kinds/execution.ts';
import type { Kind, Obj, View } from '../runtime/types.ts';
import { removeFinalizer } from '../machine/decision.ts';
import type { Intake } from '../machine/reconcile.ts';
import { isAsCreated } from './pickup.ts';
import type { World } from './world.ts';

/**
 * Whether an object under deletion never had a job and its parent no longer exists. Without objects below it, there
 * is nothing to uninstall.
 */
export function isAbandoned(world: World, self: View<Obj> & JobView): boolean {
  const { metadata, status } = self;
  if (!isBeingDeleted(metadata) || !hasFinalizer(metadata) || status?.jobID) return false;
  const parent = parentInstallation(metadata);
  if (parent === undefined) return false;
  const there = world.installations.get(`${metadata.namespace ?? ''}/${parent}`);
  return !metadata.ownerReferences?.some((owner) => owner.uid === there?.metadata.uid);
}

/**
 * The execution that has to be gone before a deploy item under deletion can be released; undefined if the item has to be
 * uninstalled, or waits for something else.
 */
export function missedExecution(
  self: View<DeployItem>,
): { readonly name: string; readonly uid: string } | undefined {
  const { metadata } = self;
  if (!isBeingDeleted(metadata) || !hasFinalizer(metadata) || !isAsCreated(self)) return undefined;
  return metadata.ownerReferences?.find(
    ({ controller, kind }) => controller === true && kind === executionKind.kind,
  );
}

export const releaseObject = (kind: Kind, self: View<Obj>): Intake => ({
  effects: [removeFinalizer(kind, self)],
  then: 'stop',
});
