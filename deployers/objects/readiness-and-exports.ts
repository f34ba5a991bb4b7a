/**
 * The last steps of a job after its objects are applied: readiness checks, then exports. Each reconcile checks
 * once.
 */
import { shownTargetName } from '../../src/api/target-name.ts';
import type { Mask } from '../../src/lib/masking.ts';
import type { Fields } from '../../src/lib/objects.ts';
import type { KubeAccess } from '../sdk/access.ts';
import type { DeployContext } from '../sdk/deployer.ts';
import { at } from '../sdk/errors.ts';
import { exportTimeout, exportWait, readExports, type ExportSpec } from './exports.ts';
import { idOf, keyOfRef, type KubeObject, type ResourceRef } from './manifests/model.ts';
import { done, fail, wait, type Outcome } from '../sdk/outcome.ts';
import type { CheckedRef } from './readiness/checked.ts';
import {
  customChecks,
  defaultCheck,
  failureOf,
  timeoutFor,
  waitingFor,
  type Unready,
} from './readiness/check.ts';
import type { ReadinessChecks } from './readiness/custom.ts';

export interface AfterPlan {
  /** Prefix for the names of checkpoints, for example `manifest deployer`. */
  readonly prefix: string;
  /** Operation of errors that do not concern a single object, for example `ReconcileManifests`. */
  readonly operation: string;
  readonly readiness: ReadinessChecks;
  /** Masks the secrets of the item in what the target says about its objects. */
  readonly mask: Mask;
  /** Absent: nothing is exported, not even an empty map. */
  readonly exports?: readonly ExportSpec[] | undefined;
  /** Exports that do not come from a cluster, keyed by dotted key. */
  readonly values?: ReadonlyMap<string, unknown> | undefined;
}

/** The applied objects, and known facts about them. */
interface Deployed<S> extends AfterPlan {
  /** Objects for the default readiness checks. */
  readonly checked: readonly CheckedRef[];
  /** Objects as the cluster just returned them. */
  readonly known: ReadonlyMap<ResourceRef, KubeObject>;
  readonly status: S;
}

export const secondaryOf =
  <S>(ctx: DeployContext<unknown, S>) =>
  async (name: string): Promise<KubeAccess> =>
    (await ctx.secondaryTarget(name)).kube();

/** Waits for readiness and exports, then ends the job with them. */
export async function checkReadinessAndExports<S>(
  ctx: DeployContext<unknown, S>,
  plan: Deployed<S>,
  access: KubeAccess,
): Promise<Outcome<S>> {
  const { status } = plan;
  const unready = await checkReadiness(ctx, plan, access);
  if (unready?.isFailed) return fail(failureOf(unready), { status });
  if (unready) {
    const { isUnsettled, checkAgainMs: requeueAfterMs } = unready;
    const why = isUnsettled ? undefined : waitingFor(unready);
    return wait({ status, why, onTimeout: timeoutFor(unready), requeueAfterMs });
  }
  if (!plan.exports) return done({ status });
  ctx.assertTimeLeft(`${plan.prefix}: before reading export values`);
  const ports = {
    access,
    secondary: secondaryOf(ctx),
    signal: ctx.signal,
    assertTimeLeft: (name: string) => ctx.assertTimeLeft(name),
  };
  const reading = await readExports(plan.exports, ports, plan.values);
  if (reading.isComplete) return done({ status, exports: { value: reading.value satisfies Fields } });
  const { key, why } = reading;
  return wait({
    status,
    why: exportWait(plan.operation, key, why),
    onTimeout: exportTimeout(plan.operation, key),
  });
}

/** Error if an object cannot be read from a target. */
const READ_ERROR = { operation: 'WaitForObjectsReady', reason: 'GetObject' } as const;

async function checkReadiness<S>(
  ctx: DeployContext<unknown, S>,
  { prefix, readiness, checked, known, mask }: Deployed<S>,
  access: KubeAccess,
): Promise<Unready | undefined> {
  ctx.assertTimeLeft(`${prefix}: before readiness check`);
  const ports = { access, secondary: secondaryOf(ctx), signal: ctx.signal };
  if (!readiness.isDefaultDisabled) {
    ctx.assertTimeLeft(`${prefix}: default readiness checks`);
    ctx.assertTimeLeft('deployer: during readiness check');
    const defaultPorts = {
      ...ports,
      mask,
      rules: ctx.readiness,
      isUnsettled: settling(ctx),
      onLost: lost(ctx),
    };
    const unready = await defaultCheck(checked, known, defaultPorts).catch((error: unknown) => {
      throw at(READ_ERROR, error, (message) => `target ${shownTargetName(ctx.target)}: ${message}`);
    });
    if (unready) return unready;
  }
  ctx.assertTimeLeft(`${prefix}: custom readiness checks`);
  return customChecks(readiness.custom, ports);
}

/** How long an object may have no status, or an old one, before that counts. */
const SETTLE_MS = 5_000;
const FIRST_CHECK = 'first readiness check';

/** Whether the objects were only just applied, so that their controllers may not have seen them. */
function settling({ scratch, clock }: DeployContext): (object: KubeObject) => boolean {
  const first = (scratch.get(FIRST_CHECK) as number | undefined) ?? clock.now();
  scratch.set(FIRST_CHECK, first);
  if (clock.now() - first >= SETTLE_MS) return () => false;
  // An object without status for a long time has no controller that writes one.
  return ({ metadata, status }) =>
    status !== undefined || clock.wall() - Date.parse(metadata.creationTimestamp ?? '') < SETTLE_MS;
}

/** Reports a job whose result is unknown, once. */
function lost({ scratch, event }: DeployContext): (ref: ResourceRef) => void {
  return (ref) => {
    const key = `lost ${idOf(ref)}`;
    if (scratch.has(key)) return;
    scratch.set(key, true);
    const note = `Job ${keyOfRef(ref)} was deleted before its result was read, and counts as completed; a longer spec.ttlSecondsAfterFinished keeps it`;
    event('Warning', 'JobResultUnknown', note);
  };
}
