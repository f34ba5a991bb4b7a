/** Compares the page about metrics and probes with what a running process serves. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { request } from 'undici';
import { startEmbedded, type Embedded } from '../../../src/cli/composition/embedded.ts';
import { startLandscaper, type Landscaper } from '../../../src/cli/composition/landscaper.ts';
import { silentLogger } from '../../../src/observability/log.ts';

const page = readFileSync(join(import.meta.dirname, '../../../docs/observability.md'), 'utf8');
const documented = [...page.matchAll(/^\| `([a-z_]+)` \| (gauge|counter|histogram) \|(.*?)\| .+ \|$/gm)].map(
  ([, name = '', type = '', labels = '']) => ({
    name,
    type,
    labels: [...labels.matchAll(/`(\w+)`/g)].map(([, label]) => label ?? ''),
  }),
);

describe('metrics and probes of a running process', () => {
  let server: Embedded;
  let landscaper: Landscaper;
  let metrics: string;
  const get = async (path: string): Promise<string> =>
    (await request(`${landscaper.health?.url ?? ''}${path}`)).body.text();

  before(async function () {
    this.timeout(30_000);
    const log = silentLogger;
    server = await startEmbedded({ simulate: false, log });
    landscaper = await startLandscaper({
      kubeconfig: { text: server.kubeconfig },
      log,
      metricsAddress: { host: '127.0.0.1', port: 0 },
      tracing: { enabled: true, endpoint: 'http://127.0.0.1:1' },
      fleet: { namespace: 'default', name: 'metrics' },
    });
    metrics = await get('/metrics');
  });
  after(async () => {
    await landscaper.stop();
    await server.close();
  });

  it('are documented, each with its type', () => {
    const served = [...metrics.matchAll(/^# TYPE (\S+) (\w+)$/gm)]
      .map(([, name = '', type = '']) => `${name} ${type}`)
      .filter((line) => !/^(process|nodejs)_/.test(line));
    expect(served.sort()).to.deep.equal(documented.map(({ name, type }) => `${name} ${type}`).sort());
  });

  it('carry the documented labels', () => {
    let compared = 0;
    for (const { name, labels } of documented) {
      const found = new RegExp(`^${name}(?:_count)?\\{(.*)\\} `, 'm').exec(metrics)?.[1];
      // Some series exist only after their first value.
      if (found === undefined) continue;
      compared++;
      expect(
        [...found.matchAll(/(\w+)="/g)].map(([, label]) => label),
        name,
      ).to.have.members(labels);
    }
    expect(compared).to.be.greaterThan(15);
  });

  for (const probe of ['healthz', 'readyz']) {
    it(`have the documented checks: ${probe}`, async () => {
      const checks = [...(await get(`/${probe}?verbose`)).matchAll(/^\[\+\](\S+) ok$/gm)].map(
        ([, name]) => name,
      );
      const rows = [...page.matchAll(new RegExp(`^\\| \`/${probe}/(\\S+)\``, 'gm'))].map(([, name]) => name);
      expect(checks).to.have.members(rows);
      expect(await get(`/${probe}/${checks[0] ?? ''}`)).to.equal('ok');
    });
  }
});
