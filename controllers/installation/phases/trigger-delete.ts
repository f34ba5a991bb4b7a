/** Starts the deletion of everything below by handing the job down. */
import { advance } from '../../../src/machine/decision.ts';
import { handDown } from '../job.ts';
import { ownExecution } from '../related-objects.ts';
import { phase } from '../snapshot.ts';

export const triggerDelete = phase({
  needs: ['children', 'execution'],
  next: ['Deleting'],
  decide(snapshot) {
    return advance('Deleting', {
      effects: handDown(snapshot, [...ownExecution(snapshot), ...snapshot.children]),
      status: { set: { transitionTimes: { waitTime: snapshot.now } } },
    });
  },
});
