/** An item that has changed its mode: what the other one made goes before this one begins, or goes with the item. */
import { isBeingDeleted } from '../../src/api/job.ts';
import { accessOf } from '../objects/manifests/remove.ts';
import type { Outcome } from '../sdk/outcome.ts';
import { helmOf } from './helm-call.ts';
import { uninstall } from './release.ts';
import type { HelmOptions, HelmContext } from './helm-context.ts';
import type { HelmStatus } from './status.ts';
import { removeTemplates } from './template.ts';

/** @returns what has to be waited for, or why it did not work; undefined when nothing of the other mode is left */
export async function takeBackOther(
  ctx: HelmContext,
  options: HelmOptions,
): Promise<Outcome<HelmStatus> | undefined> {
  const { config, previous } = ctx;
  const old = previous?.release;
  if (!config.isRelease && old) {
    // Objects on their way out would take with them what is applied under the same names.
    await uninstall(ctx, await accessOf(ctx.target, 'DeleteFiles'), { ...old, isAwaited: true }, options);
  }
  // Entries of releases have no policy.
  const hasTemplates = !old && (previous?.managedResources ?? []).some(({ policy }) => policy);
  if (!config.isRelease || !hasTemplates) return undefined;
  // Nothing is taken back for a release that cannot be made.
  if (!isBeingDeleted(ctx.item.metadata)) helmOf(options);
  const outcome = await removeTemplates(ctx);
  return outcome.kind === 'done' ? undefined : outcome;
}
