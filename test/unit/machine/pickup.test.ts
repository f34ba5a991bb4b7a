import { expect } from 'chai';
import type { DeployItem } from '../../../src/api/kinds/deployitem.ts';
import { isPickedUp, wasNeverPickedUp } from '../../../src/landscape/pickup.ts';

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
  const rows: readonly (readonly [string, DeployItem, boolean])[] = [
    ['never had a job', item({}), true],
    ['has no status', item(), true],
    ['was not created by its execution, as after a restore', item(undefined, 'another'), false],
    ['has a job that has not ended', item({ jobID: 'j' }), false],
    ['was ended because no deployer picked it up', item(endedBy('PickupTimeout')), true],
    ['had no target', item(endedBy('NoTargetFound')), true],
    ['was interrupted, which a deployer may notice too late', item(endedBy('InterruptOperation')), false],
    ['was interrupted, and had no target', item(endedBy('InterruptOperation', 'NoTargetFound')), false],
    [
      'succeeded without timestamps, and was interrupted later',
      item({ ...endedBy('InterruptOperation'), observedGeneration: 1 }),
      false,
    ],
    [
      'was interrupted during its deletion',
      item({ ...endedBy('InterruptOperation'), phase: 'DeleteFailed' }),
      false,
    ],
    [
      'was ended because no deployer picked it up, with the observed generation',
      item({ ...endedBy('PickupTimeout'), observedGeneration: 1 }),
      true,
    ],
    [
      'had no target in a generation that a deployer has seen',
      item({ ...endedBy('NoTargetFound'), observedGeneration: 1 }),
      false,
    ],
    ['failed in a deployer', item(endedBy('NoTargetFound', 'ApplyFile')), false],
    ['was started by a deployer', item({ ...endedBy('PickupTimeout'), lastReconcileTime: 'x' }), false],
    [
      'was started by a deployer that identifies itself',
      item({ ...endedBy('PickupTimeout'), deployer: {} }),
      false,
    ],
    ['has a provider status', item({ ...endedBy('PickupTimeout'), providerStatus: {} }), false],
    ['has exports', item({ ...endedBy('PickupTimeout'), exportRef: { name: 'x' } }), false],
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
