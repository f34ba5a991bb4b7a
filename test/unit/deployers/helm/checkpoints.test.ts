import { expect } from 'chai';
import { helmDeployer } from '../../../../deployers/helm/index.ts';
import { failAt } from '../../../../deployers/sdk/timeout.ts';
import { createComponentRepositories } from '../../../../src/components/component-repositories.ts';
import { systemClock as clock } from '../../../../src/lib/clock.ts';
import { seededRng } from '../../../../src/lib/rng.ts';
import { ChartStopped } from '../../../../src/templating/helm/errors.ts';
import type { ChartRunner } from '../../../../src/templating/helm/work.ts';
import { chartCheckpoints } from '../../../support/deployer-tables.ts';
import { c1, chartsHere, raw } from '../../../support/helm-charts.ts';
import { Bench, helmConfig, LS } from '../bench.ts';

const repositories = createComponentRepositories({ clock, rng: seededRng(1) });

describe('the timeout of a job with a chart', () => {
  const bench = (checkpoint: string, config: object): Bench => {
    const b = new Bench(helmDeployer({ repositories, chartsOf: chartsHere(), clock }), {
      timeouts: failAt(`helm deployer: ${checkpoint}`),
    });
    b.givenTarget();
    b.giveItem(config, { type: `${LS}/helm` });
    return b;
  };

  for (const checkpoint of chartCheckpoints) {
    it(`DEP-69: ends it at "${checkpoint}"`, async () => {
      const b = bench(checkpoint, helmConfig(raw(c1())));
      await b.kick('j1');
      expect(b.status().phase).to.equal('Failed');
      expect(b.status().lastError?.message).to.contain(checkpoint);
      expect(b.status().lastError?.codes).to.deep.equal(['ERR_TIMEOUT']);
    });
  }

  for (const checkpoint of ['before installing release', 'start delete', 'start deleting']) {
    it(`DEP-69: ends it at "${checkpoint}" of a release`, async () => {
      const b = bench(checkpoint, helmConfig({ ...raw(c1()), helmDeployment: true }));
      await b.kick('j1');
      if (!checkpoint.startsWith('before')) {
        await b.delete();
        await b.kick('j2');
      }
      expect(b.status().phase).to.match(/Failed$/);
      expect(b.status().lastError?.message).to.contain(checkpoint);
    });
  }

  it('a chart has the same limits as templates', async () => {
    const loop = '{{ range until 9999 }}{{ $x := . }}{{ end }}';
    const b = new Bench(helmDeployer({ repositories, chartsOf: chartsHere({ maxSteps: 2000 }), clock }));
    b.givenTarget();
    b.giveItem(helmConfig(raw(c1({ 'templates/loop.yaml': loop }))), { type: `${LS}/helm` });
    await b.kick('j1');
    expect(b.status().lastError?.message).to.contain('more than 2000 steps; templating.maxSteps');
  });

  it('a chart that had to be stopped fails permanently, whatever it was doing', async () => {
    const why = 'rendering the chart was stopped because it takes longer than 10000 ms; templating.timeout';
    const stop = () => Promise.reject(new ChartStopped(why));
    const exports = { exports: [{ key: 'k', jsonPath: '.Values.msg' }] };
    const rows: readonly [Partial<ChartRunner>, object][] = [
      [{ mentions: stop }, {}],
      [{ renderChart: stop }, {}],
      [{ chartValues: stop }, { exports }],
      [{ checkChartValues: stop }, { helmDeployment: true }],
    ];
    for (const [broken, config] of rows) {
      const chartsOf = () => ({ ...chartsHere()('proj'), ...broken });
      const b = new Bench(helmDeployer({ repositories, chartsOf, clock }));
      b.givenTarget();
      b.giveItem(helmConfig({ ...raw(c1()), ...config }), { type: `${LS}/helm` });
      await b.kick('j1');
      expect(b.status().phase, Object.keys(broken)[0]).to.equal('Failed');
      expect(b.status().lastError?.message).to.contain(why);
    }
  });

  it('a chart is fetched and rendered once for a job, however many reconciles it takes', async () => {
    const isReady = { jsonPath: '.data.ready', operator: 'exists' };
    const demo = { apiVersion: 'v1', kind: 'ConfigMap', name: 'demo-cm', namespace: 'app' };
    const custom = [{ name: 'c', resourceSelector: [demo], requirements: [isReady] }];
    const b = bench('nowhere', helmConfig({ ...raw(c1()), readinessChecks: { custom } }));
    await b.kick('j1');
    b.target.takeRequests();
    await b.pass(60_000);
    expect(b.target.takeRequests().every((request) => request.startsWith('get'))).to.equal(true);
    expect(b.target.requests.filter(({ what }) => what === '/version')).to.deep.equal([]);
  });
});
