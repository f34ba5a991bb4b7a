import { expect } from 'chai';
import { manifestDeployer } from '../../../../deployers/manifest/index.ts';
import { Bench, configMap, manage, manifestConfig } from '../bench.ts';
import { FakeCluster } from '../fake-cluster.ts';

const account = (name: string, metadata: object = {}): object =>
  manage({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace: 'app', ...metadata } });
const role = (name: string): object =>
  manage({ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name } });
const crd = (name: string): object =>
  manage({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${name}s.example.org` },
    spec: {
      group: 'example.org',
      scope: 'Cluster',
      names: { kind: name, plural: `${name}s` },
      versions: [{ name: 'v1' }],
    },
  });

const six = (): object[] => [account('a'), account('b'), role('a'), role('b'), crd('x'), crd('y')];

async function applied(fields: object, target?: FakeCluster): Promise<Bench> {
  const b = new Bench(manifestDeployer(), target ? { target } : {});
  b.givenTarget();
  b.giveItem(manifestConfig(fields));
  await b.kick('j1');
  expect(b.status().phase).to.equal('Succeeded');
  return b;
}

const left = (b: Bench): string[] =>
  ['ServiceAccount', 'ClusterRole', 'CustomResourceDefinition'].flatMap((kind) =>
    b.target.names(kind).map((name) => `${kind} ${name}`),
  );

describe('deleting applied objects', () => {
  it('DEP-45: namespaced objects come first, then cluster-scoped ones, CRDs last', async () => {
    const b = await applied({ manifests: six() });
    await b.delete();
    b.target.takeRequests();
    await b.kick('j2');
    const kinds = b.target.takeRequests().map((r) => r.split(' ').slice(0, 2).join(' '));
    expect(kinds).to.deep.equal([
      'delete ServiceAccount',
      'delete ServiceAccount',
      'delete ClusterRole',
      'delete ClusterRole',
      'delete CustomResourceDefinition',
      'delete CustomResourceDefinition',
    ]);
    expect(b.isGone()).to.equal(true);
  });

  it('DEP-45: a group waits until the one before it is gone', async () => {
    const b = await applied({ manifests: [account('a', { finalizers: ['test/hold'] }), role('a')] });
    await b.delete();
    await b.kick('j2');
    await b.pass(20_000);
    expect(b.status().phase).to.equal('InitDelete');
    expect(b.status().lastError?.message).to.contain('ServiceAccount app/a');
    expect(b.target.names('ClusterRole')).to.deep.equal(['a']);
    b.target.edit('ServiceAccount', 'app/a', { metadata: { finalizers: null } });
    await b.pass(5000);
    expect(left(b)).to.deep.equal([]);
    expect(b.isGone()).to.equal(true);
  });

  const groupRows = [
    [
      'namespaced resources',
      [{ predefinedResourceGroup: { type: 'namespaced-resources' } }],
      /ServiceAccount/,
    ],
    ['definitions', [{ predefinedResourceGroup: { type: 'crds' } }], /CustomResourceDefinition/],
    ['nothing', [{ predefinedResourceGroup: { type: 'empty' } }], /^$/],
    [
      'one object by kind and name',
      [
        {
          customResourceGroup: {
            resources: [{ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', names: ['a'] }],
          },
        },
      ],
      /^ClusterRole a$/,
    ],
    [
      'a kind that is written as a resource',
      [
        {
          customResourceGroup: {
            resources: [{ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'clusterroles' }],
          },
        },
      ],
      /^$/,
    ],
    ['an empty list, which means the default groups', [], /./],
  ] as const;
  for (const [title, deletionGroups, goes] of groupRows) {
    it(`DEP-46: deletion groups with ${title}`, async () => {
      const b = await applied({ manifests: six(), deletionGroups });
      const all = left(b);
      await b.delete();
      await b.kick('j2');
      expect(left(b)).to.deep.equal(all.filter((name) => !goes.test(name)));
      expect(b.isGone()).to.equal(true);
    });
  }

  it('DEP-47: an object with a finalizer ends the job at its timeout, and forceDelete removes its finalizers', async () => {
    const held = { manifests: [account('a', { finalizers: ['test/hold'] })] };
    const b = await applied(held);
    await b.delete();
    await b.kick('j2');
    await b.pass(125_000);
    expect(b.status().phase).to.equal('DeleteFailed');
    expect(b.status().lastError).to.deep.include({
      operation: 'delete',
      reason: 'DeleteWithUninstall',
      codes: ['ERR_TIMEOUT'],
    });
    expect(b.status().lastError?.message)
      .to.contain('timeout during processing deletiongroup')
      .and.contain('ServiceAccount app/a');
    expect(b.phases()).to.not.include('Deleting');
    b.configure(
      manifestConfig({
        ...held,
        deletionGroups: [{ predefinedResourceGroup: { type: 'namespaced-resources', forceDelete: true } }],
      }),
    );
    await b.kick('j3');
    await b.pass(2000);
    expect(b.isGone()).to.equal(true);
    expect(left(b)).to.deep.equal([]);
  });

  const everything = (type: object) => ({
    manifests: [manage(configMap('one'))],
    deletionGroups: [
      {
        customResourceGroup: {
          deleteAllResources: true,
          resources: [{ apiVersion: 'v1', kind: 'ConfigMap', ...type }],
        },
      },
    ],
  });
  for (const [title, type, stays] of [
    ['of a namespace', { namespaces: ['app'] }, ['late/y']],
    ['of a name', { names: ['y'] }, ['app/one', 'app/x']],
  ] as const) {
    it(`DEP-48: deleteAllResources deletes all objects ${title}`, async () => {
      const target = new FakeCluster('app', 'late');
      target.put(configMap('x'));
      target.put(configMap('y', {}, { namespace: 'late' }));
      const b = await applied(everything(type), target);
      await b.delete();
      await b.kick('j2');
      expect(b.target.names('ConfigMap').sort()).to.deep.equal(stays);
      expect(b.isGone()).to.equal(true);
    });
  }

  it('DEP-48: a group with another target must delete all objects; the mistake is reported when the group is reached', async () => {
    const b = await applied({
      manifests: [manage(configMap('one'))],
      deletionGroups: [
        { customResourceGroup: { targetName: 'b', resources: [{ apiVersion: 'v1', kind: 'ConfigMap' }] } },
      ],
    });
    await b.delete();
    await b.kick('j2');
    expect(b.status().phase).to.equal('Deleting');
    expect(b.status().lastError?.message).to.contain(
      'customResourceGroup.DeleteAllResources must be true if TargetName is set',
    );
    await b.pass(125_000);
    expect(b.status().phase).to.equal('DeleteFailed');
    expect(b.target.names('ConfigMap')).to.deep.equal(['app/one']);
  });

  it('DEP-49: orphans are deleted by the groups for updates', async () => {
    const groups = [{ predefinedResourceGroup: { type: 'cluster-scoped-resources' } }];
    const b = await applied({ manifests: six(), deletionGroupsDuringUpdate: groups });
    b.configure(manifestConfig({ manifests: [account('a'), role('a'), crd('x')] }));
    await b.kick('j2');
    expect(b.target.names('ClusterRole')).to.deep.equal(['a']);
    expect(b.target.names('ServiceAccount')).to.deep.equal(['app/a', 'app/b']);
  });

  it('DEP-50: an object that another owner recreated stays', async () => {
    const b = await applied({ manifests: [manage(configMap('settings'))] });
    b.target.drop('ConfigMap', 'app/settings');
    b.target.put(configMap('settings', { of: 'others' }));
    await b.delete();
    await b.kick('j2');
    expect(b.isGone()).to.equal(true);
    expect(b.target.names('ConfigMap')).to.deep.equal(['app/settings']);
  });

  it('an item whose configuration is invalid, and that created nothing, can be deleted', async () => {
    const b = new Bench(manifestDeployer());
    b.givenTarget();
    b.giveItem({ apiVersion: 'x/v1', kind: 'Y' });
    await b.kick('j1');
    expect(b.status().phase).to.equal('Failed');
    await b.delete();
    await b.kick('j2');
    expect(b.isGone()).to.equal(true);
  });

  it('objects that cannot be deleted are reported with the response of the cluster', async () => {
    const b = await applied({ manifests: [manage(configMap('one'))] });
    b.target.fail = (verb) => {
      if (verb === 'delete') throw new Error('the webhook said no');
    };
    await b.delete();
    await b.kick('j2');
    expect(b.status().lastError?.message).to.contain('ConfigMap app/one (the webhook said no)');
  });
});
