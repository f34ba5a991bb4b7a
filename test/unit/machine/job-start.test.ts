import { expect } from 'chai';
import { changed, statusOf, type Status } from '../../../src/machine/status.ts';
import { startedStatus, jobFor } from '../../../src/landscape/job-start.ts';
import { NOW, child, deleting, done, execution, installation, running } from '../../support/given.ts';

const EARLIER = '2025-01-01T00:00:00Z';
const error = { operation: 'x', reason: 'Old', message: 'of the job before' };
const stamps = { lastTransitionTime: EARLIER, lastUpdateTime: EARLIER };

describe('an object that receives a job', () => {
  it('starts it in the same write, and drops the list of the earlier job', () => {
    const before = { ...done('j1'), lastError: { ...error, ...stamps }, subInstCache: { activeSubs: [] } };
    expect(jobFor(child('stack', 'a', before), 'j2', NOW)).to.deep.equal({
      jobID: 'j2',
      phase: 'Init',
      phaseTransitionTime: NOW,
      observedGeneration: 1,
      subInstCache: null,
      lastError: null,
      conditions: null,
      transitionTimes: { triggerTime: NOW, initTime: NOW, waitTime: null, finishedTime: null },
    });
  });

  it('has no list of deploy items if it is an execution', () => {
    const patch = jobFor(execution('plan', { status: done('j1') }), 'j2', NOW);
    expect(patch).to.include({ phase: 'Init', deployItemCache: null }).and.not.have.property('subInstCache');
  });

  it('starts with the deletion if it is being deleted', () => {
    expect(jobFor(child('stack', 'a', done('j1'), deleting), 'j2', NOW)).to.include({ phase: 'InitDelete' });
  });

  it('keeps conditions except those of an object at rest', () => {
    const condition = (type: string) =>
      ({ type, status: 'True', reason: 'r', message: 'm', ...stamps }) as const;
    const status = { ...done('j1'), conditions: [condition('Drifted'), condition('ReconcileExecution')] };
    const { conditions } = jobFor(child('stack', 'a', status), 'j2', NOW) as { conditions?: unknown };
    expect(conditions).to.deep.equal([condition('ReconcileExecution')]);
  });

  it('keeps its phase if another controller has already started the job', () => {
    const patch = jobFor(child('stack', 'a', running('j1', 'Progressing')), 'j2', NOW);
    expect(patch).to.deep.equal({
      jobID: 'j2',
      observedGeneration: 1,
      transitionTimes: { triggerTime: NOW, initTime: null, waitTime: null, finishedTime: null },
    });
  });
});

describe('a job that upstream handed down without its first phase', () => {
  const statusAtStart = (self: Parameters<typeof startedStatus>[0]): Status =>
    changed(statusOf<Status>(self), startedStatus(self, NOW), NOW);

  it('CORE-14: is the deletion job if the object was deleted meanwhile', () => {
    const status = statusAtStart(installation('web', { status: { jobID: 'j1' }, meta: deleting }));
    expect(status).to.include({ phase: 'InitDelete', jobID: 'j1' });
  });

  it('begins without the list and the error of the previous job, and keeps its start time', () => {
    const self = execution('plan', {
      status: {
        jobID: 'j2',
        jobIDFinished: 'j1',
        phase: 'Failed',
        observedGeneration: 0,
        deployItemCache: { activeDIs: [] },
        lastError: { ...error, ...stamps },
        transitionTimes: { triggerTime: EARLIER },
      },
    });
    const status = statusAtStart(self);
    expect(status).to.include({ phase: 'Init', jobID: 'j2', jobIDFinished: 'j1' });
    expect(status).to.not.have.any.keys('deployItemCache', 'lastError');
    expect(status.transitionTimes).to.deep.equal({ triggerTime: EARLIER, initTime: NOW });
  });
});
