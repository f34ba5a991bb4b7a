/** Browsers of attackers, and objects of a tenant, against the console in the cluster: another user keeps working. */
import { readFileSync } from 'node:fs';
import { Agent, request, type RequestOptions } from 'node:http';
import { connect as connectTcp, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { installationKind } from '../../src/api/kinds/installation.ts';
import { parseYaml } from '../../src/lib/yaml.ts';
import { rendersItself, root } from '../support/landscape.ts';
import { freePort } from '../support/ports.ts';
import { awakeMs } from './stage/awake.ts';
import { attacks, type Attack, type Scene } from './stage/attack.ts';
import { display, type LimitedProgram } from './stage/programs.ts';
import { until, type Stage } from './stage/stage.ts';
import { patience } from '../support/patience.ts';

/** Maximum time that another user may have to wait for the list of landscapes. */
const WAIT_MS = patience(2_000);
const PROBE_EVERY_MS = 100;
const WATCH_MS = 4_000;
const MIB = 2 ** 20;

interface Answer {
  readonly status: number;
  readonly cookie: string | undefined;
  readonly body: string;
}

interface Served extends LimitedProgram {
  readonly stage: Stage;
  readonly port: number;
  readonly token: string;
}

let served: Served | undefined;
const agent = new Agent({ keepAlive: false });

async function stopServing(): Promise<void> {
  await served?.program.stop();
  served?.memory.release();
  served = undefined;
}
after(stopServing);

async function ensureServed({ stage }: Scene): Promise<void> {
  if (served?.stage === stage) return;
  await stopServing();
  const { kubeconfig, folder } = stage;
  const port = await freePort();
  const { users } = parseYaml(readFileSync(kubeconfig, 'utf8')) as { users: { user: { token: string } }[] };
  const running = display({ kubeconfig, folder, port });
  served = { ...running, stage, port, token: users[0]?.user.token ?? '' };
  await until('the console serves', async () => {
    const { end, lines } = running.program;
    if (end !== undefined) throw new Error(`the console ${end}: ${lines.join('\n')}`);
    return (await ask('GET', '/healthz').catch(() => undefined))?.status === 200 || undefined;
  });
}

function running(): Served {
  if (!served) throw new Error('the console does not run');
  return served;
}

/** A request through the ingress. @param from the address of the client */
async function ask(
  method: string,
  path: string,
  { from = '10.0.0.1', body, headers = {} }: { from?: string; body?: string; headers?: object } = {},
): Promise<Answer> {
  const { port } = running();
  const host = `localhost:${String(port)}`;
  const options: RequestOptions = {
    agent,
    host: '127.0.0.1',
    port,
    method,
    path,
    headers: {
      host,
      origin: `https://${host}`,
      'x-forwarded-proto': 'https',
      'x-forwarded-for': from,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
  };
  return new Promise((resolve, reject) => {
    const sent = request(options, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const cookie = response.headers['set-cookie']?.[0]?.split(';')[0];
        resolve({ status: response.statusCode ?? 0, cookie, body: Buffer.concat(chunks).toString('utf8') });
      });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

const login = (token: string, from?: string): Promise<Answer> =>
  ask('POST', '/api/session', { body: JSON.stringify({ token }), ...(from !== undefined && { from }) });

async function cookieFor(token = running().token): Promise<string> {
  const { status, cookie = '', body } = await login(token);
  expect(status, body).to.equal(204);
  return cookie;
}

/** Runs an attack while another user reads the landscapes. @param act started once; its result is released at the end */
function beside(title: string, act: (scene: Scene) => Promise<() => void>): Attack {
  let report = '';
  return {
    title,
    prepare: ensureServed,
    async launch(scene) {
      const { program, memory } = running();
      const headers = { cookie: await cookieFor() };
      memory.takePeak();
      let slowest = 0;
      const probe = async (): Promise<void> => {
        const start = awakeMs();
        const { status } = await ask('GET', '/api/landscapes', { headers });
        expect(status, 'the answer to the other user').to.equal(200);
        slowest = Math.max(slowest, awakeMs() - start);
      };
      let isOver = false;
      const attack = act(scene).finally(() => (isOver = true));
      attack.catch(() => undefined);
      const start = performance.now();
      while (!isOver || performance.now() - start < WATCH_MS) {
        await probe();
        await pause(PROBE_EVERY_MS);
      }
      const release = await attack;
      // A login has to be possible, too.
      await cookieFor();
      release();
      const peak = memory.takePeak();
      report = `the other user waited at most ${(slowest / 1000).toFixed(1)} s; ${String(Math.round(peak / MIB))} MiB of ${String(memory.bytes / MIB)}`;
      expect(program.end).to.equal(undefined);
      expect(slowest).to.be.below(WAIT_MS);
      expect(peak).to.be.below(memory.bytes);
      return [];
    },
    after: () => Promise.resolve(report),
  };
}

const nothing = (): void => undefined;
const from = (i: number): string => `203.0.113.${String(i % 200)}`;

/** Opens a connection that is not read. @returns it once the bytes are written */
const raw = (text: string): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = connectTcp(running().port, '127.0.0.1', () => {
      socket.write(text, () => {
        resolve(socket);
      });
    });
    socket.on('error', reject);
  });

/** A token of another user: of a service account of the attacker. */
async function tokenOfAttacker({ client, namespace }: Scene): Promise<string> {
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts`;
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'attacker' } };
  await client.raw('POST', path, account);
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} };
  const answer = await client.raw('POST', `${path}/attacker/token`, review);
  return (answer as { status: { token: string } }).status.token;
}

/** Feeds of one session whose browser does not read. */
async function unreadFeeds(count: number, token: string): Promise<Socket[]> {
  const cookie = await cookieFor(token);
  const host = `localhost:${String(running().port)}`;
  const head = `GET /api/events HTTP/1.1\r\nHost: ${host}\r\nX-Forwarded-Proto: https\r\nCookie: ${cookie}\r\n\r\n`;
  const sockets = await Promise.all(Array.from({ length: count }, () => raw(head)));
  return sockets.map((socket) => socket.pause());
}

attacks({
  title: 'the console in the cluster',
  attacks: [
    beside('800 connections that never send a whole request', async () => {
      const half = 'POST /api/session HTTP/1.1\r\nHost: localhost\r\nContent-Length: 30000\r\n';
      const sockets = await Promise.all(Array.from({ length: 800 }, () => raw(half)));
      sockets.forEach((socket) => socket.on('error', nothing));
      return () => {
        sockets.forEach((socket) => socket.destroy());
      };
    }),
    beside('400 logins with wrong tokens from two addresses', async () => {
      const answers = await Promise.all(
        Array.from({ length: 400 }, (_, i) => login(`wrong-${String(i)}`, from(i % 2))),
      );
      const statuses = new Set(answers.map(({ status }) => status));
      expect([...statuses].sort(), 'refused, or too many').to.deep.equal([401, 429]);
      return nothing;
    }),
    beside('bodies and headers that are too large, and JSON that is nested deeply', async () => {
      const bodies = [
        JSON.stringify({ token: 'x'.repeat(8 * MIB) }),
        '['.repeat(30_000),
        `{"token":${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}}`,
      ];
      const answers = await Promise.all(
        Array.from({ length: 60 }, (_, i) =>
          ask('POST', '/api/session', { body: bodies[i % bodies.length] ?? '', from: from(10) }).catch(
            () => undefined,
          ),
        ),
      );
      const cookies = await ask('GET', '/api/landscapes', { headers: { cookie: 'a=b; '.repeat(20_000) } });
      expect(cookies.status).to.equal(431);
      // A server that refuses a large body may close the connection before the client has sent it.
      for (const answer of answers) if (answer) expect(answer.status).to.be.oneOf([400, 413]);
      return nothing;
    }),
    beside('one user with 300 sessions, each followed by a live page', async (scene) => {
      const token = await tokenOfAttacker(scene);
      const sockets: Socket[] = [];
      for (let i = 0; i < 300; i++) sockets.push(...(await unreadFeeds(1, token)));
      sockets.forEach((socket) => socket.on('error', nothing));
      return () => {
        sockets.forEach((socket) => socket.destroy());
      };
    }),
    beside('60 plans at the same time, of a landscape that renders itself without end', async (scene) => {
      await scene.create(installationKind, root('endless', { more: rendersItself }));
      const token = await tokenOfAttacker(scene);
      const cookies = await Promise.all(Array.from({ length: 5 }, () => cookieFor(token)));
      const path = `/api/landscapes/${scene.namespace}/endless/changes`;
      const answers = await Promise.all(
        Array.from({ length: 60 }, (_, i) => ask('GET', path, { headers: { cookie: cookies[i % 5] ?? '' } })),
      );
      const statuses = answers.map(({ status }) => status);
      const refused = statuses.filter((status) => status === 429);
      expect(refused.length, `one plan of the user at a time, not ${statuses.join()}`).to.equal(59);
      return nothing;
    }),
    beside(
      '300 new landscapes with 5 KB of import names each, while 20 pages do not read their events',
      async (scene) => {
        const sockets = await unreadFeeds(20, await tokenOfAttacker(scene));
        sockets.forEach((socket) => socket.on('error', nothing));
        const data = Array.from({ length: 100 }, (_, i) => ({
          name: `${'n'.repeat(50)}${String(i)}`,
          dataRef: 'd',
        }));
        for (let i = 0; i < 300; i++) {
          const name = `landscape-${String(i)}`;
          await scene.create(installationKind, root(name, { spec: { imports: { data } } }));
        }
        return () => {
          sockets.forEach((socket) => socket.destroy());
        };
      },
    ),
  ],
});
