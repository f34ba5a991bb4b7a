/** A third-party deployer built on the SDK: the one of the documentation, with a web server in memory. */
import { expect } from 'chai';
import { httpDeployer } from '../../../../docs/samples/deployers/http/deployer.ts';
import { Bench } from '../bench.ts';

const type = httpDeployer.type;
const at = (path: string): object => ({
  apiVersion: 'http.example.org/v1',
  kind: 'ProviderConfiguration',
  path,
  document: { a: 1 },
});

describe('a third-party deployer', () => {
  const original = globalThis.fetch;
  const documents = new Map<string, unknown>();
  const requests: string[] = [];
  /** The status code of the server for a PUT, if it rejects it. */
  let refusal: number | undefined;
  beforeEach(() => {
    documents.clear();
    requests.length = 0;
    refusal = undefined;
    globalThis.fetch = ((url: string, { method = 'GET', body }: RequestInit) => {
      const { pathname } = new URL(url);
      requests.push(`${method} ${pathname}`);
      if (method === 'PUT' && refusal !== undefined)
        return Promise.resolve(new Response('', { status: refusal }));
      if (method === 'PUT') documents.set(pathname, body);
      const isThere = documents.has(pathname);
      if (method === 'DELETE') documents.delete(pathname);
      return Promise.resolve(new Response(null, { status: isThere ? 200 : 404, headers: { etag: '"e"' } }));
    }) as typeof fetch;
  });
  afterEach(() => {
    globalThis.fetch = original;
  });

  async function given(path: string): Promise<Bench> {
    const b = new Bench(httpDeployer);
    b.host.put({
      apiVersion: 'landscaper.gardener.cloud/v1alpha1',
      kind: 'Target',
      metadata: { name: 'cluster-a', namespace: 'proj' },
      spec: { type: 'example.org/web-server', config: { endpoint: 'http://store.invalid' } },
    });
    b.giveItem(at(path), { type });
    await b.kick('j1');
    return b;
  }

  it('DEP-95: creates, exports, moves and deletes a document', async () => {
    const b = await given('/one');
    expect(b.status().phase, b.status().lastError?.message).to.equal('Succeeded');
    const { config } = b.host.find('Secret', 'proj/web-export')?.['data'] as { config: string };
    expect(Buffer.from(config, 'base64').toString()).to.equal('{"etag":"\\"e\\""}');
    b.configure(at('/two'));
    requests.length = 0;
    await b.kick('j2');
    expect(requests).to.deep.equal(['DELETE /one', 'PUT /two', 'HEAD /two']);
    await b.delete();
    await b.kick('j3');
    expect(b.isGone()).to.equal(true);
    expect([...documents.keys()]).to.deep.equal([]);
  });

  it('DEP-95: ends the job if the server denies the request', async () => {
    refusal = 403;
    const b = await given('/one');
    expect(b.status().phase).to.equal('Failed');
    expect(b.status().lastError?.codes).to.deep.equal(['ERR_UNAUTHORIZED']);
  });

  it('DEP-95: retries every five seconds while the server fails', async () => {
    refusal = 500;
    const b = await given('/one');
    await b.pass(1000);
    requests.length = 0;
    await b.pass(20_000);
    expect(requests).to.deep.equal(['PUT /one', 'PUT /one', 'PUT /one', 'PUT /one']);
    refusal = undefined;
    await b.pass(5000);
    expect(b.status().phase).to.equal('Succeeded');
  });

  it('DEP-95: if it is killed between upload and result, the next process still deletes the document', async () => {
    const b = new Bench(httpDeployer);
    const dead = (): never => {
      throw new Error('killed');
    };
    let isOver = false;
    b.host.fail = () => {
      isOver ||= documents.size > 0;
      if (isOver) dead();
    };
    b.host.put({
      apiVersion: 'landscaper.gardener.cloud/v1alpha1',
      kind: 'Target',
      metadata: { name: 'cluster-a', namespace: 'proj' },
      spec: { type: 'example.org/web-server', config: { endpoint: 'http://store.invalid' } },
    });
    b.giveItem(at('/one'), { type });
    await b.kick('j1');
    expect([...documents.keys()], 'the upload came through').to.deep.equal(['/one']);
    expect(b.status().phase).to.equal('Progressing');
    b.host.fail = () => undefined;
    // Its job is interrupted, and it is deleted before a deployer has reconciled it again.
    b.host.edit('DeployItem', 'proj/web', { status: { phase: 'Failed', jobIDFinished: 'j1' } });
    await b.delete();
    await b.restart(httpDeployer);
    await b.kick('j2');
    expect(b.isGone()).to.equal(true);
    expect([...documents.keys()]).to.deep.equal([]);
  });
});
