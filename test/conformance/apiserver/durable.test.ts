/** The store on disk: scenario API-182, and related tests. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { request as httpsRequest, Agent } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import type { Json } from './subject.ts';

const SCRIPT = fileURLToPath(new URL('durable-server.ts', import.meta.url));

interface Running {
  readonly process: ChildProcess;
  readonly url: string;
  readonly ca: string;
  readonly token: string;
}

describe('the durable store', function () {
  this.timeout(60_000);
  let dir: string;
  let running: Running[];

  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'espalier-durable-'));
    running = [];
  });
  afterEach(async () => {
    for (const server of running) await kill(server);
    rmSync(dir, { recursive: true });
  });

  async function start(): Promise<Running> {
    const child = spawn(process.execPath, ['--import', 'tsx', SCRIPT, dir], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let complaint = '';
    child.stderr.on('data', (chunk: Buffer) => (complaint += chunk.toString()));
    const lines = createInterface({ input: child.stdout });
    const [line] = (await Promise.race([
      once(lines, 'line'),
      once(child, 'close').then(() => {
        throw new Error(`the server ended: ${complaint}`);
      }),
    ])) as [string];
    const server = { process: child, ...(JSON.parse(line) as Omit<Running, 'process'>) };
    running.push(server);
    return server;
  }

  async function kill(server: Running, signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    if (server.process.exitCode !== null || server.process.signalCode !== null) return;
    const ended = once(server.process, 'exit');
    server.process.kill(signal);
    await ended;
  }

  function call(
    server: Running,
    agent: Agent,
    method: string,
    path: string,
    body?: object,
  ): Promise<{ code: number; body: Json }> {
    return new Promise((resolve, reject) => {
      const request = httpsRequest(
        server.url + path,
        {
          method,
          agent,
          headers: { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' },
        },
        (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('end', () => {
            const answer = Buffer.concat(chunks).toString();
            resolve({
              code: response.statusCode ?? 0,
              body: answer.startsWith('{"') ? JSON.parse(answer.split('\n')[0] ?? '') : undefined,
            });
          });
          response.on('error', reject);
        },
      );
      request.on('error', reject);
      request.end(body && JSON.stringify(body));
    });
  }

  const path = '/api/v1/namespaces/default/configmaps';

  it('API-182: a killed server loses no write that it has answered', async () => {
    const server = await start();
    const agent = new Agent({ keepAlive: true, ca: server.ca, maxSockets: 20 });
    const acknowledged = new Map<string, string>();
    let next = 0;
    const writer = async (): Promise<void> => {
      for (;;) {
        const name = `n${next++}`;
        const reply = await call(server, agent, 'POST', path, {
          metadata: { name },
          data: { x: 'y'.repeat(500) },
        });
        if (reply.code === 201) acknowledged.set(name, reply.body.metadata.resourceVersion);
        if (acknowledged.size === 1000) void kill(server);
      }
    };
    await Promise.allSettled(Array.from({ length: 20 }, writer));
    agent.destroy();
    await kill(server);
    expect(acknowledged.size).to.be.at.least(1000);
    appendFileSync(join(dir, 'log.jsonl'), '{"rev":99999999,"resource":"/config');

    const again = await start();
    expect(again.token).to.equal(server.token);
    expect(again.ca).to.equal(server.ca);
    const fresh = new Agent({ keepAlive: true, ca: again.ca });
    const list = await call(again, fresh, 'GET', path);
    const found = new Map<string, string>(
      list.body.items.map((o: Json) => [o.metadata.name, o.metadata.resourceVersion]),
    );
    const lost = [...acknowledged].filter(([name, version]) => found.get(name) !== version);
    expect(lost).to.deep.equal([]);
    const highest = Math.max(...[...acknowledged.values()].map(Number));
    const made = await call(again, fresh, 'POST', path, { metadata: { name: 'after' } });
    expect(Number(made.body.metadata.resourceVersion)).to.be.greaterThan(highest);
    const watch = await call(again, fresh, 'GET', `${path}?watch=true&resourceVersion=1`);
    expect(watch.body).to.deep.include({ type: 'ERROR' });
    expect(watch.body.object.code).to.equal(410);
    fresh.destroy();
  });

  it('keeps objects, deletions and custom kinds across a restart', async () => {
    const server = await start();
    const agent = new Agent({ keepAlive: true, ca: server.ca });
    await call(server, agent, 'POST', path, { metadata: { name: 'stays' } });
    await call(server, agent, 'POST', path, { metadata: { name: 'goes' } });
    await call(server, agent, 'DELETE', `${path}/goes`);
    await call(server, agent, 'POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
      metadata: { name: 'things.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Cluster',
        names: { plural: 'things', kind: 'Thing' },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
          },
        ],
      },
    });
    await call(server, agent, 'POST', '/apis/example.com/v1/things', {
      apiVersion: 'example.com/v1',
      kind: 'Thing',
      metadata: { name: 't' },
    });
    agent.destroy();
    await kill(server, 'SIGTERM');

    const again = await start();
    const fresh = new Agent({ keepAlive: true, ca: again.ca });
    expect((await call(again, fresh, 'GET', `${path}/stays`)).code).to.equal(200);
    expect((await call(again, fresh, 'GET', `${path}/goes`)).code).to.equal(404);
    expect((await call(again, fresh, 'GET', '/apis/example.com/v1/things/t')).code).to.equal(200);
    fresh.destroy();
  });

  it('refuses a folder that another server uses', async () => {
    await start();
    const second = await start().then(
      () => 'it started',
      (error: unknown) => String(error),
    );
    expect(second).to.match(/the data folder is in use by process \d+/);
  });
});
