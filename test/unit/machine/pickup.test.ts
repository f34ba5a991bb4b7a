import { expect } from 'chai';
import type { DeployItem } from '../../../src/api/kinds/deployitem.ts';
import { wasNeverTakenUp } from '../../../src/machine/pickup.ts';

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

describe('a deploy item', () => {
  const rows: readonly (readonly [string, DeployItem, boolean])[] = [
    ['never had a job', item({}), true],
    ['has no status', item(), true],
    ['was not created by its execution, as after a restore', item(undefined, 'another'), false],
    ['has a job that nobody has ended', item({ jobID: 'j' }), false],
    ['was ended because no deployer took it up', item(endedBy('PickupTimeout')), true],
    ['had no target', item(endedBy('NoTargetFound')), true],
    ['was interrupted, as a deployer may learn too late', item(endedBy('InterruptOperation')), false],
    ['was interrupted, and had no target', item(endedBy('InterruptOperation', 'NoTargetFound')), false],
    [
      'succeeded without stamps, and was interrupted later',
      item({ ...endedBy('InterruptOperation'), observedGeneration: 1 }),
      false,
    ],
    [
      'was interrupted on its way out',
      item({ ...endedBy('InterruptOperation'), phase: 'DeleteFailed' }),
      false,
    ],
    ['failed in a deployer', item(endedBy('NoTargetFound', 'ApplyFile')), false],
    ['was begun by a deployer', item({ ...endedBy('PickupTimeout'), lastReconcileTime: 'x' }), false],
    ['has a provider status', item({ ...endedBy('PickupTimeout'), providerStatus: {} }), false],
    ['has exports', item({ ...endedBy('PickupTimeout'), exportRef: { name: 'x' } }), false],
  ];
  for (const [what, object, isNever] of rows) {
    it(`that ${what} was ${isNever ? 'never' : 'perhaps'} taken up`, () => {
      expect(wasNeverTakenUp(object, OWNER)).to.equal(isNever);
    });
  }
});
