/** The container deployer, while the test acts as the kubelet and writes the status of pods. */
import { expect } from 'chai';
import { sweep } from '../../../deployers/container/garbage-collection.ts';
import {
  CONFIG_MAP,
  POD,
  ROLE,
  ROLE_BINDING,
  SECRET,
  SERVICE_ACCOUNT,
  type Pod,
} from '../../../deployers/container/kinds.ts';
import { namesOf } from '../../../deployers/container/names.ts';
import { DEPLOY_ITEM, type DeployItem } from '../../../deployers/sdk/kinds.ts';
import { namespaceKind } from '../../../src/landscape/world.ts';
import { getIfThere } from '../../../src/runtime/transport/read.ts';
import { contextKind } from '../../../src/api/kinds/context.ts';
import { systemClock, timestamp } from '../../../src/lib/clock.ts';
import { silentLogger } from '../../../src/observability/log.ts';
import { apiErrorFrom } from '../../../src/runtime/errors.ts';
import type { Client, Kind, Obj, Write } from '../../../src/runtime/types.ts';
import {
  containerConfigOf,
  ContainerWorld,
  podRunning,
  podSucceeded,
  running,
  terminated,
  waiting,
  type Room,
} from '../../support/containers.ts';
import { Faults } from '../../support/faults.ts';

const GROUP = 'container.deployer.landscaper.gardener.cloud';
const FINALIZER = `${GROUP}/finalizer`;

interface Env {
  readonly name: string;
  readonly value?: string;
}
interface Shown {
  readonly name: string;
  readonly image: string;
  readonly imagePullPolicy: string;
  readonly terminationMessagePolicy: string;
  readonly env: readonly Env[];
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
}

describe('the container deployer', function () {
  this.timeout(120_000);
  let world: ContainerWorld;
  let room: Room;
  before(async () => {
    world = await ContainerWorld.start();
  });
  beforeEach(async () => {
    room = await world.room();
  });
  afterEach(() => room.stop());
  after(() => world?.stop());

  /** A job that has created its pod. */
  const started = async (config: object = {}, name = 'web', job = 'j1'): Promise<Pod> => {
    if (!(await room.item(name))) await room.give(name, containerConfigOf(config));
    await room.kick(name, job);
    return room.pod(({ metadata }) => metadata.annotations?.['espalier.dev/job-id'] === job);
  };
  const ends = async (pod: Pod, status: object, job = 'j1') => {
    await room.report(pod, status);
    return (await room.finished('web', job)).status;
  };

  it('DEP-71: rejects pull secrets without name and namespace before it creates a pod', async () => {
    await room.deployer();
    await room.give('web', containerConfigOf({ registryPullSecrets: [{}] }));
    const { status } = await room.run('web', 'j1');
    expect(status?.phase).to.equal('Failed');
    expect(status?.lastError).to.deep.include({
      operation: 'InitContainerOperation',
      reason: 'ValidateProviderConfiguration',
      codes: ['ERR_CONFIGURATION_PROBLEM'],
    });
    expect(await room.list(POD)).to.deep.equal([]);
  });

  it("rejects an invalid configuration with upstream's message", async () => {
    await room.deployer();
    await room.give('web', containerConfigOf({ command: 'ls' }));
    const { status } = await room.run('web', 'j1');
    expect(status?.lastError).to.deep.include({
      operation: 'InitContainerOperation',
      reason: 'DecodeProviderConfiguration',
      codes: ['ERR_CONFIGURATION_PROBLEM'],
    });
  });

  it('DEP-72: creates a pod as images expect it', async () => {
    await room.deployer();
    const pod = await started({ image: 'example.org/tool:1', command: ['/run'], args: ['a'] });
    const spec = pod.spec as Record<string, unknown> & { containers: Shown[]; initContainers: Shown[] };
    expect(pod.metadata.generateName).to.equal('web-');
    expect(pod.metadata.finalizers).to.deep.equal([FINALIZER]);
    expect(pod.metadata.labels).to.include({
      [`deployitem.${GROUP}/name`]: 'web',
      [`deployitem.${GROUP}/namespace`]: room.items,
      [`deployitem.${GROUP}/generation`]: '1',
    });
    expect(spec).to.deep.include({
      restartPolicy: 'Never',
      terminationGracePeriodSeconds: 300,
      automountServiceAccountToken: false,
    });
    expect(spec['securityContext']).to.include({ runAsUser: 1000, runAsGroup: 3000, fsGroup: 2000 });
    const [init, wait] = spec.initContainers;
    const [main] = spec.containers;
    expect(wait).to.include({ restartPolicy: 'Always' });
    expect([init?.name, main?.name, wait?.name]).to.deep.equal(['init', 'main', 'wait']);
    for (const one of [init, main, wait]) {
      expect(one?.terminationMessagePolicy).to.equal('FallbackToLogsOnError');
      expect(Object.fromEntries(one?.env.map(({ name, value }) => [name, value]) ?? [])).to.include({
        IMPORTS_PATH: '/data/ls/shared/imports/import.json',
        EXPORTS_PATH: '/data/ls/shared/exports/values',
        STATE_PATH: '/data/ls/shared/state',
        CONTENT_PATH: '/data/ls/shared/content',
        COMPONENT_DESCRIPTOR_PATH: '/data/ls/shared/component_descriptor.json',
        TARGET_PATH: '/data/ls/shared/targets/target.json',
      });
    }
    expect(main?.env.map(({ name, value }) => `${name}=${value ?? ''}`)).to.include('OPERATION=RECONCILE');
    expect(init?.env.map(({ name, value }) => `${name}=${value ?? ''}`)).to.include.members([
      'CONFIGURATION_PATH=/data/ls/internal/configuration.json',
      'DEPLOY_ITEM_NAME=web',
      `DEPLOY_ITEM_NAMESPACE=${room.items}`,
    ]);
    expect(main?.volumeMounts.map(({ name }) => name)).to.deep.equal(['shared-volume']);
  });

  it('shows the state of the containers, and ends with the pod', async () => {
    await room.deployer();
    const pod = await started();
    await room.report(pod, podRunning);
    const busy = await room.until('the status of the pod', async () => {
      const item = await room.item('web');
      return item?.status?.conditions?.some(
        ({ type, status }) => type === 'InitContainer' && status === 'True',
      )
        ? item
        : undefined;
    });
    expect(busy.status?.phase).to.equal('Progressing');
    expect(busy.status?.conditions?.map(({ type, status }) => `${type} ${status}`)).to.deep.equal([
      'InitContainer True',
      'WaitContainer Progressing',
      'Ready Unknown',
      'Reconciling True',
    ]);
    const status = await ends(pod, podSucceeded);
    expect(status?.phase).to.equal('Succeeded');
    expect(status?.conditions?.map((c) => `${c.type} ${c.status} ${c.reason}`)).to.deep.equal([
      'InitContainer True ContainerSucceeded',
      'WaitContainer True ContainerSucceeded',
      'Ready True Succeeded',
    ]);
    expect(status?.providerStatus).to.nested.include({
      'podStatus.podName': pod.metadata.name,
      'podStatus.containerStatus.image': 'main-image',
      'podStatus.containerStatus.exitCode': 0,
    });
    await room.noPod();
  });

  for (const [container, operation] of [
    ['init', 'RunInitContainer'],
    ['main', 'RunMainContainer'],
    ['wait', 'RunWaitContainer'],
  ] as const) {
    for (const reason of ['ErrImagePull', 'ErrInvalidImageName']) {
      it(`DEP-76: fails and deletes the pod if the image of ${container} does not exist: ${reason}`, async () => {
        await room.deployer();
        const pod = await started();
        const trouble = waiting(container, reason, 'tool:1: not found');
        const status = await ends(
          pod,
          container !== 'main'
            ? { phase: 'Pending', initContainerStatuses: [trouble] }
            : { ...podRunning, containerStatuses: [trouble] },
        );
        expect(status?.phase).to.equal('Failed');
        expect(status?.lastError).to.include({
          operation,
          reason,
          message: `container ${container}: image "${container}-image" cannot be pulled: ${reason}: tool:1: not found`,
        });
        await room.noPod();
      });
    }
  }

  const unreachable = waiting('main', 'ErrImagePull', 'dial tcp 192.0.2.1:443: connect: connection refused');
  const stuck = { ...podRunning, phase: 'Pending', containerStatuses: [unreachable] };

  it('waits for a registry that is not available, and shows image and cause', async () => {
    await room.deployer();
    const pod = await started();
    await room.report(pod, stuck);
    const { status } = await room.until('the cause', async () => {
      const item = await room.item('web');
      return item?.status?.lastError && item;
    });
    expect(status?.phase).to.equal('Progressing');
    expect(status?.lastError?.message).to.match(/^container main: image "main-image" .*connection refused$/);
    expect(status?.lastErrors ?? []).to.deep.equal([]);
    expect((await ends(pod, podSucceeded))?.phase).to.equal('Succeeded');
  });

  it('names image and cause when the job times out because of the registry', async () => {
    await room.deployer();
    await room.give('web', containerConfigOf({}), { timeout: '4s' });
    const status = await ends(await started(), stuck);
    expect(status?.lastError?.codes).to.include('ERR_TIMEOUT');
    expect(status?.lastError?.message).to.match(/last problem: .* image "main-image" .*connection refused/);
    await room.noPod();
  });

  const failures: readonly (readonly [string, object, object])[] = [
    [
      'is killed because of its memory',
      { containerStatuses: [terminated('main', 137, { reason: 'OOMKilled' }), terminated('wait', 1)] },
      {
        operation: 'RunMainContainer',
        reason: 'ContainerFailed',
        message: 'container main exited with 137 (OOMKilled)',
      },
    ],
    [
      'has an init container that fails',
      { initContainerStatuses: [terminated('init', 1, { message: 'no content' })] },
      {
        operation: 'RunInitContainer',
        reason: 'ContainerFailed',
        message: 'container init exited with 1: no content',
      },
    ],
    [
      'has a wait container that fails',
      { containerStatuses: [terminated('main', 0), terminated('wait', 1, { message: 'no room' })] },
      {
        operation: 'RunWaitContainer',
        reason: 'ContainerFailed',
        message: 'container wait exited with 1: no room',
      },
    ],
  ];
  for (const [what, status, error] of failures) {
    it(`fails with a pod that ${what}`, async () => {
      await room.deployer();
      const ended = await ends(await started(), { phase: 'Failed', ...status });
      expect(ended?.phase).to.equal('Failed');
      expect(ended?.lastError).to.include(error);
      expect(await room.list(POD), 'kept for whoever reads its log').to.have.length(1);
    });
  }

  it('fails with a pod that was evicted, with the message of the kubelet', async () => {
    await room.deployer();
    const pod = await started();
    const status = await ends(pod, {
      phase: 'Failed',
      reason: 'Evicted',
      message: 'the node was low on memory',
      containerStatuses: [{ name: 'main', state: { terminated: { exitCode: 137, reason: 'Error' } } }],
    });
    expect(status?.lastError).to.include({
      operation: 'RunMainContainer',
      reason: 'Evicted',
      message: `pod ${pod.metadata.name} ended without a result: Evicted: the node was low on memory`,
    });
  });

  it('does not run an image again whose pod was deleted, and reports it', async () => {
    await room.deployer();
    const pod = await started();
    await room.report(pod, podRunning);
    await room.until('the pod is noted', async () => {
      const noted = (await room.item('web'))?.status?.providerStatus as { podStatus?: object } | undefined;
      return noted?.podStatus;
    });
    const key = `${room.pods}/${pod.metadata.name}`;
    await world.client.send({ verb: 'merge', kind: POD, key, body: { metadata: { finalizers: null } } });
    await world.client.send({ verb: 'delete', kind: POD, key, gracePeriodSeconds: 0 });
    const { status } = await room.finished('web', 'j1');
    expect(status?.lastError).to.include({ operation: 'RunMainContainer', reason: 'PodVanished' });
    expect(await room.list(POD)).to.deep.equal([]);
    const next = await started({}, 'web', 'j2');
    expect((await ends(next, podSucceeded, 'j2'))?.phase).to.equal('Succeeded');
  });

  it('fails with a pod that was deleted before it had a node', async () => {
    await room.deployer();
    await room.give('web', containerConfigOf({}), { timeout: 'none' });
    const pod = await started();
    await world.client.send({ verb: 'delete', kind: POD, key: `${room.pods}/${pod.metadata.name}` });
    const { status } = await room.finished('web', 'j1');
    expect(status?.lastError).to.include({ operation: 'RunMainContainer', reason: 'PodDeleted' });
    await room.noPod();
    expect((await ends(await started({}, 'web', 'j2'), podSucceeded, 'j2'))?.phase).to.equal('Succeeded');
  });

  it('reports why a pod does not start, and names the reason when the job times out', async () => {
    await room.deployer();
    await room.give('web', containerConfigOf({}), { timeout: '4s' });
    const pod = await started();
    await room.report(pod, {
      phase: 'Pending',
      conditions: [
        { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: 'no room on 3 nodes' },
      ],
    });
    const { status } = await room.finished('web', 'j1');
    expect(status?.lastError?.message).to.match(
      /^timeout at: "container deployer: start reconcile"\nthe job has reached its timeout of .*; last problem: pod web-\w+ has no node: no room on 3 nodes/,
    );
    await room.noPod();
  });

  it('deletes an export of an earlier run before the next', async () => {
    await room.deployer();
    const { export: name } = namesOf({ namespace: room.items, name: 'web' });
    const pod = await started();
    const secret = {
      apiVersion: 'v1',
      kind: 'Secret' as const,
      metadata: { name, namespace: room.pods },
      stringData: { config: '{"a":1}' },
    };
    await room.create(SECRET, secret);
    expect((await ends(pod, podSucceeded))?.exportRef).to.deep.equal({
      name: 'web-export',
      namespace: room.items,
    });
    const exported = (await room.list(SECRET, room.items)).find(
      ({ metadata }) => metadata.name === 'web-export',
    );
    expect(exported?.metadata.ownerReferences?.[0]).to.include({
      kind: 'DeployItem',
      name: 'web',
      controller: true,
    });
    await started({}, 'web', 'j2');
    expect(await room.secret(name)).to.equal(undefined);
  });

  it('does not change a secret of a user with the name of the export', async () => {
    await room.deployer();
    const { export: name } = namesOf({ namespace: room.items, name: 'web' });
    const theirs = { apiVersion: 'v1', kind: 'Secret' as const, metadata: { name, namespace: room.pods } };
    await room.create(SECRET, { ...theirs, data: { config: 'dGhlaXJz' } });
    await room.give('web', containerConfigOf({}));
    await room.kick('web', 'j1');
    const { status } = await room.finished('web', 'j1');
    expect(status?.lastError).to.include({ operation: 'CreateSecret', reason: 'SecretNotOwned' });
    expect(status?.lastError?.message).to.contain(`secret ${room.pods}/${name} exists and does not belong`);
    expect(await room.secret(name)).to.equal('theirs');
    expect(await room.list(POD, room.pods)).to.deep.equal([]);
  });

  for (const [what, kind, name] of [
    ['configuration', SECRET, 'config'],
    ['target', SECRET, 'target'],
    ['pull secret', SECRET, 'imagePull'],
    ['token', SECRET, 'waitToken'],
    ['account', SERVICE_ACCOUNT, 'initAccount'],
    ['role', ROLE, 'initAccount'],
    ['role binding', ROLE_BINDING, 'waitAccount'],
  ] as const) {
    it(`does not change a ${what} of a user with the name of its own, and reports it`, async () => {
      await room.deployer();
      const mine = await room.create(kind, {
        apiVersion: kind.group === '' ? 'v1' : `${kind.group}/${kind.version}`,
        kind: kind.kind,
        metadata: {
          name: namesOf({ namespace: room.items, name: 'web' })[name],
          namespace: room.pods,
          labels: { team: 'blue' },
        },
        ...(kind.kind === 'Secret' && { data: { mine: 'eA==' } }),
        ...(kind.kind === 'RoleBinding' && {
          roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'mine' },
        }),
      });
      const login = JSON.stringify({ auths: { 'registry.example': { username: 'u', password: 'p' } } });
      await room.create(SECRET, {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'pull', namespace: room.items },
        data: { '.dockerconfigjson': Buffer.from(login).toString('base64') },
      } as Obj);
      const registryPullSecrets = [{ name: 'pull', namespace: room.items }];
      const config = { image: 'registry.example/tool:1', registryPullSecrets };
      await room.give('web', containerConfigOf(config));
      await room.kick('web', 'j1');
      const { status } = await room.finished('web', 'j1');
      const key = `${room.pods}/${mine.metadata.name}`;
      expect(status?.lastError?.message).to.contain(`${key} exists and does not belong to deploy item`);
      expect(status?.lastError?.message).to.contain('stays as it is; delete or rename');
      expect(status?.lastError?.codes).to.deep.equal(['ERR_CONFIGURATION_PROBLEM']);
      expect(await room.list(POD, room.pods)).to.deep.equal([]);
      await room.remove('web');
      await room.kick('web', 'j2');
      await room.until('the second job is over', async () => {
        const item = await room.item('web');
        return !item || item.status?.jobIDFinished === 'j2' || undefined;
      });
      expect(await world.client.get(kind, key)).to.deep.equal(mine);
    });
  }

  it('lets service accounts do what they need, on named objects, with tokens that expire', async () => {
    await room.deployer();
    const pod = await started();
    const {
      initAccount,
      waitAccount,
      waitToken,
      export: exported,
    } = namesOf({ namespace: room.items, name: 'web' });
    const rules = async (name: string): Promise<unknown> =>
      (
        (await room.list(ROLE)).find(({ metadata }) => metadata.name === name) as
          { rules?: unknown } | undefined
      )?.rules;
    expect((await rules(initAccount)) ?? []).to.deep.equal([]);
    expect(await rules(waitAccount)).to.deep.equal([
      { apiGroups: [''], resources: ['pods'], verbs: ['get', 'watch'], resourceNames: [pod.metadata.name] },
      { apiGroups: [''], resources: ['secrets'], verbs: ['create'] },
      { apiGroups: [''], resources: ['secrets'], verbs: ['get', 'patch'], resourceNames: [exported] },
    ]);
    const token = await room.secret(waitToken, 'token');
    const claims = JSON.parse(Buffer.from(token?.split('.')[1] ?? '', 'base64url').toString()) as {
      exp: number;
      iat: number;
    };
    expect(claims.exp - claims.iat).to.be.within(600, 300 + 900 + 1);
  });

  it('passes on the credentials for the registry of the image, and no others', async () => {
    await room.deployer();
    const auths = {
      'example.org': { username: 'me', password: 'fits-the-image' },
      'other.example.org': { username: 'me', password: 'fits-nobody' },
    };
    const metadata = { name: 'pull', namespace: room.items };
    const data = { '.dockerconfigjson': JSON.stringify({ auths }) };
    await room.create(SECRET, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata,
      type: 'kubernetes.io/dockerconfigjson',
      stringData: data,
    } as unknown as Obj);
    const body = { registryPullSecrets: [{ name: 'pull' }] };
    await world.client.send({ verb: 'merge', kind: contextKind, key: `${room.items}/default`, body });
    await room.until('the deployer sees the Context', async () => {
      await new Promise((resolve) => setImmediate(resolve));
      return true;
    });
    const pod = await started({ image: 'example.org/tool:1' });
    const { imagePull } = namesOf({ namespace: room.items, name: 'web' });
    expect((pod.spec as { imagePullSecrets?: unknown }).imagePullSecrets).to.deep.equal([
      { name: imagePull },
    ]);
    const text = await room.secret(imagePull, '.dockerconfigjson');
    expect(text).to.contain('fits-the-image').and.not.to.contain('fits-nobody');
  });

  it('keeps items of the same name in different namespaces apart', () => {
    const one = namesOf({ namespace: 'a', name: 'web' });
    const other = namesOf({ namespace: 'b', name: 'web' });
    expect(Object.values(one).filter((name) => Object.values(other).includes(name))).to.deep.equal([]);
  });

  it('keeps items apart whose namespace and name are the same when joined', async () => {
    const namespace = 'items'; // and `<id>-web` in it is called like `web` in `items-<id>`
    const name = `${room.items.slice('items-'.length)}-web`;
    const put = <T extends Obj>(kind: Kind<T>, object: T): Promise<T> => room.create(kind, object);
    await put(namespaceKind, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
    await put(contextKind, {
      apiVersion: 'landscaper.gardener.cloud/v1alpha1',
      kind: 'Context',
      metadata: { name: 'default', namespace },
    });
    await room.deployer();
    const pod = await started({ importValues: { password: 'of web' } });
    const { config, export: exported } = namesOf({ namespace: room.items, name: 'web' });
    expect(namesOf({ namespace, name }).config).to.equal(config);

    const web = (await room.item('web')) as DeployItem;
    const metadata = { name, namespace, ...pick(web.metadata, 'annotations') };
    const other: DeployItem = { ...pick(web, 'apiVersion', 'kind', 'spec'), metadata };
    await put(DEPLOY_ITEM, { ...other, spec: { ...other.spec, config: containerConfigOf({}) as never } });
    const key = `${namespace}/${name}`;
    const status = { observedGeneration: 0, jobID: 'j', jobIDGenerationTime: timestamp(systemClock) };
    const edit = { verb: 'merge', kind: DEPLOY_ITEM, key } as const;
    await world.client.send({ ...edit, sub: 'status', body: { status } });
    const refused = await room.until('the other one is refused', async () => {
      const { status: is } = await world.client.get(DEPLOY_ITEM, key);
      return is?.jobIDFinished === 'j' ? is : undefined;
    });
    expect(refused.lastError).to.include({ operation: 'ClaimNames', reason: 'NameTaken' });
    expect(refused.lastError?.message).to.contain(`belongs to deploy item ${room.items}/web`);
    expect(await room.secret(config, 'configuration.json')).to.contain('of web');

    const labelled = { name: exported, namespace: room.pods, ...pick(pod.metadata, 'labels') };
    await put(SECRET, { apiVersion: 'v1', kind: 'Secret', metadata: labelled });
    await world.client.send({ verb: 'delete', kind: DEPLOY_ITEM, key });
    await world.client.send({ ...edit, sub: 'status', body: { status: { jobID: 'j2' } } });
    await room.until('the other one is gone', async () =>
      (await getIfThere(world.client, DEPLOY_ITEM, key)) ? undefined : true,
    );
    expect(await room.names(SECRET), 'of web').to.include.members([config, exported]);
    expect((await ends(pod, podSucceeded))?.phase).to.equal('Succeeded');
  });

  it('takes over the names of an item that was deleted', async () => {
    const { config } = namesOf({ namespace: room.items, name: 'web' });
    await room.create(SECRET, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {
        name: config,
        namespace: room.pods,
        labels: { [`deployitem.${GROUP}/name`]: 'x', [`deployitem.${GROUP}/namespace`]: 'gone' },
      },
      stringData: { 'configuration.json': 'old' },
    } as Obj);
    await room.deployer();
    expect((await ends(await started(), podSucceeded))?.phase).to.equal('Succeeded');
    expect(await room.secret(config, 'configuration.json')).to.contain('ProviderConfiguration');
  });

  it('reports at once that a configuration does not fit into the secret that passes it to pods', async () => {
    await room.deployer();
    await room.give('web', containerConfigOf({ importValues: { text: 'x'.repeat(2 ** 20) } }));
    const { status } = await room.run('web', 'j1');
    expect(status?.lastError?.codes).to.deep.equal(['ERR_CONFIGURATION_PROBLEM']);
    expect(status?.lastError?.message).to.match(/^the configuration has \d+ bytes/);
  });

  it('writes only differences if an item has another job', async () => {
    const { faults } = await room.deployer();
    const written = (from: number): readonly string[] =>
      faults
        .writes(room.pods)
        .slice(from)
        .map(({ verb, kind }) => `${verb} ${kind.kind}`);
    await ends(await started(), podSucceeded);
    const first = written(0);
    await ends(await started({}, 'web', 'j2'), podSucceeded, 'j2');
    const second = written(first.length);
    const applied = second.filter((write) => write.startsWith('apply'));
    // The configuration is always applied; the two tokens and the role that names the pod are new.
    expect(applied.sort()).to.deep.equal(['apply Role', 'apply Secret', 'apply Secret', 'apply Secret']);
    expect(second).to.have.lengthOf(7);
  });

  describe('with faults', () => {
    const troubles = ['conflict', 'too-many', 'server-error', 'lost', 'reset'] as const;
    for (const what of troubles) {
      it(`creates one pod and succeeds even if the first request for it fails: ${what}`, async () => {
        const { faults } = await room.deployer();
        faults.arm(room.pods, {
          what,
          nth: 1,
          matches: (write) => write.verb === 'create' && write.kind.kind === 'Pod',
        });
        const pod = await started();
        expect((await ends(pod, podSucceeded))?.phase).to.equal('Succeeded');
        const created = faults
          .writes(room.pods)
          .filter(({ verb, kind }) => verb === 'create' && kind.kind === 'Pod');
        expect(
          new Set(created.map((write) => ('object' in write ? write.object.metadata.name : ''))).size,
        ).to.equal(1);
      });
    }

    it('runs the image for a deletion that starts in the job that has just run it', async () => {
      const first = await room.deployer();
      const pod = await started();
      const isNoted = (write: Write): boolean =>
        write.sub === 'status' && JSON.stringify(write).includes('lastSuccessfulJobID');
      first.faults.arm(room.items, { what: 'crash-after', nth: 1, matches: isNoted });
      await room.report(pod, podSucceeded);
      await first.faults.struck(room.items);
      await first.crash();
      const now = timestamp(systemClock);
      const times = { lastTransitionTime: now, lastUpdateTime: now };
      const lastError = { operation: 'reconcile', reason: 'Reconcile', message: 'no answer', ...times };
      await room.edit('web', { status: { lastError } }, 'status');
      await room.remove('web');
      await room.deployer();
      const cleaning = await room.pod(({ metadata }) => metadata.name !== pod.metadata.name);
      expect(JSON.stringify(cleaning.spec)).to.contain('{"name":"OPERATION","value":"DELETE"}');
      await room.report(cleaning, podRunning);
      await room.until('the pod is noted', async () => {
        const { podStatus } = (await room.item('web'))?.status?.providerStatus as {
          podStatus?: { podName: string };
        };
        return podStatus?.podName === cleaning.metadata.name || undefined;
      });
      expect(await room.item('web'), 'as long as it runs').not.to.equal(undefined);
      await room.report(cleaning, podSucceeded);
      await room.gone('web');
      expect(await room.leftovers()).to.deep.equal([]);
    });

    it('sees the end of a pod even if the watch broke', async () => {
      const { faults } = await room.deployer();
      const pod = await started();
      faults.cutWatches(['Pod', 'DeployItem']);
      expect((await ends(pod, podSucceeded))?.phase).to.equal('Succeeded');
    });
  });

  describe('garbage collection', () => {
    const labels = (item: string): Record<string, string> => ({
      [`deployitem.${GROUP}/name`]: item,
      [`deployitem.${GROUP}/namespace`]: room.items,
    });
    const sweeps = (settings: object = {}, client = world.client): Promise<void> =>
      sweep({ client, settings: { ...room.settings, ...settings }, log: silentLogger });
    const put = (kind: Kind<Obj>, name: string, item: string | undefined, more: object = {}): Promise<Obj> =>
      room.create(kind, {
        apiVersion: kind.group === '' ? 'v1' : `${kind.group}/v1`,
        kind: kind.kind,
        metadata: { name, namespace: room.pods, ...(item && { labels: labels(item) }) },
        ...more,
      });
    const podNamed = async (
      name: string,
      item: string,
      phase: string,
      hasFinalizer: boolean,
    ): Promise<void> => {
      const metadata = {
        name,
        namespace: room.pods,
        labels: labels(item),
        ...(hasFinalizer && { finalizers: [FINALIZER] }),
      };
      const spec = { containers: [{ name: 'main', image: 'x' }], automountServiceAccountToken: false };
      const pod = await room.create(POD, { apiVersion: 'v1', kind: 'Pod', metadata, spec });
      await room.report(pod, {
        phase,
        containerStatuses: [phase === 'Running' ? running('main') : terminated('main', 0)],
      });
    };

    it('DEP-79: deletes objects of items that no longer exist, and no others', async () => {
      await room.give('here', containerConfigOf({}));
      const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'gone' };
      const kinds: readonly (readonly [Kind<Obj>, object])[] = [
        [SECRET, {}],
        [CONFIG_MAP, {}],
        [SERVICE_ACCOUNT, {}],
        [ROLE, {}],
        [ROLE_BINDING, { roleRef }],
      ];
      for (const [kind, more] of kinds) {
        await put(kind, 'gone', 'gone', more);
        await put(kind, 'here', 'here', more);
        await put(kind, 'others', undefined, more);
      }
      await sweeps();
      for (const [kind] of kinds) {
        expect(await room.names(kind))
          .to.include.members(['here', 'others'])
          .and.not.to.include('gone');
      }
    });

    it('DEP-79: deletes pods, unless one runs or is the last of its item', async () => {
      await room.give('here', containerConfigOf({}));
      await podNamed('of-nobody', 'gone', 'Succeeded', true);
      await podNamed('of-nobody-but-running', 'gone', 'Running', true);
      await podNamed('older', 'here', 'Failed', true);
      const second = new Date().getSeconds(); // ages are shown in whole seconds
      await room.until('the next second', async () => new Date().getSeconds() !== second || undefined);
      await podNamed('newest', 'here', 'Failed', true);
      await sweeps({ keepsEndedPods: true });
      expect(await room.names(POD)).to.have.length(4);
      await sweeps();
      expect(await room.names(POD)).to.deep.equal(['newest', 'of-nobody-but-running']);
      const body = { metadata: { finalizers: null } };
      await world.client.send({ verb: 'merge', kind: POD, key: `${room.pods}/newest`, body });
      await sweeps();
      expect(await room.names(POD)).to.deep.equal(['of-nobody-but-running']);
    });

    it('continues if some objects cannot be deleted', async () => {
      for (const name of ['first', 'second']) await put(SECRET, name, 'gone');
      await podNamed('of-nobody', 'gone', 'Succeeded', true);
      const faults = new Faults();
      faults.arm(room.pods, {
        what: 'server-error',
        nth: 1,
        matches: (write) => write.verb === 'delete' && 'key' in write && write.key.endsWith('/first'),
      });
      await sweeps({}, faults.around(world.client));
      expect(await room.names(SECRET)).to.deep.equal(['first']);
      expect(await room.names(POD)).to.deep.equal([]);
    });

    it('keeps objects if an item of that name is created meanwhile', async () => {
      await put(ROLE, 'old', 'web');
      await put(SECRET, 'state', 'web');
      const { client } = world;
      let isThere = false;
      await sweeps(
        {},
        {
          ...sameAs(client),
          send: async (write, signal) => {
            const answer = await client.send(write, signal);
            if (!isThere) await room.give('web', containerConfigOf({}));
            isThere = true;
            return answer;
          },
        },
      );
      expect(await room.names(ROLE)).to.deep.equal([]);
      expect(await room.names(SECRET)).to.deep.equal(['state']);
    });

    it('trusts no answer of a server that does not serve deploy items yet', async () => {
      await put(SECRET, 'state', 'web');
      const unserved = apiErrorFrom(404, '404 page not found', { verb: 'get', kind: 'DeployItem' });
      const { client } = world;
      const starting: Client = {
        ...sameAs(client),
        get: (kind, key, signal) =>
          kind.kind === 'DeployItem' ? Promise.reject(unserved) : client.get(kind, key, signal),
        list: (kind, query, signal) => {
          if (kind.kind === 'DeployItem') throw unserved;
          return client.list(kind, query, signal);
        },
      };
      await sweeps({}, starting);
      expect(await room.names(SECRET)).to.deep.equal(['state']);
    });

    it('DEP-79: deletes, when a deployer starts, the pod of a job that was interrupted while none was running', async () => {
      room = await world.room({ garbageCollection: { isDisabled: false, everyMs: 3_600_000 } });
      const first = await room.deployer();
      const pod = await started();
      await room.report(pod, podRunning);
      await first.crash();
      await room.edit('web', { status: { phase: 'Failed', jobIDFinished: 'j1' } }, 'status');
      await room.deployer();
      await room.noPod();
    });
  });
});

const pick = <T extends object, K extends keyof T>(object: T, ...names: K[]): Pick<T, K> =>
  Object.fromEntries(names.map((name) => [name, object[name]])) as Pick<T, K>;

/** Its methods unchanged, so that a test can override some of them. */
const sameAs = (client: Client): Client => ({
  get: (kind, key, signal) => client.get(kind, key, signal),
  list: (kind, query, signal) => client.list(kind, query, signal),
  watch: (kind, query, signal) => client.watch(kind, query, signal),
  send: (write, signal) => client.send(write, signal),
  raw: (method, path, body, signal) => client.raw(method, path, body, signal),
  close: () => client.close(),
});
