/** When objects of a release count as ready, as tables. */
import { expect } from 'chai';
import * as rules from '../../../../../deployers/helm/release/readiness.ts';

const observed = (spec: object, status: object, metadata: object = {}): object => ({
  metadata: { generation: 2, ...metadata },
  spec,
  status: { observedGeneration: 2, ...status },
});
const condition = (type: string, status = 'True') => ({ status: { conditions: [{ type, status }] } });

type Rows = readonly (readonly [title: string, object: object, isReady: boolean])[];

const rolling = (more: object = {}) => ({ updateStrategy: { type: 'RollingUpdate', rollingUpdate: more } });
const daemons = (updated: number, ready: number, maxUnavailable?: number | string): object =>
  observed(rolling({ maxUnavailable }), {
    desiredNumberScheduled: 10,
    updatedNumberScheduled: updated,
    numberReady: ready,
  });
const members = (spec: object, status: object): object =>
  observed({ replicas: 3, ...spec }, { updatedReplicas: 3, readyReplicas: 3, ...status });

const TABLES: readonly (readonly [string, (object: unknown) => boolean, Rows])[] = [
  [
    'a pod',
    rules.isPodReady,
    [
      ['with the condition', condition('Ready'), true],
      ['with a condition that does not hold', condition('Ready', 'False'), false],
      ['with another condition', condition('Initialized'), false],
      ['without a status', {}, false],
    ],
  ],
  [
    'a job',
    rules.isJobReady,
    [
      ['with all completions', { spec: { completions: 2 }, status: { succeeded: 2 } }, true],
      ['with some completions', { spec: { completions: 2 }, status: { succeeded: 1 } }, false],
      ['without a number of completions', { spec: {} }, true],
      ['that failed as often as it may', { spec: { backoffLimit: 2 }, status: { failed: 2 } }, true],
      ['that failed six times, without a limit', { spec: { completions: 1 }, status: { failed: 6 } }, false],
    ],
  ],
  [
    'a service',
    rules.isServiceReady,
    [
      ['with another name', { spec: { type: 'ExternalName' } }, true],
      ['without an address', { spec: { type: 'ClusterIP' } }, false],
      ['with an address', { spec: { clusterIP: '10.0.0.1' } }, true],
      [
        'with a balancer that has no address',
        { spec: { type: 'LoadBalancer', clusterIP: '1' }, status: { loadBalancer: {} } },
        false,
      ],
      [
        'with a balancer that has an address',
        { spec: { type: 'LoadBalancer', clusterIP: '1' }, status: { loadBalancer: { ingress: [{}] } } },
        true,
      ],
      [
        'with a balancer and given addresses',
        { spec: { type: 'LoadBalancer', clusterIP: '1', externalIPs: ['2'] } },
        true,
      ],
      [
        'with a balancer and an empty list of addresses',
        { spec: { type: 'LoadBalancer', clusterIP: '1', externalIPs: [] } },
        false,
      ],
    ],
  ],
  [
    'a claim',
    rules.isClaimReady,
    [
      ['that is bound', { status: { phase: 'Bound' } }, true],
      ['that is pending', { status: { phase: 'Pending' } }, false],
    ],
  ],
  [
    'a definition',
    rules.isCrdReady,
    [
      ['that is established', condition('Established'), true],
      ['that is not established', condition('Established', 'False'), false],
      ['whose names are rejected', condition('NamesAccepted', 'False'), true],
      ['whose names are accepted alone', condition('NamesAccepted'), false],
    ],
  ],
  [
    'a daemon set',
    rules.isDaemonSetReady,
    [
      ['whose pods are all ready', daemons(10, 10, 1), true],
      ['whose pods are not all updated', daemons(9, 10, 1), false],
      ['with as many pods as may be missing', daemons(10, 9, 1), true],
      ['with fewer', daemons(10, 8, 1), false],
      ['with as many as a percentage allows, rounded up', daemons(10, 8, '15%'), true],
      ['with fewer than a percentage allows', daemons(10, 7, '15%'), false],
      ['without a limit', daemons(10, 0), true],
      ['that is updated by hand', observed({ updateStrategy: { type: 'OnDelete' } }, {}), true],
      [
        'that its controller has not seen',
        observed({ updateStrategy: { type: 'OnDelete' } }, { observedGeneration: 1 }),
        false,
      ],
    ],
  ],
  [
    'a stateful set',
    rules.isStatefulSetReady,
    [
      ['whose pods are all updated and ready', members(rolling(), {}), true],
      ['whose pods are not all updated', members(rolling(), { updatedReplicas: 2 }), false],
      ['whose pods are not all ready', members(rolling(), { readyReplicas: 2 }), false],
      ['between two revisions', members(rolling(), { currentRevision: 'a', updateRevision: 'b' }), false],
      [
        'with a partition, between two revisions',
        members(rolling({ partition: 2 }), { currentRevision: 'a', updateRevision: 'b', updatedReplicas: 1 }),
        true,
      ],
      [
        'with a partition, not updated above it',
        members(rolling({ partition: 2 }), { updatedReplicas: 0 }),
        false,
      ],
      [
        'with a partition, not ready below it',
        members(rolling({ partition: 2 }), { updatedReplicas: 1, readyReplicas: 2 }),
        false,
      ],
      [
        'without a number of replicas: one',
        observed(rolling(), { updatedReplicas: 1, readyReplicas: 1 }),
        true,
      ],
      [
        'that is updated by hand',
        members({ updateStrategy: { type: 'OnDelete' } }, { readyReplicas: 0 }),
        true,
      ],
      ['that its controller has not seen', members(rolling(), { observedGeneration: 1 }), false],
    ],
  ],
];

const template = (image: string, hash?: string): object => ({
  metadata: { labels: { app: 'a', ...(hash !== undefined && { 'pod-template-hash': hash }) } },
  spec: { image },
});
const deployment = (strategy: object, more: object = {}, replicas = 4): object =>
  observed({ replicas, strategy, template: template('new'), ...more }, {}, { uid: 'u' });
const set = (image: string, ready: number, more: object = {}, uid = 'u'): object => ({
  ...observed(
    { template: template(image, 'h') },
    { readyReplicas: ready, ...more },
    { ownerReferences: [{ uid: 'other' }, { uid, controller: true }] },
  ),
});
const ROLLING = { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0, maxUnavailable: '40%' } };

const DEPLOYMENTS: readonly (readonly [string, object, readonly object[], boolean])[] = [
  ['whose pods are all ready', deployment({}), [set('old', 0), set('new', 4)], true],
  ['whose old pods are ready', deployment({}), [set('old', 4), set('new', 0)], false],
  ['whose pods are ready in a set of another deployment', deployment({}), [set('new', 4, {}, 'v')], false],
  ['without a set', deployment({}), [], false],
  [
    'whose set its controller has not seen',
    deployment({}),
    [set('new', 4, { observedGeneration: 1 })],
    false,
  ],
  ['that its controller has not seen', { ...deployment({}), status: {} }, [set('new', 4)], false],
  ['that is paused', deployment({}, { paused: true }), [], true],
  [
    'of which all pods must be there',
    deployment({ type: 'Recreate', rollingUpdate: { maxUnavailable: 2 } }),
    [set('new', 3)],
    false,
  ],
  ['of which as many as may be are missing, rounded down', deployment(ROLLING), [set('new', 3)], true],
  ['of which more are missing', deployment(ROLLING), [set('new', 2)], false],
  [
    'that may neither lack nor exceed a pod: one may be missing',
    deployment({ type: 'RollingUpdate', rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } }),
    [set('new', 3)],
    true,
  ],
  [
    'that may exceed, but not lack a pod',
    deployment({ type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } }),
    [set('new', 3)],
    false,
  ],
  ['without pods', deployment(ROLLING, {}, 0), [set('new', 0)], true],
  [
    'that lacks more pods than it has',
    deployment({ type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 9 } }),
    [set('new', 0)],
    true,
  ],
];

describe('readiness by the rules of helm', () => {
  for (const [what, isReady, rows] of TABLES)
    for (const [title, object, wanted] of rows)
      it(`${what} ${title} is ${wanted ? '' : 'not '}ready`, () => {
        expect(isReady(object)).to.equal(wanted);
      });

  it('a job that failed more often than it may ends the wait', () => {
    const failed = {
      metadata: { name: 'j', namespace: 'n' },
      spec: { backoffLimit: 2 },
      status: { failed: 3 },
    };
    expect(() => rules.isJobReady(failed)).to.throw('job is failed: n/j');
    expect(() => rules.isJobReady({ ...failed, spec: {}, status: { failed: 7 } })).to.throw('job is failed');
  });

  for (const [title, object, sets, wanted] of DEPLOYMENTS)
    it(`a deployment ${title} is ${wanted ? '' : 'not '}ready`, () => {
      expect(rules.isDeploymentReady(object, sets)).to.equal(wanted);
    });
});
