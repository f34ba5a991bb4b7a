/**
 * Handles items that change between release and template mode: the objects of the previous mode are removed first,
 * or with the deletion of the item.
 */
import { isBeingDeleted } from '../../src/api/job.ts';
import { accessOf } from '../objects/manifests/remove.ts';
import type { Outcome } from '../sdk/outcome.ts';
import { actionsFor } from './actions.ts';
import { uninstall } from './release.ts';
import type { HelmOptions, HelmContext } from './helm-context.ts';
import type { HelmStatus } from './status.ts';
import { removeTemplates } from './template.ts';

/** @returns what to wait for, or why it failed; undefined if nothing of the other mode is left */
export async function removeOtherMode(
  ctx: HelmContext,
  options: HelmOptions,
): Promise<Outcome<HelmStatus> | undefined> {
  const { config, previous } = ctx;
  const old = previous?.release;
  if (!config.isRelease && old) {
    // Objects under deletion would also delete objects that are applied with the same names.
    await uninstall(
      ctx,
      await accessOf(ctx.target, 'DeleteFiles'),
      { ...old, waitsForObjects: true },
      options,
    );
  }
  // Entries of releases have no policy.
  const hasTemplates = !old && (previous?.managedResources ?? []).some(({ policy }) => policy);
  if (!config.isRelease || !hasTemplates) return undefined;
  // If a configured helm program is missing, the release cannot be installed, so nothing is removed for it.
  if (!isBeingDeleted(ctx.item.metadata))
    actionsFor(ctx, await accessOf(ctx.target, 'ApplyFile'), options).check();
  const outcome = await removeTemplates(ctx);
  return outcome.kind === 'done' ? undefined : outcome;
}
