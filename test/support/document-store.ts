/** A web server on loopback that stores documents, for the deployer of the documentation. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface DocumentStore {
  readonly url: string;
  /** By path. A document `{"slow":true}` has no etag. */
  readonly documents: Map<string, string>;
  /** Method and path, oldest first. */
  readonly requests: string[];
  /** Status code for every PUT; undefined to accept it. */
  refusal: number | undefined;
  stop(): void;
}

export async function startDocumentStore(): Promise<DocumentStore> {
  const documents = new Map<string, string>();
  const requests: string[] = [];
  const server = createServer((request, response) => {
    const { method = '', url: path = '' } = request;
    requests.push(`${method} ${path}`);
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      const isRefused = method === 'PUT' && store.refusal !== undefined;
      if (method === 'PUT' && !isRefused) documents.set(path, body);
      const document = documents.get(path);
      if (isRefused) response.statusCode = store.refusal ?? 500;
      else if (document === undefined) response.statusCode = 404;
      else if (document !== '{"slow":true}') response.setHeader('etag', `"${String(document.length)}"`);
      if (method === 'DELETE') documents.delete(path);
      response.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const store: DocumentStore = {
    url: `http://127.0.0.1:${String(port)}`,
    documents,
    requests,
    refusal: undefined,
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
  return store;
}
