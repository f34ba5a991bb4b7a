/** Checks that spec and imports are still those that the job started with, then publishes the exports. */
import { isBeingDeleted } from '../../../src/api/job.ts';
import { exportConflict } from '../../../src/dataflow/objects.ts';
import { advance, fail } from '../../../src/machine/decision.ts';
import { asExport, deleteObject, refused, upsert } from '../objects.ts';
import { step, steps, type Answer } from '../snapshot.ts';
import { storeState } from '../state-effects.ts';
import { importMissing, predecessorFailed, predecessorStillRunning } from './predecessors.ts';

const importsChanged = step(['importsHash', 'replacedTargets'], ({ self, importsHash, replacedTargets }) =>
  importsHash === self.status?.importsHash && replacedTargets.length === 0
    ? undefined
    : fail({
        operation: 'handlePhaseCompleting',
        reason: 'CheckImportsHash',
        message: 'imports have changed',
      }),
);

/** A deletion increments the generation as well, but does not change the spec. */
const specChanged = step([], ({ self }) =>
  self.metadata.generation === self.status?.observedGeneration || isBeingDeleted(self.metadata)
    ? undefined
    : fail({
        operation: 'handlePhaseCompleting',
        reason: 'CheckObservedGeneration',
        message: 'installation spec has been changed',
        codes: ['ERR_FOR_INFO_ONLY'],
      }),
);

const publish = step(
  ['staleObjects', 'exportUpserts', 'exportStateUpserts'],
  ({ self, staleObjects, exportUpserts, exportStateUpserts }): Answer<'Succeeded'> => {
    for (const { wanted, existing } of exportUpserts) {
      const conflict = exportConflict(self, wanted, existing);
      if (!conflict) continue;
      const { condition, ...problem } = refused(wanted, asExport, conflict);
      return fail(problem, { status: { conditions: [condition] } });
    }
    return advance('Succeeded', {
      effects: [
        ...exportStateUpserts.flatMap((u) => storeState(self, u, asExport)),
        ...staleObjects.map(deleteObject),
        ...exportUpserts.flatMap((u) => upsert(u, asExport)),
      ],
      status: {
        conditions: [
          {
            type: 'CreateExports',
            status: 'True',
            reason: 'DataObjectsCreated',
            message: 'DataObjects successfully created',
          },
        ],
      },
    });
  },
);

export const completing = steps(
  ['Succeeded'],
  predecessorStillRunning,
  predecessorFailed,
  importMissing,
  importsChanged,
  specChanged,
  publish,
);
