/** The whole installation controller on an API server in memory: jobs from start to end. */
import { expect } from 'chai';
import { executionKind } from '../../../../src/api/kinds/execution.ts';
import { installationKind, type Installation } from '../../../../src/api/kinds/installation.ts';
import { FINALIZER, annotations } from '../../../../src/api/labels.ts';
import { apiErrorFrom } from '../../../../src/runtime/errors.ts';
import { trading } from './given.ts';
import { NS, RECONCILE, inLandscape, inline, root, type Landscape } from './landscape.ts';

const withChild = inline({ subinstallations: [{ name: 'a', blueprint: inline().inline }] });
const withItem = inline({
  deployExecutions: [
    { name: 'e', type: 'GoTemplate', template: 'deployItems: [{name: i, type: x, config: {}}]' },
  ],
});
const phaseOf = ({ status }: Pick<Installation, 'status'>) => status?.phase;
const execution = ({ cluster }: Landscape, name = 'web') => {
  const found = cluster.read(executionKind, `${NS}/${name}`);
  if (!found) throw new Error('there is no execution');
  return found;
};
/** Ends the job of an execution, as its controller does. */
const answer = (landscape: Landscape, phase = 'Succeeded', more: object = {}) =>
  landscape.edit(
    executionKind,
    'web',
    { status: { phase, jobIDFinished: execution(landscape).status?.jobID, ...more } },
    'status',
  );
const eventsOf = ({ cluster }: Landscape) =>
  cluster.writes.filter((write) => write.startsWith('create Event demo/web.'));
const exporting = (value: number) => ({
  blueprint: inline({
    exports: [{ name: 'a', type: 'data', schema: {} }],
    exportExecutions: [{ name: 'e', type: 'GoTemplate', template: `exports: {a: ${String(value)}}` }],
  }),
  ...trading({ gives: ['a'] }),
});
const consuming = {
  blueprint: inline({ imports: [{ name: 'a', type: 'data', schema: {} }] }),
  ...trading({ takes: ['a'] }),
};

describe('a job of an installation', () => {
  it('waits for its execution, enters its phases in order, and ends with an event at the root', () =>
    inLandscape(async (landscape) => {
      await landscape.put(root('web', { blueprint: withItem }));
      expect(phaseOf(landscape.get('web'))).to.equal('Progressing');
      expect(execution(landscape).status?.jobID).to.equal(landscape.get('web').status?.jobID);
      await answer(landscape);
      expect(phaseOf(landscape.get('web'))).to.equal('Succeeded');
      expect(landscape.entered).to.deep.equal([
        'Init CleanupOrphaned',
        'CleanupOrphaned ObjectsCreated',
        'ObjectsCreated Progressing',
        'Progressing Completing',
        'Completing Succeeded',
      ]);
      expect(eventsOf(landscape)).to.have.length(1);
    }));

  it('does not end with a failure while its execution is running for it', () =>
    inLandscape(async (landscape) => {
      await landscape.put(root('web', { blueprint: withItem }));
      await landscape.edit(installationKind, 'web', { spec: { context: 'special' } });
      await landscape.edit(installationKind, 'web', { status: { phase: 'Init' } }, 'status');
      const { status } = landscape.get('web');
      expect(status).to.include({ phase: 'Init' }).and.to.not.have.property('jobIDFinished');
      expect(status?.lastError?.reason).to.equal('CalculateContext');
      await answer(landscape);
      expect(phaseOf(landscape.get('web'))).to.equal('Failed');
    }));

  it('writes to objects under deletion before it fails, so that a late write with the job meets a conflict', () =>
    inLandscape(async (landscape) => {
      await landscape.put(root('web', { blueprint: withItem }));
      await answer(landscape);
      landscape.cluster.remove(executionKind, `${NS}/web`);
      const { resourceVersion } = execution(landscape).metadata;
      const change = { metadata: { annotations: RECONCILE }, spec: { context: 'special' } };
      await landscape.edit(installationKind, 'web', change);
      expect(phaseOf(landscape.get('web'))).to.equal('Failed');
      expect(execution(landscape).metadata.resourceVersion).to.not.equal(resourceVersion);
    }));
});

describe('roots that import from each other', () => {
  it('wait for the running one, and run when it has finished', () =>
    inLandscape(async (landscape) => {
      await landscape.put(root('producer', exporting(1)));
      await landscape.put(root('consumer', consuming));
      expect(phaseOf(landscape.get('consumer'))).to.equal('Succeeded');
      const before = landscape.get('consumer').status?.jobID;
      await landscape.edit(installationKind, 'producer', {
        metadata: { annotations: RECONCILE },
        spec: exporting(2),
      });
      expect(phaseOf(landscape.get('consumer'))).to.equal('Succeeded');
      expect(landscape.get('consumer').status?.jobID).to.not.equal(before);
      expect(landscape.get('producer').status).to.not.have.property('dependentsToTrigger');
    }));

  it('do not list exports that a failed job has removed', () =>
    inLandscape(async (landscape) => {
      await landscape.put(root('producer', exporting(1)));
      await landscape.edit(installationKind, 'producer', {
        metadata: { annotations: RECONCILE },
        spec: { context: 'special' },
      });
      const { status } = landscape.get('producer');
      expect(status?.phase).to.equal('Failed');
      expect(status?.conditions?.find(({ type }) => type === 'CreateExports')?.status).to.equal('False');
    }));
});

describe('an installation that is deleted', () => {
  it('is deleted with everything below it, without events for their jobs', () =>
    inLandscape(async (landscape) => {
      await landscape.put(root('web', { blueprint: withChild }));
      expect(landscape.children('web').map(phaseOf)).to.deep.equal(['Succeeded']);
      expect(eventsOf(landscape)).to.have.length(1);
      landscape.cluster.remove(installationKind, `${NS}/web`);
      await landscape.settle();
      expect(landscape.cluster.read(installationKind, `${NS}/web`)).to.equal(undefined);
      expect(landscape.children('web')).to.deep.equal([]);
    }));

  it('is released if it was created so late that its parent is gone', () =>
    inLandscape(async (landscape) => {
      const owner = { apiVersion: 'landscaper.gardener.cloud/v1alpha1', kind: 'Installation', name: 'gone' };
      const { metadata, ...rest } = root('late');
      landscape.cluster.put(installationKind, {
        ...rest,
        metadata: {
          ...metadata,
          finalizers: [FINALIZER],
          ownerReferences: [{ ...owner, uid: 'uid-gone', controller: true }],
        },
      });
      landscape.cluster.remove(installationKind, `${NS}/late`);
      await landscape.settle();
      expect(landscape.cluster.read(installationKind, `${NS}/late`)).to.equal(undefined);
    }));
});

describe('a scheduled job', () => {
  it('starts at its time', () =>
    inLandscape(async (landscape) => {
      await landscape.put(root('web', { automaticReconcile: { succeededReconcile: { interval: '10s' } } }));
      const before = landscape.get('web').status?.jobID;
      await landscape.clock.advance(5_000);
      await landscape.settle();
      expect(landscape.get('web').status?.jobID).to.equal(before);
      await landscape.clock.advance(7_000);
      await landscape.settle();
      expect(landscape.get('web').status?.jobID).to.not.equal(before);
      expect(phaseOf(landscape.get('web'))).to.equal('Succeeded');
    }));
});

describe('an interrupted job', () => {
  it('ends while it waits with nothing running below', () =>
    inLandscape(async (landscape) => {
      await landscape.put(root('producer', { ...exporting(1), blueprint: withItem }));
      await landscape.put(root('consumer', consuming));
      expect(phaseOf(landscape.get('consumer'))).to.equal('Init');
      await landscape.edit(installationKind, 'consumer', {
        metadata: { annotations: { [annotations.operation]: 'interrupt' } },
      });
      expect(phaseOf(landscape.get('consumer'))).to.equal('Failed');
      expect(landscape.get('consumer').status?.lastError?.reason).to.equal('InterruptOperation');
    }));
});

describe('drift below an installation', () => {
  it('is reported by its condition', () =>
    inLandscape(async (landscape) => {
      await landscape.put(root('web', { blueprint: withItem }));
      await answer(landscape);
      const times = { lastTransitionTime: '2026-01-01T00:00:00Z', lastUpdateTime: '2026-01-01T00:00:00Z' };
      const drifted = { type: 'Drifted', status: 'True', reason: 'FailedAfterJob', message: 'item i: no' };
      await answer(landscape, 'Succeeded', { conditions: [{ ...drifted, ...times }] });
      const conditions = landscape.get('web').status?.conditions ?? [];
      expect(conditions.find(({ type }) => type === 'Drifted')?.message).to.equal(
        'execution web: item i: no',
      );
    }));
});

describe('a write that the server rejects', () => {
  it('ends the job with the name of the rejected object', () =>
    inLandscape(async (landscape) => {
      landscape.cluster.fault = ({ verb, kind }) =>
        verb === 'create' && kind === 'DataObject'
          ? apiErrorFrom(422, { reason: 'Invalid', message: 'no' }, { verb: 'create', kind })
          : undefined;
      await landscape.put(root('producer', exporting(1)));
      expect(phaseOf(landscape.get('producer'))).to.equal('Failed');
      expect(landscape.get('producer').status?.lastError?.message).to.contain(
        'unable to create or update data object a for export a',
      );
    }));
});
