/** Rules of plans that show in single cases: whose kinds count, what is shared, and what a deletion leaves. */
import { expect } from 'chai';
import { ConfigurationError } from '../../../../deployers/sdk/errors.ts';
import type { DeployItem } from '../../../../deployers/sdk/kinds.ts';
import type { View } from '../../../../src/runtime/types.ts';
import { configMap, LS, manage, manifestConfig } from '../bench.ts';
import { FakeCluster } from '../fake-cluster.ts';
import { deployed, given, planOf, rowsOf, rules } from '../planned.ts';

const other = (name: string): View<DeployItem> => ({
  apiVersion: `${LS}/v1alpha1`,
  kind: 'DeployItem',
  metadata: { name, namespace: 'proj', uid: `uid-of-${name}` },
  spec: { type: `${LS}/kubernetes-manifest` },
  status: { observedGeneration: 1, phase: 'Succeeded' },
});

describe('the plan of manifests', () => {
  it('names all other items that write an object', async () => {
    const b = await deployed(given(manage(configMap('one'))));
    expect((await planOf(b, undefined, { others: [other('api'), other('job')] }))?.notes).to.deep.equal([
      'ConfigMap app/one is also managed by other deploy items: proj/api, proj/job',
    ]);
  });

  it('names unknown fields of the configuration, which a strict deployer refuses', async () => {
    const b = await deployed(given());
    const sloppy = { ...given(manage(configMap('one'))), updateStratgy: 'merge' };
    const found = 'in the configuration: updateStratgy is not a known field; did you mean updateStrategy?';
    const { objects = [], notes } = (await planOf(b, sloppy)) ?? {};
    expect([objects.length, notes]).to.deep.equal([1, [`unknown fields ${found}`]]);
    const refusal = await planOf(b, sloppy, { isStrict: true }).catch((error: unknown) => error);
    expect(refusal).to.be.instanceOf(ConfigurationError).with.property('message').that.contains(found);
    expect((await planOf(b, sloppy, { isStrict: true, direction: 'remove' }))?.notes).to.deep.equal([]);
  });

  it('ends when it is interrupted, wherever it is', async () => {
    for (const verb of ['discover', 'create?dryRun']) {
      const b = await deployed(given());
      const life = new AbortController();
      b.target.fail = (asked) => {
        if (asked !== verb) return;
        life.abort();
        throw new Error('interrupted');
      };
      const next = given(manage(configMap('one')));
      const plan = await planOf(b, next, { signal: life.signal }).catch((error: unknown) => error);
      expect(plan, verb).to.be.instanceOf(Error);
    }
  });

  it('keeps an object that left the list as one of others', async () => {
    const b = await deployed(given(manage(configMap('one')), manage(configMap('two'))));
    expect(await rowsOf(b, given(rules('ignore', configMap('one'))))).to.deep.equal([
      ['kept ConfigMap one', 'policy ignore does not change it'],
      ['delete ConfigMap two'],
    ]);
  });
});

describe('the plan of a removal', () => {
  const removal = { direction: 'remove' } as const;

  it('keeps an object whose policy is missing in the inventory only where its label is missing', async () => {
    const b = await deployed(given(manage(configMap('mine'))));
    const { uid = '' } = b.target.find('ConfigMap', 'app/mine')?.metadata ?? {};
    const resource = { apiVersion: 'v1', kind: 'ConfigMap', name: 'mine', namespace: 'app', uid };
    b.host.edit('DeployItem', 'proj/web', {
      status: { providerStatus: { managedResources: [{ resource }] } },
    });
    b.target.edit('ConfigMap', 'app/mine', { metadata: { labels: null } });
    expect((await rowsOf(b, undefined, removal)).map(([row]) => row)).to.have.length(1);
  });

  it('needs no label for the very object that was noted', async () => {
    const b = await deployed(given(manage(configMap('mine'))));
    b.target.edit('ConfigMap', 'app/mine', { metadata: { labels: null } });
    expect(await rowsOf(b, undefined, removal)).to.deep.equal([['delete ConfigMap mine']]);
  });

  it('lists objects of groups that take everything, each once, and says on which target', async () => {
    const all = (more: object) => ({
      customResourceGroup: {
        resources: [{ apiVersion: 'v1', kind: 'ConfigMap', namespaces: ['app'] }],
        deleteAllResources: true,
        ...more,
      },
    });
    const some = { customResourceGroup: { resources: [{ apiVersion: 'v1', kind: 'Secret' }] } };
    const secondary = new FakeCluster('app');
    secondary.put(configMap('mine'));
    secondary.put(configMap('there'));
    const b = await deployed(
      manifestConfig({
        manifests: [manage(configMap('mine'))],
        deletionGroups: [
          all({}),
          some,
          { predefinedResourceGroup: { type: 'crds' } },
          all({ targetName: 'cluster-b' }),
        ],
      }),
    );
    b.givenTarget('cluster-b');
    b.target.put(configMap('stranger'));
    b.target.put({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 's', namespace: 'app' } });
    expect(await rowsOf(b, undefined, { ...removal, secondary })).to.deep.equal([
      ['delete ConfigMap mine', 'deleteAllResources deletes it'],
      ['delete ConfigMap stranger', 'deleteAllResources deletes it'],
      ['delete ConfigMap mine', 'deleteAllResources deletes it on target cluster-b'],
      ['delete ConfigMap there', 'deleteAllResources deletes it on target cluster-b'],
    ]);
    expect(await rowsOf(b, undefined, { ...removal, secondary, others: [other('api')] })).to.deep.equal([
      ['kept ConfigMap mine', 'other deploy items also manage it: proj/api'],
    ]);
  });
});
