/** A web server to try the deployer with: stores documents in memory. `store.ts PORT` */
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';

const documents = new Map<string, Buffer>();

createServer((request, response) => {
  const { method, url = '/' } = request;
  void buffer(request).then((body) => {
    if (method === 'PUT') documents.set(url, body);
    const document = documents.get(url);
    if (method === 'DELETE') documents.delete(url);
    if (document) response.setHeader('etag', `"${createHash('sha256').update(document).digest('hex')}"`);
    response.statusCode = document ? 200 : 404;
    response.end(method === 'GET' ? document : undefined);
  });
}).listen(Number(process.argv[2] ?? 8080), '127.0.0.1');
