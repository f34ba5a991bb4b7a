/**
 * The steps of a job that applies manifests: intent, apply, orphans, readiness, exports, patches. If a step has to
 * wait, the reconcile ends. The next reconcile continues with that step, or, in another process, with the first
 * one.
 */
import { shownTargetName } from '../../../src/api/target-name.ts';
import type { DeployContext } from '../../sdk/deployer.ts';
import { at, ConfigurationError, DeployerError } from '../../sdk/errors.ts';
import { retry, wait, type Outcome } from '../../sdk/outcome.ts';
import type { KubeAccess } from '../../sdk/access.ts';
import { secondaryOf, checkReadinessAndExports, type AfterPlan } from '../readiness-and-exports.ts';
import { checkedRef, type CheckedRef } from '../readiness/checked.ts';
import { applyAll, inventoryAfter, resolveKinds, type ApplyResult } from './apply.ts';
import { leaveToOthersPorts, newProgress, removeRound, type Progress } from './delete.ts';
import type { DeletionGroup } from './groups.ts';
import { intended, entriesMissingIn, union } from './inventory.ts';
import type { Ownership } from './label.ts';
import {
  describeRef,
  idOf,
  isForeign,
  keyOfRef,
  refOf,
  type KubeObject,
  type ManagedResource,
  type Manifest,
  type ResourceRef,
  type Strategy,
} from './model.ts';
import type { Applied, ApplyPorts } from './object.ts';
import { expandLists, NotAnObject, withoutDuplicates } from './order.ts';
import { accessOf, remainingObjectsProblem } from './remove.ts';
import { inParallel } from './parallel.ts';
import { maskFor } from './secrets.ts';
import type { Mask } from '../../../src/lib/masking.ts';
import { deepMerge } from './strategy.ts';

export interface DeployPlan<S> extends Omit<AfterPlan, 'mask'> {
  readonly fieldManager: string;
  readonly manifests: readonly Manifest[];
  readonly strategy: Strategy;
  readonly ownership: Ownership;
  readonly old: readonly ManagedResource[];
  readonly groups: readonly DeletionGroup[];
  readonly status: (managed: readonly ManagedResource[]) => S;
}

/** Completed steps, kept between reconciles. Manifests are only kept for the patches at the end of the job. */
interface DeployProgress {
  readonly patched: readonly Applied[];
  /** Masks values of the manifests' secrets in errors of patches. */
  readonly mask: Mask;
  readonly managed: readonly ManagedResource[];
  readonly checked: readonly CheckedRef[];
  readonly orphans: readonly ManagedResource[];
  readonly progress: Progress;
  hasOrphans: boolean;
  /** Responses of the apply; only valid for the first readiness check. */
  live: ReadonlyMap<ResourceRef, KubeObject>;
}

/** Warnings become events of the item. @param manifests whose secrets are masked */
export const applyPorts = (
  ctx: DeployContext,
  { ownership, strategy, fieldManager }: Pick<DeployPlan<unknown>, 'ownership' | 'strategy' | 'fieldManager'>,
  access: KubeAccess,
  manifests: readonly Manifest[],
): ApplyPorts => ({
  access,
  ownership,
  strategy,
  fieldManager,
  targetName: shownTargetName(ctx.target),
  clock: ctx.clock,
  signal: ctx.signal,
  mask: maskFor(manifests),
  warn: (reason, note) => {
    ctx.event('Warning', reason, note);
  },
});

const STARTED = 'begun';
const DONE = 'deployed';

export async function deploy<S>(ctx: DeployContext<unknown, S>, plan: DeployPlan<S>): Promise<Outcome<S>> {
  ctx.assertTimeLeft(`${plan.prefix}: start reconcile`);
  const access = await accessOf(ctx.target, plan.operation);
  let state = ctx.scratch.get(DONE) as DeployProgress | undefined;
  if (!state) {
    const answer = await apply(ctx, plan, access);
    if ('kind' in answer) return answer;
    state = answer;
    ctx.scratch.set(DONE, state);
  }
  if (state.hasOrphans) {
    const left = await removeOrphans(ctx, plan, state, access);
    if (left) return left;
    state.hasOrphans = false;
  }
  return finish(ctx, plan, state, access);
}

// ---------------------------------------------------------------- apply

async function apply<S>(
  ctx: DeployContext<unknown, S>,
  plan: DeployPlan<S>,
  access: KubeAccess,
): Promise<DeployProgress | Outcome<S>> {
  ctx.assertTimeLeft('deployer: process managed resource manifests');
  const manifests = expand(plan);
  ctx.assertTimeLeft('deployer: process manifests');
  const members = await resolveKinds(unique(ctx, manifests), access, shownTargetName(ctx.target)).catch(
    (error: unknown) => {
      if (error instanceof DeployerError) return error;
      throw error;
    },
  );
  // The status contains the inventory even if no object could be applied.
  if (members instanceof DeployerError) return retry(members.problem, { status: plan.status(plan.old) });
  if (!ctx.scratch.has(STARTED)) {
    await ctx.begin(plan.status(intended(plan.old, members)));
    ctx.scratch.set(STARTED, true);
  }
  ctx.assertTimeLeft('deployer: apply manifests');
  const ports = applyPorts(ctx, plan, access, manifests);
  const result = await applyAll(members, plan.old, ports);
  if (result.problem) return retry(result.problem, { status: plan.status(inventoryAfter(plan.old, result)) });
  const orphans = orphansOf(ctx, plan, members, result.managed);
  const patched = result.applied.filter(isPatchedAfter).map(({ live: _, ...rest }) => rest);
  return {
    patched,
    mask: patched.length > 0 ? ports.mask : (text) => text,
    managed: result.managed,
    checked: checkedIn(result),
    orphans,
    progress: newProgress(),
    hasOrphans: orphans.length > 0,
    live: liveOf(result.applied),
  };
}

/** @throws DeployerError if an element of a list is not an object */
export function expand(plan: Pick<DeployPlan<unknown>, 'manifests' | 'operation'>): readonly Manifest[] {
  try {
    return expandLists(plan.manifests);
  } catch (error) {
    if (!(error instanceof NotAnObject)) throw error;
    throw new ConfigurationError({
      operation: plan.operation,
      reason: 'ExpandManifests',
      message: error.message,
      cause: error,
    });
  }
}

/** If two manifests describe the same object, the later one counts. */
function unique<S>(ctx: DeployContext<unknown, S>, all: readonly Manifest[]): readonly Manifest[] {
  const { manifests, duplicates } = withoutDuplicates(all);
  for (const { object, origin } of ctx.scratch.has(STARTED) ? [] : duplicates) {
    const what = describeRef(refOf(object)) + (origin === undefined ? '' : ` (${origin})`);
    ctx.event(
      'Warning',
      'DuplicateManifest',
      `${what} is defined again further down; the later definition is used`,
    );
  }
  return manifests;
}

const liveOf = (applied: readonly Applied[]): ReadonlyMap<ResourceRef, KubeObject> =>
  new Map(applied.flatMap(({ entry, live }) => (entry && live ? [[entry.resource, live] as const] : [])));

function checkedIn({ applied, managed }: ApplyResult): readonly CheckedRef[] {
  const objects = new Map(
    applied.flatMap(({ manifest, entry, live }) =>
      entry ? [[entry.resource, live ?? manifest.object]] : [],
    ),
  );
  return managed.map(({ resource }) => checkedRef(resource, objects.get(resource)));
}

/** Objects that left the manifests. An object that other items manage is released instead of deleted. */
function orphansOf<S>(
  ctx: DeployContext<unknown, S>,
  plan: DeployPlan<S>,
  members: readonly Manifest[],
  managed: readonly ManagedResource[],
): readonly ManagedResource[] {
  const released = new Set(
    members.filter((m) => isForeign(m.policy)).map(({ object }) => idOf(refOf(object))),
  );
  const orphans: ManagedResource[] = [];
  for (const entry of entriesMissingIn(plan.old, managed)) {
    if (!released.has(idOf(entry.resource))) orphans.push(entry);
    else
      ctx.event(
        'Normal',
        'Released',
        `${describeRef(entry.resource)} now belongs to other deploy items and is not changed`,
      );
  }
  return orphans;
}

// ---------------------------------------------------------------- orphans

async function removeOrphans<S>(
  ctx: DeployContext<unknown, S>,
  plan: DeployPlan<S>,
  state: DeployProgress,
  access: KubeAccess,
): Promise<Outcome<S> | undefined> {
  ctx.assertTimeLeft('deployer: cleanup orphaned');
  const status = plan.status(union(state.orphans, state.managed));
  let left;
  try {
    ({ left } = await removeRound(state.orphans, {
      access,
      secondary: secondaryOf(ctx),
      ownership: plan.ownership,
      groups: plan.groups,
      signal: ctx.signal,
      log: ctx.log,
      ...leaveToOthersPorts(ctx),
      assertTimeLeft: (name) => ctx.assertTimeLeft(name),
      progress: state.progress,
    }));
  } catch (error) {
    if (ctx.signal.aborted) throw error;
    return retry(at({ operation: plan.operation, reason: 'CleanupOrphaned' }, error).problem, { status });
  }
  if (left.length === 0) return undefined;
  const { why, onTimeout } = remainingObjectsProblem(left, shownTargetName(ctx.target), {
    operation: plan.operation,
    reason: 'CleanupOrphaned',
  });
  return wait({ status, why, onTimeout });
}

// ---------------------------------------------------------------- after the apply

async function finish<S>(
  ctx: DeployContext<unknown, S>,
  plan: DeployPlan<S>,
  state: DeployProgress,
  access: KubeAccess,
): Promise<Outcome<S>> {
  const status = plan.status(state.managed);
  const known = state.live;
  state.live = new Map();
  const mask: Mask = (text) => maskFor(plan.manifests)(text);
  const deployed = { ...plan, mask, checked: state.checked, known, status };
  const outcome = await checkReadinessAndExports(ctx, deployed, access);
  if (outcome.kind === 'done') {
    await inParallel(state.patched, (applied) => patchAfter(applied, access, ctx.signal)).catch(
      (error: unknown) => {
        const place = { operation: plan.operation, reason: 'PatchAfterDeployment' };
        throw at(place, error, (message) => state.mask(`target ${shownTargetName(ctx.target)}: ${message}`));
      },
    );
  }
  return outcome;
}

const isPatchedAfter = ({ manifest, isTouched }: Applied): boolean =>
  isTouched && manifest.patchAfterDeployment !== undefined;

async function patchAfter({ manifest: p }: Applied, access: KubeAccess, signal: AbortSignal): Promise<void> {
  if (!p.patchAfterDeployment) return;
  const current = await access.client.get(p.kind, keyOfRef(refOf(p.object)), signal);
  const object = deepMerge(current as KubeObject, p.patchAfterDeployment, 'from') as KubeObject;
  await access.client.send({ verb: 'replace', kind: p.kind, object }, signal);
}
