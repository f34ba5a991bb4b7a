import { expect } from 'chai';
import {
  isUpstreamsKind,
  mayBeUnready,
  verdictOf,
} from '../../../../../deployers/objects/readiness/table.ts';
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
];

const condition = (type: string, status: string, more: object = {}): object => ({
  conditions: [{ type, status, reason: 'Because', message: 'of this', ...more }],
});
const custom = (status: object | undefined, generation = 1): KubeObject => ({
  apiVersion: 'example.org/v1',
  kind: 'Database',
  metadata: { name: 'x', namespace: 'app', generation },
  ...(status && { status }),
});
const DEFINITION = ['apiextensions.k8s.io/v1', 'CustomResourceDefinition'] as const;
const SERVICE = ['apiregistration.k8s.io/v1', 'APIService'] as const;

type Expected = true | string | { readonly failed: string; readonly isUnsettled?: true };
/** Objects that Landscaper does not wait for. */
const more: readonly (readonly [string, KubeObject, Expected])[] = [
  ['a Pod that succeeded', object('v1', 'Pod', {}, { phase: 'Succeeded' }), true],
  [
    'a Pod that failed',
    object('v1', 'Pod', {}, { phase: 'Failed', reason: 'Evicted', ...podReady('False', 'PodFailed') }),
    { failed: 'the pod has failed: Evicted' },
  ],
  [
    'a Pod that failed without a reason',
    object('v1', 'Pod', {}, { phase: 'Failed' }),
    { failed: 'the pod has failed' },
  ],
  ['a Job that completed', object('batch/v1', 'Job', {}, condition('Complete', 'True')), true],
  [
    'a Job that runs',
    object('batch/v1', 'Job', {}, { active: 1, failed: 2 }),
    'the job has not completed (active pods: 1, failed pods: 2)',
  ],
  [
    'a Job that has not started',
    object('batch/v1', 'Job', {}, {}),
    'the job has not completed (active pods: 0)',
  ],
  ['a Job that is suspended', object('batch/v1', 'Job', { suspend: true }, {}), 'the job is suspended'],
  [
    'a Job that failed',
    object('batch/v1', 'Job', {}, condition('Failed', 'True')),
    {
      failed:
        'the job has failed: Because: of this; to run it again, delete it, or change its name, and start a new job',
    },
  ],
  ['a claim with a volume', object('v1', 'PersistentVolumeClaim', {}, { phase: 'Bound' }), true],
  [
    'a claim without a volume',
    object('v1', 'PersistentVolumeClaim', {}, { phase: 'Pending' }),
    'the claim is not bound to a volume',
  ],
  [
    'a claim that lost its volume',
    object('v1', 'PersistentVolumeClaim', {}, { phase: 'Lost' }),
    { failed: 'the claim has lost its volume' },
  ],
  ['a definition that is served', object(...DEFINITION, {}, condition('Established', 'True')), true],
  ['a definition that is new', object(...DEFINITION, {}, {}), 'the definition is not established'],
  [
    'a definition whose names are taken',
    object(...DEFINITION, {}, condition('NamesAccepted', 'False')),
    { failed: 'the names are not accepted: Because: of this' },
  ],
  ['an API service that answers', object(...SERVICE, {}, condition('Available', 'True')), true],
  [
    'an API service that does not answer',
    object(...SERVICE, {}, condition('Available', 'False')),
    'the API service is not available: Because: of this',
  ],
  ['a new API service', object(...SERVICE, {}, {}), 'the API service is not available'],
  [
    'a kind of Kubernetes without a rule',
    object('networking.k8s.io/v1', 'Ingress', {}, condition('Ready', 'False')),
    true,
  ],
  ['a Deployment of another group', object('example.org/v1', 'Deployment', { replicas: 3 }, {}), true],
  ['a custom object without status', custom(undefined), 'unsettled'],
  ['a custom object without conditions', custom({ phase: 'x' }), true],
  ['a custom object that is ready', custom(condition('Ready', 'True')), true],
  [
    'a custom object that is not ready',
    custom(condition('Ready', 'False')),
    'condition "Ready" has invalid status False (expected True) due to Because: of this',
  ],
  [
    'a custom object of an older generation',
    custom({ observedGeneration: 1, ...condition('Ready', 'True') }, 2),
    'observed generation outdated (1/2)',
  ],
  [
    'a custom object whose condition is of an older generation',
    custom(condition('Ready', 'True', { observedGeneration: 1 }), 2),
    'condition "Ready" describes an earlier generation',
  ],
  [
    'a custom object that is reconciled',
    custom(condition('Reconciling', 'True')),
    'the object is being reconciled: Because: of this',
  ],
  ['a custom object that was reconciled', custom(condition('Reconciling', 'False')), true],
  [
    'a custom object that is stalled',
    custom({ observedGeneration: 1, ...condition('Stalled', 'True') }),
    { failed: 'the object is stalled: Because: of this' },
  ],
  [
    'a custom object that is stalled, by its condition',
    custom(condition('Stalled', 'True', { observedGeneration: 1 })),
    { failed: 'the object is stalled: Because: of this' },
  ],
  [
    'a custom object that may have been stalled before',
    custom(condition('Stalled', 'True')),
    { failed: 'the object is stalled: Because: of this', isUnsettled: true },
  ],
  [
    'a custom object that was stalled before',
    custom(condition('Stalled', 'True', { observedGeneration: 1 }), 2),
    true,
  ],
  [
    'a custom object that was stalled in an older generation',
    custom({ observedGeneration: 1, ...condition('Stalled', 'True') }, 2),
    'observed generation outdated (1/2)',
  ],
  [
    'a custom object that is being deleted',
    { ...custom({}), metadata: { name: 'x', deletionTimestamp: '2026-01-01T00:00:00Z' } },
    'the object is being deleted',
  ],
];

const verdictFor = (expected: Expected): object => {
  if (expected === true) return { isReady: true };
  if (expected === 'unsettled') return { isReady: true, isUnsettled: true };
  if (typeof expected === 'string') return { isReady: false, why: expected };
  const { failed, ...others } = expected;
  return { isReady: false, why: failed, isFailed: true, ...others };
};

describe('the table of readiness', () => {
  for (const [title, input, expected] of [...rows, ...more]) {
    it(`DEP-39: ${title} is ${expected === true ? '' : 'not '}ready`, () => {
      expect(verdictOf(input, 'kstatus')).to.deep.equal(verdictFor(expected));
    });
  }

  for (const [title, input, expected] of rows) {
    it(`DEP-39: as Landscaper has it, ${title} is ${expected === true ? '' : 'not '}ready`, () => {
      expect(verdictOf(input, 'landscaper')).to.deep.equal(verdictFor(expected));
    });
  }

  it('has Landscaper’s six kinds, for which it waits as it does', () => {
    const kinds = new Set(more.map(([, { apiVersion, kind }]) => `${apiVersion}/${kind}`));
    kinds.delete('v1/Pod');
    for (const [, input] of more) {
      if (!kinds.has(`${input.apiVersion}/${input.kind}`)) continue;
      expect(isUpstreamsKind(input), input.kind).to.equal(false);
      expect(verdictOf(input, 'landscaper'), input.kind).to.deep.equal({ isReady: true });
    }
    expect(isUpstreamsKind({ apiVersion: 'v1', kind: 'Pod' })).to.equal(true);
  });

  it('knows which kinds need not be read', () => {
    const isRead = (apiVersion: string, kind: string): boolean =>
      mayBeUnready({ apiVersion, kind }, 'kstatus');
    expect(isRead('v1', 'ConfigMap')).to.equal(false);
    expect(isRead('rbac.authorization.k8s.io/v1', 'Role')).to.equal(false);
    expect(isRead('constructor/v1', 'toString')).to.equal(true);
    expect(isRead('gateway.networking.k8s.io/v1', 'Gateway')).to.equal(true);
    expect(isRead('batch/v1', 'Job')).to.equal(true);
    expect(isRead('batch/v1', 'CronJob')).to.equal(false);
  });
});
