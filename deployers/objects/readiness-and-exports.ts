/**
 * The last steps of a job after its objects are applied: readiness checks, then exports. Each reconcile checks
 * once.
 */
import type { Fields } from '../../src/lib/objects.ts';
import type { KubeAccess } from '../sdk/access.ts';
import type { DeployContext } from '../sdk/deployer.ts';
import { at } from '../sdk/errors.ts';
import { exportTimeout, exportWait, readExports, type ExportSpec } from './exports.ts';
import type { KubeObject, ResourceRef } from './manifests/model.ts';
import { done, wait, type Outcome } from '../sdk/outcome.ts';
import { customChecks, defaultCheck, timeoutFor, waitingFor, type Unready } from './readiness/check.ts';
import type { ReadinessChecks } from './readiness/custom.ts';

export interface AfterPlan {
  /** Prefix for the names of checkpoints, for example `manifest deployer`. */
  readonly prefix: string;
  /** Operation of errors that do not concern a single object, for example `ReconcileManifests`. */
  readonly operation: string;
  readonly readiness: ReadinessChecks;
  /** Absent: nothing is exported, not even an empty map. */
  readonly exports?: readonly ExportSpec[] | undefined;
  /** Exports that do not come from a cluster, keyed by dotted key. */
  readonly values?: ReadonlyMap<string, unknown> | undefined;
}

/** The applied objects, and known facts about them. */
interface Deployed<S> extends AfterPlan {
  /** Objects for the default readiness checks. */
  readonly refs: readonly ResourceRef[];
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
  if (unready) return wait({ status, why: waitingFor(unready), onTimeout: timeoutFor(unready) });
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
  { prefix, readiness, refs, known }: Deployed<S>,
  access: KubeAccess,
): Promise<Unready | undefined> {
  ctx.assertTimeLeft(`${prefix}: before readiness check`);
  const ports = { access, secondary: secondaryOf(ctx), signal: ctx.signal };
  if (!readiness.isDefaultDisabled) {
    ctx.assertTimeLeft(`${prefix}: default readiness checks`);
    ctx.assertTimeLeft('deployer: during readiness check');
    const unready = await defaultCheck(refs, known, ports).catch((error: unknown) => {
      throw at(READ_ERROR, error, (message) => `target ${ctx.target?.name ?? ''}: ${message}`);
    });
    if (unready) return unready;
  }
  ctx.assertTimeLeft(`${prefix}: custom readiness checks`);
  return customChecks(readiness.custom, ports);
}
