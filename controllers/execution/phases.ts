/** The phase machine of an execution: one line per phase, in the order in which a job runs through them. */
import type { PhaseTable } from '../../src/machine/phase.ts';
import { completing } from './phases/completing.ts';
import { deleting } from './phases/deleting.ts';
import { init } from './phases/init.ts';
import { initDelete } from './phases/init-delete.ts';
import { progressing } from './phases/progressing.ts';
import type { Snapshot } from './snapshot.ts';

type Working = 'Init' | 'Progressing' | 'Completing' | 'InitDelete' | 'Deleting';
type Final = 'Succeeded' | 'Failed' | 'DeleteFailed';

export const phases = {
  Init: { phase: init, onFail: 'Failed', seen: 'before-effects' },
  Progressing: { phase: progressing, onFail: 'Failed', onRefusal: 'retry', seen: 'always' },
  Completing: { phase: completing, onFail: 'Failed' },
  InitDelete: { phase: initDelete, onFail: 'DeleteFailed' },
  Deleting: { phase: deleting, onFail: 'DeleteFailed', onRefusal: 'retry', seen: 'always' },
} satisfies PhaseTable<Snapshot, Working, Final>;
