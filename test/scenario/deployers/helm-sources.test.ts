/** Sources of charts: archives, registries, repositories, components, and their credentials. */
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { buildArtifact } from '../../../src/components/artifact.ts';
import { Credentials } from '../../../src/components/credentials.ts';
import { createComponentRepositories } from '../../../src/components/component-repositories.ts';
import { systemClock as clock } from '../../../src/lib/clock.ts';
import { seededRng } from '../../../src/lib/rng.ts';
import { blob, descriptor } from '../../support/components.ts';
import { c1 } from '../../support/helm-charts.ts';
import { TestRegistry } from '../../support/registry.ts';
import { startUnusableServers, type UnusableServers } from '../../support/unusable-servers.ts';
import { helmConfig } from '../../unit/deployers/bench.ts';
import { LS, World } from './world.ts';

const CHART_LAYER = 'application/vnd.cncf.helm.chart.content.v1.tar+gzip';
const LOGIN = { username: 'u', password: 'p' };
const REPO = { helmChartName: 'c1', helmChartVersion: '0.1.0' };
const CACHED = { annotations: { [`${LS}/cache-helm-charts`]: 'true' } };

const helm = (chart: object, name: string): object => helmConfig({ chart, name });

/** Serves files, and records the credentials of the requests. */
class FileServer {
  readonly asked: { readonly path: string; readonly headers: IncomingHttpHeaders }[] = [];
  readonly files = new Map<string, string | Buffer>();
  needsLogin = false;
  readonly #server = createServer(({ url = '', headers }, response) => {
    this.asked.push({ path: url, headers });
    const isLocked = this.needsLogin && !['Basic dTpw', 'Bearer x.y-z'].includes(headers.authorization ?? '');
    const file = this.files.get(url);
    if (isLocked || file === undefined) response.writeHead(isLocked ? 401 : 404).end();
    else response.end(file);
  });

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
  }

  get url(): string {
    return `http://127.0.0.1:${String((this.#server.address() as AddressInfo).port)}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

describe('sources of charts', () => {
  let world: World;
  let registry: TestRegistry;
  let locked: TestRegistry;
  let servers: UnusableServers;
  const server = new FileServer();

  before(async function () {
    this.timeout(30_000);
    world = await World.start();
    registry = await TestRegistry.start();
    locked = await TestRegistry.start({ login: LOGIN, auth: 'basic' });
    await server.start();
    servers = await startUnusableServers();
    const repositories = createComponentRepositories({ clock, rng: seededRng(1), allowPlainHttp: true });
    const artifact = buildArtifact(
      { mediaType: 'application/vnd.cncf.helm.config.v1+json', content: Buffer.from('{}') },
      [{ mediaType: CHART_LAYER, content: c1() }],
    );
    const auths = JSON.stringify({ auths: { [locked.address]: LOGIN } });
    const { dockerCredentials } = await import('../../../src/components/credentials.ts');
    await repositories.registry(registry.address, Credentials.none).push('charts/c1', '0.1.0', artifact);
    await repositories
      .registry(locked.address, dockerCredentials(auths, 'test'))
      .push('charts/c1', '0.1.0', artifact);
    await repositories.close();
    await secret('reg', { '.dockerconfigjson': auths });
  });
  after(async () => {
    await world.stop();
    await Promise.all([registry.stop(), locked.stop(), server.stop(), servers.stop()]);
  });

  const secret = (name: string, stringData: Record<string, string>) =>
    world.create(world.host, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name, namespace: 'proj' },
      stringData,
    });
  const context = (name: string, fields: object) =>
    world.create(world.host, {
      apiVersion: `${LS}/v1alpha1`,
      kind: 'Context',
      metadata: { name, namespace: 'proj' },
      ...fields,
    });
  const run = async (name: string, chart: object, more = {}) => {
    await world.giveItem(name, 'helm', helm(chart, name), more);
    return (await world.run(name, 'j1')).status;
  };
  /** The first error of a job that continues. */
  const complaint = async (name: string, chart: object, more = {}): Promise<string> => {
    await world.giveItem(name, 'helm', helm(chart, name), more);
    await world.kick(name, 'j1');
    return world.until('the complaint', async () => (await world.item(name)).status?.lastError?.message);
  };

  it('DEP-62: an archive is fetched by URL, and a missing one ends the job and is requested again by the next', async () => {
    server.files.set('/c1.tgz', c1());
    const status = await run('remote', { archive: { remote: { url: `${server.url}/c1.tgz` } } });
    expect(status?.phase).to.equal('Succeeded');
    const url = `${server.url}/none.tgz?sig=secret`;
    const failed = await run('late', { archive: { remote: { url } } });
    expect(failed?.phase).to.equal('Failed');
    expect(failed?.lastError?.message).to.contain(
      `unable to fetch helm chart from "${server.url}/none.tgz": 404`,
    );
    server.files.set('/none.tgz?sig=secret', c1());
    expect((await world.run('late', 'j2')).status?.phase).to.equal('Succeeded');
  });

  for (const [what, chart, text] of [
    ['a reference without tag', { ref: 'reg.local/charts/c1' }, 'no tag specified in reference'],
    ['no source', {}, 'must not be empty'],
    ['a deprecated source', { fromResource: { resourceName: 'x' } }, 'no longer supported'],
    ['an invalid chart archive', { archive: { raw: 'aGVsbG8=' } }, 'chart.archive.raw'],
  ] as const) {
    it(`DEP-63: ${what} ends the job`, async () => {
      const status = await run(`bad-${what.replaceAll(' ', '-')}`, chart);
      expect(status?.phase).to.equal('Failed');
      expect(status?.lastError?.message).to.contain(text);
      expect(status?.lastError?.codes).to.deep.equal(['ERR_CONFIGURATION_PROBLEM']);
    });
  }

  it('servers that cannot be used end the job, with a remedy in the message', async () => {
    const { untrusted, plain } = servers;
    const rows = [
      ['archive', { archive: { remote: { url: `https://${untrusted}/c1.tgz` } } }, 'customCAData'],
      [
        'repository',
        { helmChartRepo: { ...REPO, helmChartRepoUrl: `https://${untrusted}` } },
        'customCAData',
      ],
      ['scheme', { archive: { remote: { url: `https://${plain}/c1.tgz` } } }, 'https:// or http://'],
    ] as const;
    for (const [name, chart, advice] of rows) {
      const status = await run(`unusable-${name}`, chart);
      expect(status?.phase, name).to.equal('Failed');
      expect(status?.lastError?.codes).to.deep.equal(['ERR_CONFIGURATION_PROBLEM']);
      expect(status?.lastError?.message).to.contain(advice);
    }
    expect(servers.requests()).to.equal(0);
  });

  it('DEP-64: a private registry requires the pull secrets of the Context', async () => {
    const chart = { ref: `${locked.address}/charts/c1:0.1.0` };
    const message = await complaint('anonymous', chart);
    expect(message).to.contain('charts/c1:0.1.0');
    expect(await world.configMap('app/anonymous-cm')).to.equal(undefined);
    await context('pulling', { registryPullSecrets: [{ name: 'reg' }] });
    const status = await run('known', chart, { context: 'pulling' });
    expect(status?.phase).to.equal('Succeeded');
  });

  it('DEP-65: a private repository gets the header of the entry with its prefix, and no other', async () => {
    const index = { apiVersion: 'v1', entries: { small: [{ version: '0.1.0', urls: ['small-0.1.0.tgz'] }] } };
    for (const folder of ['r', 'open']) {
      server.files.set(`/${folder}/index.yaml`, JSON.stringify(index));
      server.files.set(`/${folder}/small-0.1.0.tgz`, c1());
    }
    const chart = (folder: string): object => ({
      helmChartRepo: {
        helmChartRepoUrl: `${server.url}/${folder}`,
        helmChartName: 'small',
        helmChartVersion: '0.1.0',
      },
    });
    await secret('repo', { authHeader: 'Basic dTpw' });
    await secret('bearer', { authHeader: 'Bearer x.y-z' });
    const auths = (name: string) => [{ url: `${server.url}/r`, secretRef: { name } }];
    await context('repo', { configurations: { helmChartRepoCredentials: { auths: auths('repo') } } });
    await context('bearer', { configurations: { helmChartRepoCredentials: { auths: auths('bearer') } } });
    server.needsLogin = true;
    expect((await run('repo', chart('r'), { context: 'repo' }))?.phase).to.equal('Succeeded');
    expect(await complaint('bearer', chart('r'), { context: 'bearer' })).to.contain(
      'only basic auth supported; to use a bearer token, set "allowBearer: true" beside the URL of the entry',
    );
    const allowed = auths('bearer').map((entry) => ({ ...entry, allowBearer: true }));
    await context('token', { configurations: { helmChartRepoCredentials: { auths: allowed } } });
    expect((await run('token', chart('r'), { context: 'token' }))?.phase).to.equal('Succeeded');
    server.needsLogin = false;
    server.asked.length = 0;
    expect((await run('open', chart('open'), { context: 'repo' }))?.phase).to.equal('Succeeded');
    expect(server.asked.map(({ headers }) => headers.authorization)).to.deep.equal([undefined, undefined]);
  });

  it('a chart that a repository does not have ends the job', async () => {
    const repo = { helmChartRepoUrl: `${server.url}/open`, helmChartName: 'none', helmChartVersion: '1.0.0' };
    const status = await run('nochart', { helmChartRepo: repo });
    expect(status?.lastError?.message).to.contain(
      `no chart name found: ${server.url}/open has no chart none`,
    );
    expect(status?.lastError?.codes).to.deep.equal(['ERR_CONFIGURATION_PROBLEM']);
  });

  it('a repository without an index ends the job, too', async () => {
    const repo = { helmChartRepoUrl: `${server.url}/absent`, helmChartName: 'a', helmChartVersion: '1.0.0' };
    const status = await run('noindex', { helmChartRepo: repo });
    expect(status?.lastError?.message).to.contain(
      `cannot download repository index from "${server.url}/absent/index.yaml": 404`,
    );
    expect(status?.lastError?.codes).to.deep.equal(['ERR_CONFIGURATION_PROBLEM']);
  });

  for (const [what, index, text] of [
    ['has no such chart', '{}', 'no chart name found'],
    ['has no such version', '{"entries": {"small": []}}', 'no chart version found'],
    ['is not readable', 'a: [', 'is not valid YAML'],
    [
      'has no valid address',
      '{"entries": {"small": [{"version": "1.0.0", "urls": ["http://["]}]}}',
      'is not valid',
    ],
    [
      'has a file',
      '{"entries": {"small": [{"version": "1.0.0", "urls": ["file:///etc/x"]}]}}',
      'is not valid',
    ],
  ] as const) {
    it(`credentials in the URL are not shown if the repository ${what}`, async () => {
      server.files.set('/mine/index.yaml', index);
      const repo = {
        helmChartRepoUrl: `${server.url.replace('//', '//user:hunter22@')}/mine`,
        helmChartName: 'small',
        helmChartVersion: '1.0.0',
      };
      const message = await complaint(what.replaceAll(' ', '-'), { helmChartRepo: repo });
      expect(message).to.contain(text).and.contain(`${server.url}/mine`).and.not.contain('hunter22');
    });
  }

  it('DEP-66: a chart is requested in each job, or once a day if the item says so', async () => {
    const chart = { ref: `${registry.address}/charts/c1:0.1.0` };
    const asked = async (name: string, more: object): Promise<number> => {
      registry.seen.length = 0;
      await run(name, chart, more);
      await world.run(name, 'j2');
      await world.run(name, 'j3');
      return registry.requests(/manifests/).length;
    };
    expect(await asked('each', {})).to.equal(3);
    expect(await asked('daily', CACHED)).to.equal(1);
  });

  it('a chart can be a resource of a component, by the key that templates create', async () => {
    const binary = `---Start Binary---\n${c1().toString('base64')}\n---End Binary---\n`;
    const component = descriptor('example.org/app', '1.0.0', [
      blob('chart', 'helmChart', 'application/tar+gzip', 'chart.tgz'),
    ]);
    await context('component', {
      repositoryContext: {
        type: 'inline',
        compDescDirPath: 'comps',
        blobDirPath: 'blobs',
        fileSystem: {
          comps: { 'a.yaml': { $type: 'yaml', value: component } },
          blobs: { 'chart.tgz': binary },
        },
      },
    });
    const key = { component: { name: 'example.org/app', version: '1.0.0' }, resource: { name: 'chart' } };
    const resourceRef = Buffer.from(JSON.stringify(key)).toString('base64');
    const status = await run('resource', { resourceRef }, { context: 'component' });
    expect(status?.lastError?.message).to.equal(undefined);
    expect(status?.phase).to.equal('Succeeded');
  });
}).timeout(40_000);
