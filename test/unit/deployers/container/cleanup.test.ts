/** Clean-ups of the container deployer: which pods are ended, and what is deleted, in which order. */
import { expect } from 'chai';
import { endPods, removeEverything } from '../../../../deployers/container/cleanup.ts';
import { POD_FINALIZER } from '../../../../deployers/container/contract.ts';
import { sweep } from '../../../../deployers/container/garbage-collection.ts';
import { deletePod, put } from '../../../../deployers/container/host-objects.ts';
import { SECRET, type Pod } from '../../../../deployers/container/kinds.ts';
import { labelsOf } from '../../../../deployers/container/names.ts';
import type { DeployItem } from '../../../../deployers/sdk/kinds.ts';
import { silentLogger } from '../../../../src/observability/log.ts';
import { apiErrorFrom } from '../../../../src/runtime/errors.ts';
import { LS } from '../bench.ts';
import { FakeCluster, type Any } from '../fake-cluster.ts';
import { ITEM, NAMESPACE, podOf, settings } from './pods.ts';

const itemWith = (jobIDFinished: string | undefined): DeployItem =>
  ({ metadata: ITEM, status: { jobIDFinished } }) as unknown as DeployItem;
const refusal = (status: number): Error =>
  apiErrorFrom(status, { message: 'no' }, { verb: 'delete', kind: 'Pod' });

describe('the pods of a job that has ended', () => {
  let cluster: FakeCluster;
  beforeEach(() => {
    cluster = new FakeCluster(NAMESPACE);
  });
  const place = () => ({ client: cluster, namespace: NAMESPACE });

  const rows: readonly (readonly [
    title: string,
    pod: Any,
    finished: string | undefined,
    isEnded: boolean,
  ])[] = [
    ['are ended', podOf('p'), 'j1', true],
    ['are ended before they run', podOf('p', { phase: 'Pending' }), 'j1', true],
    ['are kept if they have ended', podOf('p', { phase: 'Succeeded' }), 'j1', false],
    ['of another job are not ended', podOf('p', { job: 'j2' }), 'j1', false],
    [
      'of upstream, which name no job, are not ended',
      podOf('p', { metadata: { annotations: {} } }),
      undefined,
      false,
    ],
    ['of an item without a finished job are not ended', podOf('p'), undefined, false],
    ['of another item are not ended', podOf('p', { item: 'api' }), 'j1', false],
  ];
  for (const [title, pod, finished, isEnded] of rows)
    it(title, async () => {
      cluster.put(pod);
      await endPods(place(), itemWith(finished));
      expect(cluster.names('Pod')).to.deep.equal(isEnded ? [] : ['proj/p']);
    });

  describe('are deleted', () => {
    it('with the uid that was read, half a minute after their termination began', async () => {
      const pod = cluster.put(podOf('p')) as Pod;
      const sent: unknown[] = [];
      const send = cluster.send.bind(cluster);
      cluster.send = (write) => {
        sent.push(write);
        return send(write);
      };
      await deletePod(place(), pod);
      expect(sent).to.have.length(2);
      expect(sent[0]).to.deep.include({
        verb: 'merge',
        body: { metadata: { finalizers: null, uid: pod.metadata.uid } },
      });
      expect(sent[1]).to.deep.include({ verb: 'delete', uid: pod.metadata.uid, gracePeriodSeconds: 30 });
    });

    it('without the finalizers of others', async () => {
      const pod = cluster.put(podOf('p', { metadata: { finalizers: ['a/b', POD_FINALIZER, 'c/d'] } }));
      await deletePod(place(), pod);
      expect(cluster.find('Pod', 'proj/p')?.metadata.finalizers).to.deep.equal(['a/b', 'c/d']);
    });

    it('once, and count as deleted when they are gone', async () => {
      const pod = cluster.put(podOf('p')) as Pod;
      cluster.drop('Pod', 'proj/p');
      await deletePod(place(), pod);
      const ending = { ...pod, metadata: { ...pod.metadata, finalizers: [], deletionTimestamp: 'now' } };
      cluster.takeRequests();
      await deletePod(place(), ending);
      expect(cluster.takeRequests()).to.deep.equal([]);
    });

    it('unless another pod has their name by then', async () => {
      const pod = cluster.put(podOf('p')) as Pod;
      cluster.drop('Pod', 'proj/p');
      cluster.put(podOf('p'));
      const result = await deletePod(place(), pod).then(
        () => 'deleted',
        () => 'refused',
      );
      expect(result).to.equal('refused');
      expect(cluster.find('Pod', 'proj/p')?.metadata.finalizers).to.deep.equal([POD_FINALIZER]);
    });
  });
});

describe('the objects of an item', () => {
  let cluster: FakeCluster;
  beforeEach(() => {
    cluster = new FakeCluster(NAMESPACE);
  });
  const place = () => ({ client: cluster, namespace: NAMESPACE });
  const object = (kind: string, name: string, item = 'web'): Any => ({
    apiVersion: kind.startsWith('Role') ? 'rbac.authorization.k8s.io/v1' : 'v1',
    kind,
    metadata: { name, namespace: NAMESPACE, labels: labelsOf({ ...ITEM, name: item }, 'd') },
  });

  it('are deleted after its pods, rights before accounts, and no others', async () => {
    for (const kind of ['ConfigMap', 'Secret', 'ServiceAccount', 'Role', 'RoleBinding'])
      for (const item of ['web', 'api']) cluster.put(object(kind, `${item}-x`, item));
    cluster.put(podOf('p'));
    cluster.takeRequests();
    await removeEverything(place(), itemWith(undefined));
    const deletions = cluster.takeRequests().filter((request) => request.startsWith('delete'));
    expect(deletions).to.deep.equal(
      [
        'Pod proj/p',
        'RoleBinding proj/web-x',
        'Role proj/web-x',
        'ServiceAccount proj/web-x',
        'Secret proj/web-x',
        'ConfigMap proj/web-x',
      ].map((what) => `delete ${what}`),
    );
  });

  const exported = (metadata: object, data = { config: 'e30=' }): Any => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'proj-web-export', namespace: NAMESPACE, ...metadata },
    data,
  });
  const exports: readonly (readonly [title: string, secret: Any, hasExports: boolean, isDeleted: boolean])[] =
    [
      ['include an export of upstream', exported({}), true, true],
      ['do not include such a secret if the item has no exports', exported({}), false, false],
      ['do not include such a secret with labels', exported({ labels: { app: 'x' } }), true, false],
      [
        'do not include such a secret with an owner',
        exported({ ownerReferences: [{ uid: 'u' }] }),
        true,
        false,
      ],
      ['do not include such a secret with other data', exported({}, { other: 'x' } as never), true, false],
      [
        'do not include the export of another item',
        exported({ labels: labelsOf({ ...ITEM, name: 'b' }, 'd') }),
        true,
        false,
      ],
    ];
  for (const [title, secret, hasExports, isDeleted] of exports)
    it(title, async () => {
      cluster.put(secret);
      const status = hasExports ? { exportRef: { name: 'x', namespace: NAMESPACE } } : {};
      await removeEverything(place(), { metadata: ITEM, status } as unknown as DeployItem);
      expect(cluster.names('Secret')).to.have.length(isDeleted ? 0 : 1);
    });

  it('are not written over those of users', async () => {
    const name = 'proj-web-config';
    cluster.put({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name, namespace: NAMESPACE },
      data: { a: 'b' },
    });
    const wanted = object('Secret', name);
    const error = await put(place(), ITEM, SECRET, { ...wanted, kind: 'Secret' }).then(
      () => undefined,
      (failure: unknown) => failure as Error,
    );
    expect(error?.message).to.contain('the objects that the pod of the item needs cannot be stored there');
    expect(cluster.find('Secret', `proj/${name}`)?.['data']).to.deep.equal({ a: 'b' });
  });

  describe('are collected as garbage', () => {
    const collect = (keepsEndedPods = false) =>
      sweep({ client: cluster, settings: { ...settings, keepsEndedPods }, log: silentLogger });
    const giveItem = (name: string, status: object = {}): void => {
      cluster.put({
        apiVersion: `${LS}/v1alpha1`,
        kind: 'DeployItem',
        metadata: { name, namespace: NAMESPACE },
        status,
      });
    };

    it('unless they were created again meanwhile', async () => {
      cluster.put(object('Secret', 'x'));
      cluster.fail = (verb, what) => {
        if (verb !== 'list' || what !== 'DeployItem') return;
        cluster.drop('Secret', 'proj/x');
        cluster.put(object('Secret', 'x'));
      };
      await collect();
      expect(cluster.names('Secret')).to.deep.equal(['proj/x']);
    });

    it('if the item is gone', async () => {
      giveItem('api');
      for (const item of ['web', 'api']) cluster.put(object('Secret', `${item}-x`, item));
      cluster.put({
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'of-a-user', namespace: NAMESPACE },
      });
      await collect();
      expect(cluster.names('Secret')).to.deep.equal(['proj/api-x', 'proj/of-a-user']);
    });

    it('with one request for each item, however many objects it has', async () => {
      giveItem('web');
      for (const name of ['a', 'b']) cluster.put(object('Secret', name));
      cluster.put(object('ConfigMap', 'c'));
      cluster.takeRequests();
      await collect();
      const requests = cluster.takeRequests().filter((request) => request.includes('DeployItem'));
      expect(requests).to.deep.equal(['get DeployItem proj/web']);
    });

    it('although one of them cannot be deleted, and no kind is skipped', async () => {
      for (const name of ['a', 'b']) cluster.put(object('Secret', name));
      cluster.put(object('ConfigMap', 'c'));
      cluster.put(podOf('p', { phase: 'Failed' }));
      cluster.fail = (verb, what) => {
        if (verb === 'delete' && what === 'Secret proj/a') throw refusal(403);
        if (verb === 'list' && what === 'Role proj') throw refusal(403);
      };
      await collect();
      expect([
        ...cluster.names('Secret'),
        ...cluster.names('ConfigMap'),
        ...cluster.names('Pod'),
      ]).to.deep.equal(['proj/a']);
    });

    it('not if a server does not serve deploy items yet', async () => {
      cluster.put(object('Secret', 'a'));
      cluster.fail = (_verb, what) => {
        if (what.startsWith('DeployItem')) throw refusal(404);
      };
      await collect();
      expect(cluster.names('Secret')).to.deep.equal(['proj/a']);
    });

    it('pods only if ended pods are not kept', async () => {
      cluster.put(podOf('p', { phase: 'Failed' }));
      await collect(true);
      expect(cluster.names('Pod')).to.deep.equal(['proj/p']);
      await collect();
      expect(cluster.names('Pod')).to.deep.equal([]);
    });

    it('except for the newest pod of each item', async () => {
      giveItem('web', { jobID: 'j1', jobIDFinished: 'j1' });
      giveItem('api', { jobID: 'j1', jobIDFinished: 'j1' });
      const at = (second: number) => ({
        metadata: { creationTimestamp: `2026-01-01T00:00:0${String(second)}Z` },
      });
      const pod = (name: string, second: number, item = 'web'): Any => {
        const one = podOf(name, { phase: 'Failed', item });
        return { ...one, metadata: { ...one.metadata, ...at(second).metadata } };
      };
      for (const one of [pod('a', 1), pod('b', 3), pod('c', 2), pod('d', 0, 'api')]) cluster.put(one);
      await collect();
      expect(cluster.names('Pod')).to.deep.equal(['proj/b', 'proj/d']);
    });
  });
});
