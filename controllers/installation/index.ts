/** The installation controller: renders blueprints, hands jobs down the tree, and transfers imports and exports. */
import {
  hasAnnotation,
  hasFinalizer,
  hasOperation,
  isBeingDeleted,
  isFinished,
  isFirstPhase,
  isJobUnstarted,
  isNewJobDue,
  isRoot,
  isTriggeredFor,
} from '../../src/api/job.ts';
import { annotations, operations } from '../../src/api/labels.ts';
import { installationKind, type Installation } from '../../src/api/kinds/installation.ts';
import type { ComponentRepositories } from '../../src/components/component-repositories.ts';
import type { Clock } from '../../src/lib/clock.ts';
import type { Rng } from '../../src/lib/rng.ts';
import { randomUuid } from '../../src/lib/uuid.ts';
import { isAbandoned } from '../../src/landscape/abandoned.ts';
import { joinKey, keyOf } from '../../src/runtime/keys.ts';
import { startedStatus } from '../../src/landscape/job-start.ts';
import { obstacleAt } from '../../src/machine/obstacles.ts';
import type { AddReadiness } from '../../src/machine/readiness.ts';
import { jobReconciler } from '../../src/machine/reconcile.ts';
import { driftOf } from '../../src/landscape/idle-conditions.ts';
import type { World } from '../../src/landscape/world.ts';
import type { ControllerSpec } from '../../src/runtime/controller/controller.ts';
import { SLOW_RECONCILE_MS } from '../../src/runtime/controller/spec.ts';
import { byController } from '../../src/runtime/sources/mappers.ts';
import { watchSource } from '../../src/runtime/sources/sources.ts';
import type { CacheOptions, Key } from '../../src/runtime/types.ts';
import { componentFinder } from './gather/component.ts';
import type { VerificationPolicy } from './gather/verification.ts';
import { completeStatus } from './job-end.ts';
import { gather, type Sources } from './gather/index.ts';
import { intake } from './intake.ts';
import { fence } from './job.ts';
import { exportsOf } from './cached-objects.ts';
import { phases } from './phases.ts';
import { decideRetry } from './retry.ts';
import {
  childrenOf,
  executionOf,
  ownExecution,
  parentOf,
  exportersFor,
  importersFrom,
  type Inst,
} from './related-objects.ts';

export interface InstallationPorts extends Omit<Sources, 'findComponent'> {
  readonly clock: Clock;
  readonly rng: Rng;
  /** Finds components. */
  readonly repositories: ComponentRepositories;
  /** Which components must be signed; default: those of installations that require it. */
  readonly verification?: VerificationPolicy;
  /** How long a job retries requests to unavailable servers, in milliseconds; default 10 minutes. */
  readonly remoteRetryMs?: number;
  readonly workers?: number;
  /** The options of the cache of installations in `world`. */
  readonly installationCache?: CacheOptions<Installation>;
  /** Whether jobs are recorded, with who requested them. */
  readonly isJournaled?: boolean;
  /** Completes the status of every write. */
  readonly readiness?: AddReadiness;
  readonly entered?: (phase: string, from: string | undefined) => void;
}

export function installationController(ports: InstallationPorts): ControllerSpec<Installation> {
  const { world, clock, entered, readiness } = ports;
  return {
    name: 'installation',
    kind: installationKind,
    finalizer: { handledBy: 'reconciler' },
    generation: 'off',
    retry: 'growing',
    freesWorkerAfterMs: SLOW_RECONCILE_MS,
    ...(ports.workers && { maxConcurrent: ports.workers }),
    ...(ports.installationCache && { cache: ports.installationCache }),
    filter: { add: hasWork, update: (_old, installation) => hasWork(installation) },
    sources: [
      watchSource({ cache: world.executions, toPrimary: byController(installationKind) }),
      watchSource({
        name: 'relatives',
        cache: world.installations,
        ownEvents: 'deliver',
        filter: { update: affectsOthers },
        toPrimary: (installation) => affectedKeys(world, installation),
      }),
    ],
    reconciler: jobReconciler({
      cache: world.installations,
      client: ports.client,
      clock,
      machine: {
        kind: installationKind,
        table: phases,
        gather: gather({ ...ports, findComponent: componentFinder(ports) }),
        always: ['self', 'now'],
        ...(ports.remoteRetryMs !== undefined && { remoteRetryMs: ports.remoteRetryMs }),
        reportsJobs: (self) => isRoot(self.metadata),
        completeStatus: (self, status, removed) => completeStatus({ world, removed }, self, status),
        isChildAtWork: (self) =>
          below(world, self).some((o) => isTriggeredFor(o, self.status?.jobID ?? '') && !isFinished(o)),
        fence: (self) => fence(self, below(world, self)),
      },
      intake: (self, now) =>
        intake(self, {
          now,
          newJobID: randomUuid(ports.rng),
          ...(ports.isJournaled && { isJournaled: true }),
          dependents: () => dependentsOf(world, self),
          below: () => below(world, self),
          hasExports: () => exportsOf(world, self).length > 0,
          isAbandoned: isAbandoned(world, self),
        }),
      begin: startedStatus,
      restMs: (self, now) => {
        const retry = decideRetry(self, now);
        return retry.do === 'wait' ? retry.ms : undefined;
      },
      ...(readiness && { readiness }),
      ...(entered && { entered }),
    }),
  };
}

/** Whether the installation needs a reconcile, judged from the object alone. */
const hasWork = (self: Inst): boolean =>
  !isFinished(self) ||
  isNewJobDue(self) ||
  hasOperation(self.metadata, operations.interrupt) ||
  hasOperation(self.metadata, operations.reconcile) ||
  self.spec.automaticReconcile !== undefined ||
  (self.status?.dependentsToTrigger?.length ?? 0) > 0 ||
  self.metadata.generation !== self.status?.observedGeneration ||
  (!hasFinalizer(self.metadata) && !isBeingDeleted(self.metadata));

/**
 * Whether a change affects other installations: they depend on imports and exports, phase, job ids, operation
 * annotations and deletion.
 */
const affectsOthers = (old: Inst, now: Inst): boolean =>
  old.metadata.generation !== now.metadata.generation ||
  old.status?.phase !== now.status?.phase ||
  old.status?.jobID !== now.status?.jobID ||
  old.status?.jobIDFinished !== now.status?.jobIDFinished ||
  old.metadata.deletionTimestamp !== now.metadata.deletionTimestamp ||
  obstacleAt(old)?.message !== obstacleAt(now)?.message ||
  driftOf(old) !== driftOf(now) ||
  hasAnnotation(old.metadata, annotations.suspended) !== hasAnnotation(now.metadata, annotations.suspended) ||
  hasOperation(old.metadata, operations.reconcile) !== hasOperation(now.metadata, operations.reconcile) ||
  hasOperation(old.metadata, operations.interrupt) !== hasOperation(now.metadata, operations.interrupt);

/**
 * The installations to reconcile after a change: itself if it has new work, its parent, the siblings that exchange
 * data with it, and its children if it was deleted.
 */
function affectedKeys(world: World, installation: Inst): readonly Key[] {
  const keys: Key[] = [];
  const add = (other: Inst): void => void keys.push(keyOf(other));
  if (hasNewWork(installation)) add(installation);
  const parent = parentOf(world, installation);
  if (parent) add(parent);
  if (!world.installations.get(keyOf(installation))) childrenOf(world, installation).forEach(add);
  [...exportersFor(world, installation), ...importersFrom(world, installation)].filter(mayWait).forEach(add);
  return keys;
}

/** Another installation wrote a job or an operation annotation to this one. */
const hasNewWork = (self: Inst): boolean =>
  hasNewJob(self) || isNewJobDue(self) || hasOperation(self.metadata, operations.interrupt);

/** A root creates its own jobs and continues with them in the same reconcile. */
const hasNewJob = (self: Inst): boolean =>
  isJobUnstarted(self) || (!isRoot(self.metadata) && !isFinished(self) && isFirstPhase(self.status?.phase));

/** The stored phase does not matter: a reconcile that is running may be further on, and about to wait. */
const mayWait = (sibling: Inst): boolean => !isFinished(sibling);

const dependentsOf = (world: World, { metadata, status }: Inst): readonly Inst[] =>
  (status?.dependentsToTrigger ?? []).flatMap(
    ({ name = '' }) => world.installations.get(joinKey(metadata.namespace, name)) ?? [],
  );

function below(world: World, self: Inst) {
  return [...ownExecution({ self, execution: executionOf(world, self) }), ...childrenOf(world, self)];
}
