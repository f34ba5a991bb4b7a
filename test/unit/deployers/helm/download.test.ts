/** Downloads of charts and indexes: redirects, credentials, limits, and what messages contain. */
import { once } from 'node:events';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import {
  download,
  DownloadFailed,
  DownloadTooLarge,
  type Download,
} from '../../../../deployers/helm/download.ts';
import { Trust } from '../../../../src/components/trust.ts';
import { ByteBudget } from '../../../../src/lib/byte-budget.ts';
import { FakeClock } from '../../../support/clock.ts';
import { FileServer } from './file-server.ts';

const BASIC = 'Basic dTpw';

describe('a download', () => {
  let home: FileServer;
  let other: FileServer;
  before(async () => {
    home = await FileServer.start();
    other = await FileServer.start();
  });
  beforeEach(() => {
    for (const server of [home, other]) {
      server.asked.length = 0;
      server.answers.clear();
    }
  });
  after(() => Promise.all([home.stop(), other.stop()]));

  const get = (path: string, more: Partial<Download> = {}): Promise<string> =>
    download('unable to fetch', {
      url: `${home.url}${path}`,
      clock: new FakeClock(),
      signal: new AbortController().signal,
      namespace: 'a',
      ...more,
    }).then((bytes) => Buffer.from(bytes).toString());
  const failure = async (path: string, more: Partial<Download> = {}): Promise<Error> =>
    get(path, more).then(
      () => new Error('it succeeded'),
      (error: unknown) => error as Error,
    );

  it('follows redirects, relative to the last address, with their query', async () => {
    home.redirect('/a/x', '../b/y?sig=1');
    home.redirect('/b/y?sig=1', 'z');
    home.answers.set('/b/z', 'chart');
    expect(await get('/a/x')).to.equal('chart');
  });

  it('sends credentials to the origin of its address alone, also after a redirect', async () => {
    home.redirect('/x', `${other.url}/y`);
    other.redirect('/y', '/z');
    other.redirect('/z', `${home.url}/end`);
    home.answers.set('/end', 'chart');
    await get('/x', { authorization: BASIC });
    expect(other.asked).to.deep.equal(['/y', '/z']);
    expect(home.asked).to.deep.equal([`/x ${BASIC}`, `/end ${BASIC}`]);
  });

  it('follows five redirects, and no sixth', async () => {
    for (let hop = 0; hop < 6; hop++) home.redirect(`/${String(hop)}`, `/${String(hop + 1)}`);
    home.answers.set('/6', 'chart');
    expect(await get('/1')).to.equal('chart');
    expect((await failure('/0')).message).to.contain('too many redirects');
  });

  it('follows no redirect to this machine or its link, whether a server or an index names it', async () => {
    home.redirect('/metadata', 'http://169.254.169.254/latest');
    home.redirect('/x', `${other.url}/y`);
    other.answers.set('/y', 'chart');
    const trust = new Trust();
    const isFirst = (url: URL, first: URL): boolean => url.origin === first.origin;
    const remote = {
      connect: trust.connect.bind(trust),
      chooserOf: (url: URL, first: URL) =>
        isFirst(url, first) ? ('user' as const) : trust.chooserOf(url, new URL('https://charts.example.org')),
    };
    const namedBy = 'https://charts.example.org';
    for (const error of [
      await failure('/metadata'),
      await failure('/x', { trust: remote }),
      await failure('/x', { namedBy }),
    ])
      expect(error.message).to.contain('registry.allowLocalAddresses');
    expect(other.asked).to.deep.equal([]);
    expect(await get('/x', { namedBy, trust: new Trust({ local: 'all' }) })).to.equal('chart');
  });

  it('follows no redirect to something other than HTTP', async () => {
    home.redirect('/x', 'file:///etc/passwd');
    expect((await failure('/x')).message).to.contain('redirected to something that is not HTTP');
  });

  const refused: readonly (readonly [number, Readonly<Record<string, string>>, string])[] = [
    [404, {}, '404 Not Found'],
    [500, { location: '/y' }, '500 Internal Server Error'],
    [304, {}, '304 Not Modified'],
  ];
  for (const [status, headers, message] of refused)
    it(`fails after the status ${String(status)}${headers['location'] ? ' with a location' : ''}`, async () => {
      home.answers.set('/x?sig=secret', { status, headers });
      const error = await failure('/x?sig=secret');
      expect(error).to.be.instanceOf(DownloadFailed).with.property('statusCode', status);
      expect(error.message).to.equal(`unable to fetch from "${home.url}/x": ${message}`);
    });

  it('has a size limit, which the message names', async () => {
    home.answers.set('/x', 'x'.repeat(2 ** 20));
    const limits = (maxBytes: number) => ({ limits: { maxBytes, budget: new ByteBudget(2 ** 24) } });
    expect(await get('/x', limits(2 ** 20))).to.have.length(2 ** 20);
    const error = await failure('/x?sig=1', limits(2 ** 20));
    expect(error).to.not.be.instanceOf(DownloadTooLarge);
    home.answers.set('/y?sig=1', 'x'.repeat(2 ** 20 + 1));
    const large = await failure('/y?sig=1', limits(2 ** 20));
    expect(large).to.be.instanceOf(DownloadTooLarge);
    expect(large.message).to.contain(`from "${home.url}/y": the server answered with more than 1 MiB`);
  });

  it('takes its memory from the share of the namespace, or else from that of the server', async () => {
    home.answers.set('/x', 'x'.repeat(2 ** 20));
    const keys: string[] = [];
    class Noted extends ByteBudget {
      override take(...[bytes, key, signal]: Parameters<ByteBudget['take']>) {
        keys.push(key);
        return super.take(bytes, key, signal);
      }
    }
    const limits = { maxBytes: 2 ** 20, budget: new Noted(2 ** 22) };
    await get('/x', { limits, namespace: 'shop' });
    await get('/x', { limits, namespace: undefined });
    expect(keys).to.deep.equal(['namespace shop', `server ${new URL(home.url).host}`]);
    expect(limits.budget.used).to.equal(0);
  });

  it('keeps an archive compressed that the server declares as encoded', async () => {
    const packed = gzipSync('chart');
    const server = await FileServer.start();
    server.answers.set('/x', packed);
    const bytes = await download('x', {
      url: `${server.url}/x`,
      clock: new FakeClock(),
      signal: new AbortController().signal,
      namespace: undefined,
    });
    expect(Buffer.from(bytes).equals(packed)).to.equal(true);
    await server.stop();
  });

  it('that is interrupted ends with the interruption', async () => {
    const ending = new AbortController();
    ending.abort(new Error('stop'));
    expect(await failure('/x', { signal: ending.signal })).to.have.property('message', 'stop');
  });

  it('leaves no connection open, whether it succeeded or not', async () => {
    home.answers.set('/x', 'chart');
    for (const path of ['/x', '/none']) {
      await get(path).catch(() => undefined);
      for (const socket of home.sockets) await once(socket, 'close');
    }
    expect(home.sockets.size).to.equal(0);
  });
});
