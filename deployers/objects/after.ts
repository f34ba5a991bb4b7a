/** What follows once everything is on the target, however it got there: readiness, then exports. One look at a time. */
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
  /** Begins the names of checkpoints, such as `manifest deployer`. */
  readonly prefix: string;
  /** Operation of errors that are not about a single object, such as `ReconcileManifests`. */
  readonly operation: string;
  readonly readiness: ReadinessChecks;
  /** Absent: nothing is exported, not even an empty map. */
  readonly exports?: readonly ExportSpec[] | undefined;
  /** Exports that do not come from a cluster, by dotted key. */
  readonly values?: ReadonlyMap<string, unknown> | undefined;
}

/** What is there, and what is known of it. */
interface Deployed<S> extends AfterPlan {
  /** What the default checks look at. */
  readonly refs: readonly ResourceRef[];
  /** Answers of a moment ago. */
  readonly known: ReadonlyMap<ResourceRef, KubeObject>;
  readonly status: S;
}

export const secondaryOf =
  <S>(ctx: DeployContext<unknown, S>) =>
  async (name: string): Promise<KubeAccess> =>
    (await ctx.secondaryTarget(name)).kube();

/** Waits for readiness and exports, or ends the job with them. */
export async function settled<S>(
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
  const look = await readExports(plan.exports, ports, plan.values);
  if (look.isComplete) return done({ status, exports: { value: look.value satisfies Fields } });
  const { key, why } = look;
  return wait({
    status,
    why: exportWait(plan.operation, key, why),
    onTimeout: exportTimeout(plan.operation, key),
  });
}

/** Where a target could not be asked how its objects are. */
const LOOK = { operation: 'WaitForObjectsReady', reason: 'GetObject' } as const;

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
      throw at(LOOK, error, (message) => `target ${ctx.target?.name ?? ''}: ${message}`);
    });
    if (unready) return unready;
  }
  ctx.assertTimeLeft(`${prefix}: custom readiness checks`);
  return customChecks(readiness.custom, ports);
}
