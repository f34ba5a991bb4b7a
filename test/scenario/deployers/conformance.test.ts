/** The deployers of this repository, and those of the documentation, run in the published conformance suite. */
import { expect } from 'chai';
import { helmDeployer } from '../../../deployers/helm/index.ts';
import { manifestDeployer } from '../../../deployers/manifest/index.ts';
import { mockDeployer } from '../../../deployers/mock/index.ts';
import { startDeployer, wait } from '../../../deployers/sdk/index.ts';
import type { DeployerPlugin } from '../../../deployers/sdk/index.ts';
import { checkDeployer, type CheckResult, type Subject } from '../../../deployers/testing/index.ts';
import { deployItemKind } from '../../../src/api/kinds/deployitem.ts';
import { silentLogger } from '../../../src/observability/log.ts';
import { workerRunners } from '../../../src/blueprint/workers/runner.ts';
import { createComponentRepositories } from '../../../src/components/component-repositories.ts';
import { systemClock as clock } from '../../../src/lib/clock.ts';
import { seededRng } from '../../../src/lib/rng.ts';
import { startCluster, type Cluster } from '../../support/cluster.ts';
import { failures, PATIENCE_MS } from '../../support/conformance.ts';
import { patience } from '../../support/patience.ts';
import { c1, NO_HELM, raw, realHelm } from '../../support/helm-charts.ts';
import { skip } from '../../support/skip.ts';
import { helmConfig, manifestConfig, mockConfig } from '../../unit/deployers/bench.ts';

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

const ofChart = { apiVersion: 'v1', kind: 'ConfigMap', name: '$ITEM-cm', namespace: '$NAMESPACE' };

function helmSubject(mode: object): Subject {
  const of = (fields: object): Config =>
    helmConfig({ name: '$ITEM', namespace: '$NAMESPACE', ...raw(c1()), ...mode, ...fields }) as Config;
  return {
    type: 'landscaper.gardener.cloud/helm',
    target: 'cluster',
    succeeds: of({}),
    exports: {
      config: of({ values: { msg: 'v' }, exports: { exports: [{ key: 'k', jsonPath: '.Values.msg' }] } }),
      value: { k: 'v' },
    },
    waits: of({
      readinessChecks: { custom: [{ name: 'c', resourceSelector: [ofChart], requirements: [isReady] }] },
    }),
    finish: of({}),
    invalid: of({ chart: 'none' }),
  };
}

describe('the conformance suite for deployers', function () {
  this.timeout(120_000);
  let cluster: Cluster;
  before(async () => {
    cluster = await startCluster();
  });
  after(() => cluster.stop());

  async function put(
    plugin: DeployerPlugin,
    subject: Subject,
    patienceMs = PATIENCE_MS,
  ): Promise<readonly CheckResult[]> {
    const { kubeconfig } = cluster;
    const deployer = await startDeployer(plugin, { kubeconfig: { text: kubeconfig }, log: silentLogger });
    try {
      return await checkDeployer(subject, { kubeconfig, patienceMs });
    } finally {
      await deployer.stop();
    }
  }
  it('ends at once on its abort signal, reports nothing more, and leaves nothing behind', async () => {
    const { kubeconfig, client } = cluster;
    const nobodys = { ...mock, type: 'test.example/nobodys' };
    const told: string[] = [];
    const life = new AbortController();
    const checking = checkDeployer(nobodys, {
      kubeconfig,
      // No deployer handles the type, so a check that waits for it would wait this long.
      patienceMs: 600_000,
      signal: life.signal,
      onResult: ({ verdict }) => told.push(verdict),
    });
    const isThere = (): boolean =>
      [...cluster.world.deployItems.list()].some(({ spec }) => spec.type === nobodys.type);
    await new Promise<void>((resolve) => {
      const end = cluster.onChange(() => {
        if (!isThere()) return;
        end();
        resolve();
      });
    });
    const before = told.length;
    life.abort(new Error('interrupted'));
    const error = await checking.catch((reason: unknown) => reason);
    expect(error).to.have.property('message', 'interrupted');
    expect(told).to.have.length(before);
    const left: string[] = [];
    for await (const page of client.list(deployItemKind, {}))
      left.push(
        ...page.items.filter(({ spec }) => spec.type === nobodys.type).map(({ metadata }) => metadata.name),
      );
    expect(left).to.deep.equal([]);
  });

  it('is passed by two processes of a deployer that share its items', async () => {
    const lease = { namespace: 'default', name: 'mock' };
    const options = { kubeconfig: { text: cluster.kubeconfig }, log: silentLogger, lease };
    const deployers = [
      await startDeployer(mockDeployer({ endsOnTimeout: true }), options),
      await startDeployer(mockDeployer({ endsOnTimeout: true }), options),
    ];
    try {
      const results = await checkDeployer(mock, { kubeconfig: cluster.kubeconfig, patienceMs: PATIENCE_MS });
      expect(failures(results)).to.deep.equal([]);
    } finally {
      for (const deployer of deployers) await deployer.stop();
    }
  });

  it('is passed by the mock deployer', async () => {
    expect(failures(await put(mockDeployer({ endsOnTimeout: true }), mock))).to.deep.equal([]);
  });

  it('has no warnings, however many checks wait for its signal', async () => {
    const warnings: string[] = [];
    const note = ({ message }: Error): void => void warnings.push(message);
    process.on('warning', note);
    try {
      const { signal } = new AbortController();
      const options = { kubeconfig: cluster.kubeconfig, patienceMs: 200, signal };
      expect(await checkDeployer({ ...mock, type: 'test.example/nobodys' }, options)).to.have.lengthOf.above(
        11,
      );
    } finally {
      process.off('warning', note);
    }
    expect(warnings).to.deep.equal([]);
  });

  it('is passed by the manifest deployer', async () => {
    expect(failures(await put(manifestDeployer(), manifest))).to.deep.equal([]);
  });

  it('is passed by the helm deployer that applies charts itself', async () => {
    const repositories = createComponentRepositories({ clock, rng: seededRng(1) });
    const charts = workerRunners({ clock });
    try {
      expect(
        failures(
          await put(
            helmDeployer({ repositories, chartsOf: charts.of, clock }),
            helmSubject({ helmDeployment: false }),
          ),
        ),
      ).to.deep.equal([]);
    } finally {
      await charts.close();
      await repositories.close();
    }
  });

  for (const usesProgram of [false, true])
    it(`is passed by the helm deployer that creates releases${usesProgram ? ' with the helm program' : ''}`, async function () {
      const executable = usesProgram ? realHelm() : undefined;
      if (usesProgram && executable === undefined) skip(this, NO_HELM);
      const repositories = createComponentRepositories({ clock, rng: seededRng(1) });
      const charts = workerRunners({ clock });
      try {
        const plugin = helmDeployer({ repositories, chartsOf: charts.of, clock, executable });
        expect(
          failures(await put(plugin, helmSubject({ helmDeployment: true }), 2 * PATIENCE_MS)),
        ).to.deep.equal([]);
      } finally {
        await charts.close();
        await repositories.close();
      }
    });

  it('fails if no deployer handles the items', async () => {
    const results = await checkDeployer(mock, { kubeconfig: cluster.kubeconfig, patienceMs: 1500 });
    expect(results.map(({ verdict }) => verdict)).to.not.include('passed');
  });

  it('reports which rule a deployer breaks, and what it did instead', async () => {
    const good = mockDeployer({ endsOnTimeout: true });
    const stubborn: DeployerPlugin = {
      ...good,
      remove: () => Promise.resolve(wait({ requeueAfterMs: 60_000 })),
    };
    const deployer = await startDeployer(stubborn, {
      kubeconfig: { text: cluster.kubeconfig },
      log: silentLogger,
    });
    try {
      const patienceMs = patience(3000);
      const options = { kubeconfig: cluster.kubeconfig, patienceMs };
      const results = await checkDeployer(mock, { ...options, only: ['end', 'delete'] });
      expect(results.map(({ name, verdict }) => [name, verdict])).to.deep.equal([
        ['end', 'passed'],
        ['delete', 'failed'],
      ]);
      const seconds = String(patienceMs / 1000);
      expect(results[1]?.why).to.match(
        new RegExp(`^not within ${seconds} s: the item is deleted; phase (InitDelete|Deleting)`),
      );
    } finally {
      await deployer.stop();
    }
  });

  it('names the checks that were not run, with the reason', async () => {
    const { type, succeeds } = mock;
    const results = await checkDeployer(
      { type, succeeds, without: { 'no-job': 'it is a test' } },
      { kubeconfig: cluster.kubeconfig, patienceMs: 100, only: ['no-job', 'exports', 'waits'] },
    );
    expect(results.map(({ name, verdict, why }) => [name, verdict, why])).to.deep.equal([
      ['no-job', 'skipped', 'it is a test'],
      ['exports', 'skipped', 'the description of the deployer has no exports'],
      ['waits', 'skipped', 'the description of the deployer has no waits and no finish'],
    ]);
  });
});
