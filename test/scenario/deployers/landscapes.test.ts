/** Behaviour of manifests that needs a real API: immutable fields, CRDs, webhooks, field owners, namespaces. */
import { expect } from 'chai';
import { configMap, manage, manifestConfig } from '../../unit/deployers/bench.ts';
import { World, type Json } from './world.ts';

const MANIFEST = 'kubernetes-manifest';
const CONFIG_MAP = { group: '', version: 'v1', kind: 'ConfigMap', plural: 'configmaps', namespaced: true };

interface Entry {
  readonly resource: { readonly kind: string; readonly name: string; readonly uid?: string };
}

describe('manifests of real landscapes on API servers', () => {
  let world: World;
  before(async function () {
    this.timeout(60_000);
    world = await World.start();
  });
  after(() => world.stop());

  const give = (name: string, manifests: readonly object[], more: object = {}): Promise<void> =>
    world.giveItem(name, MANIFEST, manifestConfig({ manifests, ...more }));
  const change = (name: string, manifests: readonly object[], more: object = {}): Promise<void> =>
    world.configure(name, manifestConfig({ manifests, ...more }));
  const succeeded = async (name: string, job: string): Promise<Entry[]> => {
    const { status } = await world.run(name, job);
    expect(status?.phase, status?.lastError?.message).to.equal('Succeeded');
    return (status?.providerStatus?.['managedResources'] ?? []) as Entry[];
  };

  it('DEP-33: the inventory is sorted within its groups', async () => {
    const role = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: 'c' },
      rules: [],
    };
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'z', namespace: 'app' } };
    await give(
      'sorted',
      [configMap('b'), configMap('a'), secret, role].map((m) => manage(m)),
    );
    const entries = await succeeded('sorted', 'j1');
    expect(entries.map(({ resource }) => resource.name)).to.deep.equal(['c', 'a', 'b', 'z']);
  });

  it('DEP-31: lists of all shapes are taken apart', async () => {
    const list = { apiVersion: 'v1', kind: 'List', items: [configMap('in-list')] };
    const typed = { apiVersion: 'v1', kind: 'ConfigMapList', items: [configMap('in-typed')] };
    const nothing = { apiVersion: 'v1', kind: 'ConfigMapList', items: [] };
    await give(
      'lists',
      [list, typed, nothing].map((m) => manage(m)),
    );
    const entries = await succeeded('lists', 'j1');
    expect(entries.map(({ resource }) => resource.name)).to.deep.equal(['in-list', 'in-typed']);
    await change('lists', [manage(nothing)]);
    expect(await succeeded('lists', 'j2')).to.deep.equal([]);
    expect(await world.configMap('app/in-list')).to.equal(undefined);
  });

  it('DEP-28, DEP-29: an orphan is remembered while another object is rejected, and then deleted', async () => {
    await give('orphan', [manage(configMap('stays')), manage(configMap('goes'))]);
    await succeeded('orphan', 'j1');
    const lost = configMap('lost', {}, { namespace: 'nope' });
    await change('orphan', [manage(configMap('stays')), manage(lost)]);
    await world.kick('orphan', 'j2');
    expect(await world.problem('orphan')).to.match(
      /^ConfigMap nope\/lost \(manifests\[1\]\) on target cluster-a: .*nope/,
    );
    expect(await world.configMap('app/goes')).to.not.equal(undefined);
    await world.create(world.target, {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'nope' },
    } as Json);
    expect((await world.finished('orphan', 'j2')).status?.phase).to.equal('Succeeded');
    expect(await world.configMap('app/goes')).to.equal(undefined);
  });

  it('DEP-27: an object that becomes ignored stays as it is', async () => {
    await give('ignored', [manage(configMap('ignored'))]);
    await succeeded('ignored', 'j1');
    await change('ignored', [{ policy: 'ignore', manifest: configMap('ignored', { a: 'other' }) }]);
    expect(await succeeded('ignored', 'j2')).to.deep.equal([]);
    expect((await world.configMap('app/ignored'))?.['data']).to.deep.equal({ a: 'b' });
  });

  it('DEP-34, DEP-35: annotations and patches before and after creation and deployment are applied', async () => {
    await give('patched', [
      manage(configMap('patched', { a: '1' }), {
        annotateBeforeCreate: { born: 'now' },
        patchAfterDeployment: { data: { a: '2', b: '3' } },
      }),
    ]);
    await succeeded('patched', 'j1');
    const made = await world.configMap('app/patched');
    expect(made?.metadata.annotations).to.deep.equal({ born: 'now' });
    expect(made?.['data']).to.deep.equal({ a: '2', b: '3' });
  });

  it('DEP-36: the older version of the configuration has exports', async () => {
    const config = {
      ...manifestConfig({ manifests: [configMap('older')] }, 'v1alpha1'),
      exports: {
        exports: [
          {
            key: 'k',
            jsonPath: '.data.a',
            fromResource: { apiVersion: 'v1', kind: 'ConfigMap', name: 'older', namespace: 'app' },
          },
        ],
      },
    };
    await world.giveItem('older', MANIFEST, config);
    await succeeded('older', 'j1');
    const secret = await world.find(world.host, 'v1', 'Secret', 'proj/older-export');
    expect(Buffer.from((secret?.['data'] as { config: string }).config, 'base64').toString()).to.equal(
      '{"k":"b"}',
    );
  });

  it('DEP-44, DEP-25: an invalid configuration ends the job before anything is created', async () => {
    await give('wrong-strategy', [manage(configMap('never'))], { updateStrategy: 'replace' });
    const { status } = await world.run('wrong-strategy', 'j1');
    expect(status?.phase).to.equal('Failed');
    expect(status?.lastError?.message).to.contain('replace is not a valid update strategy');
    expect(await world.configMap('app/never')).to.equal(undefined);
  });

  it('DEP-48: deleteAllResources deletes all objects of its types in a namespace', async () => {
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'all' } };
    await world.create(world.target, namespace as Json);
    await world.create(world.target, configMap('foreign', {}, { namespace: 'all' }) as Json);
    await world.create(world.target, configMap('elsewhere') as Json);
    const resources = [{ apiVersion: 'v1', kind: 'ConfigMap', namespaces: ['all'] }];
    await give('all', [manage(configMap('own', {}, { namespace: 'all' }))], {
      deletionGroups: [{ customResourceGroup: { deleteAllResources: true, resources } }],
    });
    await succeeded('all', 'j1');
    await world.remove('all');
    await world.kick('all', 'j2');
    await world.gone('all');
    expect(await world.configMap('all/own')).to.equal(undefined);
    expect(await world.configMap('all/foreign')).to.equal(undefined);
    expect(await world.configMap('app/elsewhere')).to.not.equal(undefined);
  });

  it('an immutable field ends the job with the message of the server, and the next job succeeds when it is fixed', async () => {
    const fixed = (a: string): object => manage({ ...configMap('fixed', { a }), immutable: true });
    await give('fixed', [fixed('1')]);
    await succeeded('fixed', 'j1');
    await change('fixed', [fixed('2')]);
    await world.kick('fixed', 'j2');
    expect(await world.problem('fixed')).to.match(
      /^ConfigMap app\/fixed \(manifests\[0\]\) on target cluster-a: .*immutable/,
    );
    await change('fixed', [fixed('1')]);
    expect((await world.finished('fixed', 'j2')).status?.phase).to.equal('Failed');
    await succeeded('fixed', 'j3');
  });

  it('an object copied from a cluster, with all fields that the server had set, is applied', async () => {
    await world.create(world.target, configMap('original') as Json);
    const { metadata, ...rest } = (await world.configMap('app/original')) as Json;
    for (const updateStrategy of ['update', 'apply']) {
      const name = `copied-${updateStrategy}`;
      await give(name, [manage({ ...rest, metadata: { ...metadata, name } })], { updateStrategy });
      await succeeded(name, 'j1');
      expect((await world.configMap(`app/${name}`))?.['data']).to.deep.equal({ a: 'b' });
    }
  });

  it('server-side apply takes fields over from any owner, and leaves the other fields to their owners', async () => {
    const theirs = configMap('shared', { a: 'theirs', theirs: 'x' });
    await world.target.send({
      verb: 'apply',
      kind: CONFIG_MAP,
      object: theirs,
      manager: 'somebody',
      force: false,
    });
    await give('shared', [manage(configMap('shared', { a: 'ours' }))], { updateStrategy: 'apply' });
    await succeeded('shared', 'j1');
    expect((await world.configMap('app/shared'))?.['data']).to.deep.equal({ a: 'ours', theirs: 'x' });
  });

  it('objects of the same name, cluster-scoped and in namespaces, are kept apart', async () => {
    const twice = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'twin', namespace: 'twin' } };
    const manifests = [
      twice,
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'twin' } },
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRole',
        metadata: { name: 'twin' },
        rules: [],
      },
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'Role',
        metadata: { name: 'twin', namespace: 'twin' },
        rules: [],
      },
      configMap('twin'),
    ];
    await give(
      'twin',
      manifests.map((m) => manage(m)),
    );
    const entries = await succeeded('twin', 'j1');
    expect(new Set(entries.map(({ resource }) => resource.uid)).size).to.equal(5);
    await change(
      'twin',
      manifests.slice(1, 4).map((m) => manage(m)),
    );
    await succeeded('twin', 'j2');
    expect(await world.configMap('twin/twin')).to.equal(undefined);
    expect(await world.configMap('app/twin')).to.equal(undefined);
    expect(await world.find(world.target, 'rbac.authorization.k8s.io/v1', 'Role', 'twin/twin')).to.not.equal(
      undefined,
    );
  });

  it('a webhook of the target that does not answer is reported, and the job continues without it', async () => {
    const webhook = {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name: 'w.example.org' },
      webhooks: [
        {
          name: 'w.example.org',
          clientConfig: { url: 'https://127.0.0.1:1/refuse' },
          rules: [
            { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] },
          ],
          objectSelector: { matchLabels: { watched: 'yes' } },
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
          failurePolicy: 'Fail',
          timeoutSeconds: 1,
        },
      ],
    };
    await world.create(world.target, webhook as Json);
    const watched = configMap('watched', {}, { labels: { watched: 'yes' } });
    await world.until('the webhook is in effect', async () => {
      const probe = world.create(world.target, {
        ...watched,
        metadata: { ...watched.metadata, name: 'probe' },
      } as Json);
      return probe.then(
        () => world.target.send({ verb: 'delete', kind: CONFIG_MAP, key: 'app/probe' }).then(() => undefined),
        () => true,
      );
    });
    await give('watched', [manage(watched)]);
    await world.kick('watched', 'j1');
    expect(await world.problem('watched'))
      .to.contain('ConfigMap app/watched (manifests[0])')
      .and.contain('w.example.org');
    const { group, version } = { group: 'admissionregistration.k8s.io', version: 'v1' };
    const plural = 'validatingwebhookconfigurations';
    await world.target.send({
      verb: 'delete',
      kind: { group, version, kind: 'ValidatingWebhookConfiguration', plural, namespaced: false },
      key: 'w.example.org',
    });
    expect((await world.finished('watched', 'j1')).status?.phase).to.equal('Succeeded');
  });

  it('three hundred objects are created and deleted', async function () {
    this.timeout(120_000);
    const name = (i: number): string => `many-${String(i).padStart(3, '0')}`;
    await give(
      'many',
      Array.from({ length: 300 }, (_, i) => manage(configMap(name(i)))),
    );
    expect((await succeeded('many', 'j1')).length).to.equal(300);
    await world.remove('many');
    await world.kick('many', 'j2');
    await world.gone('many');
    expect(await world.configMap(`app/${name(299)}`)).to.equal(undefined);
  });
});
