/** Starts everything below by handing the job down, also what somebody has just deleted: it is uninstalled to the end. */
import { advance } from '../../../src/machine/decision.ts';
import { handDown } from '../job.ts';
import { ownExecution } from '../relatives.ts';
import { phase } from '../snapshot.ts';

export const objectsCreated = phase({
  needs: ['children', 'execution'],
  next: ['Progressing'],
  decide(snapshot) {
    return advance('Progressing', {
      effects: handDown(snapshot, [...snapshot.children, ...ownExecution(snapshot)]),
      status: { set: { transitionTimes: { waitTime: snapshot.now } } },
    });
  },
});
