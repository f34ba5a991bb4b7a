/** Objects that another item, a user or a second deployer writes at the same time; and the repeated garbage collection. */
import { expect } from 'chai';
import { startGarbageCollection } from '../../../../deployers/container/garbage-collection.ts';
import { createOrFind, deleteByUid, put } from '../../../../deployers/container/host-objects.ts';
import { containerDeployer, defaultSettings } from '../../../../deployers/container/index.ts';
import { SECRET } from '../../../../deployers/container/kinds.ts';
import { itemOf, labelsOf, podPrefix } from '../../../../deployers/container/names.ts';
import { secretFor, targetFile } from '../../../../deployers/container/objects.ts';
import { reserveNames } from '../../../../deployers/container/reserve-names.ts';
import { ConfigurationError } from '../../../../deployers/sdk/errors.ts';
import { silentLogger } from '../../../../src/observability/log.ts';
import { apiErrorFrom } from '../../../../src/runtime/errors.ts';
import type { DeployItem } from '../../../../deployers/sdk/kinds.ts';
import { FakeClock, settle } from '../../../support/clock.ts';
import { LS } from '../bench.ts';
import { FakeCluster, type Any } from '../fake-cluster.ts';

const NAMESPACE = 'proj';
const WEB = { namespace: NAMESPACE, name: 'web' };
const API = { namespace: NAMESPACE, name: 'api' };
const owner = (item = WEB) => ({ item, namespace: NAMESPACE, deployerId: 'd' });
const secret = (item = WEB, text = 'new') => secretFor(owner(item), 'x', { text });
const error = (status: number, reason: string): Error =>
  apiErrorFrom(status, { reason, message: 'no' }, { verb: 'x', kind: 'Secret' });
const caught = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'done',
    (thrown: unknown) => thrown,
  );
const { signal } = new AbortController();

describe('an object that an item needs', () => {
  let cluster: FakeCluster;
  beforeEach(() => {
    cluster = new FakeCluster(NAMESPACE);
  });
  const place = () => ({ client: cluster, namespace: NAMESPACE });
  const stored = (): unknown => cluster.find('Secret', 'proj/x')?.['data'];
  /** Another client is faster: the first write with this verb meets what it has done. */
  const overtaken = (verb: string, refusal: Error, act: () => void = () => undefined): void => {
    let isFirst = true;
    cluster.fail = (present) => {
      if (present !== verb || !isFirst) return;
      isFirst = false;
      act();
      throw refusal;
    };
  };

  for (const [title, made] of [
    ['is written over that of an earlier attempt', secret(WEB, 'old')],
    ['is not written over that of a user', { ...secret(), metadata: { name: 'x', namespace: NAMESPACE } }],
  ] as const)
    it(`${title}, if it appears meanwhile`, async () => {
      overtaken('apply', error(409, 'Conflict'), () => cluster.put(made));
      const result = await caught(put(place(), WEB, SECRET, secret()));
      const isOurs = made.metadata.labels !== undefined;
      expect(result === 'done').to.equal(isOurs);
      expect(stored()).to.deep.equal((isOurs ? secret() : made).data);
    });

  it('is not written if it appears and is gone again: the next reconcile decides', async () => {
    const conflict = error(409, 'Conflict');
    overtaken('apply', conflict);
    expect(await caught(put(place(), WEB, SECRET, secret()))).to.equal(conflict);
    const refused = error(403, 'Forbidden');
    overtaken('apply', refused, () => cluster.put(secret()));
    expect(await caught(put(place(), WEB, SECRET, secret()))).to.equal(refused);
  });

  it('is created only if there is none, and changed only if it is the one that was read', async () => {
    const identities: object[] = [];
    const send = cluster.send.bind(cluster);
    cluster.send = (write) => {
      if (write.verb === 'apply') {
        const { uid, resourceVersion } = write.object.metadata;
        identities.push({ uid, resourceVersion });
      }
      return send(write);
    };
    await put(place(), WEB, SECRET, secret());
    // No object has this version, so the API server refuses an apply to an object that appeared meanwhile.
    expect(identities.splice(0)).to.deep.equal([{ uid: undefined, resourceVersion: '1' }]);
    const uid = cluster.find('Secret', 'proj/x')?.metadata.uid;
    await put(place(), WEB, SECRET, secret(WEB, 'newer'));
    expect(identities).to.deep.equal([{ uid, resourceVersion: undefined }]);
  });

  it('is not written again if it is as this deployer has applied it', async () => {
    const { labels = {} } = secret().metadata;
    const named = (values: object) => Object.fromEntries(Object.keys(values).map((key) => [`f:${key}`, {}]));
    const fieldsV1 = {
      'f:data': named(secret().data ?? {}),
      'f:metadata': {
        'f:labels': named(labels),
        'f:annotations': named(secret().metadata.annotations ?? {}),
      },
      'f:type': {},
    };
    const manager = { manager: `container.deployer.${LS}`, operation: 'Apply', fieldsV1 };
    cluster.put({ ...secret(), metadata: { ...secret().metadata, managedFields: [manager] } });
    cluster.takeRequests();
    await put(place(), WEB, SECRET, secret());
    expect(cluster.takeRequests()).to.deep.equal(['get Secret proj/x']);
    await put(place(), WEB, SECRET, secret(WEB, 'newer'));
    expect(cluster.takeRequests()).to.include('apply Secret proj/x');
  });

  it('is not found in that of a user, whether that was there before or appears meanwhile', async () => {
    const theirs = { ...secret(WEB, 'theirs'), metadata: { name: 'x', namespace: NAMESPACE } };
    overtaken('create', error(409, 'AlreadyExists'), () => cluster.put(theirs));
    for (let i = 0; i < 2; i++)
      expect(await caught(createOrFind(place(), WEB, SECRET, secret())))
        .to.be.instanceOf(ConfigurationError)
        .with.property('message')
        .that.contains('secret proj/x');
  });

  it('is found if another attempt creates it meanwhile, and otherwise the refusal counts', async () => {
    const exists = error(409, 'AlreadyExists');
    overtaken('create', exists, () => cluster.put(secret(WEB, 'old')));
    const { isNew, object } = await createOrFind(place(), WEB, SECRET, secret());
    expect([isNew, object.data]).to.deep.equal([false, secret(WEB, 'old').data]);
    cluster.drop('Secret', 'proj/x');
    overtaken('create', exists);
    expect(await caught(createOrFind(place(), WEB, SECRET, secret()))).to.equal(exists);
    const refused = error(403, 'Forbidden');
    overtaken('create', refused, () => cluster.put(secret()));
    expect(await caught(createOrFind(place(), WEB, SECRET, secret()))).to.equal(refused);
  });

  it('is deleted only if it is the one that was read; other refusals count', async () => {
    const read = cluster.put(secret());
    cluster.drop('Secret', 'proj/x');
    cluster.put(secret());
    await deleteByUid(place(), SECRET, read);
    expect(stored()).to.deep.equal(secret().data);
    const refused = error(403, 'Forbidden');
    overtaken('delete', refused);
    expect(await caught(deleteByUid(place(), SECRET, read))).to.equal(refused);
  });

  it('has the type that kubelets need if it contains credentials, and a label for its purpose', () => {
    expect(secretFor(owner(), 'x', {}, 'pullSecret').type).to.equal('kubernetes.io/dockerconfigjson');
    expect(secretFor(owner(), 'x', {}, 'target').type).to.equal('Opaque');
    const purpose = `container.deployer.${LS}/type`;
    expect(secretFor(owner(), 'x', {}, 'target').metadata.labels).to.have.property(purpose, 'target');
    expect(secretFor(owner(), 'x', {}).metadata.labels).to.not.have.property(purpose);
    expect(targetFile(undefined, undefined)).to.equal('null');
  });

  it('leads to its item by labels and annotation; halves of either lead nowhere', () => {
    const labels = labelsOf(WEB, 'd');
    const [name = '', namespace = ''] = Object.keys(labels).filter((key) => key.startsWith('deployitem.'));
    expect(itemOf({ metadata: { labels: { [name]: 'web' } } })).to.equal(undefined);
    expect(itemOf({ metadata: { labels: { [namespace]: 'proj' } } })).to.equal(undefined);
    for (const noted of ['/', 'a/', '/b', 'a/b/c', 'a'])
      expect(
        itemOf({ metadata: { labels, annotations: { 'espalier.dev/deployitem': noted } } }),
      ).to.deep.equal(WEB);
    expect([54, 55].map((length) => podPrefix({ ...WEB, name: 'x'.repeat(length) }).length)).to.deep.equal([
      55, 55,
    ]);
  });

  describe('reserves the names of the item', () => {
    const reserve = (item = API) => caught(reserveNames(place(), secret(item), item, signal));
    const taken = (): void => {
      cluster.put(secret(WEB, 'of web'));
      overtaken('apply', error(409, 'Conflict'));
    };
    const giveItem = (name: string): void => {
      cluster.put({
        apiVersion: `${LS}/v1alpha1`,
        kind: 'DeployItem',
        metadata: { name, namespace: NAMESPACE },
      });
    };

    it('unless another item has them that exists', async () => {
      taken();
      giveItem('web');
      expect(String(await reserve())).to.contain('secret proj/x belongs to deploy item proj/web');
      expect(stored()).to.deep.equal(secret(WEB, 'of web').data);
    });

    it('if the other item is gone, or if it is the same item with another deployer', async () => {
      taken();
      const forces: unknown[] = [];
      const send = cluster.send.bind(cluster);
      cluster.send = (write) => {
        if (write.verb === 'apply') forces.push(write.force);
        return send(write);
      };
      expect(await reserve()).to.equal('done');
      expect(forces, 'only after it is clear whose name it is').to.deep.equal([false, true]);
      expect(stored()).to.deep.equal(secret(API).data);
      cluster.drop('Secret', 'proj/x');
      taken();
      giveItem('web');
      expect(await reserve(WEB)).to.equal('done');
      expect(stored()).to.deep.equal(secret(WEB).data);
    });

    it('not if the object was replaced meanwhile, and not after another refusal', async () => {
      cluster.put(secret(WEB, 'of web'));
      const conflict = error(409, 'Conflict');
      overtaken('apply', conflict, () => {
        cluster.drop('Secret', 'proj/x');
        cluster.put(secret(WEB, 'again'));
      });
      expect(await reserve()).to.equal(conflict);
      expect(stored()).to.deep.equal(secret(WEB, 'again').data);
      const refused = error(403, 'Forbidden');
      overtaken('apply', refused);
      expect(await reserve()).to.equal(refused);
    });
  });
});

describe('the pods of an item whose job has ended elsewhere', () => {
  it('are ended in the namespace of its last run', async () => {
    const cluster = new FakeCluster(NAMESPACE, 'elsewhere');
    const settings = { ...defaultSettings, namespace: NAMESPACE };
    const { onJobEnded } = containerDeployer({ client: cluster, settings });
    const pod = (namespace: string): Any => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: 'p',
        namespace,
        labels: labelsOf(WEB, 'd'),
        annotations: { 'espalier.dev/job-id': 'j1' },
      },
      status: { phase: 'Running' },
    });
    const end = async (namespace: unknown): Promise<string[]> => {
      for (const each of [NAMESPACE, 'elsewhere']) cluster.put(pod(each));
      const status = { jobIDFinished: 'j1', providerStatus: { namespace } };
      await onJobEnded?.({ metadata: WEB, status } as unknown as DeployItem, signal);
      return cluster.names('Pod');
    };
    expect(await end('elsewhere')).to.deep.equal(['proj/p']);
    for (const unknown of [undefined, '', 7]) expect(await end(unknown)).to.deep.equal(['elsewhere/p']);
  });
});

describe('the garbage collection of the container deployer', () => {
  const stage = (isDisabled: boolean) => {
    const cluster = new FakeCluster(NAMESPACE);
    const clock = new FakeClock();
    const garbageCollection = { isDisabled, everyMs: 60_000 };
    const settings = { ...defaultSettings, namespace: NAMESPACE, garbageCollection };
    const running = startGarbageCollection({ client: cluster, settings, clock, log: silentLogger });
    const rounds = async (ms: number): Promise<number> => {
      await clock.advance(ms);
      await settle(50);
      return cluster.takeRequests().filter((request) => request === 'list Secret proj').length;
    };
    return { running, rounds, clock };
  };

  it('is repeated after a pause, until it is stopped', async () => {
    const { running, rounds, clock } = stage(false);
    expect([await rounds(0), await rounds(59_000), await rounds(1_000)]).to.deep.equal([1, 0, 1]);
    await running.stop();
    expect([await rounds(120_000), clock.pending]).to.deep.equal([0, 0]);
  });

  it('does nothing if it is disabled', async () => {
    const { running, rounds } = stage(true);
    expect(await rounds(120_000)).to.equal(0);
    await running.stop();
  });
});
