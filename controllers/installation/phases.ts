/** The phase machine of an installation: one line per phase, in the order in which a job runs through them. */
import type { PhaseTable } from '../../src/machine/phase.ts';
import { cleanupOrphaned } from './phases/cleanup-orphaned.ts';
import { completing } from './phases/completing.ts';
import { deleting } from './phases/deleting.ts';
import { init } from './phases/init.ts';
import { initDelete } from './phases/init-delete.ts';
import { objectsCreated } from './phases/objects-created.ts';
import { progressing } from './phases/progressing.ts';
import { triggerDelete } from './phases/trigger-delete.ts';
import type { Snapshot } from './snapshot.ts';

type Working =
  | 'Init'
  | 'CleanupOrphaned'
  | 'ObjectsCreated'
  | 'Progressing'
  | 'Completing'
  | 'InitDelete'
  | 'TriggerDelete'
  | 'Deleting';
type Final = 'Succeeded' | 'Failed' | 'DeleteFailed';

export const phases = {
  Init: { phase: init, onFail: 'Failed', seen: 'before-effects', readsSpec: true },
  CleanupOrphaned: { phase: cleanupOrphaned, onFail: 'Failed', onRefusal: 'retry' },
  ObjectsCreated: { phase: objectsCreated, onFail: 'Failed', onRefusal: 'retry', seen: 'before-effects' },
  Progressing: { phase: progressing, onFail: 'Failed', onRefusal: 'retry', seen: 'always' },
  Completing: { phase: completing, onFail: 'Failed' },
  InitDelete: { phase: initDelete, onFail: 'DeleteFailed' },
  TriggerDelete: { phase: triggerDelete, onFail: 'DeleteFailed', onRefusal: 'retry', seen: 'before-effects' },
  Deleting: { phase: deleting, onFail: 'DeleteFailed', onRefusal: 'retry', seen: 'always' },
} satisfies PhaseTable<Snapshot, Working, Final>;
