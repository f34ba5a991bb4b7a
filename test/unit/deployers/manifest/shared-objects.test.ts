/** Objects of a cluster that several deploy items manage: what happens to them when one item is deleted. */
import { expect } from 'chai';
import { manifestDeployer } from '../../../../deployers/manifest/index.ts';
import { MANIFEST_LABEL, NAMESPACE_LABEL } from '../../../../deployers/objects/manifests/label.ts';
import { Bench, configMap, LS, manage, manifestConfig } from '../bench.ts';

const both = (...names: string[]): object =>
  manifestConfig({ manifests: names.map((name) => manage(configMap(name))) });
const uidOf = (b: Bench, name: string): string | undefined =>
  b.target.find('ConfigMap', `app/${name}`)?.metadata.uid;
const labelsOf = (b: Bench, name: string) => b.target.find('ConfigMap', `app/${name}`)?.metadata.labels;

/** `web` and `api` manage `shared`, through targets of different names. */
async function twoItems(apiHas: readonly string[] = ['shared', 'theirs']): Promise<Bench> {
  const b = new Bench(manifestDeployer());
  b.givenTarget('cluster-a');
  b.givenTarget('cluster-b');
  b.giveItem(both('shared', 'mine'));
  b.giveItem(both(...apiHas), { name: 'api', target: 'cluster-b' });
  await b.kick('j1', 'api');
  await b.kick('j1');
  expect([b.status().phase, b.status('api').phase]).to.deep.equal(['Succeeded', 'Succeeded']);
  return b;
}

describe('an object that two deploy items manage', () => {
  it('is left to the other one if an item is deleted, with its labels', async () => {
    const b = await twoItems();
    const uid = uidOf(b, 'shared');
    expect(labelsOf(b, 'shared')).to.include({ [MANIFEST_LABEL]: 'web' });
    await b.delete();
    await b.kick('j2');
    expect(b.isGone()).to.equal(true);
    expect(uidOf(b, 'mine')).to.equal(undefined);
    expect(uidOf(b, 'shared')).to.equal(uid);
    expect(labelsOf(b, 'shared')).to.include({ [MANIFEST_LABEL]: 'api', [NAMESPACE_LABEL]: 'proj' });
    expect(b.events).to.include(
      'Normal LeftToOthers: ConfigMap app/shared is not deleted because other deploy items also manage it: proj/api',
    );
  });

  it('is deleted with the last of them', async () => {
    const b = await twoItems();
    for (const [name, job] of [
      ['web', 'j2'],
      ['api', 'j3'],
    ] as const) {
      await b.delete(name);
      await b.kick(job, name);
    }
    expect(b.target.names('ConfigMap')).to.deep.equal([]);
  });

  it('is deleted if both are being deleted at the same time', async () => {
    const b = await twoItems();
    await b.delete('api');
    await b.delete('web');
    await b.kick('j2', 'web');
    await b.kick('j2', 'api');
    expect([b.isGone('web'), b.isGone('api')]).to.deep.equal([true, true]);
    expect(b.target.names('ConfigMap')).to.deep.equal([]);
  });

  it('stays if the other one is deleted without being uninstalled', async () => {
    const b = await twoItems();
    b.host.edit('DeployItem', 'proj/api', {
      metadata: { annotations: { [`${LS}/delete-without-uninstall`]: 'true' } },
    });
    await b.delete('api');
    await b.delete('web');
    await b.kick('j2', 'web');
    expect(uidOf(b, 'shared')).to.not.equal(undefined);
  });

  it('is left to the other one if it is removed from the configuration', async () => {
    const b = await twoItems();
    b.configure(both('mine'));
    await b.kick('j2');
    expect(b.status().phase).to.equal('Succeeded');
    expect(uidOf(b, 'shared')).to.not.equal(undefined);
    expect(JSON.stringify(b.status().providerStatus)).to.not.contain('shared');
    expect(labelsOf(b, 'shared')).to.include({ [MANIFEST_LABEL]: 'api' });
  });

  it('gets no annotations and patches for its deletion', async () => {
    const b = new Bench(manifestDeployer());
    b.givenTarget();
    b.giveItem(both('shared'), { name: 'api' });
    const hook = { annotateBeforeDelete: { going: 'yes' } };
    b.giveItem(manifestConfig({ manifests: [manage(configMap('shared'), hook)] }));
    await b.kick('j1', 'api');
    await b.kick('j1');
    await b.delete();
    await b.kick('j2');
    expect(b.isGone()).to.equal(true);
    expect(b.target.find('ConfigMap', 'app/shared')?.metadata.annotations ?? {}).to.not.have.property(
      'going',
    );
  });

  it('is not left to an item that manages an object of the same name on another cluster', async () => {
    const b = await twoItems(['theirs']);
    b.host.edit('DeployItem', 'proj/api', {
      status: {
        providerStatus: {
          managedResources: [
            {
              policy: 'manage',
              resource: {
                apiVersion: 'v1',
                kind: 'ConfigMap',
                namespace: 'app',
                name: 'shared',
                uid: 'elsewhere',
              },
            },
          ],
        },
      },
    });
    await b.delete();
    await b.kick('j2');
    expect(uidOf(b, 'shared')).to.equal(undefined);
  });

  it('gets the labels of a helm item, and loses those of a manifest item', async () => {
    const b = await twoItems();
    b.host.edit('DeployItem', 'proj/api', { spec: { type: `${LS}/helm` } });
    await b.delete();
    await b.kick('j2');
    expect(labelsOf(b, 'shared')).to.include({
      [MANIFEST_LABEL]: 'api',
      [`helm.deployer.${LS}/deployitem`]: 'api',
    });
  });

  it('whose labels a user has changed keeps its labels', async () => {
    const b = await twoItems();
    b.target.edit('ConfigMap', 'app/shared', { metadata: { labels: { [MANIFEST_LABEL]: 'nobody' } } });
    await b.delete();
    await b.kick('j2');
    expect(labelsOf(b, 'shared')).to.include({ [MANIFEST_LABEL]: 'nobody' });
  });
});
