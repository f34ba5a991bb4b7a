import { expect } from 'chai';
import { manifestDeployer } from '../../../../deployers/manifest/index.ts';
import { failAt } from '../../../../deployers/sdk/timeout.ts';
import { manifestCheckpoints } from '../../../support/deployer-tables.ts';
import { Bench, configMap, manage, manifestConfig, type BenchOptions } from '../bench.ts';
import { FakeCluster } from '../fake-cluster.ts';

const ref = (name: string): object => ({ apiVersion: 'v1', kind: 'ConfigMap', name, namespace: 'app' });

function bench(options: BenchOptions = {}): Bench {
  const b = new Bench(manifestDeployer(), options);
  b.givenTarget();
  return b;
}

const exported = (b: Bench, name = 'web-export'): unknown => {
  const data = b.host.find('Secret', `proj/${name}`)?.['data'] as { config: string } | undefined;
  return data && JSON.parse(Buffer.from(data.config, 'base64').toString());
};

describe('readiness of manifests', () => {
  const deployment = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'app', namespace: 'app' },
    spec: { replicas: 1 },
  };
  const status = { observedGeneration: 1, replicas: 1, updatedReplicas: 1, availableReplicas: 1 };

  it('a Deployment whose pods do not come up is reported with the reason of a pod, also when the time is up', async () => {
    const b = bench();
    const labels = { app: 'web' };
    const spec = { replicas: 1, selector: { matchLabels: labels } };
    b.giveItem(manifestConfig({ manifests: [manage({ ...deployment, spec })] }), { timeout: '1m' });
    const waiting = { reason: 'ErrImagePull', message: 'no such image' };
    b.target.put({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'app-1', namespace: 'app', labels },
      status: { containerStatuses: [{ name: 'main', state: { waiting } }] },
    });
    await b.kick('j1');
    b.target.edit('Deployment', 'app/app', { status: { observedGeneration: 1, replicas: 0 } });
    await b.pass(10_000);
    const why =
      'Deployment app/app: not enough ready replicas (0/1); pod app-1: container main: ErrImagePull: no such image';
    expect(b.status().lastError?.message).to.equal(why);
    await b.pass(60_000);
    expect(b.status().phase).to.equal('Failed');
    expect(b.status().lastError?.message).to.contain('timeout at').and.contain(why);
  });

  it('a Deployment is waited for without being applied again', async () => {
    const b = bench();
    b.giveItem(manifestConfig({ manifests: [manage(deployment), manage(configMap('settings'))] }));
    await b.kick('j1');
    expect(b.status().phase).to.equal('Progressing');
    expect(b.status().lastError?.message).to.equal('Deployment app/app: observed generation outdated (0/1)');
    b.target.takeRequests();
    await b.pass(10_000);
    expect(new Set(b.target.takeRequests())).to.deep.equal(
      new Set(['get Deployment app/app', 'get ConfigMap app/settings']),
    );
    b.target.edit('Deployment', 'app/app', { status });
    await b.pass(5000);
    expect(b.status().phase).to.equal('Succeeded');
    expect(b.status().lastError).to.equal(undefined);
  });

  it('disableDefault waits for nothing', async () => {
    const b = bench();
    b.giveItem(
      manifestConfig({ manifests: [manage(deployment)], readinessChecks: { disableDefault: true } }),
    );
    await b.kick('j1');
    expect(b.status().phase).to.equal('Succeeded');
  });

  const check = (requirement: object, more: object = {}): object => ({
    manifests: [manage(configMap('settings'))],
    readinessChecks: {
      custom: [{ name: 'c', resourceSelector: [ref('settings')], requirements: [requirement], ...more }],
    },
  });

  it('DEP-40: a check that never holds ends the job at its timeout and names the object and the reason', async () => {
    const b = bench();
    b.giveItem(manifestConfig(check({ jsonPath: '.data.up', operator: 'exists' })));
    await b.kick('j1');
    await b.pass(119_000);
    expect(b.status().phase).to.equal('Progressing');
    await b.pass(2000);
    expect(b.status().phase).to.equal('Failed');
    expect(b.status().lastError).to.deep.include({
      operation: 'WaitForObjectsReady',
      reason: 'ProgressingTimeout',
      codes: ['ERR_TIMEOUT'],
    });
    const [first, second] = b.status().lastError?.message.split('\n') ?? [];
    expect(first).to.equal(
      'timeout at: "deployer: during readiness check - resource app/settings of type ConfigMap"',
    );
    expect(second).to.contain('field with JSON path .data.up does not exist');
  });

  it('DEP-40: objects selected by labels need not be managed; no object at all is not ready', async () => {
    const labelSelector = { apiVersion: 'v1', kind: 'ConfigMap', matchLabels: { role: 'worker' } };
    const b = bench();
    b.giveItem(
      manifestConfig(
        check({ jsonPath: '.data.done', operator: 'exists' }, { resourceSelector: [], labelSelector }),
      ),
    );
    await b.kick('j1');
    expect(b.status().lastError?.message).to.contain('object list by label selector is empty');
    b.target.put(configMap('w1', { done: '1' }, { labels: { role: 'worker' } }));
    b.target.put(configMap('w2', {}, { labels: { role: 'worker' } }));
    await b.pass(5000);
    expect(b.status().lastError?.message).to.contain('ConfigMap app/w2');
    b.target.drop('ConfigMap', 'app/w2');
    await b.pass(5000);
    expect(b.status().phase).to.equal('Succeeded');
  });

  it('DEP-40: a disabled check is ignored', async () => {
    const b = bench();
    b.giveItem(manifestConfig(check({ jsonPath: '.data.up', operator: 'exists' }, { disabled: true })));
    await b.kick('j1');
    expect(b.status().phase).to.equal('Succeeded');
  });

  const one = (more: object = {}) => ({
    key: 'db.host',
    jsonPath: '.data.host',
    fromResource: ref('settings'),
    ...more,
  });
  const exporting = (...exports: object[]): object =>
    manifestConfig({ manifests: [manage(configMap('settings', { host: 'h1' }))], exports: { exports } });

  it('DEP-20, DEP-41: an export is written to a secret of the item before the job ends', async () => {
    const b = bench();
    b.giveItem(exporting(one()));
    await b.kick('j1');
    expect(exported(b)).to.deep.equal({ db: { host: 'h1' } });
    expect(b.status().exportRef).to.deep.equal({ name: 'web-export', namespace: 'proj' });
    const [owner] = b.host.find('Secret', 'proj/web-export')?.metadata.ownerReferences ?? [];
    expect(owner).to.deep.include({ kind: 'DeployItem', name: 'web' }).and.not.have.property('controller');
    const [written, ended] = ['Secret proj/web-export', 'DeployItem proj/web Succeeded'].map((change) =>
      b.changes.indexOf(change),
    );
    expect(written, b.changes.join()).to.be.within(0, Number(ended) - 1);
  });

  it('DEP-42: an export may be available later', async () => {
    const b = bench();
    b.giveItem(exporting(one({ fromResource: ref('other') })));
    await b.kick('j1');
    await b.pass(20_000);
    b.target.put(configMap('other'));
    await b.pass(10_000);
    expect(b.status().phase).to.equal('Progressing');
    b.target.edit('ConfigMap', 'app/other', { data: { host: 'h2' } });
    await b.pass(6000);
    expect(b.status().phase).to.equal('Succeeded');
    expect(exported(b)).to.deep.equal({ db: { host: 'h2' } });
  });

  it('DEP-42: an export that is never available ends the job', async () => {
    const b = bench();
    b.giveItem(exporting(one({ fromResource: ref('other') })));
    await b.kick('j1');
    await b.pass(121_000);
    expect(b.status().phase).to.equal('Failed');
    expect(b.status().lastError).to.deep.include({
      operation: 'ReconcileManifests',
      reason: 'ReadExportValues',
      codes: ['ERR_TIMEOUT'],
    });
    expect(b.status().lastError?.message).to.contain('timeout at: "deployer: during export - key: db.host"');
    expect(exported(b)).to.equal(undefined);
  });

  it('DEP-43: an export may follow a reference', async () => {
    const b = bench();
    b.target.put({
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: 'bot', namespace: 'app' },
      secrets: [{ name: 'bot-tok' }],
    });
    b.target.put({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'bot-tok', namespace: 'app' },
      data: { token: 'QQ==' },
    });
    b.giveItem(
      exporting({
        key: 'token',
        jsonPath: '.secrets[0]',
        fromResource: { apiVersion: 'v1', kind: 'ServiceAccount', name: 'bot', namespace: 'app' },
        fromObjectRef: { apiVersion: 'v1', kind: 'Secret', jsonPath: '.data.token' },
      }),
    );
    await b.kick('j1');
    expect(exported(b)).to.deep.equal({ token: 'QQ==' });
  });

  for (const [title, entries, value] of [
    ['an empty list', [], {}],
    ['no source', [{ key: 'k', jsonPath: '.data.host' }], {}],
    ['no key', [one({ key: undefined })], { '': 'h1' }],
  ] as const) {
    it(`DEP-44: exports with ${title} are accepted`, async () => {
      const b = bench();
      b.giveItem(exporting(...entries));
      await b.kick('j1');
      expect(b.status().phase).to.equal('Succeeded');
      expect(exported(b)).to.deep.equal(value);
    });
  }

  for (const [title, entry, message] of [
    ['no path', one({ jsonPath: undefined }), 'exports.exports[0].jsonPath: Required value'],
    [
      'a source without a name',
      one({ fromResource: { apiVersion: 'v1', kind: 'ConfigMap' } }),
      'exports.exports[0].fromResource.name: Required value',
    ],
    [
      'a reference without a kind',
      one({ fromObjectRef: { apiVersion: 'v1', jsonPath: '.data.token' } }),
      'exports.exports[0].fromObjectRef.kind: Required value',
    ],
  ] as const) {
    it(`DEP-44: an export with ${title} ends the job before anything is created`, async () => {
      const b = bench();
      b.giveItem(exporting(entry));
      await b.kick('j1');
      expect(b.status().phase).to.equal('Failed');
      expect(b.status().lastError?.codes).to.deep.equal(['ERR_CONFIGURATION_PROBLEM']);
      expect(b.status().lastError?.message).to.contain(message);
      expect(b.target.names('ConfigMap')).to.deep.equal([]);
    });
  }

  it('DEP-87: an export may come from another target, and may be late', async () => {
    const other = new FakeCluster('app');
    other.put(configMap('settings', { host: 'other' }));
    const b = bench({
      connect: (kubeconfig) => Promise.resolve(kubeconfig.includes('cluster-b') ? other : b.target),
    });
    b.giveItem(exporting(one({ targetName: 'cluster-b' })));
    await b.kick('j1');
    expect(b.status().lastError?.message).to.contain('unable to read secondary target cluster-b');
    b.givenTarget('cluster-b');
    await b.pass(5000);
    expect(exported(b)).to.deep.equal({ db: { host: 'other' } });
  });

  for (const checkpoint of manifestCheckpoints) {
    it(`DEP-51: the job may end at "${checkpoint}"`, async () => {
      const b = bench({ timeouts: failAt(checkpoint) });
      b.giveItem(exporting(one()));
      await b.kick('j1');
      expect(b.status().phase).to.equal('Failed');
      expect(b.status().lastError?.codes).to.deep.equal(['ERR_TIMEOUT']);
      expect(b.status().lastError?.message).to.contain(checkpoint);
    });
  }
  for (const checkpoint of ['manifest deployer: start delete', 'deployer: delete resources']) {
    it(`DEP-51: a deletion may end at "${checkpoint}"`, async () => {
      const b = bench({ timeouts: failAt(checkpoint) });
      b.giveItem(exporting());
      await b.kick('j1');
      await b.delete();
      await b.kick('j2');
      expect(b.status().phase).to.equal('DeleteFailed');
      expect(b.status().lastError?.message).to.contain(checkpoint);
    });
  }
});
