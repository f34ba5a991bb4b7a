/** What a job deletes, what it reports meanwhile, and what it does only at its end. */
import { expect } from 'chai';
import { manifestDeployer } from '../../../../deployers/manifest/index.ts';
import { failAt } from '../../../../deployers/sdk/timeout.ts';
import { apiErrorFrom } from '../../../../src/runtime/errors.ts';
import { Bench, configMap, manage, manifestConfig, type BenchOptions, type ItemOptions } from '../bench.ts';
import { FakeCluster, type Any } from '../fake-cluster.ts';

const held = { finalizers: ['test/hold'] };
const cm = (name: string, metadata: object = {}, more: object = {}): object =>
  manage(configMap(name, { a: 'b' }, metadata), more);
const deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'app', namespace: 'app' },
  spec: { replicas: 1 },
};
const refusal = (message: string): Error =>
  apiErrorFrom(500, { message }, { verb: 'replace', kind: 'ConfigMap' });
const secret = (name: string): Any => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, namespace: 'app' },
});
const everySecret = (more: object = {}): object => ({
  customResourceGroup: {
    deleteAllResources: true,
    resources: [{ apiVersion: 'v1', kind: 'Secret' }],
    ...more,
  },
});
const namespaced = { predefinedResourceGroup: { type: 'namespaced-resources' } };

async function deployed(fields: object, options: BenchOptions = {}, item: ItemOptions = {}): Promise<Bench> {
  const b = new Bench(manifestDeployer(), options);
  b.givenTarget();
  b.giveItem(manifestConfig(fields), item);
  await b.kick('j1');
  return b;
}

async function updated(b: Bench, fields: object): Promise<void> {
  b.configure(manifestConfig(fields));
  await b.kick('j2');
}

async function deleted(b: Bench): Promise<void> {
  await b.delete();
  await b.kick('j2');
}

const listed = (b: Bench): string[] =>
  ((b.status().providerStatus?.['managedResources'] ?? []) as { resource: { name: string } }[]).map(
    ({ resource }) => resource.name,
  );

describe('objects that were removed from the list', () => {
  it('are waited for, and reported by name and target', async () => {
    const b = await deployed({ manifests: [cm('one'), cm('two', held)] });
    await updated(b, { manifests: [cm('one')] });
    const { lastError } = b.status();
    expect(lastError).to.deep.include({ operation: 'ReconcileManifests', reason: 'CleanupOrphaned' });
    expect(lastError?.message).to.equal(
      'waiting for the deletion of ConfigMap app/two (it still exists, probably because of its finalizers) on target cluster-a',
    );
    await b.pass(125_000);
    expect(b.status().phase).to.equal('Failed');
    expect(b.status().lastError).to.deep.include({ reason: 'CleanupOrphaned', codes: ['ERR_TIMEOUT'] });
  });

  it('stay in the inventory if they cannot be deleted', async () => {
    const hook = { annotateBeforeDelete: { going: 'yes' } };
    const b = await deployed({ manifests: [cm('one'), cm('two', {}, hook)] });
    b.target.fail = (verb) => {
      if (verb === 'replace') throw refusal('no such annotation');
    };
    await updated(b, { manifests: [cm('one')] });
    expect(b.status().phase).to.equal('Progressing');
    expect(b.status().lastError).to.deep.include({
      operation: 'ReconcileManifests',
      reason: 'CleanupOrphaned',
    });
    expect(b.status().lastError?.message).to.contain('no such annotation');
    expect(listed(b)).to.have.members(['one', 'two']);
  });

  for (const checkpoint of ['deployer: cleanup orphaned', 'deployer: delete resources']) {
    it(`are given up at "${checkpoint}" when the timeout of the job has passed`, async () => {
      const b = await deployed({ manifests: [cm('one')] }, { timeouts: failAt(checkpoint) });
      await updated(b, { manifests: [] });
      expect(b.status().phase).to.equal('Failed');
      expect(b.status().lastError?.message).to.contain(checkpoint);
    });
  }

  it('delete all objects of a type with them once, not as long as the job waits', async () => {
    const groups = { deletionGroupsDuringUpdate: [namespaced, everySecret()] };
    const b = await deployed({ manifests: [cm('one')], ...groups });
    b.target.put(secret('early'));
    await updated(b, { manifests: [manage(deployment)], ...groups });
    expect(b.status().phase).to.equal('Progressing');
    expect(b.target.names('Secret')).to.deep.equal([]);
    b.target.put(secret('late'));
    await b.pass(20_000);
    expect(b.target.names('Secret')).to.deep.equal(['app/late']);
  });

  it('delete nothing with them if there are none', async () => {
    const b = await deployed({ manifests: [cm('one')], deletionGroupsDuringUpdate: [everySecret()] });
    b.target.put(secret('theirs'));
    await b.kick('j2');
    expect(b.target.names('Secret')).to.deep.equal(['app/theirs']);
  });
});

describe('a job that applies manifests', () => {
  it('has an inventory even if a kind is unknown', async () => {
    const b = await deployed({ manifests: [manage({ ...configMap('x'), kind: 'Gone' })] });
    expect(b.status().phase).to.equal('Progressing');
    expect(b.status().providerStatus?.['kind']).to.equal('ProviderStatus');
  });

  it('patches an object after all are ready, not before', async () => {
    const b = await deployed({
      manifests: [manage(deployment), cm('one', {}, { patchAfterDeployment: { data: { late: 'yes' } } })],
    });
    const data = (): unknown => b.target.find('ConfigMap', 'app/one')?.['data'];
    expect(data()).to.deep.equal({ a: 'b' });
    b.target.edit('Deployment', 'app/app', {
      status: { observedGeneration: 1, replicas: 1, updatedReplicas: 1, availableReplicas: 1 },
    });
    await b.pass(5000);
    expect(data()).to.deep.equal({ a: 'b', late: 'yes' });
  });

  it('reports the position of a list that cannot be taken apart', async () => {
    const b = await deployed({ manifests: [manage({ apiVersion: 'v1', kind: 'List', items: ['x'] })] });
    expect(b.status().lastError).to.deep.include({
      operation: 'ReconcileManifests',
      reason: 'ExpandManifests',
    });
  });
});

describe('a job that deletes manifests', () => {
  it('names five objects that are left, and counts the others', async () => {
    for (const [count, rest] of [
      [5, ' on target cluster-a'],
      [7, ' and 2 more on target cluster-a'],
    ] as const) {
      const names = Array.from({ length: count }, (_, i) => `n${String(i)}`);
      const b = await deployed({ manifests: names.map((name) => cm(name, held)) });
      await deleted(b);
      const message = b.status().lastError?.message ?? '';
      expect(message.match(/ConfigMap app\/n\d \(/g)).to.have.length(5);
      expect(message.match(/\), ConfigMap/g)).to.have.length(4);
      expect(message.endsWith(`)${rest}`), message).to.equal(true);
    }
  });

  it('needs no target if nothing was created', async () => {
    const b = await deployed({ manifests: [cm('one')] }, {}, { target: null });
    expect(b.status().lastError?.message).to.equal('no target defined');
    await b.delete();
    await b.pass(6000);
    expect(b.isGone()).to.equal(true);
  });

  it('reports once which objects it leaves to others', async () => {
    const b = await deployed({ manifests: [cm('shared'), cm('mine', held)] });
    b.giveItem(manifestConfig({ manifests: [cm('shared')] }), { name: 'api' });
    await b.kick('j1', 'api');
    await deleted(b);
    await b.pass(20_000);
    expect(b.events.filter((event) => event.includes('LeftToOthers'))).to.have.length(1);
  });

  it('reports the target on which it fails', async () => {
    const b = await deployed({ manifests: [cm('one', {}, { annotateBeforeDelete: { going: 'yes' } })] });
    b.target.fail = (verb) => {
      if (verb === 'replace') throw refusal('no such annotation');
    };
    await deleted(b);
    expect(b.status().phase).to.equal('Deleting');
    expect(b.status().lastError).to.deep.include({ operation: 'delete', reason: 'DeleteWithUninstall' });
    expect(b.status().lastError?.message).to.match(
      /^failed deleting managed resources on target cluster-a: .*no such annotation/,
    );
  });

  it('deletes all objects of a type on another target', async () => {
    const second = new FakeCluster('app');
    second.put(secret('x'));
    const target = new FakeCluster('app');
    target.put(secret('y'));
    const connect = (kubeconfig: string) =>
      Promise.resolve(kubeconfig.includes('cluster-b') ? second : target);
    const deletionGroups = [namespaced, everySecret({ targetName: 'cluster-b' })];
    const b = await deployed({ manifests: [cm('one')], deletionGroups }, { target, connect });
    b.givenTarget('cluster-b');
    await deleted(b);
    expect(b.isGone()).to.equal(true);
    expect([second.names('Secret'), target.names('Secret')]).to.deep.equal([[], ['app/y']]);
  });
});
