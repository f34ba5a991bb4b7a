/** The plan of a job with manifests, computed on a cluster that stores nothing. */
import { expect } from 'chai';
import type { DeployItem } from '../../../../deployers/sdk/kinds.ts';
import { MANIFEST_LABEL, NAMESPACE_LABEL } from '../../../../deployers/objects/manifests/label.ts';
import type { View } from '../../../../src/runtime/types.ts';
import { configMap, LS, manage } from '../bench.ts';
import { crd, deployed, gadget, given, planOf, rowOf, rowsOf, rules } from '../planned.ts';

const other = (name: string): View<DeployItem> => ({
  apiVersion: `${LS}/v1alpha1`,
  kind: 'DeployItem',
  metadata: { name, namespace: 'proj', uid: `uid-of-${name}` },
  spec: { type: `${LS}/kubernetes-manifest` },
  status: { observedGeneration: 1, phase: 'Succeeded' },
});

describe('the plan of a job that applies manifests', () => {
  it('shows created, changed, unchanged and deleted objects, and changes nothing', async () => {
    const b = await deployed(
      given(manage(configMap('same')), manage(configMap('old')), manage(configMap('gone'))),
    );
    const next = given(
      manage(configMap('same')),
      manage(configMap('old', { a: 'new' })),
      manage(configMap('fresh')),
    );
    expect(await rowsOf(b, next)).to.deep.equal([
      ['unchanged ConfigMap same'],
      ['change ConfigMap old'],
      ['create ConfigMap fresh'],
      ['delete ConfigMap gone'],
    ]);
    const writes = b.target.takeRequests().filter((request) => !/^(get|list|discover) /.test(request));
    expect(writes).to.have.members(['replace?dryRun ConfigMap app/old', 'create?dryRun ConfigMap app/fresh']);
    expect(b.target.names('ConfigMap')).to.deep.equal(['app/same', 'app/old', 'app/gone']);
  });

  it('shows the objects without fields that only the server sets, and without their status', async () => {
    const b = await deployed(given(manage(configMap('old')), manage(configMap('gone'))));
    b.target.edit('ConfigMap', 'app/old', { status: { seen: true } });
    const next = given(manage(configMap('old', { a: 'new' })), manage(configMap('fresh')));
    const [old, fresh, gone] = (await planOf(b, next))?.objects ?? [];
    const shown = (name: string, data: object): object => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, namespace: 'app', labels: { [MANIFEST_LABEL]: 'web', [NAMESPACE_LABEL]: 'proj' } },
      data,
    });
    expect([old?.before, old?.after]).to.deep.equal([shown('old', { a: 'b' }), shown('old', { a: 'new' })]);
    expect([fresh?.before, fresh?.after]).to.deep.equal([undefined, shown('fresh', { a: 'b' })]);
    expect([gone?.before, gone?.after]).to.deep.equal([shown('gone', { a: 'b' }), undefined]);
  });

  it('shows an object as it is after its patch', async () => {
    const b = await deployed(given(manage(configMap('old'))));
    const next = given(manage(configMap('old'), { patchAfterDeployment: { data: { c: 'd' } } }));
    const [old] = (await planOf(b, next))?.objects ?? [];
    expect(old?.change).to.equal('change');
    expect(old?.after?.['data']).to.deep.equal({ a: 'b', c: 'd' });
  });

  for (const policy of ['ignore', 'fallback', 'immutable', 'ensure']) {
    it(`shows that policy ${policy} leaves an object of another owner unchanged`, async () => {
      const b = await deployed(given());
      b.target.put(configMap('theirs', { of: 'others' }));
      const plan = await planOf(b, given(rules(policy, configMap('theirs'))));
      expect(plan?.objects.map(rowOf)).to.deep.equal([
        ['kept ConfigMap theirs', `policy ${policy} does not change it`],
      ]);
      const warned = plan?.notes.filter((note) => note.includes('was not created by this item')) ?? [];
      expect(warned).to.have.length(policy === 'immutable' ? 1 : 0);
    });
  }

  for (const policy of ['ignore', 'ensure']) {
    it(`deletes nothing that was managed and has policy ${policy} from now on`, async () => {
      const b = await deployed(given(manage(configMap('one'))));
      expect(await rowsOf(b, given(rules(policy, configMap('one'))))).to.deep.equal([
        ['kept ConfigMap one', `policy ${policy} does not change it`],
      ]);
    });
  }

  it('keeps an object that is removed from the list with policy keep, or if other items manage it', async () => {
    const b = await deployed(given(rules('keep', configMap('kept')), manage(configMap('shared'))));
    expect(await rowsOf(b, given(), { others: [other('api'), other('job')] })).to.deep.equal([
      ['kept ConfigMap kept', 'other deploy items also manage it: proj/api, proj/job'],
      ['kept ConfigMap shared', 'other deploy items also manage it: proj/api, proj/job'],
    ]);
    expect(await rowsOf(b, given())).to.deep.equal([
      ['kept ConfigMap kept', 'policy keep keeps it'],
      ['delete ConfigMap shared'],
    ]);
  });

  it('names the other deploy items that write the same object', async () => {
    const b = await deployed(given(manage(configMap('one'))));
    const next = given(
      manage(configMap('one')),
      manage(configMap('fresh')),
      rules('ensure', configMap('one2')),
    );
    b.target.put(configMap('one2'));
    expect((await planOf(b, next, { others: [other('api')] }))?.notes).to.deep.equal([
      'ConfigMap app/one is also managed by other deploy items: proj/api',
    ]);
    expect((await planOf(b, next))?.notes).to.deep.equal([]);
  });

  it('shows what the cluster cannot check because the same job creates the namespace or the kind', async () => {
    const b = await deployed(given());
    const next = given(
      manage({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'late' } }),
      manage(configMap('a', {}, { namespace: 'late' })),
      crd,
      gadget,
    );
    expect(await rowsOf(b, next)).to.deep.equal([
      ['create Namespace late'],
      [
        'create ConfigMap a',
        'not checked by the cluster: its namespace late or its kind does not exist there yet',
      ],
      ['create CustomResourceDefinition gadgets.example.org'],
      ['create Gadget g', 'not checked by the cluster: its kind does not exist there yet'],
    ]);
  });

  it('shows that a kind does not exist yet', async () => {
    const b = await deployed(given());
    const [[change, note] = []] = await rowsOf(b, given(gadget));
    expect(change).to.equal('create Gadget g');
    expect(note).to.match(/^its kind does not exist yet: unable to get api resources for example.org\/v1/);
  });

  it('shows what the cluster would reject, and deletes nothing in that case', async () => {
    const b = await deployed(given());
    b.target.put(configMap('theirs'));
    b.target.fail = (verb, what) => {
      if (verb.endsWith('?dryRun')) throw new Error(`${what} is refused`);
      if (verb === 'discover' && what === 'apps/v1') throw new Error('no answer');
    };
    const deployment = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'd', namespace: 'app' },
    };
    const next = given(
      manage(configMap('theirs', { a: 'new' })),
      manage(configMap('fresh')),
      manage(deployment),
    );
    const rows = await rowsOf(b, next);
    expect(rows.map(([row]) => row)).to.deep.equal([
      'change ConfigMap theirs',
      'create ConfigMap fresh',
      'create Deployment d',
    ]);
    expect(rows.map(([, problem]) => problem)).to.deep.equal([
      'problem: ConfigMap app/theirs is refused',
      'problem: ConfigMap app/fresh is refused',
      `problem: unable to get api resources for apps/v1, wanted by Deployment app/d (manifests[2]), on target cluster-a: no answer`,
    ]);
  });

  it('does not treat an object as an orphan while its kind is unknown', async () => {
    const b = await deployed(given(manage(configMap('one'))));
    b.target.fail = (verb) => {
      if (verb === 'discover') throw new Error('no answer');
    };
    expect((await rowsOf(b)).map(([row]) => row)).to.deep.equal(['create ConfigMap one']);
  });

  it('fails without a configuration', async () => {
    const b = await deployed(given());
    b.host.edit('DeployItem', 'proj/web', { spec: { config: null } });
    const refusal = await planOf(b).catch((error: unknown) => error);
    expect(refusal).to.be.instanceOf(Error).with.property('message', 'provider configuration missing');
  });
});
