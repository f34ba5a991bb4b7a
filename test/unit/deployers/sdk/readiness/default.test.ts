import { expect } from 'chai';
import { defaultVerdict } from '../../../../../deployers/objects/readiness/default.ts';
import type { KubeObject } from '../../../../../deployers/objects/manifests/model.ts';

const object = (
  apiVersion: string,
  kind: string,
  spec: object,
  status: object,
  generation = 1,
): KubeObject => ({
  apiVersion,
  kind,
  metadata: { name: 'x', namespace: 'app', generation },
  spec,
  status: { observedGeneration: generation, ...status },
});

const all = (n: number): object => ({ replicas: n, updatedReplicas: n, availableReplicas: n });
const rolling = (maxUnavailable: unknown): object => ({
  updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable } },
});
const podReady = (status: string, reason = ''): object => ({
  conditions: [{ type: 'Ready', status, reason }],
});

const rows: readonly (readonly [string, KubeObject, true | string])[] = [
  ['a Deployment with all replicas', object('apps/v1', 'Deployment', { replicas: 3 }, all(3)), true],
  [
    'a Deployment with a missing replica',
    object('apps/v1', 'Deployment', { replicas: 3 }, { ...all(3), availableReplicas: 2 }),
    'not enough ready replicas (2/3)',
  ],
  [
    'a Deployment of an older generation',
    object('apps/v1', 'Deployment', { replicas: 3 }, { ...all(3), observedGeneration: 9 }, 10),
    'observed generation outdated (9/10)',
  ],
  ['a Deployment without replicas in its spec', object('apps/v1', 'Deployment', {}, all(1)), true],
  [
    'a Deployment without replicas in its spec and without pods',
    object('apps/v1', 'Deployment', {}, all(0)),
    'not enough ready replicas (0/1)',
  ],
  [
    'a StatefulSet without replicas',
    object('apps/v1', 'StatefulSet', {}, { updatedReplicas: 1, availableReplicas: 1 }),
    true,
  ],
  [
    'a StatefulSet that is not updated',
    object('apps/v1', 'StatefulSet', { replicas: 2 }, { updatedReplicas: 1, availableReplicas: 2 }),
    'not enough ready replicas (1/2)',
  ],
  [
    'a DaemonSet that may miss one pod',
    object('apps/v1', 'DaemonSet', rolling(1), { desiredNumberScheduled: 2, currentNumberScheduled: 1 }),
    true,
  ],
  [
    'a DaemonSet that may miss half of its pods',
    object('apps/v1', 'DaemonSet', rolling('50%'), { desiredNumberScheduled: 4, currentNumberScheduled: 2 }),
    true,
  ],
  [
    'a DaemonSet that misses one pod',
    object('apps/v1', 'DaemonSet', {}, { desiredNumberScheduled: 1, currentNumberScheduled: 0 }),
    'not enough ready replicas (0/1)',
  ],
  [
    'a DaemonSet that misses one pod more than it may',
    object('apps/v1', 'DaemonSet', rolling(1), { desiredNumberScheduled: 3, currentNumberScheduled: 1 }),
    'not enough ready replicas (1/2)',
  ],
  [
    'a DaemonSet that may miss a part, which is rounded up',
    object('apps/v1', 'DaemonSet', rolling('10%'), { desiredNumberScheduled: 3, currentNumberScheduled: 2 }),
    true,
  ],
  ...['10', 'x10%', '10%x', true].map(
    (maxUnavailable) =>
      [
        `a DaemonSet that may miss ${String(maxUnavailable)}`,
        object('apps/v1', 'DaemonSet', rolling(maxUnavailable), {
          desiredNumberScheduled: 2,
          currentNumberScheduled: 1,
        }),
        'not enough ready replicas (1/2)',
      ] as const,
  ),
  [
    'a DaemonSet with update strategy OnDelete',
    object(
      'apps/v1',
      'DaemonSet',
      { updateStrategy: { type: 'OnDelete', rollingUpdate: { maxUnavailable: 1 } } },
      { desiredNumberScheduled: 1, currentNumberScheduled: 0 },
    ),
    'not enough ready replicas (0/1)',
  ],
  [
    'a DaemonSet of an older generation',
    object('apps/v1', 'DaemonSet', {}, { observedGeneration: 1 }, 2),
    'observed generation outdated (1/2)',
  ],
  [
    'a StatefulSet that is not available',
    object('apps/v1', 'StatefulSet', { replicas: 2 }, { updatedReplicas: 2, availableReplicas: 1 }),
    'not enough ready replicas (1/2)',
  ],
  [
    'a StatefulSet of an older generation',
    object('apps/v1', 'StatefulSet', { replicas: 0 }, { observedGeneration: 1 }, 2),
    'observed generation outdated (1/2)',
  ],
  ...['replicas', 'updatedReplicas'].map(
    (field) =>
      [
        `a Deployment with another ${field}`,
        object('apps/v1', 'Deployment', { replicas: 3 }, { ...all(3), [field]: 4 }),
        'not enough ready replicas (4/3)',
      ] as const,
  ),
  [
    'a ReplicaSet with a missing replica',
    object('apps/v1', 'ReplicaSet', { replicas: 2 }, { readyReplicas: 1 }),
    'not enough ready replicas (1/2)',
  ],
  [
    'a ReplicaSet of an older generation',
    object('apps/v1', 'ReplicaSet', { replicas: 0 }, { observedGeneration: 1 }, 2),
    'observed generation outdated (1/2)',
  ],
  [
    'a ReplicaSet that can create pods again',
    object(
      'apps/v1',
      'ReplicaSet',
      { replicas: 0 },
      { conditions: [{ type: 'ReplicaFailure', status: 'False' }] },
    ),
    true,
  ],
  ['a ReplicaSet without replicas', object('apps/v1', 'ReplicaSet', {}, { readyReplicas: 1 }), true],
  [
    'a ReplicaSet that cannot create pods',
    object(
      'apps/v1',
      'ReplicaSet',
      {},
      {
        readyReplicas: 1,
        conditions: [{ type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: 'quota' }],
      },
    ),
    'condition "ReplicaFailure" has invalid status True (expected False) due to FailedCreate: quota',
  ],
  [
    'a ReplicationController',
    object('v1', 'ReplicationController', { replicas: 2 }, { readyReplicas: 2 }),
    true,
  ],
  ['a Pod that has completed', object('v1', 'Pod', {}, podReady('False', 'PodCompleted')), true],
  ['a Pod that is ready', object('v1', 'Pod', {}, podReady('True')), true],
  [
    'a Pod that is not ready',
    object('v1', 'Pod', {}, podReady('False', 'ContainersNotReady')),
    'condition "Ready" has invalid status False (expected True) due to ContainersNotReady: ',
  ],
  ['a Pod without conditions', object('v1', 'Pod', {}, {}), 'condition "Ready" is missing'],
  [
    'a Pod with invalid conditions',
    object('v1', 'Pod', {}, { conditions: [null, 'Ready', { type: 'Other', status: 'True' }] }),
    'condition "Ready" is missing',
  ],
  [
    'a Pod without status',
    object('v1', 'Pod', {}, { conditions: [{ type: 'Ready' }] }),
    'condition "Ready" has invalid status  (expected True) due to : ',
  ],
  [
    'a Pod with another condition reason than completed',
    object('v1', 'Pod', {}, podReady('Unknown', 'PodCompleted')),
    'condition "Ready" has invalid status Unknown (expected True) due to PodCompleted: ',
  ],
  ['a ConfigMap', object('v1', 'ConfigMap', {}, {}), true],
  ['a Job that runs', object('batch/v1', 'Job', {}, { active: 1 }), true],
  ['a Deployment of another group', object('example.org/v1', 'Deployment', { replicas: 3 }, {}), true],
];

describe('default readiness', () => {
  for (const [title, input, expected] of rows) {
    it(`DEP-39: ${title} is ${expected === true ? '' : 'not '}ready`, () => {
      const verdict = defaultVerdict(input);
      expect(verdict).to.deep.equal(
        expected === true ? { isReady: true } : { isReady: false, why: expected },
      );
    });
  }
});
