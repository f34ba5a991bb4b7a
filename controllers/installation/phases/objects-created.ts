/**
 * Starts everything below by handing the job down, including objects that a user has just deleted: they are
 * uninstalled completely.
 */
import { advance } from '../../../src/machine/decision.ts';
import { handDown } from '../job.ts';
import { ownExecution } from '../related-objects.ts';
import { step, steps } from '../snapshot.ts';
import { interrupted } from './creation-checks.ts';

const startAll = step(['children', 'execution'], (snapshot) =>
  advance('Progressing', {
    effects: handDown(snapshot, [...snapshot.children, ...ownExecution(snapshot)]),
    status: { set: { transitionTimes: { waitTime: snapshot.now } } },
  }),
);

export const objectsCreated = steps(['Progressing'], interrupted, startAll);
