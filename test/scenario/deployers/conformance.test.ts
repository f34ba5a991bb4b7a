/** The deployers of this repository, and those of the documentation, in the conformance suite that is published. */
import { expect } from 'chai';
import { manifestDeployer } from '../../../deployers/manifest/index.ts';
import { mockDeployer } from '../../../deployers/mock/index.ts';
import { startDeployer, wait } from '../../../deployers/sdk/index.ts';
import type { DeployerPlugin } from '../../../deployers/sdk/index.ts';
import { checkDeployer, type CheckResult, type Subject } from '../../../deployers/testing/index.ts';
import { silentLogger } from '../../../src/observability/log.ts';
import { startCluster, type Cluster } from '../../support/cluster.ts';
import { manifestConfig, mockConfig } from '../../unit/deployers/bench.ts';

type Config = Readonly<Record<string, unknown>>;

const mock: Subject = {
  type: 'landscaper.gardener.cloud/mock',
  succeeds: mockConfig() as Config,
  exports: { config: mockConfig({ export: { k: 'v' } }) as Config, value: { k: 'v' } },
  waits: mockConfig({ initialPhase: 'Progressing' }) as Config,
  finish: mockConfig() as Config,
  invalid: mockConfig({ phase: 5 }) as Config,
};

const settings = { apiVersion: 'v1', kind: 'ConfigMap', name: '$ITEM', namespace: '$NAMESPACE' };
const manifests = [
  {
    policy: 'manage',
    manifest: {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: '$ITEM', namespace: '$NAMESPACE' },
      data: { a: 'v' },
    },
  },
];
const isReady = { jsonPath: '.data.ready', operator: 'exists' };
const manifest: Subject = {
  type: 'landscaper.gardener.cloud/kubernetes-manifest',
  target: 'cluster',
  succeeds: manifestConfig({ manifests }) as Config,
  exports: {
    config: manifestConfig({
      manifests,
      exports: { exports: [{ key: 'k', jsonPath: '.data.a', fromResource: settings }] },
    }) as Config,
    value: { k: 'v' },
  },
  waits: manifestConfig({
    manifests,
    readinessChecks: { custom: [{ name: 'c', resourceSelector: [settings], requirements: [isReady] }] },
  }) as Config,
  finish: manifestConfig({ manifests }) as Config,
  invalid: manifestConfig({ manifests: 'none' }) as Config,
};

describe('the conformance suite for deployers', function () {
  this.timeout(90_000);
  let cluster: Cluster;
  before(async () => {
    cluster = await startCluster();
  });
  after(() => cluster.stop());

  async function put(plugin: DeployerPlugin, subject: Subject): Promise<readonly CheckResult[]> {
    const { kubeconfig } = cluster;
    const deployer = await startDeployer(plugin, { kubeconfig: { text: kubeconfig }, log: silentLogger });
    try {
      return await checkDeployer(subject, { kubeconfig });
    } finally {
      await deployer.stop();
    }
  }
  const failures = (results: readonly CheckResult[]): string[] =>
    results.filter(({ verdict }) => verdict !== 'passed').map(({ name, why }) => `${name}: ${why ?? ''}`);

  it('is passed by the mock deployer', async () => {
    expect(failures(await put(mockDeployer({ endsOnTimeout: true }), mock))).to.deep.equal([]);
  });

  it('is passed by the manifest deployer', async () => {
    expect(failures(await put(manifestDeployer(), manifest))).to.deep.equal([]);
  });

  it('fails where nobody serves the items', async () => {
    const results = await checkDeployer(mock, { kubeconfig: cluster.kubeconfig, patienceMs: 1500 });
    expect(results.map(({ verdict }) => verdict)).to.not.include('passed');
  });

  it('says which rule a deployer breaks, and what it did instead', async () => {
    const good = mockDeployer({ endsOnTimeout: true });
    const stubborn: DeployerPlugin = { ...good, remove: () => Promise.resolve(wait({ afterMs: 60_000 })) };
    const deployer = await startDeployer(stubborn, {
      kubeconfig: { text: cluster.kubeconfig },
      log: silentLogger,
    });
    try {
      const options = { kubeconfig: cluster.kubeconfig, patienceMs: 3000 };
      const results = await checkDeployer(mock, { ...options, only: ['end', 'delete'] });
      expect(results.map(({ name, verdict }) => [name, verdict])).to.deep.equal([
        ['end', 'passed'],
        ['delete', 'failed'],
      ]);
      expect(results[1]?.why).to.match(/^after 3 s still not: the item is gone; phase (InitDelete|Deleting)/);
    } finally {
      await deployer.stop();
    }
  });

  it('names what was not tried and why', async () => {
    const { type, succeeds } = mock;
    const results = await checkDeployer(
      { type, succeeds, without: { 'no-job': 'it is a test' } },
      { kubeconfig: cluster.kubeconfig, patienceMs: 100, only: ['no-job', 'exports', 'waits'] },
    );
    expect(results.map(({ name, verdict, why }) => [name, verdict, why])).to.deep.equal([
      ['no-job', 'skipped', 'it is a test'],
      ['exports', 'skipped', 'the subject has no exports'],
      ['waits', 'skipped', 'the subject has no waits and no finish'],
    ]);
  });
});
