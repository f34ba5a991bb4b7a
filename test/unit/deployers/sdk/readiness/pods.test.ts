import { expect } from 'chai';
import { podProblem } from '../../../../../deployers/objects/readiness/pods.ts';
import { maskOf } from '../../../../../src/lib/masking.ts';
import type { KubeObject } from '../../../../../deployers/objects/manifests/model.ts';
import { Forbidden } from '../../../../../src/runtime/errors.ts';
import { FakeCluster } from '../../fake-cluster.ts';

const workload = (more: object = {}): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'app' },
  spec: { selector: { matchLabels: { app: 'web' } } },
  ...more,
});
const pod = (status: object, labels: object = { app: 'web' }) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web-1', namespace: 'app', labels: { ...labels } },
  status,
});
const container = (state: object, more: object = {}) => ({
  containerStatuses: [{ name: 'main', state, ...more }],
});

const portsOf = (cluster: FakeCluster, withLog = false) => ({
  access: cluster,
  signal: new AbortController().signal,
  mask: maskOf(['from-the-manifests']),
  withLog,
});

const problem = (object: KubeObject, ...pods: readonly ReturnType<typeof pod>[]) => {
  const cluster = new FakeCluster('app');
  for (const one of pods) cluster.put(one);
  return podProblem(object, portsOf(cluster));
};

describe('the problem of the pods of a workload', () => {
  const rows: readonly (readonly [string, object, string | undefined])[] = [
    [
      'an image that cannot be pulled',
      container({ waiting: { reason: 'ImagePullBackOff', message: 'Back-off pulling image "nginx:nope"' } }),
      'pod web-1: container main: ImagePullBackOff: Back-off pulling image "nginx:nope"',
    ],
    [
      'a container that ends again and again, with its exit code',
      container(
        { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 10s' } },
        { lastState: { terminated: { exitCode: 3, reason: 'Error' } } },
      ),
      'pod web-1: container main: CrashLoopBackOff: back-off 10s, last exit code 3',
    ],
    [
      'a container that has just ended',
      container({ terminated: { exitCode: 137, reason: 'OOMKilled' } }),
      'pod web-1: container main: OOMKilled, last exit code 137',
    ],
    [
      'an init container before the others',
      {
        initContainerStatuses: [
          {
            name: 'init',
            state: { waiting: { reason: 'CreateContainerConfigError', message: 'secret "x" not found' } },
          },
        ],
      },
      'pod web-1: container init: CreateContainerConfigError: secret "x" not found',
    ],
    [
      'a pod that no node can take',
      {
        conditions: [
          {
            type: 'PodScheduled',
            status: 'False',
            reason: 'Unschedulable',
            message: '0/3 nodes are available:\n 3 Insufficient cpu',
          },
        ],
      },
      'pod web-1: Unschedulable: 0/3 nodes are available: 3 Insufficient cpu',
    ],
    ['nothing while containers start', container({ waiting: { reason: 'ContainerCreating' } }), undefined],
    ['nothing while they run', container({ running: {} }), undefined],
    [
      'nothing of a ready container that ended once',
      container({ running: {} }, { ready: true, lastState: { terminated: { exitCode: 1 } } }),
      undefined,
    ],
    [
      'not the message of a container that ended, which can be its log',
      container({ terminated: { exitCode: 1, reason: 'Error', message: 'password=secret' } }),
      'pod web-1: container main: Error, last exit code 1',
    ],
  ];
  for (const [title, status, expected] of rows)
    it(`is ${title}`, async () => {
      expect(await problem(workload(), pod(status))).to.equal(expected);
    });

  it('is the reason why no pod is created', async () => {
    const conditions = [
      { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: 'exceeded quota: small' },
    ];
    expect(await problem(workload({ status: { conditions } }))).to.equal(
      'FailedCreate: exceeded quota: small',
    );
  });

  it('is shortened', async () => {
    const status = container({ waiting: { reason: 'X', message: 'y'.repeat(5000) } });
    expect(await problem(workload(), pod(status))).to.have.length.below(400);
  });

  it('is not that of other pods, and not searched for other kinds', async () => {
    const broken = container({ waiting: { reason: 'ErrImagePull' } });
    expect(await problem(workload(), pod(broken, { app: 'db' }))).to.equal(undefined);
    expect(await problem(workload({ kind: 'ConfigMap', apiVersion: 'v1' }), pod(broken))).to.equal(undefined);
    const expressions = { matchLabels: { app: 'web' }, matchExpressions: [] };
    expect(await problem(workload({ spec: { selector: expressions } }), pod(broken))).to.equal(undefined);
  });

  it('is unknown if the target does not permit to list pods', async () => {
    const cluster = new FakeCluster('app');
    cluster.fail = () => {
      throw new Forbidden({
        message: 'pods is forbidden',
        status: 403,
        reason: 'Forbidden',
        ref: { verb: 'list', kind: 'Pod' },
      });
    };
    expect(await podProblem(workload(), portsOf(cluster))).to.equal(undefined);
  });
});

describe('the last lines of a pod', () => {
  const job = workload({ apiVersion: 'batch/v1', kind: 'Job' });
  const ended = container({ terminated: { reason: 'Error', exitCode: 1 } });
  const withLog = async (log: string, more: object = {}, secret?: object): Promise<string | undefined> => {
    const cluster = new FakeCluster('app');
    cluster.put({ ...pod(ended), ...more });
    if (secret) cluster.put(secret as never);
    cluster.logs.set('app/web-1', log);
    return podProblem(job, portsOf(cluster, true));
  };
  const said = 'pod web-1: container main: Error, last exit code 1';

  it('are those of its container that failed', async () => {
    expect(await withLog('connecting\n\u001b[31mno such host\u001b[0m\n')).to.equal(
      `${said}; its last lines:\nconnecting\n[31mno such host[0m`,
    );
  });

  it('are left out when the pod has none, or they cannot be read', async () => {
    expect(await withLog('\n \n')).to.equal(said);
    const cluster = new FakeCluster('app');
    cluster.put(pod(ended));
    expect(await podProblem(job, portsOf(cluster, true))).to.equal(said);
  });

  it('are read only for an object that has failed', async () => {
    const cluster = new FakeCluster('app');
    cluster.put(pod(ended));
    cluster.logs.set('app/web-1', 'a line');
    expect(await podProblem(job, portsOf(cluster))).to.equal(said);
  });

  it('are bounded', async () => {
    const text = await withLog(Array.from({ length: 8 }, () => 'x'.repeat(2000)).join('\n'));
    expect(text).to.have.length.below(1100);
    expect(await withLog('y'.repeat(2000))).to.contain(`${'y'.repeat(300)}…`);
  });

  it('come without values of secrets: those of the item, and those of the pod', async () => {
    const uses = (spec: object): object => ({ spec });
    const login = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'login', namespace: 'app' } };
    const data = { password: Buffer.from('hunter-two').toString('base64') };
    const secret = { ...login, data };
    const log = 'password hunter-two, token from-the-manifests';
    const sources = [
      { containers: [{ env: [{ valueFrom: { secretKeyRef: { name: 'login', key: 'password' } } }] }] },
      { initContainers: [{ envFrom: [{ secretRef: { name: 'login' } }] }] },
      { volumes: [{ secret: { secretName: 'login' } }] },
      { volumes: [{ projected: { sources: [{ secret: { name: 'login' } }] } }] },
    ];
    for (const spec of sources) {
      const shown = await withLog(log, uses(spec), secret);
      expect(shown, JSON.stringify(spec)).to.contain('password [...], token [...]');
      expect(await withLog(log, uses(spec)), 'without the secret').to.equal(said);
    }
  });

  it('are those of the newest pod', async () => {
    const cluster = new FakeCluster('app');
    for (const [name, creationTimestamp] of [
      ['old', '2026-01-01T00:00:00Z'],
      ['new', '2026-01-01T00:01:00Z'],
    ] as const) {
      const made = pod(ended);
      cluster.put({ ...made, metadata: { ...made.metadata, name, creationTimestamp } });
      cluster.logs.set(`app/${name}`, `the ${name} one`);
    }
    expect(await podProblem(job, portsOf(cluster, true)))
      .to.contain('the new one')
      .and.not.contain('old');
  });
});
