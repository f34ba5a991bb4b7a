/** Where charts come from: which layer of an artifact is the chart, when a cached one is used, and how errors end the job. */
import { expect } from 'chai';
import { createChartCache } from '../../../../deployers/helm/cache.ts';
import { loadChart } from '../../../../deployers/helm/chart.ts';
import type { ChartSource } from '../../../../deployers/helm/config.ts';
import type { HelmContext, HelmOptions } from '../../../../deployers/helm/helm-context.ts';
import { JobResults } from '../../../../deployers/helm/job-results.ts';
import { ConfigurationError, RetryError } from '../../../../deployers/sdk/errors.ts';
import { ContentTooLarge, RegistryUnavailable } from '../../../../src/components/errors.ts';
import { ChartStopped } from '../../../../src/templating/helm/errors.ts';
import { FakeClock } from '../../../support/clock.ts';
import { c1, chartsHere } from '../../../support/helm-charts.ts';
import { FileServer } from './file-server.ts';

const CHART = 'application/vnd.cncf.helm.chart.content.v1.tar+gzip';
const ref = (name: string): ChartSource => ({ kind: 'ref', ref: `reg.local/${name}:1` });
/** A resource of a component, which is an artifact in the registry. */
const OF_COMPONENT: ChartSource = {
  kind: 'resource',
  key: Buffer.from(
    JSON.stringify({ component: { name: 'example.org/a', version: '1.0.0' }, resource: { name: 'chart' } }),
  ).toString('base64'),
};
const REPO = { kind: 'repo', name: 'web', version: '1.0.0' } as const;

interface Given {
  readonly namespace?: string;
  readonly context?: string;
  readonly contextVersion?: string;
  readonly annotation?: string;
  readonly spec?: object;
  readonly secrets?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly aborted?: boolean;
}

/** A deployer that is asked for charts; each call of `load` is another job. */
class Loader {
  /** `host repository namespace users` of each request. */
  readonly asked: string[] = [];
  layers: readonly { readonly mediaType: string; readonly digest: string }[] = [
    { mediaType: CHART, digest: 'chart' },
  ];
  error: Error | undefined;
  hasArtifact = true;
  stops = false;
  /** How the program fails that reads the chart. */
  readFails: (() => Promise<never>) | undefined;
  /** The components that were searched. */
  readonly found: object[] = [];
  readonly #clock = new FakeClock();
  readonly #cache = createChartCache(this.#clock, 10_000_000);
  #jobs = 0;

  readonly #options = {
    clock: this.#clock,
    chartsOf: () => ({
      ...chartsHere()(''),
      ...(this.stops && { mentions: () => Promise.reject(new ChartStopped('it takes too long')) }),
      ...(this.readFails && { mentions: this.readFails }),
    }),
    repositories: {
      find: (wanted: object) => {
        this.found.push(wanted);
        return Promise.resolve({
          component: {
            name: 'example.org/a',
            version: '1.0.0',
            resources: [
              {
                name: 'chart',
                access: { type: 'ociArtifact', imageReference: 'reg.local/charts/web:1' },
              },
            ],
          },
          repository: {},
        });
      },
      registry: (host: string, _: unknown, namespace: string) => ({
        name: `registry ${host}`,
        artifact: (repository: string) => {
          this.asked.push(`${host} ${repository} ${namespace}`);
          if (this.error) return Promise.reject(this.error);
          return Promise.resolve(this.hasArtifact ? { layers: this.layers } : undefined);
        },
        blob: (_repository: string, { digest }: { digest: string }) =>
          Promise.resolve(digest === 'chart' ? c1() : Buffer.from(digest)),
      }),
    },
  } as unknown as HelmOptions;

  load(chart: ChartSource, given: Given = {}): Promise<unknown> {
    const { namespace = 'a', context = 'default', contextVersion = '1', annotation } = given;
    const ending = new AbortController();
    if (given.aborted) ending.abort(new Error('stop'));
    const ctx = {
      config: { chart },
      clock: this.#clock,
      signal: ending.signal,
      scratch: new Map(),
      item: {
        metadata: {
          uid: String(this.#jobs++),
          namespace,
          ...(annotation !== undefined && {
            annotations: { 'landscaper.gardener.cloud/cache-helm-charts': annotation },
          }),
        },
      },
      context: { metadata: { name: context, resourceVersion: contextVersion }, ...given.spec },
      host: {
        secret: (name: string) => Promise.resolve(given.secrets?.[name]),
        configMap: () => Promise.resolve(undefined),
      },
    } as unknown as HelmContext;
    return loadChart(ctx, this.#options, { cache: this.#cache, results: new JobResults() });
  }

  failure(chart: ChartSource, given: Given = {}): Promise<Error> {
    return this.load(chart, given).then(
      () => new Error('it succeeded'),
      (error: unknown) => error as Error,
    );
  }
}

describe('the chart of a job', () => {
  let loader: Loader;
  beforeEach(() => {
    loader = new Loader();
  });

  describe('that may be cached', () => {
    const base: Given = { annotation: 'true' };
    const rows: readonly (readonly [
      title: string,
      first: ChartSource,
      second: ChartSource,
      Given,
      requests: number,
    ])[] = [
      ['is fetched once for the same source, namespace and Context', ref('a'), ref('a'), base, 1],
      ['is fetched for each source', ref('a'), ref('b'), base, 2],
      ['is fetched for each namespace', ref('a'), ref('a'), { ...base, namespace: 'b' }, 2],
      ['is fetched for each Context', ref('a'), ref('a'), { ...base, context: 'other' }, 2],
      [
        'is fetched again after a change of the Context',
        ref('a'),
        ref('a'),
        { ...base, contextVersion: '2' },
        2,
      ],
      ['is fetched again without the annotation', ref('a'), ref('a'), {}, 2],
      [
        'is fetched again with another value of the annotation',
        ref('a'),
        ref('a'),
        { annotation: 'false' },
        2,
      ],
    ];
    for (const [title, first, second, given, requests] of rows)
      it(title, async () => {
        await loader.load(first, base);
        await loader.load(second, given);
        expect(loader.asked).to.have.length(requests);
      });

    it('is not cached if it could not be fetched', async () => {
      loader.error = new RegistryUnavailable('no');
      await loader.failure(ref('a'), base);
      loader.error = undefined;
      await loader.load(ref('a'), base);
      expect(loader.asked).to.have.length(2);
    });

    it('is fetched in each job from an address without a repository', async () => {
      const server = await FileServer.start();
      server.answers.set('/c.tgz', c1());
      for (let i = 0; i < 2; i++) await loader.load({ kind: 'remote', url: `${server.url}/c.tgz` }, base);
      expect(server.asked).to.have.length(2);
      await server.stop();
    });
  });

  it('is requested for the namespace of the item', async () => {
    await loader.load(ref('charts/web'), { namespace: 'tenant' });
    expect(loader.asked).to.deep.equal(['reg.local charts/web tenant']);
  });

  for (const mediaType of [CHART, 'application/tar+gzip'])
    it(`is the layer of type ${mediaType}, wherever it is`, async () => {
      loader.layers = [
        { mediaType: 'application/vnd.cncf.helm.chart.provenance.v1.prov', digest: 'signature' },
        { mediaType, digest: 'chart' },
      ];
      for (const source of [ref('a'), OF_COMPONENT]) await loader.load(source);
    });

  it('is never a layer of another type', async () => {
    for (const mediaType of [
      'application/gzip',
      'application/vnd.oci.image.layer.v1.tar+gzip',
      `${CHART}x`,
    ]) {
      loader.layers = [{ mediaType, digest: 'chart' }];
      for (const source of [ref('a'), OF_COMPONENT])
        expect((await loader.failure(source)).message).to.contain(
          'is not a chart: none of its 1 layers contains one',
        );
    }
  });

  it('is searched in the version of the component that its key names', async () => {
    await loader.load(OF_COMPONENT);
    expect(loader.found).to.deep.equal([{ componentName: 'example.org/a', version: '1.0.0' }]);
  });

  it('that the registry does not have ends the job', async () => {
    loader.hasArtifact = false;
    const error = await loader.failure(ref('charts/web'));
    expect(error).to.be.instanceOf(ConfigurationError);
    expect(error.message).to.contain('registry reg.local has no chart charts/web:1');
  });

  it('needs all pull secrets of the Context', async () => {
    const spec = { registryPullSecrets: [{ name: 'there' }, { name: 'none' }] };
    const secrets = { there: { '.dockerconfigjson': '{"auths":{}}' } };
    expect((await loader.failure(ref('a'), { spec, secrets })).message).to.contain(
      'the Context default references secret none, which does not exist',
    );
    expect(loader.asked).to.deep.equal([]);
  });

  const key = (value: unknown): ChartSource => ({
    kind: 'resource',
    key: Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64'),
  });
  const component = { name: 'example.org/a', version: '1.0.0' };
  const keys: readonly (readonly [title: string, ChartSource, message: string])[] = [
    ['that is not YAML', key('a: ['), 'is not the key of a resource'],
    ['that is too long', key('a'.repeat(2 ** 14)), 'is not the key of a resource'],
    ['without a component', key({ resource: { name: 'r' } }), 'must name a component with its version'],
    [
      'without a name',
      key({ component: { version: '1' }, resource: { name: 'r' } }),
      'must name a component',
    ],
    [
      'without a version',
      key({ component: { name: 'c' }, resource: { name: 'r' } }),
      'must name a component',
    ],
    ['without a resource', key({ component }), 'must name a component with its version, and a resource'],
    ['with a resource without a name', key({ component, resource: { type: 'x' } }), 'and a resource'],
  ];
  for (const [title, chart, message] of keys)
    it(`is not searched for a key ${title}`, async () => {
      expect((await loader.failure(chart)).message).to.contain(message);
    });

  describe('ends the job', () => {
    it('if it is too large', async () => {
      loader.error = new ContentTooLarge('too large');
      expect(await loader.failure(ref('a'))).to.be.instanceOf(ConfigurationError);
    });

    it('if it had to be stopped', async () => {
      loader.stops = true;
      for (const source of [ref('a'), { kind: 'raw', base64: c1().toString('base64') } as const]) {
        const error = await loader.failure(source);
        expect(error).to.be.instanceOf(ConfigurationError);
        expect(error.message, 'nothing is wrong with the content')
          .to.contain('it takes too long')
          .and.not.contain('chart.archive.raw');
      }
    });

    it('if the configuration contains something else', async () => {
      const base64 = Buffer.from('no chart').toString('base64');
      const error = await loader.failure({ kind: 'raw', base64 });
      expect(error)
        .to.be.instanceOf(ConfigurationError)
        .with.property('message')
        .that.contains('chart.archive.raw');
    });
  });

  describe('ends the job', () => {
    it('if a registry serves something else', async () => {
      loader.layers = [{ mediaType: CHART, digest: 'no chart' }];
      expect(await loader.failure(ref('a'))).to.be.instanceOf(ConfigurationError);
    });

    it('if a repository does not have it, or is broken', async () => {
      const server = await FileServer.start();
      expect(await loader.failure({ ...REPO, url: server.url })).to.be.instanceOf(ConfigurationError);
      server.answers.set('/index.yaml', 'a: [');
      expect(await loader.failure({ ...REPO, url: server.url })).to.be.instanceOf(ConfigurationError);
      await server.stop();
    });
  });

  it('that causes an unexpected error passes it on', async () => {
    loader.error = new TypeError('a bug of a registry');
    expect(await loader.failure(ref('a'))).to.equal(loader.error);
    loader.error = undefined;
    const bug = new TypeError('a bug of the reader');
    loader.readFails = () => Promise.reject(bug);
    expect(await loader.failure(ref('a'))).to.equal(bug);
  });

  it('is retried if a registry is not available', async () => {
    loader.error = new RegistryUnavailable('no');
    expect(await loader.failure(ref('a'))).to.be.instanceOf(RetryError);
  });

  it('that is interrupted ends with the interruption', async () => {
    loader.error = new RegistryUnavailable('connection closed');
    expect(await loader.failure(ref('a'), { aborted: true })).to.equal(loader.error);
  });
});
