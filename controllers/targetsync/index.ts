/** The TargetSync controller: creates targets from secrets or shoots of another cluster and keeps them up to date. */
import { isBeingDeleted } from '../../src/api/job.ts';
import { targetSyncKind, type TargetSync } from '../../src/api/kinds/targetsync.ts';
import type { Target } from '../../src/api/kinds/target.ts';
import { keyOf } from '../../src/runtime/keys.ts';
import {
  annotationsChanged,
  deletionStarted,
  generationChanged,
  labelsChanged,
  or,
} from '../../src/runtime/sources/filters.ts';
import type { ControllerSpec } from '../../src/runtime/controller/controller.ts';
import { SLOW_RECONCILE_MS } from '../../src/runtime/controller/spec.ts';
import { watchSource } from '../../src/runtime/sources/sources.ts';
import type { Obj, View } from '../../src/runtime/types.ts';
import { isSyncedTarget } from './decide.ts';
import { reconcileTargetSync, type ReconcilePorts } from './reconcile.ts';

export interface TargetSyncPorts extends ReconcilePorts {
  readonly workers?: number;
}

/** The source cluster is not watched; it is polled at this interval. */
const POLL_INTERVAL_MS = 5 * 60_000;

const isLeaving = (old: View<Obj>, sync: View<Obj>): boolean =>
  !isBeingDeleted(old.metadata) && isBeingDeleted(sync.metadata);

export function targetSyncController(ports: TargetSyncPorts): ControllerSpec<TargetSync> {
  const { targetSyncs, targets } = ports.world;
  return {
    name: 'targetsync',
    kind: targetSyncKind,
    finalizer: { handledBy: 'reconciler' },
    generation: 'off',
    retry: 'growing',
    freesWorkerAfterMs: SLOW_RECONCILE_MS,
    ...(ports.workers && { maxConcurrent: ports.workers }),
    filter: or(generationChanged, labelsChanged, annotationsChanged, deletionStarted),
    sources: [
      // A second TargetSync in the namespace stops the first one; its deletion lets the first one continue.
      watchSource({
        name: 'siblings',
        cache: targetSyncs,
        filter: { update: isLeaving },
        ownEvents: 'deliver',
        toPrimary: (sync) =>
          [...targetSyncs.list(sync.metadata.namespace)]
            .filter(({ metadata }) => metadata.uid !== sync.metadata.uid)
            .map(keyOf),
      }),
      // A target that a user deletes is created again without waiting for the next poll.
      watchSource<Target, TargetSync>({
        cache: targets,
        filter: { add: () => false, update: () => false },
        toPrimary: (target) =>
          isSyncedTarget(target) ? [...targetSyncs.list(target.metadata.namespace)].map(keyOf) : [],
      }),
    ],
    reconciler: {
      async reconcile(self, ctx) {
        await reconcileTargetSync(ports, self, ctx);
        return { write: 'none', requeueAfterMs: POLL_INTERVAL_MS };
      },
    },
  };
}
