/** The deployers of the documentation, as their readers meet them. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { httpDeployer } from '../../../docs/samples/deployers/http/deployer.ts';
import { plugin as skeleton } from '../../../docs/samples/deployers/skeleton/deployer.ts';
import { startDeployer } from '../../../deployers/sdk/index.ts';
import { checkDeployer, type CheckResult, type Subject } from '../../../deployers/testing/index.ts';
import { startCluster, type Cluster } from '../../support/cluster.ts';

/** Keeps what is put; a document `{"slow": true}` has no etag. */
function startStore(): Promise<{
  readonly url: string;
  readonly documents: Map<string, string>;
  stop(): void;
}> {
  const documents = new Map<string, string>();
  const server: Server = createServer((request, response) => {
    const path = request.url ?? '';
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      if (request.method === 'PUT') documents.set(path, body);
      const document = documents.get(path);
      if (document === undefined) response.statusCode = 404;
      else if (document !== '{"slow":true}') response.setHeader('etag', `"${String(document.length)}"`);
      if (request.method === 'DELETE') documents.delete(path);
      response.end();
    });
  });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      resolve({
        url: `http://127.0.0.1:${String(port)}`,
        documents,
        stop: () => {
          server.closeAllConnections();
          server.close();
        },
      });
    });
  });
}

const config = (group: string, fields: object): Readonly<Record<string, unknown>> => ({
  apiVersion: group,
  kind: 'ProviderConfiguration',
  ...fields,
});

describe('deployers of the documentation', function () {
  this.timeout(60_000);
  let cluster: Cluster;
  before(async () => {
    cluster = await startCluster();
  });
  after(() => cluster.stop());

  const problems = (results: readonly CheckResult[]): string[] =>
    results.filter(({ verdict }) => verdict !== 'passed').map(({ name, why }) => `${name}: ${why ?? ''}`);

  it('the skeleton passes the conformance suite', async () => {
    const { kubeconfig } = cluster;
    const of = (fields: object) => config('skeleton.example.org/v1', fields);
    const deployer = await startDeployer(skeleton, { kubeconfig: { text: kubeconfig } });
    const greeting = 'hello';
    const results = await checkDeployer(
      {
        type: skeleton.type,
        succeeds: of({ greeting }),
        exports: { config: of({ greeting }), value: { greeting } },
        waits: of({ greeting, ready: false }),
        finish: of({ greeting }),
        invalid: of({ greeting: 5 }),
      },
      { kubeconfig },
    );
    await deployer.stop();
    expect(problems(results)).to.deep.equal([]);
  });

  it('the one for documents on a web server passes it, and leaves nothing behind', async () => {
    const { kubeconfig } = cluster;
    const store = await startStore();
    const of = (fields: object) => config('http.example.org/v1', { path: '/$ITEM', ...fields });
    const subject: Subject = {
      type: httpDeployer.type,
      target: { type: 'example.org/web-server', config: { endpoint: store.url } },
      succeeds: of({ document: 1 }),
      exports: { config: of({ document: { a: 1 }, exportAs: 'tag' }), value: { tag: '"7"' } },
      waits: of({ document: { slow: true } }),
      finish: of({ document: 2 }),
      invalid: of({ path: 'no-slash' }),
    };
    const deployer = await startDeployer(httpDeployer, { kubeconfig: { text: kubeconfig } });
    try {
      expect(problems(await checkDeployer(subject, { kubeconfig }))).to.deep.equal([]);
      store.documents.clear();
      const more = await checkDeployer(subject, { kubeconfig, only: ['delete'] });
      expect(problems(more)).to.deep.equal([]);
      expect([...store.documents.keys()]).to.not.be.empty.and.not.include('/item-1');
    } finally {
      await deployer.stop();
      store.stop();
    }
  });
});
