import { expect } from 'chai';
import { manifestDeployer } from '../../../../deployers/manifest/index.ts';
import { MANIFEST_LABEL, NAMESPACE_LABEL } from '../../../../deployers/objects/manifests/label.ts';
import { Bench, configMap, manage, manifestConfig, type ItemOptions } from '../bench.ts';
import { unauthorized, type Any } from '../fake-cluster.ts';

interface Entry {
  policy: string;
  resource: { kind: string; name: string; namespace?: string; uid?: string };
}

const entriesOf = (b: Bench): Entry[] => (b.status().providerStatus?.['managedResources'] ?? []) as Entry[];
const namesOf = (b: Bench): string[] => entriesOf(b).map(({ resource }) => resource.name);

function bench(): Bench {
  const b = new Bench(manifestDeployer());
  b.givenTarget();
  return b;
}

async function applied(config: object, options: ItemOptions = {}): Promise<Bench> {
  const b = bench();
  b.giveItem(manifestConfig(config), options);
  await b.kick('j1');
  return b;
}

const cm = (name: string, data?: Record<string, string>): object => manage(configMap(name, data));

describe('applying manifests', () => {
  for (const updateStrategy of ['update', 'patch']) {
    it(`DEP-21: an object is created with its label, and changed in place (${updateStrategy})`, async () => {
      const creds = (pw: string) => ({
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'creds', namespace: 'app' },
        stringData: { pw },
      });
      const b = await applied({ updateStrategy, manifests: [manage(creds('one'))] });
      const made = b.target.find('Secret', 'app/creds');
      expect(made?.metadata.labels).to.deep.equal({ [MANIFEST_LABEL]: 'web', [NAMESPACE_LABEL]: 'proj' });
      expect(entriesOf(b)[0]?.resource.uid).to.equal(made?.metadata.uid);
      b.configure(manifestConfig({ manifests: [manage(creds('two'))] }));
      await b.kick('j2');
      const changed = b.target.find('Secret', 'app/creds');
      expect(changed?.metadata.uid).to.equal(made?.metadata.uid);
      expect(JSON.stringify(changed))
        .to.contain('two')
        .and.not.contain(Buffer.from('one').toString('base64') + '"}}');
    });
  }

  const strategyRows = [
    ['update', 'fast', undefined, undefined],
    ['patch', 'fast', undefined, undefined],
    ['merge', 'slow', '1', 'hand'],
    ['mergeOverwrite', 'fast', '1', 'hand'],
  ] as const;
  for (const [updateStrategy, mode, extra, note] of strategyRows) {
    it(`DEP-22: ${updateStrategy} sets the mode ${mode} and ${extra ? 'keeps' : 'removes'} fields of others`, async () => {
      const b = await applied({
        updateStrategy,
        manifests: [manage(configMap('settings', { mode: 'slow' }))],
      });
      b.target.edit('ConfigMap', 'app/settings', {
        metadata: { annotations: { note: 'hand' }, labels: { [MANIFEST_LABEL]: 'foreign' } },
        data: { extra: '1' },
      });
      b.configure(manifestConfig({ manifests: [manage(configMap('settings', { mode: 'fast' }))] }));
      await b.kick('j2');
      const { data, metadata } = b.target.find('ConfigMap', 'app/settings') as Any & {
        data: Record<string, string>;
      };
      expect(data['mode']).to.equal(mode);
      expect(data['extra']).to.equal(extra);
      expect(metadata.annotations?.['note']).to.equal(note);
      expect(metadata.labels?.[MANIFEST_LABEL]).to.equal('web');
    });
  }

  it('DEP-22: an object that is up to date is read and not written', async () => {
    const b = await applied({ manifests: [cm('settings')] });
    b.target.takeRequests();
    await b.kick('j2');
    expect(b.target.takeRequests()).to.deep.equal(['get ConfigMap app/settings']);
  });

  it('DEP-24: fields set by the server and by others are carried over', async () => {
    const service = (labels: object) =>
      manage({
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name: 'front', namespace: 'app', labels },
        spec: { ports: [{ port: 80 }] },
      });
    const b = await applied({ manifests: [service({ v: '1' })] });
    b.target.edit('Service', 'app/front', {
      metadata: {
        finalizers: ['op/x'],
        ownerReferences: [{ apiVersion: 'v1', kind: 'X', name: 'x', uid: 'u' }],
      },
      spec: { clusterIP: '10.0.0.7' },
    });
    b.configure(manifestConfig({ manifests: [service({ v: '2' })] }));
    await b.kick('j2');
    const front = b.target.find('Service', 'app/front') as Any & { spec: { clusterIP: string } };
    expect(front.metadata.labels?.['v']).to.equal('2');
    expect(front.spec.clusterIP).to.equal('10.0.0.7');
    expect(front.metadata.finalizers).to.deep.equal(['op/x']);
    expect(front.metadata.ownerReferences).to.have.length(1);
  });

  it('DEP-25: an unknown strategy ends the job before anything is created', async () => {
    const b = await applied({ updateStrategy: 'replace', manifests: [cm('settings')] });
    expect(b.status().phase).to.equal('Failed');
    expect(b.status().lastError).to.deep.include({
      operation: 'InitManifestOperation',
      reason: 'ValidateProviderConfiguration',
      codes: ['ERR_CONFIGURATION_PROBLEM'],
    });
    expect(b.status().lastError?.message).to.contain('replace is not a valid update strategy');
    expect(b.target.names('ConfigMap')).to.deep.equal([]);
  });

  it('DEP-31: the elements of a list are separate objects with the policy of the list', async () => {
    const list = (items: unknown[]) => ({
      manifests: [{ policy: 'keep', manifest: { apiVersion: 'v1', kind: 'ConfigMapList', items } }],
    });
    const b = await applied(list([configMap('a'), configMap('b')]));
    expect(entriesOf(b).map(({ policy, resource }) => [policy, resource.name])).to.deep.equal([
      ['keep', 'a'],
      ['keep', 'b'],
    ]);
    const empty = await applied(list([]));
    expect(empty.status().phase).to.equal('Succeeded');
    expect(empty.status().providerStatus).to.not.have.property('managedResources');
  });

  it('DEP-32: CRDs come first, then cluster-scoped objects, then namespaced ones', async () => {
    const b = await applied({
      manifests: [
        manage({ apiVersion: 'example.org/v1', kind: 'Gadget', metadata: { name: 'g', namespace: 'fresh' } }),
        manage({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'fresh' } }),
        manage(gadgets()),
      ],
    });
    expect(b.target.takeRequests()).to.deep.equal([
      'get Namespace kube-system',
      'create CustomResourceDefinition gadgets.example.org',
      'GET /apis/example.org/v1',
      'create Namespace fresh',
      'create Gadget fresh/g',
    ]);
    expect(entriesOf(b).map(({ resource }) => resource.kind)).to.deep.equal([
      'CustomResourceDefinition',
      'Namespace',
      'Gadget',
    ]);
    expect(b.status().phase).to.equal('Succeeded');
  });

  it('DEP-33: the inventory is sorted by kind, namespace and name within each group', async () => {
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'z', namespace: 'app' } };
    const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name: 'c' } };
    const b = await applied({ manifests: [cm('b'), manage(secret), cm('a'), manage(role)] });
    expect(namesOf(b)).to.deep.equal(['c', 'a', 'b', 'z']);
  });

  it('DEP-34: annotations for new objects are set at creation only', async () => {
    const manifest = configMap('settings', { a: 'b' }, { annotations: { k: 'v' } });
    const b = await applied({ manifests: [manage(manifest, { annotateBeforeCreate: { born: 'now' } })] });
    const annotations = (): unknown => b.target.find('ConfigMap', 'app/settings')?.metadata.annotations;
    expect(annotations()).to.deep.equal({ k: 'v', born: 'now' });
    await b.kick('j2');
    expect(annotations()).to.deep.equal({ k: 'v' });
  });

  it('DEP-35: a patch after the deployment takes precedence, a patch before the deletion is applied', async () => {
    const b = await applied({
      manifests: [
        manage(configMap('settings', { a: '1' }), {
          patchAfterDeployment: { data: { a: '2', b: '3' } },
          patchBeforeDelete: { metadata: { annotations: { bye: '1' } } },
        }),
      ],
    });
    const object = () => b.target.find('ConfigMap', 'app/settings');
    expect(object()?.['data']).to.deep.equal({ a: '2', b: '3' });
    b.target.edit('ConfigMap', 'app/settings', { metadata: { finalizers: ['test/hold'] } });
    await b.delete();
    await b.kick('j2');
    expect(object()?.metadata.annotations).to.deep.equal({ bye: '1' });
    expect(object()?.metadata.deletionTimestamp).to.not.equal(undefined);
    b.target.edit('ConfigMap', 'app/settings', { metadata: { finalizers: null } });
    await b.pass(5000);
    expect(b.isGone()).to.equal(true);
  });

  it('DEP-36: the older version is read with its exports, and its status too', async () => {
    const b = bench();
    b.giveItem(
      manifestConfig(
        {
          manifests: [configMap('one')],
          exports: {
            exports: [
              {
                key: 'k',
                jsonPath: '.data.a',
                fromResource: { apiVersion: 'v1', kind: 'ConfigMap', name: 'one', namespace: 'app' },
              },
            ],
          },
        },
        'v1alpha1',
      ),
    );
    b.target.put(configMap('old'));
    b.host.edit('DeployItem', 'proj/web', {
      status: {
        observedGeneration: 1,
        phase: 'Succeeded',
        providerStatus: {
          apiVersion: 'manifest.deployer.landscaper.gardener.cloud/v1alpha1',
          kind: 'ProviderStatus',
          managedResources: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'old', namespace: 'app' }],
        },
      },
    });
    await b.kick('j1');
    expect(b.status().phase).to.equal('Succeeded');
    expect(b.status().providerStatus?.['apiVersion']).to.match(/v1alpha2$/);
    expect(entriesOf(b).map(({ policy, resource }) => [policy, resource.name])).to.deep.equal([
      ['manage', 'one'],
    ]);
    expect(b.target.names('ConfigMap')).to.deep.equal(['app/one']);
    const secret = b.host.find('Secret', 'proj/web-export')?.['data'] as { config: string };
    expect(Buffer.from(secret.config, 'base64').toString()).to.equal('{"k":"b"}');
  });

  it('DEP-37: rejected credentials end the job at the first request', async () => {
    const b = bench();
    b.target.fail = () => {
      throw unauthorized();
    };
    b.giveItem(manifestConfig({ manifests: [cm('settings')] }));
    await b.kick('j1');
    expect(b.status().phase).to.equal('Failed');
    expect(b.status().lastError?.codes).to.deep.equal(['ERR_UNAUTHORIZED']);
    expect(b.phases()).to.deep.equal(['Failed']);
  });

  it('DEP-38: an item with a long name marks its objects with a hash and recognizes them', async () => {
    const name = 'x'.repeat(80);
    const b = bench();
    b.giveItem(manifestConfig({ manifests: [{ policy: 'fallback', manifest: configMap('settings') }] }), {
      name,
    });
    await b.kick('j1', name);
    const label = b.target.find('ConfigMap', 'app/settings')?.metadata.labels?.[MANIFEST_LABEL];
    expect(label).to.match(/^x{54}-[0-9a-f]{8}$/);
    await b.delete(name);
    await b.kick('j2', name);
    expect(b.target.names('ConfigMap')).to.deep.equal([]);
  });

  it('apply: server-side apply needs no read of existing objects', async () => {
    const b = await applied({ updateStrategy: 'apply', manifests: [cm('settings')] });
    b.target.takeRequests();
    b.configure(manifestConfig({ manifests: [cm('settings', { a: 'c' })] }));
    await b.kick('j2');
    expect(b.target.takeRequests()).to.deep.equal(['apply ConfigMap app/settings']);
    expect(b.target.find('ConfigMap', 'app/settings')?.['data']).to.deep.equal({ a: 'c' });
  });

  it('an object without a namespace, or of an unknown kind, is named in the error', async () => {
    const lost = await applied({
      manifests: [manage({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'lost' } })],
    });
    expect(lost.status().lastError).to.deep.include({ operation: 'ApplyObjects', reason: 'ApplyNewObject' });
    expect(lost.status().lastError?.message).to.match(
      /^ConfigMap lost \(manifests\[0\]\) on target cluster-a: .*no namespace/,
    );
    const unknown = await applied({
      manifests: [
        manage({ apiVersion: 'none.test/v1', kind: 'Nothing', metadata: { name: 'n', namespace: 'app' } }),
      ],
    });
    expect(unknown.status().phase).to.equal('Progressing');
    expect(unknown.status().lastError).to.deep.include({
      operation: 'GetApiResource',
      reason: 'GetApiResourceList',
    });
    expect(unknown.status().lastError?.message).to.contain('Nothing').and.contain('none.test/v1');
  });

  it('an item without a target reports it', async () => {
    const b = await applied({ manifests: [cm('settings')] }, { target: null });
    expect(b.status().lastError).to.deep.include({
      operation: 'ReconcileManifests',
      reason: 'ensureTargetAccess',
      message: 'no target defined',
    });
  });

  it('an object that was created right before a crash, and is not in the inventory, is found by its recorded intent', async () => {
    const b = bench();
    b.giveItem(manifestConfig({ manifests: [cm('one'), cm('two')] }));
    let writes = 0;
    b.host.fail = (verb) => {
      if (verb === 'merge/status' && ++writes > 1) throw new Error('the process is gone');
    };
    await b.kick('j1');
    b.host.fail = () => undefined;
    expect(b.target.names('ConfigMap')).to.deep.equal(['app/one', 'app/two']);
    expect(entriesOf(b).map(({ resource }) => resource.uid)).to.deep.equal(['', '']);
    b.target.drop('ConfigMap', 'app/two');
    b.target.put(configMap('two')); // owned by another client meanwhile
    b.host.edit('DeployItem', 'proj/web', { status: { jobIDFinished: 'j1', phase: 'Failed' } });
    await b.delete();
    await b.kick('j2');
    expect(b.isGone()).to.equal(true);
    expect(b.target.names('ConfigMap')).to.deep.equal(['app/two']);
  });
});

const gadgets = (): object => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'gadgets.example.org' },
  spec: {
    group: 'example.org',
    scope: 'Namespaced',
    names: { kind: 'Gadget', plural: 'gadgets' },
    versions: [{ name: 'v1', served: true, storage: true }],
  },
});
