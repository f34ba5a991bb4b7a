/** Chart repositories: which version of the index is meant, and which server receives which credentials. */
import { expect } from 'chai';
import { DownloadFailed } from '../../../../deployers/helm/download.ts';
import type { HelmContext } from '../../../../deployers/helm/helm-context.ts';
import {
  ChartNotPublished,
  chartFromRepository,
  RepositoryProblem,
} from '../../../../deployers/helm/repository.ts';
import { locationIn } from '../../../../deployers/helm/repository-index.ts';
import { Trust } from '../../../../src/components/trust.ts';
import { FakeClock } from '../../../support/clock.ts';
import { FileServer } from './file-server.ts';

const BASIC = 'Basic dTpw';

describe('the version of a chart in an index', () => {
  const location = (wanted: string, ...versions: readonly string[]): string => {
    const entries = { web: versions.map((version) => ({ version, urls: [`${version}.tgz`, 'mirror'] })) };
    return locationIn(Buffer.from(JSON.stringify({ entries })), {
      url: 'http://r',
      name: 'web',
      version: wanted,
    });
  };

  const rows: readonly (readonly [
    title: string,
    wanted: string,
    versions: readonly string[],
    found: string,
  ])[] = [
    ['is the one with exactly this name', '1.0.0', ['1.0.1', '1.0.0', '1.0.0+b'], '1.0.0'],
    ['may have a v in the index only', '1.0.0', ['v1.0.1', 'v1.0.0'], 'v1.0.0'],
    ['may have a v in the configuration only', 'v1.0.0', ['1.0.1', '1.0.0'], '1.0.0'],
    ['with a v is found as it is', 'v1.0.0', ['1.0.0', 'v1.0.0'], 'v1.0.0'],
    [
      'is the newest in a range, whatever the order of the index',
      '~1.2',
      ['1.2.3', '1.2.10', '1.2.9', '1.3.0'],
      '1.2.10',
    ],
    ['in a range may have a v', '^1.0.0', ['v1.1.0', 'v1.2.0', 'v2.0.0'], 'v1.2.0'],
    ['is not a preview, unless the range has one', '>=1.0.0', ['1.0.0', '1.1.0-rc.1'], '1.0.0'],
    ['is exact, though the name is a range as well', '1', ['1.5.0', '1'], '1'],
    ['is exact also with a v in the index', '1', ['1.5.0', 'v1'], 'v1'],
  ];
  for (const [title, wanted, versions, found] of rows)
    it(title, () => {
      expect(location(wanted, ...versions)).to.equal(`${found}.tgz`);
    });

  it('is a string, whatever YAML reads without quotes', () => {
    const index = 'entries: {web: [{Version: 1.10, urls: [7]}]}';
    const at = (version: string): string =>
      locationIn(Buffer.from(index), { url: 'http://r', name: 'web', version });
    expect(at('1.1')).to.equal('7');
    expect(() => at('1.10')).to.throw('no chart version found');
  });

  it('that does not exist fails, and so does one without an archive', () => {
    expect(() => location('2.0.0', '1.0.0')).to.throw(
      RepositoryProblem,
      'no chart version found for web-2.0.0',
    );
    for (const urls of [undefined, [], [{}], 'x'])
      expect(() =>
        locationIn(Buffer.from(JSON.stringify({ entries: { web: [{ version: '1.0.0', urls }] } })), {
          url: 'http://r',
          name: 'web',
          version: '1.0.0',
        }),
      ).to.throw('no chart version found');
  });
});

describe('a chart repository', () => {
  let home: FileServer;
  let other: FileServer;
  let secrets: Record<string, Record<string, string>>;
  before(async () => {
    home = await FileServer.start();
    other = await FileServer.start();
  });
  beforeEach(() => {
    secrets = {};
    for (const server of [home, other]) {
      server.asked.length = 0;
      server.answers.clear();
    }
  });
  after(() => Promise.all([home.stop(), other.stop()]));

  const index = (path: string, location: string): void => {
    home.answers.set(
      `${path}/index.yaml`,
      JSON.stringify({ entries: { web: [{ version: '1.0.0', urls: [location] }] } }),
    );
  };
  let trust: Pick<Trust, 'connect' | 'chooserOf'> | undefined;
  beforeEach(() => {
    trust = undefined;
  });
  const fetchFrom = (path: string, ...auths: readonly unknown[]): Promise<string> => {
    const ctx = {
      clock: new FakeClock(),
      signal: new AbortController().signal,
      item: { metadata: { namespace: 'a' } },
      context: { metadata: { name: 'ctx' }, configurations: { helmChartRepoCredentials: { auths } } },
      host: { secret: (name: string) => Promise.resolve(secrets[name]) },
    } as unknown as HelmContext;
    const fromRegistry = (ref: string) => Promise.resolve(Buffer.from(`chart of ${ref}`));
    const wanted = { url: `${home.url}${path}`, name: 'web', version: '1.0.0' };
    return chartFromRepository(wanted, ctx, { fromRegistry, trust }).then((bytes) =>
      Buffer.from(bytes).toString(),
    );
  };

  it('has chosen the address of an archive, which may thus not be local, and not the user', async () => {
    const chosen: string[] = [];
    const { connect } = Trust.prototype;
    trust = {
      connect: connect.bind(new Trust()),
      chooserOf: (url, first) => {
        chosen.push(`${url.origin}${url.pathname} of ${first.origin}`);
        return 'user';
      },
    };
    index('/r', `${other.url}/web.tgz`);
    other.answers.set('/web.tgz', 'chart');
    expect(await fetchFrom('/r')).to.equal('chart');
    expect(chosen).to.deep.equal([
      `${home.url}/r/index.yaml of ${home.url}`,
      `${other.url}/web.tgz of ${home.url}`,
    ]);
  });

  const failure = (path: string, ...auths: readonly unknown[]): Promise<Error> =>
    fetchFrom(path, ...auths).then(
      () => new Error('it succeeded'),
      (error: unknown) => error as Error,
    );

  it('may have its archives on another server, which does not receive its credentials', async () => {
    index('/r', `${other.url}/web.tgz`);
    other.answers.set('/web.tgz', 'chart');
    expect(await fetchFrom('/r', { url: home.url, authHeader: BASIC })).to.equal('chart');
    expect(home.asked).to.deep.equal([`/r/index.yaml ${BASIC}`]);
    expect(other.asked).to.deep.equal(['/web.tgz']);
  });

  const places: readonly (readonly [title: string, path: string, location: string, archive: string])[] = [
    ['relative to itself', '/r', 'web.tgz', '/r/web.tgz'],
    ['relative to itself, though its address ends with a slash', '/r/', 'web.tgz', '/r/web.tgz'],
    ['relative to its server', '/r', '/web.tgz', '/web.tgz'],
  ];
  for (const [title, path, location, archive] of places)
    it(`may have its archives ${title}, which need its credentials`, async () => {
      index('/r', location);
      home.answers.set(archive, 'chart');
      expect(await fetchFrom(path, { url: home.url, authHeader: BASIC })).to.equal('chart');
      expect(home.asked).to.deep.equal([`/r/index.yaml ${BASIC}`, `${archive} ${BASIC}`]);
    });

  const entries: readonly (readonly [
    title: string,
    auths: (url: string) => readonly unknown[],
    header: string,
  ])[] = [
    ['no entry', () => [], ''],
    ['an entry of the server', (url) => [{ url, authHeader: BASIC }], BASIC],
    ['an entry with a slash', (url) => [{ url: `${url}/a/`, authHeader: BASIC }], BASIC],
    [
      'an entry of a folder whose name only starts the same',
      (url) => [{ url: `${url}/a/b`, authHeader: BASIC }],
      '',
    ],
    ['an entry without an address', () => [{ url: '', authHeader: BASIC }, { authHeader: BASIC }], ''],
    [
      'several entries: the longest address counts',
      (url) => [
        { url, authHeader: 'Basic c2hvcnQ=' },
        { url: `${url}/a/bc`, authHeader: BASIC },
        { url: `${url}/a`, authHeader: 'Basic bWlkZGxl' },
      ],
      BASIC,
    ],
    ['values that are no entries', (url) => [null, 'x', { url, authHeader: BASIC }], BASIC],
    [
      'a bearer token that is allowed',
      (url) => [{ url, authHeader: 'Bearer a.b-c', allowBearer: true }],
      'Bearer a.b-c',
    ],
    ['a secret with the usual key', (url) => [{ url, secretRef: { name: 's' } }], 'Basic ZGVmYXVsdA=='],
    ['a secret with another key', (url) => [{ url, secretRef: { name: 's', key: 'k' } }], 'Basic b3RoZXI='],
    [
      'a header and a secret: the header counts',
      (url) => [{ url, authHeader: BASIC, secretRef: { name: 's' } }],
      BASIC,
    ],
    [
      'an empty header and a secret',
      (url) => [{ url, authHeader: '', secretRef: { name: 's' } }],
      'Basic ZGVmYXVsdA==',
    ],
    ['a secret with white space', (url) => [{ url, secretRef: { name: 's', key: 'spaced' } }], BASIC],
    ['an entry that has only an authority', (url) => [{ url, secretRef: {} }], ''],
  ];
  for (const [title, auths, header] of entries)
    it(`receives ${header === '' ? 'no header' : header} for ${title}`, async () => {
      secrets['s'] = { authHeader: 'Basic ZGVmYXVsdA==', k: 'Basic b3RoZXI=', spaced: ` ${BASIC}\n` };
      index('/a/bc', 'web.tgz');
      home.answers.set('/a/bc/web.tgz', 'chart');
      await fetchFrom('/a/bc', ...auths(home.url));
      expect(home.asked[0]).to.equal(`/a/bc/index.yaml ${header}`.trim());
    });

  const wrong: readonly (readonly [title: string, entry: object, message: string])[] = [
    ['a bearer token', { authHeader: 'Bearer a.b' }, 'only basic auth supported; to use a bearer token'],
    [
      'a bearer token that is allowed by a string',
      { authHeader: 'Bearer a', allowBearer: 'true' },
      'to use a bearer',
    ],
    ['another scheme', { authHeader: 'Digest x', allowBearer: true }, 'only basic auth supported'],
    ['more than a header', { authHeader: 'Basic YQ==\r\nX: y' }, 'only basic auth supported'],
    ['a secret that does not exist', { secretRef: { name: 'none' } }, 'from key authHeader of secret none'],
    [
      'a key that does not exist',
      { secretRef: { name: 's', key: 'k' } },
      'the Context ctx takes credentials from key k of secret s',
    ],
  ];
  for (const [title, entry, message] of wrong)
    it(`receives no request with ${title}`, async () => {
      secrets['s'] = { other: BASIC };
      const error = await failure('/r', { url: home.url, ...entry });
      expect(error).to.be.instanceOf(RepositoryProblem).with.property('message').that.contains(message);
      expect(home.asked).to.deep.equal([]);
    });

  it('without an index does not have the chart yet; one that fails is retried', async () => {
    expect(await failure('/r')).to.be.instanceOf(ChartNotPublished);
    home.answers.set('/r/index.yaml', { status: 500 });
    expect(await failure('/r')).to.be.instanceOf(DownloadFailed);
    index('/r', 'web.tgz');
    expect(await failure('/r')).to.be.instanceOf(DownloadFailed);
  });

  const references: readonly (readonly [location: string, ref: string])[] = [
    ['oci://reg.example/charts/web:1.0.0', 'reg.example/charts/web:1.0.0'],
    ['OCI://reg.example:5000/charts/web', 'reg.example:5000/charts/web:1.0.0'],
    ['oci://reg.example/web:1.0.0+build', 'reg.example/web:1.0.0_build'],
    ['oci://reg.example/web@sha256:ab', 'reg.example/web@sha256:ab'],
  ];
  for (const [location, ref] of references)
    it(`may have its archives in a registry: ${location}`, async () => {
      index('/r', location);
      expect(await fetchFrom('/r')).to.equal(`chart of ${ref}`);
    });

  it('cannot refer to registries at local addresses, except its own server', async () => {
    index('/r', 'oci://169.254.169.254/web:1');
    const refused = await failure('/r');
    expect(refused).to.be.instanceOf(RepositoryProblem);
    expect(refused.message).to.contain('169.254.169.254');
    index('/r', `oci://${new URL(home.url).host}/web:1`);
    expect(await fetchFrom('/r')).to.contain('chart of');
  });

  it('has archives at addresses of HTTP only', async () => {
    for (const location of ['file:///etc/passwd', 'http://[']) {
      index('/r', location);
      expect((await failure('/r')).message).to.contain('at an address that is not valid');
    }
  });
});
