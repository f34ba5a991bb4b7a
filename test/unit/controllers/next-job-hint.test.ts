/** What a root reports after its job has failed: whether another one starts by itself, and what starts it. */
import { expect } from 'chai';
import { withNextJobHint } from '../../../controllers/installation/next-job-hint.ts';
import type { Inst, InstStatus } from '../../../controllers/installation/related-objects.ts';

const NOW = '2026-01-01T00:00:00Z';
const COMMAND =
  'espalier installations reconcile web -n demo, or annotate it with landscaper.gardener.cloud/operation=reconcile';

const failed: InstStatus = {
  phase: 'Failed',
  jobID: 'j1',
  jobIDFinished: 'j1',
  observedGeneration: 1,
  transitionTimes: { finishedTime: NOW },
  lastError: {
    operation: 'o',
    reason: 'r',
    message: 'it broke',
    lastTransitionTime: NOW,
    lastUpdateTime: NOW,
  },
};
const wayOn = (
  metadata: object = {},
  spec: object = {},
  status = failed,
): readonly (string | undefined)[] => {
  const self = {
    apiVersion: 'v1',
    kind: 'Installation',
    spec: { blueprint: {}, ...spec },
    metadata: { name: 'web', namespace: 'demo', generation: 1, ...metadata },
  } as unknown as Inst;
  return withNextJobHint(self, status).lastError?.message.split('\n') ?? [];
};

describe('a root whose job has failed', () => {
  it('reports that no other job starts by itself, and which command starts one', () => {
    expect(wayOn()).to.deep.equal([
      'it broke',
      `no other job starts by itself, even when the cause is fixed; start one with: ${COMMAND}`,
    ]);
  });

  it('reports it for a deletion, too', () => {
    const metadata = { deletionTimestamp: NOW };
    expect(wayOn(metadata, {}, { ...failed, phase: 'DeleteFailed' })[1])
      .to.match(/^the deletion is not retried by itself/)
      .and.contain(COMMAND);
  });

  it('reports that another job starts by itself if the installation has a schedule', () => {
    const spec = { automaticReconcile: { failedReconcile: { interval: '5m' } } };
    expect(wayOn({}, spec)[1]).to.equal('spec.automaticReconcile starts another job');
    const none = { automaticReconcile: { failedReconcile: { numberOfReconciles: 0 } } };
    expect(wayOn({}, none)[1]).to.contain(COMMAND);
    expect(wayOn({}, { automaticReconcile: { succeededReconcile: {} } })[1]).to.contain(COMMAND);
  });

  it('reports that it has to be resumed first if it is suspended', () => {
    const metadata = { annotations: { 'espalier.dev/suspended': 'true' } };
    expect(wayOn(metadata)[1]).to.match(/once espalier\.dev\/suspended is removed$/);
  });

  it('reports nothing if another job was requested, below the root, and if nothing failed', () => {
    expect(wayOn({ annotations: { 'landscaper.gardener.cloud/operation': 'reconcile' } })).to.have.length(1);
    const owner = {
      apiVersion: 'landscaper.gardener.cloud/v1alpha1',
      kind: 'Installation',
      name: 'top',
      uid: 'u',
    };
    expect(wayOn({ ownerReferences: [owner] })).to.have.length(1);
    expect(wayOn({}, {}, { ...failed, lastError: undefined })).to.have.length(0);
  });
});
