/** The deployers on real API servers: conflicts, discovery, finalizers, generations, which fakes cannot prove. */
import { expect } from 'chai';
import { skip } from '../../support/skip.ts';
import { configMap, manage, manifestConfig, mockConfig } from '../../unit/deployers/bench.ts';
import { LS, World } from './world.ts';
import { pause } from '../../support/waiting.ts';

const MANIFEST = 'kubernetes-manifest';

describe('deployers on API servers', () => {
  let world: World;
  before(async function () {
    this.timeout(30_000);
    world = await World.start();
  });
  after(() => world.stop());

  it('DEP-81: a mock item ends its job', async () => {
    await world.giveItem('mock', 'mock', mockConfig({ export: { k: 'v' } }), { target: false });
    const { status, metadata } = await world.run('mock', 'j1');
    expect(status?.phase).to.equal('Succeeded');
    expect(metadata.finalizers).to.deep.equal(['finalizer.landscaper.gardener.cloud']);
    const secret = await world.find(world.host, 'v1', 'Secret', `proj/${status?.exportRef?.name ?? ''}`);
    expect(secret?.['data']).to.deep.equal({ config: Buffer.from('{"k":"v"}').toString('base64') });
  });

  it('DEP-05, DEP-13, DEP-21, DEP-41: an item with an export is applied, changed and deleted', async () => {
    const config = (mode: string): object =>
      manifestConfig({
        manifests: [manage(configMap('settings', { mode }))],
        exports: {
          exports: [
            {
              key: 'db.mode',
              jsonPath: '.data.mode',
              fromResource: { apiVersion: 'v1', kind: 'ConfigMap', name: 'settings', namespace: 'app' },
            },
          ],
        },
      });
    await world.giveItem('web', MANIFEST, config('slow'));
    const first = await world.run('web', 'j1');
    expect(first.status?.phase).to.equal('Succeeded');
    expect(first.status?.observedGeneration).to.equal(first.metadata.generation);
    const made = await world.configMap('app/settings');
    expect(made?.metadata.labels).to.include({ [`manifest.deployer.${LS}/deployitem`]: 'web' });
    await world.configure('web', config('fast'));
    await world.run('web', 'j2');
    const changed = await world.configMap('app/settings');
    expect(changed?.['data']).to.deep.equal({ mode: 'fast' });
    expect(changed?.metadata.uid).to.equal(made?.metadata.uid);
    const secret = await world.find(world.host, 'v1', 'Secret', 'proj/web-export');
    expect(Buffer.from((secret?.['data'] as { config: string }).config, 'base64').toString()).to.equal(
      '{"db":{"mode":"fast"}}',
    );
    await world.remove('web');
    await world.kick('web', 'j3');
    await world.gone('web');
    expect(await world.configMap('app/settings')).to.equal(undefined);
  });

  it('DEP-15, DEP-32: a CRD, a namespace and an object of both are created in one job', async () => {
    const crd = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'gadgets.example.org' },
      spec: {
        group: 'example.org',
        scope: 'Namespaced',
        names: { kind: 'Gadget', plural: 'gadgets', singular: 'gadget', listKind: 'GadgetList' },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
          },
        ],
      },
    };
    const gadget = {
      apiVersion: 'example.org/v1',
      kind: 'Gadget',
      metadata: { name: 'g', namespace: 'fresh' },
      spec: { a: 1 },
    };
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'fresh' } };
    await world.giveItem(
      'order',
      MANIFEST,
      manifestConfig({ manifests: [gadget, namespace, crd].map((m) => manage(m)) }),
    );
    const { status } = await world.run('order', 'j1');
    expect(status?.phase).to.equal('Succeeded');
    await world.remove('order');
    await world.kick('order', 'j2');
    await world.gone('order');
    expect(
      await world.find(
        world.target,
        'apiextensions.k8s.io/v1',
        'CustomResourceDefinition',
        'gadgets.example.org',
      ),
    ).to.equal(undefined);
  });

  for (const updateStrategy of ['update', 'patch', 'merge', 'mergeOverwrite', 'apply']) {
    it(`DEP-22: ${updateStrategy} is accepted by a server`, async () => {
      const name = `s-${updateStrategy.toLowerCase()}`;
      const config = (mode: string): object =>
        manifestConfig({ updateStrategy, manifests: [manage(configMap(name, { mode }))] });
      await world.giveItem(name, MANIFEST, config('slow'));
      await world.run(name, 'j1');
      await world.edit(world.target, 'v1', 'ConfigMap', `app/${name}`, { data: { extra: '1' } });
      await world.configure(name, config('fast'));
      const { status } = await world.run(name, 'j2');
      expect(status?.phase).to.equal('Succeeded');
      const keeps = updateStrategy !== 'update' && updateStrategy !== 'patch';
      expect((await world.configMap(`app/${name}`))?.['data']).to.deep.equal({
        mode: updateStrategy === 'merge' ? 'slow' : 'fast',
        ...(keeps && { extra: '1' }),
      });
    });
  }

  it('DEP-24: a Service keeps its address', async () => {
    const service = (v: string): object =>
      manage({
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name: 'front', namespace: 'app', labels: { v } },
        spec: { ports: [{ port: 80 }] },
      });
    await world.giveItem('svc', MANIFEST, manifestConfig({ manifests: [service('1')] }));
    await world.run('svc', 'j1');
    const before = await world.find(world.target, 'v1', 'Service', 'app/front');
    await world.configure('svc', manifestConfig({ manifests: [service('2')] }));
    const { status } = await world.run('svc', 'j2');
    expect(status?.phase).to.equal('Succeeded');
    const after = await world.find(world.target, 'v1', 'Service', 'app/front');
    expect(after?.metadata.labels?.['v']).to.equal('2');
    expect((after?.['spec'] as { clusterIP?: string }).clusterIP).to.equal(
      (before?.['spec'] as { clusterIP?: string }).clusterIP,
    );
  });

  it('DEP-16: an interrupt during a wait is respected', async () => {
    const check = {
      name: 'c',
      resourceSelector: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'waits', namespace: 'app' }],
      requirements: [{ jsonPath: '.data.ready', operator: 'exists' }],
    };
    const config = manifestConfig({
      manifests: [manage(configMap('waits'))],
      readinessChecks: { custom: [check] },
    });
    await world.giveItem('waits', MANIFEST, config);
    await world.kick('waits', 'j1');
    await world.until('it waits', async () => (await world.item('waits')).status?.lastError);
    const status = { phase: 'Failed', jobIDFinished: 'j1' };
    await world.edit(world.host, `${LS}/v1alpha1`, 'DeployItem', 'proj/waits', { status }, 'status');
    const { metadata } = await world.item('waits');
    await pause(1500);
    expect((await world.item('waits')).metadata.resourceVersion).to.equal(metadata.resourceVersion);
  });

  it('DEP-30, DEP-47: hooks run before a deletion, and forceDelete deletes an object with a finalizer', async () => {
    const held = manage(configMap('held', { a: 'b' }, { finalizers: ['test.example/hold'] }), {
      annotateBeforeDelete: { confirm: 'yes' },
    });
    const config = { manifests: [held] };
    await world.giveItem('held', MANIFEST, manifestConfig(config));
    await world.run('held', 'j1');
    await world.remove('held');
    await world.kick('held', 'j2');
    await world.until(
      'the object is on its way',
      async () => (await world.configMap('app/held'))?.metadata.deletionTimestamp,
    );
    expect((await world.configMap('app/held'))?.metadata.annotations).to.deep.equal({ confirm: 'yes' });
    const deletionGroups = [{ predefinedResourceGroup: { type: 'namespaced-resources', forceDelete: true } }];
    await world.configure('held', manifestConfig({ ...config, deletionGroups }));
    await world.gone('held');
    expect(await world.configMap('app/held')).to.equal(undefined);
  });

  it('DEP-50: an object that another owner recreated stays', async () => {
    await world.giveItem('anew', MANIFEST, manifestConfig({ manifests: [manage(configMap('anew'))] }));
    await world.run('anew', 'j1');
    const kind = { group: '', version: 'v1', kind: 'ConfigMap', plural: 'configmaps', namespaced: true };
    await world.target.send({ verb: 'delete', kind, key: 'app/anew' });
    await world.create(world.target, configMap('anew', { of: 'others' }));
    await world.remove('anew');
    await world.kick('anew', 'j2');
    await world.gone('anew');
    expect((await world.configMap('app/anew'))?.['data']).to.deep.equal({ of: 'others' });
  });

  it('DEP-85: a self target installs on the host cluster as a service account', async () => {
    await world.create(world.host, {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: 'me', namespace: 'proj' },
    });
    await world.create(world.host, {
      apiVersion: `${LS}/v1alpha1`,
      kind: 'Target',
      metadata: { name: 'self', namespace: 'proj' },
      spec: { type: `${LS}/kubernetes-cluster`, config: { selfConfig: { serviceAccount: { name: 'me' } } } },
    });
    await world.create(world.host, {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: 'me' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [{ kind: 'ServiceAccount', name: 'me', namespace: 'proj' }],
    });
    await world.giveItem(
      'self',
      MANIFEST,
      manifestConfig({ manifests: [manage(configMap('on-host', {}, { namespace: 'proj' }))] }),
    );
    await world.edit(world.host, `${LS}/v1alpha1`, 'DeployItem', 'proj/self', {
      metadata: { annotations: { [`${LS}/deployer-target-name`]: 'self' } },
      spec: { target: { name: 'self' } },
    });
    const { status } = await world.run('self', 'j1');
    expect(status?.phase, JSON.stringify(status?.lastError)).to.equal('Succeeded');
    expect(await world.find(world.host, 'v1', 'ConfigMap', 'proj/on-host')).to.not.equal(undefined);
  });

  it('a job with one object costs two writes of the item, one of the target, and one read', async function () {
    if (!world.hostServer.audit) skip(this, 'a real API server does not tell who asked it what');
    await world.giveItem('cheap', MANIFEST, manifestConfig({ manifests: [manage(configMap('cheap'))] }));
    await world.run('cheap', 'j1'); // the finalizer and discovery are done before
    await world.configure('cheap', manifestConfig({ manifests: [manage(configMap('cheap', { a: 'c' }))] }));
    const host = requestsOf(world.hostServer);
    const target = requestsOf(world.targetServer);
    await world.run('cheap', 'j2');
    expect(host()).to.deep.equal(['get secrets', 'patch deployitems/status', 'patch deployitems/status']);
    expect(target()).to.deep.equal(['get configmaps', 'update configmaps']);
  });
});

/** Requests of the deployers since the call, without watches. */
function requestsOf({ audit }: World['hostServer']): () => string[] {
  if (!audit) throw new Error('this server keeps no audit log');
  const mark = audit.mark();
  return () =>
    audit
      .since(mark)
      .events.filter(({ userAgent, verb }) => userAgent.includes('deployer') && verb !== 'watch')
      .map(({ verb, objectRef: ref }) =>
        [verb, [ref?.resource, ref?.subresource].filter(Boolean).join('/')].join(' '),
      );
}
