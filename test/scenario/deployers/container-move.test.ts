/** Items whose pods move to another namespace: their state is moved as well, and nothing is left behind. */
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { labels, secretTypes } from '../../../deployers/container/contract.ts';
import { moveIn } from '../../../deployers/container/namespace-move.ts';
import type { ProviderStatus } from '../../../deployers/container/pod-status.ts';
import { ConfigurationError } from '../../../deployers/sdk/errors.ts';
import type { Client } from '../../../src/runtime/types.ts';
import { ROLE, SECRET, SERVICE_ACCOUNT, type Pod } from '../../../deployers/container/kinds.ts';
import { labelsOf, stateName } from '../../../deployers/container/names.ts';
import { ownField } from '../../../src/lib/objects.ts';
import { namespaceKind } from '../../../src/landscape/world.ts';
import { Forbidden } from '../../../src/runtime/errors.ts';
import {
  containerConfigOf,
  ContainerWorld,
  podRunning,
  podSucceeded,
  Room,
} from '../../support/containers.ts';

describe('a container item that changes the namespace for pods', function () {
  this.timeout(120_000);
  let world: ContainerWorld;
  let old: Room;
  let now: Room;
  before(async () => {
    world = await ContainerWorld.start();
  });
  beforeEach(async () => {
    old = await world.room();
    const pods = `moved-${randomBytes(4).toString('hex')}`;
    await world.client.send({
      verb: 'create',
      kind: namespaceKind,
      object: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: pods } },
    });
    now = new Room(world, old.items, pods, {});
  });
  afterEach(async () => {
    await old.stop();
    await now.stop();
  });
  after(() => world?.stop());

  /** The objects that the wait container stores. */
  const storeState = (room: Room) => {
    const item = { namespace: room.items, name: 'web' };
    return room.create(SECRET, {
      apiVersion: 'v1',
      kind: 'Secret',
      type: 'Opaque',
      metadata: {
        name: stateName(item, 'abcde'),
        namespace: room.pods,
        labels: { ...labelsOf(item, 'test'), [labels.type]: secretTypes.state },
        annotations: { 'container.deployer.landscaper.gardener.cloud/uuid': 'u1' },
      },
      data: { state: Buffer.from('precious').toString('base64') },
    });
  };
  const begun = async (room: Room, job: string): Promise<Pod> => {
    await room.kick('web', job);
    return room.pod(({ metadata }) => metadata.annotations?.['espalier.dev/job-id'] === job);
  };
  const installed = async (): Promise<void> => {
    const deployer = await old.deployer();
    await old.give('web', containerConfigOf({}));
    const pod = await begun(old, 'j1');
    await storeState(old);
    await old.report(pod, podSucceeded);
    const { status } = await old.finished('web', 'j1');
    expect(ownField(status?.providerStatus, 'namespace')).to.equal(old.pods);
    await deployer.crash();
  };
  const stateIn = async (room: Room): Promise<(string | undefined)[]> =>
    (await room.stateSecrets()).map(({ data }) => data?.['state']);

  it('keeps its state, and leaves no account, role or secret behind', async () => {
    await installed();
    expect(await old.names(SERVICE_ACCOUNT)).to.include(`${old.items}-web-wait`);
    await now.deployer();
    const pod = await begun(now, 'j2');
    expect(await stateIn(now)).to.deep.equal([Buffer.from('precious').toString('base64')]);
    expect(await old.leftovers()).to.deep.equal([]);
    await now.report(pod, podSucceeded);
    const { status } = await now.finished('web', 'j2');
    expect(status?.phase, JSON.stringify(status?.lastError)).to.equal('Succeeded');
    expect(ownField(status?.providerStatus, 'namespace')).to.equal(now.pods);
    expect(await now.names(ROLE)).to.include(`${old.items}-web-wait`);
  });

  it('finishes a run in the namespace in which it started', async () => {
    const first = await old.deployer();
    await old.give('web', containerConfigOf({}));
    const pod = await begun(old, 'j1');
    await old.report(pod, podRunning);
    await old.until(
      'the pod is noted',
      async () => (await old.item('web'))?.status?.providerStatus?.['podStatus'],
    );
    await first.crash();
    await old.report(pod, podSucceeded);
    await now.deployer();
    const { status } = await now.finished('web', 'j1');
    expect(status?.phase, JSON.stringify(status?.lastError)).to.equal('Succeeded');
    expect(ownField(status?.providerStatus, 'namespace')).to.equal(old.pods);
  });

  it('fails with a remedy if the old namespace cannot be used, and loses nothing', async () => {
    await installed();
    const item = await old.item('web');
    const { client } = world;
    const refused: Client = {
      get: (kind, key, signal) => client.get(kind, key, signal),
      list: (kind, query, signal) => client.list(kind, query, signal),
      watch: (kind, query, signal) => client.watch(kind, query, signal),
      raw: (method, path, body, signal) => client.raw(method, path, body, signal),
      close: () => client.close(),
      send: (write, signal) =>
        write.verb === 'delete' ? Promise.reject(forbidden) : client.send(write, signal),
    };
    const run = {
      item: item!,
      previous: item?.status?.providerStatus as unknown as ProviderStatus,
      signal: new AbortController().signal,
    };
    const key = { item: { namespace: old.items, name: 'web' }, pod: 'web-next' };
    const options = { client: refused, settings: now.settings };
    const error = await moveIn(run, key, options).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(ConfigurationError).with.property('reason', 'NamespaceChanged');
    expect((error as Error).message)
      .to.contain(`in namespace ${old.pods}`)
      .and.contain('set container.namespace back');
    expect(await stateIn(old)).to.have.length(1);
    expect(await moveIn(run, key, { ...options, client })).to.equal(undefined);
    expect([await stateIn(old), (await stateIn(now)).length]).to.deep.equal([[], 1]);
  });
});

const forbidden = new Forbidden({
  message: 'not yours',
  status: 403,
  reason: 'Forbidden',
  ref: { verb: 'delete', kind: 'Secret' },
});
