import { expect } from 'chai';
import {
  failedPhase,
  firstPhase,
  hasAnnotation,
  hasFinishedJob,
  hasOperation,
  isFinalPhase,
  isFinished,
  isJobUnstarted,
  isNewJobDue,
  isRoot,
  isTriggeredFor,
  parentInstallation,
  phases,
  type MetaView,
} from '../../../src/api/job.ts';
import { API_VERSION, annotations } from '../../../src/api/labels.ts';

const run = (jobID?: string, jobIDFinished?: string, phase?: string) => ({
  status: { jobID, jobIDFinished, phase },
});
const deleted: MetaView = { deletionTimestamp: '2026-01-01T00:00:00Z' };
const asked: MetaView = { annotations: { [annotations.operation]: 'reconcile' } };

describe('the job protocol', () => {
  const finished = [
    { title: 'an object without status', object: {}, answer: true },
    { title: 'an object that never had a job', object: run(), answer: true },
    { title: 'empty ids', object: run('', undefined), answer: true },
    { title: 'equal ids', object: run('j1', 'j1', 'Failed'), answer: true },
    { title: 'a first job', object: run('j1', undefined, 'Init'), answer: false },
    { title: 'a further job', object: run('j2', 'j1', 'Progressing'), answer: false },
    {
      title: 'a new job while the status still shows the final phase of the last',
      object: run('j2', 'j1', 'Succeeded'),
      answer: false,
    },
  ];
  for (const { title, object, answer } of finished) {
    it(`treats ${title} as ${answer ? 'finished' : 'running'}`, () => {
      expect(isFinished(object)).to.equal(answer);
    });
  }

  it('distinguishes triggered from finished jobs', () => {
    expect(isTriggeredFor(run('j2', 'j1'), 'j2')).to.equal(true);
    expect(hasFinishedJob(run('j2', 'j1'), 'j2')).to.equal(false);
    expect(hasFinishedJob(run('j2', 'j2'), 'j2')).to.equal(true);
    expect(hasFinishedJob(run('j2', 'j2'), 'j1')).to.equal(false);
  });

  it('detects a job id that was set but whose job has not begun', () => {
    expect(isJobUnstarted(run('j1'))).to.equal(true);
    expect(isJobUnstarted(run('j2', 'j1', 'DeleteFailed'))).to.equal(true);
    expect(isJobUnstarted(run('j2', 'j1', 'Init'))).to.equal(false);
    expect(isJobUnstarted(run('j1', 'j1', 'Succeeded'))).to.equal(false);
  });

  it('has exactly three final phases', () => {
    expect(Object.keys(phases).filter(isFinalPhase)).to.deep.equal(['Succeeded', 'Failed', 'DeleteFailed']);
  });

  it('chooses reconcile or delete by the deletion timestamp', () => {
    expect([firstPhase({}), failedPhase({})]).to.deep.equal(['Init', 'Failed']);
    expect([firstPhase(deleted), failedPhase(deleted)]).to.deep.equal(['InitDelete', 'DeleteFailed']);
  });
});

describe('a root gets a new job', () => {
  const cases = [
    {
      title: 'if the user requests it',
      metadata: asked,
      status: run('j1', 'j1', 'Succeeded').status,
      due: true,
    },
    { title: 'not without a request', metadata: {}, status: run('j1', 'j1', 'Failed').status, due: false },
    {
      title: 'not while a job is running',
      metadata: asked,
      status: run('j2', 'j1', 'Progressing').status,
      due: false,
    },
    {
      title: 'if it is deleted',
      metadata: deleted,
      status: run('j1', 'j1', 'Succeeded').status,
      due: true,
    },
    { title: 'if it is deleted before its first job', metadata: deleted, status: undefined, due: true },
    {
      title: 'not after a failed deletion',
      metadata: deleted,
      status: run('j1', 'j1', 'DeleteFailed').status,
      due: false,
    },
    {
      title: 'after a failed deletion if the user requests it',
      metadata: { ...asked, ...deleted },
      status: run('j1', 'j1', 'DeleteFailed').status,
      due: true,
    },
    {
      title: 'not for another operation',
      metadata: { annotations: { [annotations.operation]: 'interrupt' } },
      status: undefined,
      due: false,
    },
  ];
  for (const { title, metadata, status, due } of cases) {
    it(title, () => {
      expect(isNewJobDue({ metadata, status })).to.equal(due);
    });
  }
});

describe('a root', () => {
  const owner = (apiVersion: string, kind: string): MetaView => ({
    ownerReferences: [{ apiVersion, kind, name: 'parent', uid: 'u' }],
  });
  const cases = [
    { title: 'is an installation without owner', metadata: {}, root: true },
    { title: 'may be owned by a secret', metadata: owner('v1', 'Secret'), root: true },
    {
      title: 'may be owned by an Installation of another group',
      metadata: owner('other/v1', 'Installation'),
      root: true,
    },
    { title: 'is not owned by an installation', metadata: owner(API_VERSION, 'Installation'), root: false },
    {
      title: 'is not owned by an installation of another version',
      metadata: owner('landscaper.gardener.cloud/v2', 'Installation'),
      root: false,
    },
  ];
  for (const { title, metadata, root } of cases) {
    it(title, () => {
      expect(isRoot(metadata)).to.equal(root);
      expect(parentInstallation(metadata)).to.equal(root ? undefined : 'parent');
    });
  }
});

describe('annotations', () => {
  it('count as set only with the value true', () => {
    const metadata = { annotations: { a: 'true', b: 'True', c: '1', d: '' } };
    expect(['a', 'b', 'c', 'd', 'e'].filter((key) => hasAnnotation(metadata, key))).to.deep.equal(['a']);
  });

  it('name one operation', () => {
    expect(hasOperation(asked, 'reconcile')).to.equal(true);
    expect(hasOperation(asked, 'interrupt')).to.equal(false);
  });
});
