/** A service of buckets with the API that the operator expects, in memory: for tests, and to run by hand. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface RemoteBucket {
  state: string;
  quotaGiB: number;
  region: string;
}

export interface BucketService {
  readonly url: string;
  readonly token: string;
  readonly buckets: Map<string, RemoteBucket>;
  /** `PUT bucket-…`, without reads. */
  readonly changes: string[];
  /** Status codes of the next changes, which are then not executed. */
  readonly faults: number[];
  stop(): void;
}

const TOKEN = 'the-token';

/** @param at the port; 0 uses any free one */
export async function startBucketService(at = 0): Promise<BucketService> {
  const buckets = new Map<string, RemoteBucket>();
  const changes: string[] = [];
  const faults: number[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      if (headers.authorization !== `Bearer ${TOKEN}`) {
        end(response, 401);
        return;
      }
      const name = url.replace('/buckets/', '');
      if (method !== 'GET') {
        changes.push(`${method} ${name}`);
        const fault = faults.shift();
        if (fault !== undefined) {
          end(response, fault);
          return;
        }
      }
      const wanted = body ? (JSON.parse(body) as Partial<RemoteBucket>) : {};
      const known = buckets.get(name);
      if (method === 'PUT') buckets.set(name, { state: 'ready', region: 'eu-1', quotaGiB: 1, ...wanted });
      else if (!known) {
        end(response, 404);
        return;
      } else if (method === 'PATCH') Object.assign(known, wanted);
      else if (method === 'DELETE') buckets.delete(name);
      end(response, 200, { ...known, endpoint: `https://${name}.example.org`, secretKey: 'hush-hush' });
    });
  });
  await new Promise<void>((resolve) => server.listen(at, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${String(port)}`,
    token: TOKEN,
    buckets,
    changes,
    faults,
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}

function end(response: ServerResponse, status: number, body: object = {}): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

if (process.argv[1] === import.meta.filename) {
  const { url, token } = await startBucketService(Number(process.argv[2] ?? 0));
  process.stdout.write(`export BUCKET_SERVICE=${url} BUCKET_TOKEN=${token}\n`);
}
