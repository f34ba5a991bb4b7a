import { expect } from 'chai';
import type { DeployItem } from '../../../src/api/kinds/deployitem.ts';
import { neverStarted } from '../../../src/api/never-started.ts';
import { annotations } from '../../../src/api/labels.ts';
import { isAsCreated, isPickedUp, wasNeverPickedUp } from '../../../src/landscape/pickup.ts';

const OWNER = 'execution-uid';
const item = (status?: object, uid = OWNER): DeployItem =>
  ({
    metadata: {
      name: 'a',
      ownerReferences: [{ apiVersion: 'v1', kind: 'Execution', name: 'e', uid, controller: true }],
    },
    ...(status && { status }),
  }) as unknown as DeployItem;
const error = (reason: string): object => ({ reason, operation: '', message: '' });
const endedBy = (...reasons: readonly string[]): object => ({ jobID: 'j', lastErrors: reasons.map(error) });

describe('a job of a deploy item', () => {
  const rows: readonly (readonly [string, object | undefined, boolean])[] = [
    ['is picked up if a deployer has updated the timestamp of the item since', { lastReconcileTime: '2026-01-01T00:00:02Z', jobIDGenerationTime: '2026-01-01T00:00:01Z' }, true],
    ['is picked up if both times are in the same second', { lastReconcileTime: '2026-01-01T00:00:01Z', jobIDGenerationTime: '2026-01-01T00:00:01Z' }, true],
    ['is not picked up if the timestamp is of an earlier job', { lastReconcileTime: '2026-01-01T00:00:00Z', jobIDGenerationTime: '2026-01-01T00:00:01Z' }, false],
    ['is picked up if the item has a timestamp, and no start time of its job', { lastReconcileTime: '2026-01-01T00:00:00Z' }, true],
    ['is not picked up without a timestamp', { jobIDGenerationTime: '2026-01-01T00:00:01Z' }, false],
    ['is not picked up without a status', undefined, false],
  ]; // prettier-ignore
  for (const [title, status, answer] of rows) {
    it(title, () => {
      expect(isPickedUp(item(status))).to.equal(answer);
    });
  }
});

describe('a deploy item', () => {
  const unstarted = { jobID: 'j', jobIDFinished: 'j', neverStarted: 'j', phase: 'Failed' };
  const rows: readonly (readonly [string, DeployItem, boolean])[] = [
    ['never had a job', item({}), true],
    ['has no status', item(), true],
    ['was not created by its execution, as after a restore', item(undefined, 'another'), false],
    ['has a job that has not ended', item({ jobID: 'j' }), false],
    ['lost its job but not its phase', item({ phase: 'Succeeded' }), false],
    ['lost its job but not its provider status', item({ providerStatus: {} }), false],
    ['has the record that its jobs ended unstarted', item(unstarted), true],
    ['was not picked up when it should be uninstalled', item({ ...unstarted, phase: 'DeleteFailed' }), true],
    ['has such a record of an earlier job', item({ ...unstarted, jobID: 'k', jobIDFinished: 'k' }), false],
    ['succeeded in spite of such a record', item({ ...unstarted, phase: 'Succeeded' }), false],
    ['has an old error of the pick-up', item(endedBy('PickupTimeout')), false],
    ['had no target at some time', item(endedBy('NoTargetFound')), false],
    [
      'was not picked up once, and then succeeded in a deployer that writes only the phase',
      item({ ...endedBy('PickupTimeout'), observedGeneration: 1, jobIDFinished: 'j', phase: 'Succeeded' }),
      false,
    ],
    ['was interrupted, which a deployer may notice too late', item(endedBy('InterruptOperation')), false],
    ['was started by a deployer', item({ ...unstarted, lastReconcileTime: 'x' }), false],
    ['was started by a deployer that identifies itself', item({ ...unstarted, deployer: {} }), false],
    ['has a provider status', item({ ...unstarted, providerStatus: {} }), false],
    ['has exports', item({ ...unstarted, exportRef: { name: 'x' } }), false],
  ];
  for (const [what, object, isNever] of rows) {
    it(`that ${what} was ${isNever ? 'never' : 'perhaps'} picked up`, () => {
      expect(wasNeverPickedUp(object, OWNER)).to.equal(isNever);
    });
  }

  const owner = { apiVersion: 'v1', kind: 'Execution', name: 'e', uid: OWNER };
  const owners: readonly (readonly [string, object[] | undefined, boolean])[] = [
    ['one that controls it', [{ ...owner, controller: true }], true],
    [
      'one that controls it besides another',
      [
        { ...owner, uid: 'x' },
        { ...owner, controller: true },
      ],
      true,
    ],
    ['one that does not control it', [{ ...owner, controller: false }], false],
    ['none', undefined, false],
  ];
  for (const [what, ownerReferences, isNever] of owners) {
    it(`is reported with its owner: ${what}`, () => {
      const object = { metadata: { name: 'a', ownerReferences } } as unknown as DeployItem;
      expect(wasNeverPickedUp(object, OWNER)).to.equal(isNever);
    });
  }
});

describe('the record that no deployer started a job', () => {
  const before = { jobID: 'b', jobIDFinished: 'a', phase: 'Failed' };
  const rows: readonly (readonly [string, Parameters<typeof neverStarted>[0], object])[] = [
    ['is written for the first job', { jobID: 'b' }, { neverStarted: 'b' }],
    ['is not written without a job', {}, {}],
    [
      'is not written for the first job if a deployer wrote a phase',
      { jobID: 'b', phase: 'Progressing' },
      {},
    ],
    ['continues that of the job before', { ...before, neverStarted: 'a' }, { neverStarted: 'b' }],
    ['does not continue after a job without', before, {}],
    ['does not skip a job', { ...before, neverStarted: 'earlier' }, {}],
    ['ends when a deployer wrote a phase', { ...before, neverStarted: 'a', phase: 'Progressing' }, {}],
    ['ends after a success', { ...before, neverStarted: 'a', phase: 'Succeeded' }, {}],
  ];
  for (const [title, status, record] of rows) {
    it(title, () => {
      expect(neverStarted(status)).to.deep.equal(record);
    });
  }
});

describe('a deploy item without an execution', () => {
  const stored = (
    creationTimestamp: string | undefined,
    written: string | undefined,
    status?: object,
  ): DeployItem =>
    ({
      metadata: {
        name: 'a',
        ...(creationTimestamp && { creationTimestamp }),
        ...(written && { annotations: { [annotations.reconcileTime]: written } }),
      },
      ...(status && { status }),
    }) as unknown as DeployItem;
  const T = '2026-01-01T00:10:00Z';
  const rows: readonly (readonly [string, DeployItem, boolean])[] = [
    ['was stored when it was written', stored(T, T), true],
    ['has an empty status', stored(T, T, {}), true],
    ['was stored by a clock that differs', stored('2026-01-01T00:05:00Z', T), true],
    ['was in transit for some minutes', stored(T, '2026-01-01T00:05:00Z'), true],
    ['was stored again long after it was written', stored(T, '2026-01-01T00:04:59Z'), false],
    ['was stored long before', stored('2026-01-01T00:04:59Z', T), false],
    ['does not say when it was written', stored(T, undefined), false],
    ['does not say when it was stored', stored(undefined, T), false],
    ['has a job', stored(T, T, { jobID: 'j' }), false],
    ['has a provider status', stored(T, T, { providerStatus: {} }), false],
  ];
  for (const [what, object, answer] of rows) {
    it(`that ${what} is ${answer ? 'as it was created' : 'perhaps installed'}`, () => {
      expect(isAsCreated(object)).to.equal(answer);
    });
  }
});
