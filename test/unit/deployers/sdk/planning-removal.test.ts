/** The plan of a deletion of manifests. */
import { expect } from 'chai';
import { MANIFEST_LABEL } from '../../../../deployers/objects/manifests/label.ts';
import { configMap, LS, manage, manifestConfig } from '../bench.ts';
import { FakeCluster } from '../fake-cluster.ts';
import { crd, deployed, gadget, given, planOf, rowsOf, rules } from '../planned.ts';

describe('the plan of a job that deletes manifests', () => {
  const removal = { direction: 'remove' } as const;
  const app = 'namespaced-resources';

  it('is empty when nothing was applied', async () => {
    const b = await deployed(given());
    expect(await planOf(b, undefined, removal)).to.deep.equal({ objects: [], notes: [] });
    expect(b.target.takeRequests()).to.deep.equal([]);
  });

  it('deletes the objects of the item and says why other objects stay', async () => {
    const manifests = [
      manage(configMap('mine')),
      rules('keep', configMap('kept')),
      manage(configMap('recreated')),
      rules('fallback', configMap('relabelled')),
      manage(configMap('missing')),
      manage({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shared' } }),
    ];
    const b = await deployed(
      manifestConfig({ manifests, deletionGroups: [{ predefinedResourceGroup: { type: app } }] }),
    );
    b.target.drop('ConfigMap', 'app/missing');
    b.target.drop('ConfigMap', 'app/recreated');
    b.target.put(configMap('recreated'));
    b.target.edit('ConfigMap', 'app/relabelled', { metadata: { labels: { [MANIFEST_LABEL]: 'other' } } });
    expect(await rowsOf(b, undefined, removal)).to.have.deep.members([
      ['delete ConfigMap mine'],
      ['kept ConfigMap kept', 'policy keep keeps it'],
      ['kept ConfigMap recreated', 'it belongs to another owner'],
      ['kept ConfigMap relabelled', 'it belongs to another owner'],
      ['kept Namespace shared', 'no deletion group contains it'],
    ]);
  });

  it('deletes a recreated object with the label of the item', async () => {
    const b = await deployed(given(manage(configMap('mine'))));
    const labels = b.target.find('ConfigMap', 'app/mine')?.metadata.labels ?? {};
    b.target.drop('ConfigMap', 'app/mine');
    b.target.put(configMap('mine', {}, { labels }));
    expect(await rowsOf(b, undefined, removal)).to.deep.equal([['delete ConfigMap mine']]);
  });

  it('requires the label if the object was not known to exist', async () => {
    const b = await deployed(given(manage(configMap('mine'))));
    const resource = { apiVersion: 'v1', kind: 'ConfigMap', name: 'mine', namespace: 'app', uid: '' };
    b.host.edit('DeployItem', 'proj/web', {
      status: { providerStatus: { managedResources: [{ policy: 'manage', resource }] } },
    });
    expect(await rowsOf(b, undefined, removal)).to.deep.equal([['delete ConfigMap mine']]);
    b.target.edit('ConfigMap', 'app/mine', { metadata: { labels: { [MANIFEST_LABEL]: null } } });
    expect(await rowsOf(b, undefined, removal)).to.deep.equal([
      ['kept ConfigMap mine', 'it belongs to another owner'],
    ]);
  });

  it('has nothing of a kind that no longer exists', async () => {
    const b = await deployed(given(crd, manage({ ...configMap('mine') })));
    b.configure(given(crd, gadget));
    await b.kick('j2');
    b.target.drop('CustomResourceDefinition', 'gadgets.example.org');
    expect(await rowsOf(b, undefined, removal)).to.deep.equal([]);
    b.target.fail = (verb) => {
      if (verb === 'discover') throw new Error('no answer');
    };
    const refusal = await planOf(b, undefined, removal).catch((error: unknown) => error);
    expect(refusal).to.be.instanceOf(Error).with.property('message').that.contains('no answer');
  });

  const everything = (group: object, type: object = {}): object =>
    manifestConfig({
      manifests: [manage(configMap('mine'))],
      deletionGroups: [
        { predefinedResourceGroup: { type: app } },
        {
          customResourceGroup: {
            deleteAllResources: true,
            ...group,
            resources: [{ apiVersion: 'v1', kind: 'ConfigMap', ...type }],
          },
        },
      ],
    });

  for (const [title, type, taken] of [
    ['everywhere', {}, ['x', 'y']],
    ['of a namespace', { namespaces: ['late'] }, ['y']],
    ['of a name', { names: ['x'] }, ['x']],
  ] as const) {
    it(`shows what a group deletes ${title}, and names no object twice`, async () => {
      const target = new FakeCluster('app', 'late');
      target.put(configMap('x'));
      target.put(configMap('y', {}, { namespace: 'late' }));
      const b = await deployed(everything({}, type), target);
      expect(await rowsOf(b, undefined, removal)).to.deep.equal([
        ['delete ConfigMap mine'],
        ...taken.map((name) => [`delete ConfigMap ${name}`, 'deleteAllResources deletes it']),
      ]);
    });
  }

  it('shows on which other target a group deletes objects', async () => {
    const b = await deployed(everything({ targetName: 'cluster-b' }));
    b.givenTarget('cluster-b');
    const secondary = new FakeCluster('app');
    secondary.put(configMap('z'));
    expect(await rowsOf(b, undefined, { ...removal, secondary })).to.deep.equal([
      ['delete ConfigMap mine'],
      ['delete ConfigMap z', 'deleteAllResources deletes it on target cluster-b'],
    ]);
  });

  it('is empty for an item that is deleted without being uninstalled, or whose configuration is invalid', async () => {
    const b = await deployed(given(manage(configMap('mine'))));
    b.host.edit('DeployItem', 'proj/web', {
      metadata: { annotations: { [`${LS}/delete-without-uninstall`]: 'true' } },
    });
    const plan = await planOf(b, undefined, removal);
    expect(plan?.objects).to.deep.equal([]);
    expect(plan?.notes.join()).to.contain('nothing is uninstalled');
    const unread = await deployed({ apiVersion: 'x/v1', kind: 'Y' });
    expect(await planOf(unread, undefined, removal)).to.deep.equal({ objects: [], notes: [] });
  });
});
