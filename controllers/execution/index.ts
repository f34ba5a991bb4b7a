/** The execution controller: creates the deploy items of an execution, starts them in order, collects their exports. */
import { hasFinalizer, hasOperation, isBeingDeleted, isFinished, isTriggeredFor } from '../../src/api/job.ts';
import { labels, operations } from '../../src/api/labels.ts';
import { deployItemKind } from '../../src/api/kinds/deployitem.ts';
import { executionKind, type Execution } from '../../src/api/kinds/execution.ts';
import type { Clock } from '../../src/lib/clock.ts';
import { isAbandoned } from '../../src/landscape/abandoned.ts';
import { keyOf } from '../../src/runtime/keys.ts';
import { startedStatus } from '../../src/landscape/job-start.ts';
import { touch } from '../../src/machine/decision.ts';
import type { AddReadiness } from '../../src/machine/readiness.ts';
import { jobReconciler } from '../../src/machine/reconcile.ts';
import type { ControllerSpec } from '../../src/runtime/controller/controller.ts';
import { byLabel } from '../../src/runtime/sources/mappers.ts';
import { watchSource } from '../../src/runtime/sources/sources.ts';
import type { View } from '../../src/runtime/types.ts';
import { jobOf } from './classify.ts';
import { gather, itemsToFence, managedItems, type Sources } from './gather.ts';
import { intake } from './intake.ts';
import { phases } from './phases.ts';
import { templateReader } from './templates.ts';

export interface ExecutionPorts extends Sources {
  readonly clock: Clock;
  /** How long a job retries requests to unavailable servers, in milliseconds; default 10 minutes. */
  readonly remoteRetryMs?: number;
  readonly workers?: number;
  /** Completes the status of every write. */
  readonly readiness?: AddReadiness;
  readonly entered?: (phase: string, from: string | undefined) => void;
}

export function executionController(ports: ExecutionPorts): ControllerSpec<Execution> {
  const reader = templateReader(ports.runnerOf, ports.limits);
  const { world, clock, entered, readiness } = ports;
  return {
    name: 'execution',
    kind: executionKind,
    finalizer: { handledBy: 'reconciler' },
    generation: 'off',
    retry: 'growing',
    ...(ports.workers && { maxConcurrent: ports.workers }),
    filter: { add: hasWork, update: (_old, execution) => hasWork(execution) },
    // Items are matched by label: an item without an owner reference must be deleted with its execution, which
    // waits for its deletion event.
    sources: [
      watchSource({ cache: world.deployItems, toPrimary: byLabel({ name: labels.executionManagedBy }) }),
      // An execution has the same name as its installation.
      watchSource({
        cache: world.installations,
        filter: { add: () => false, update: () => false },
        toPrimary: (installation) => [keyOf(installation)],
      }),
    ],
    reconciler: jobReconciler({
      cache: world.executions,
      client: ports.client,
      clock,
      machine: {
        kind: executionKind,
        table: phases,
        gather: gather(ports, reader),
        always: ['self', 'now'],
        isChildAtWork: (self) =>
          managedItems(world, self).some((item) => isTriggeredFor(item, jobOf(self)) && !isFinished(item)),
        fence: async (self) =>
          (await itemsToFence(world, self, reader)).map((item) => touch(deployItemKind, item)),
        ...(ports.remoteRetryMs !== undefined && { remoteRetryMs: ports.remoteRetryMs }),
      },
      intake: (self, now) =>
        intake(self, { items: managedItems(world, self), now, isAbandoned: isAbandoned(world, self) }),
      begin: startedStatus,
      ...(readiness && { readiness }),
      ...(entered && { entered }),
    }),
  };
}

/** Whether the execution needs a reconcile, judged from the object alone. */
const hasWork = (self: View<Execution>): boolean =>
  !isFinished(self) ||
  hasOperation(self.metadata, operations.interrupt) ||
  (isBeingDeleted(self.metadata) && !self.status?.jobID) ||
  (!hasFinalizer(self.metadata) && !isBeingDeleted(self.metadata));
