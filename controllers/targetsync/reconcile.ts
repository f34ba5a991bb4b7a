/**
 * One reconcile of a TargetSync: rotates the token if it is due, updates targets and secrets to match the source
 * cluster, and reports the result. Errors are in the status before the reconcile is retried.
 */
import { annotations, operations } from '../../src/api/labels.ts';
import { hasFinalizer, isBeingDeleted, withFinalizer } from '../../src/api/job.ts';
import { targetSyncKind } from '../../src/api/kinds/targetsync.ts';
import { timestamp, type Clock } from '../../src/lib/clock.ts';
import { append } from '../../src/lib/lists.ts';
import { Applier } from '../../src/machine/apply.ts';
import { amend, patch, patchStatus, removeFinalizer, type Effect } from '../../src/machine/decision.ts';
import { openSource, SourceUnavailable, type SourceCluster } from '../../src/landscape/source-cluster.ts';
import { secretKind } from '../../src/landscape/world.ts';
import type { ClientPool } from '../../src/runtime/transport/client-pool.ts';
import {
  ApiError,
  DefinitionError,
  KubeconfigError,
  ResponseTooLarge,
  TransportError,
} from '../../src/runtime/errors.ts';
import type { Context } from '../../src/runtime/types.ts';
import type { TargetSync } from '../../src/api/kinds/targetsync.ts';
import type { NameMatcher } from '../../src/blueprint/match-names.ts';
import { activeSiblings, specError, planRemoval, planSync } from './decide.ts';
import { gatherHost, gatherWanted, InvalidSpec, type HostPorts } from './gather.ts';
import { isRotationDue, renewable, RotationImpossible } from './rotation.ts';
import type { Sync } from './snapshot.ts';
import { IncompleteAnswer, requestToken, TooMuchListed } from './source.ts';

export interface ReconcilePorts extends HostPorts {
  readonly sources: ClientPool;
  readonly clock: Clock;
  /** Matches names by the expressions of a namespace; default: in this thread. */
  readonly matcherOf?: ((namespace: string) => NameMatcher) | undefined;
}

/** The reconcile failed; the status says why. Thrown to retry with back-off. */
export class NotSynced extends Error {
  override readonly name = 'NotSynced';
}

/** Values that all steps of a reconcile share. */
interface SyncContext extends ReconcilePorts {
  readonly self: Sync;
  readonly signal: AbortSignal;
  readonly applier: Applier;
}

/** @throws NotSynced; the errors of runtime/errors.ts if the status cannot be written */
export async function reconcileTargetSync(
  ports: ReconcilePorts,
  self: Sync,
  ctx: Context<TargetSync>,
): Promise<void> {
  const { signal, write } = ctx;
  const read = (...[kind, key]: Parameters<typeof ports.client.get>) => ports.client.get(kind, key, signal);
  const context: SyncContext = { ...ports, self, signal, applier: new Applier({ write, read, signal }) };
  if (!hasFinalizer(self.metadata)) {
    if (isBeingDeleted(self.metadata)) return;
    const finalizers = withFinalizer(self.metadata);
    await context.applier.carryOut(patch(targetSyncKind, self, { metadata: { finalizers } }));
  }
  if (isBeingDeleted(self.metadata)) await releaseObjects(context);
  else await report(context, await problemsOf(() => sync(context)));
}

/** If the namespace has another TargetSync, it takes over the objects. */
async function releaseObjects(context: SyncContext): Promise<void> {
  const { world, self, applier, signal } = context;
  const problems = await problemsOf(async () => {
    const siblings = activeSiblings(self, world.targetSyncs.list(self.metadata.namespace));
    if (siblings.length > 0) return [];
    return carryOutEach(context, [planRemoval(self, await gatherHost(context, self, signal))]);
  });
  if (problems.length > 0) {
    await applier.carryOut(patchStatus(targetSyncKind, self, { lastErrors: shownProblems(problems) }));
    throw new NotSynced(problems.join('; '));
  }
  await applier.carryOut(removeFinalizer(targetSyncKind, self));
}

/** @returns problems that did not stop the reconcile */
async function sync(context: SyncContext): Promise<readonly string[]> {
  const { world, self, clock, signal } = context;
  if (activeSiblings(self, world.targetSyncs.list(self.metadata.namespace)).length > 0) {
    throw new InvalidSpec('more than one TargetSync object in the same namespace is not allowed');
  }
  const source = await rotateToken(context, await openSource(context, self, signal));
  const invalid = specError(self);
  if (invalid) throw new InvalidSpec(invalid);
  const host = await gatherHost(context, self, signal);
  const now = timestamp(clock);
  const wanted = await gatherWanted({
    self,
    source: source.client,
    host,
    now,
    signal,
    matcher: context.matcherOf?.(self.metadata.namespace ?? ''),
  });
  const { writes, removals, problems } = planSync(self, wanted, host);
  const failures = await carryOutEach(context, writes);
  // After a failed write nothing is deleted, because the failed object may be the replacement of a deleted one.
  if (failures.length === 0) append(failures, await carryOutEach(context, [removals]));
  return [...problems, ...failures];
}

/** Groups are independent: if a write of one group fails, the other groups are still written. */
async function carryOutEach(
  { applier }: SyncContext,
  groups: readonly (readonly Effect[])[],
): Promise<string[]> {
  const failures: string[] = [];
  for (const effects of groups) {
    const problems = await problemsOf(async () => {
      for (const effect of effects) await applier.carryOut(effect);
      return [];
    });
    append(failures, problems);
  }
  return failures;
}

// ---------------------------------------------------------------- rotation

/**
 * The source cluster with a new token, if rotation is due. The secret is written first, because a lost token means
 * lost access.
 */
async function rotateToken(context: SyncContext, source: SourceCluster): Promise<SourceCluster> {
  const { self, clock, applier, signal } = context;
  if (!isRotationDue(self, clock.wall())) return source;
  const access = renewable(source.kubeconfig);
  const token = await requestToken(source.client, self.spec.sourceNamespace, access.account, signal);
  const kubeconfig = access.withToken(token);
  const data = { [source.key]: Buffer.from(kubeconfig).toString('base64') };
  await applier.carryOut(patch(secretKind, source.secret, { data }));
  await applier.carryOut(patchStatus(targetSyncKind, self, { lastTokenRotationTime: timestamp(clock) }));
  const requested = self.metadata.annotations?.[annotations.rotateToken];
  if (requested !== undefined) {
    await applier.carryOut(
      amend(targetSyncKind, self, { dropAnnotations: { [annotations.rotateToken]: requested } }),
    );
  }
  return {
    ...source,
    kubeconfig,
    client: await context.sources.open(kubeconfig, self.metadata.namespace ?? ''),
  };
}

// ---------------------------------------------------------------- status

/** Errors that a user can act on, as messages. Other errors are thrown. */
async function problemsOf(run: () => Promise<readonly string[]>): Promise<readonly string[]> {
  try {
    return await run();
  } catch (error) {
    if (isReportable(error)) return [error.message];
    throw error;
  }
}

const reportable = [
  ApiError,
  TransportError,
  ResponseTooLarge,
  KubeconfigError,
  DefinitionError,
  SourceUnavailable,
  InvalidSpec,
  RotationImpossible,
  IncompleteAnswer,
  TooMuchListed,
];
const isReportable = (error: unknown): error is Error => reportable.some((Class) => error instanceof Class);

const MAX_SHOWN = 50;

const shownProblems = (problems: readonly string[]): readonly string[] | null => {
  if (problems.length === 0) return null;
  const more = problems.length - MAX_SHOWN;
  return more > 0 ? [...problems.slice(0, MAX_SHOWN), `and ${String(more)} more`] : problems;
};

/** Removes the annotation even after a failure, because the requested reconcile has run. */
async function report({ self, clock, applier }: SyncContext, problems: readonly string[]): Promise<void> {
  const status = {
    observedGeneration: self.metadata.generation,
    lastUpdateTime: timestamp(clock),
    lastErrors: shownProblems(problems),
  };
  await applier.carryOut(patchStatus(targetSyncKind, self, status));
  await applier.carryOut(
    amend(targetSyncKind, self, { dropAnnotations: { [annotations.operation]: operations.reconcile } }),
  );
  if (problems.length > 0) throw new NotSynced(problems.join('; '));
}
