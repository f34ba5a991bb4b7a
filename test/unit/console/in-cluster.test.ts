/** A console in the cluster: logins, sessions, and what each viewer sees. The API server is a table of tokens. */
import { expect } from 'chai';
import type { InjectOptions } from 'fastify';
import { createServer } from '../../../src/cli/console/server.ts';
import type { Source } from '../../../src/cli/console/model.ts';
import { MAX_FAILURES_OF_ADDRESS } from '../../../src/cli/console/in-cluster/login-limit.ts';
import { ALLOWED_MS, DENIED_MS } from '../../../src/cli/console/in-cluster/rights.ts';
import {
  createSessionStore,
  IDLE_MS,
  MAX_AGE_MS,
  MAX_SESSIONS,
  MAX_SESSIONS_OF_USER,
} from '../../../src/cli/console/in-cluster/sessions.ts';
import { tokenAccess } from '../../../src/cli/console/in-cluster/token-access.ts';
import type { Part } from '../../../src/cli/console/wire.ts';
import type { Collected } from '../../../src/cli/tree/collect.ts';
import { createLogger } from '../../../src/observability/log.ts';
import { ApiError, Unauthorized } from '../../../src/runtime/errors.ts';
import type { Client, Obj, Write } from '../../../src/runtime/types.ts';
import { FakeClock } from '../../support/clock.ts';
import { collected, execution, installation, item } from '../cli/given.ts';
import { assets } from './parts.ts';

const HOST = 'console.example.org';
const ORIGIN = `https://${HOST}`;
const ref = { verb: 'create', kind: 'SelfSubjectAccessReview' };

/** What a user may list, as `resource/namespace`; `resource/` for all namespaces. */
type Rights = Set<string>;

const inNamespace = <T extends Obj>(namespace: string, object: T): T => ({
  ...object,
  metadata: { ...object.metadata, namespace },
});

const everything = (): Collected =>
  collected(
    installation('web', { phase: 'Succeeded' }),
    execution('web', { phase: 'Succeeded' }),
    item('i', { execution: 'web', phase: 'Succeeded' }),
    inNamespace('bank', installation('vault', { phase: 'Failed', error: 'secret of the bank' })),
  );

const ALL = ['installations/', 'executions/', 'deployitems/'];
const PROJ = ['installations/proj', 'executions/proj', 'deployitems/proj'];

function stage(settings: { readonly trustsForwardedHeaders?: boolean } = {}) {
  const clock = new FakeClock();
  let objects = everything();
  let lines = '';
  const listeners = new Set<() => void>();
  const users = new Map<string, { readonly name: string; readonly rights: Rights }>();
  const add = (token: string, rights: readonly string[], name = token): Rights => {
    const set = new Set(rights);
    users.set(token, { name, rights: set });
    return set;
  };
  add('root-token', ALL, 'root');
  add('proj-token', PROJ, 'viewer');
  add('token-without-rights', [], 'without-rights');
  const reviews: string[] = [];
  const writes: { readonly user: string; readonly write: Write }[] = [];
  let open = 0;
  let outage = '';
  const clientOf = (token: string): Promise<Client> => {
    open++;
    const client = {
      raw(_method: string, path: string, body: unknown) {
        if (outage !== '')
          return Promise.reject(new ApiError({ message: outage, status: 503, reason: 'X', ref }));
        const user = users.get(token);
        if (!user)
          return Promise.reject(
            new Unauthorized({ message: 'unauthorized', status: 401, reason: 'Unauthorized', ref }),
          );
        if (path.endsWith('/selfsubjectreviews'))
          return Promise.resolve({ status: { userInfo: { username: user.name } } });
        const { resourceAttributes: wanted } = (
          body as { spec: { resourceAttributes: { resource: string; namespace?: string; verb: string } } }
        ).spec;
        const right = `${wanted.resource}/${wanted.namespace ?? ''}`;
        reviews.push(right);
        const allowed =
          wanted.verb === 'list' && (user.rights.has(right) || user.rights.has(`${wanted.resource}/`));
        return Promise.resolve({ status: { allowed } });
      },
      send(write: Write) {
        writes.push({ user: users.get(token)?.name ?? '', write });
        return Promise.resolve({});
      },
      close() {
        open--;
        return Promise.resolve();
      },
    };
    return Promise.resolve(client as unknown as Client);
  };
  const source: Source = {
    collected: () => objects,
    namespaces: () => [...new Set(objects.installations.map(({ metadata }) => metadata.namespace ?? ''))],
    problem: () => '',
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
  const log = createLogger({
    level: 'debug',
    destination: { write: (line: string) => (lines += line) } as unknown as NodeJS.WritableStream,
  });
  const access = tokenAccess({
    source,
    clientOf,
    clock,
    log,
    about: { version: '1.0.0', server: 'https://10.0.0.1' },
    rules: { allowedHosts: [HOST], trustsForwardedHeaders: settings.trustsForwardedHeaders ?? true },
  });
  const server = createServer({ access, assets });
  const ask = (options: InjectOptions & { readonly url: string }) =>
    server.inject({
      ...options,
      headers: {
        host: HOST,
        origin: ORIGIN,
        'x-forwarded-proto': 'https',
        'x-forwarded-for': '198.51.100.7',
        ...options.headers,
      },
    });
  const login = (token: string, headers: InjectOptions['headers'] = {}) =>
    ask({ method: 'POST', url: '/api/session', payload: { token }, headers });
  const cookieOf = async (token: string): Promise<string> =>
    String((await login(token)).headers['set-cookie']).split(';')[0] ?? '';
  const as = async (token: string) => {
    const cookie = await cookieOf(token);
    return (url: string, more: Omit<InjectOptions, 'url'> = {}) =>
      ask({ ...more, url, headers: { cookie, ...more.headers } });
  };
  return {
    clock,
    server,
    access,
    ask,
    login,
    cookieOf,
    as,
    add,
    users,
    reviews,
    writes,
    openClients: () => open,
    log: () => lines,
    fail: (message: string) => (outage = message),
    change(next: Collected) {
      objects = next;
      for (const listener of listeners) listener();
    },
  };
}

const idsIn = (body: string): readonly string[] =>
  (JSON.parse(body) as { items: readonly Part[] }).items.map(({ id }) => id);

/** A viewer that follows a feed, without a socket. */
async function follow({ access }: ReturnType<typeof stage>, cookie: string) {
  const request = { headers: { host: HOST, cookie, 'x-forwarded-proto': 'https' }, raw: { socket: {} } };
  const viewer = await access.viewerOf(request as never);
  const seen: string[] = [];
  let isEnded = false;
  if (!viewer) throw new Error('there is no session');
  viewer.onEnd(() => (isEnded = true));
  viewer.feed.open({ kind: 'landscapes' }, (event, json) => {
    if (event !== 'health') seen.push(json);
  });
  return { seen, isEnded: () => isEnded };
}

describe('a login to the console in the cluster', () => {
  it('gives a cookie that only secure pages of the console send', async () => {
    const { login, log } = stage();
    const answer = await login(' root-token\n');
    expect(answer.statusCode, answer.body).to.equal(204);
    const cookie = String(answer.headers['set-cookie']);
    expect(cookie).to.match(
      /^__Host-espalier-console=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Secure$/,
    );
    expect(log()).to.contain('login').and.contain('root').and.not.contain('root-token');
  });

  it('is refused for a wrong token, which appears nowhere', async () => {
    const { login, openClients, log } = stage();
    for (const token of ['wrong-token', 'with space', '', 'ü', 'x'.repeat(20_000)]) {
      const answer = await login(token);
      expect(answer.statusCode, token).to.equal(401);
      expect(answer.headers).not.to.have.property('set-cookie');
      if (token !== '') expect(answer.body + log()).not.to.contain(token);
    }
    expect(openClients()).to.equal(0);
  });

  it('is refused after many failures from an address, but not from another one', async () => {
    const { login, clock } = stage();
    for (let i = 0; i < MAX_FAILURES_OF_ADDRESS; i++)
      expect((await login(`wrong-${String(i)}`)).statusCode).to.equal(401);
    expect((await login('root-token')).statusCode).to.equal(429);
    const forged = { 'x-forwarded-for': '203.0.113.9, 198.51.100.7' };
    expect((await login('root-token', forged)).statusCode).to.equal(429);
    expect((await login('root-token', { 'x-forwarded-for': '203.0.113.9' })).statusCode).to.equal(204);
    await clock.advance(60_000);
    expect((await login('root-token')).statusCode).to.equal(204);
  });

  it('is refused without TLS, except on this machine', async () => {
    const { login } = stage({ trustsForwardedHeaders: false });
    const plain = await login('root-token', { origin: `http://${HOST}` });
    expect(plain.statusCode).to.equal(403);
    expect(plain.body).to.contain('a login needs HTTPS');
    const local = await login('root-token', { host: 'localhost:9000', origin: 'http://localhost:9000' });
    expect(local.statusCode).to.equal(204);
    expect(String(local.headers['set-cookie'])).to.match(/^espalier-console-9000=[\w-]{43}; /);
  });

  it('is refused from pages of other sites, and for other hosts', async () => {
    const { login, ask } = stage();
    for (const origin of ['https://attacker.example', 'null', '', `http://${HOST}`])
      expect((await login('root-token', { origin })).statusCode, origin).to.equal(403);
    for (const host of ['attacker.example', `${HOST}.attacker.example`, '10.0.0.9:8082'])
      expect((await ask({ url: '/', headers: { host } })).statusCode, host).to.equal(403);
    expect((await ask({ url: '/healthz', headers: { host: '10.0.0.9:8082' } })).statusCode).to.equal(200);
  });

  it('ends the oldest session of a user who has too many, and is refused if all users have', async () => {
    const { as, cookieOf, login, add, openClients } = stage();
    const oldest = await as('root-token');
    for (let i = 1; i < MAX_SESSIONS_OF_USER; i++) await cookieOf('root-token');
    expect((await oldest('/api/about')).statusCode).to.equal(200);
    await cookieOf('root-token');
    expect((await oldest('/api/about')).statusCode).to.equal(401);
    for (let i = MAX_SESSIONS_OF_USER; i < MAX_SESSIONS; i++) {
      add(`token-${String(i)}`, []);
      expect((await login(`token-${String(i)}`)).statusCode).to.equal(204);
    }
    const answer = await login('token-without-rights');
    expect(answer.statusCode).to.equal(503);
    expect(openClients()).to.equal(MAX_SESSIONS);
  });
});

describe('a viewer of the console in the cluster', () => {
  const expected: readonly (readonly [token: string, namespaces: unknown, landscapes: readonly string[]])[] =
    [
      ['root-token', 'all', ['bank/vault', 'proj/web']],
      ['proj-token', ['proj'], ['proj/web']],
      ['token-without-rights', [], []],
    ];
  for (const [token, namespaces, landscapes] of expected)
    it(`sees only landscapes that the token may list: ${token}`, async () => {
      const ask = await stage().as(token);
      expect((await ask('/api/about')).json()).to.deep.include({ namespaces });
      const { body } = await ask('/api/landscapes');
      expect([...idsIn(body)].sort()).to.deep.equal(landscapes);
      expect(body.includes('secret of the bank')).to.equal(landscapes.includes('bank/vault'));
      for (const path of ['', '/flow', '/deletion']) {
        const { statusCode } = await ask(`/api/landscapes/bank/vault${path}`);
        expect(statusCode, path).to.equal(landscapes.includes('bank/vault') ? 200 : 404);
      }
    });

  it('sees no objects of kinds that the token may not list', async () => {
    const on = stage();
    on.add('half-token', ['installations/proj', 'executions/proj']);
    const ask = await on.as('half-token');
    expect(idsIn((await ask('/api/landscapes/proj/web')).body)).to.deep.equal([
      'Installation/proj/web',
      'Execution/proj/web',
    ]);
  });

  it('acts with the own token', async () => {
    const { as, writes, log } = stage();
    const ask = await as('proj-token');
    const url = '/api/landscapes/proj/web/actions';
    const answer = await ask(url, { method: 'POST', payload: { action: 'reconcile', uid: 'uid-web' } });
    expect(answer.statusCode).to.equal(204);
    expect(writes.map(({ user }) => user)).to.deep.equal(['viewer']);
    expect(log()).to.contain('action requested').and.contain('proj/web');
  });

  it('cannot act from the page of another site', async () => {
    const { as, writes } = stage();
    const ask = await as('root-token');
    const url = '/api/landscapes/proj/web/actions';
    for (const [method, path] of [
      ['POST', url],
      ['DELETE', '/api/session'],
    ] as const) {
      const payload = { action: 'delete', uid: 'uid-web' };
      const headers = { origin: 'https://attacker.example' };
      expect((await ask(path, { method, payload, headers })).statusCode, path).to.equal(403);
    }
    expect(writes).to.deep.equal([]);
  });

  it('shares the feed only with viewers of the same rights', async () => {
    const on = stage();
    on.add('other-token', PROJ);
    const viewers = await Promise.all(
      ['root-token', 'proj-token', 'other-token'].map(async (token) => follow(on, await on.cookieOf(token))),
    );
    on.change(
      collected(
        installation('web', { phase: 'Init' }),
        inNamespace('bank', installation('vault', { phase: 'Failed', error: 'another secret' })),
      ),
    );
    await on.clock.advance(1_000);
    const [all, own, other] = viewers.map(({ seen }) => seen.join());
    expect(all).to.contain('another secret').and.contain('Init');
    expect(own).to.contain('Init').and.not.contain('bank');
    expect(other).to.equal(own);
  });

  it('is not asked for again and again', async () => {
    const { as, reviews, clock } = stage();
    const ask = await as('proj-token');
    await ask('/api/landscapes');
    const before = reviews.length;
    for (let i = 0; i < 10; i++) await ask('/api/landscapes');
    expect(reviews.length).to.equal(before);
    await clock.advance(ALLOWED_MS);
    await ask('/api/landscapes');
    expect(reviews.slice(before).sort()).to.deep.equal([...PROJ].sort());
  });
});

describe('the rights of a viewer of the console', () => {
  it('end the feed and the data when they are revoked', async () => {
    const on = stage();
    const cookie = await on.cookieOf('proj-token');
    const viewer = await follow(on, cookie);
    on.users.get('proj-token')?.rights.clear();
    await on.clock.advance(ALLOWED_MS - 10_000);
    expect(viewer.isEnded()).to.equal(false);
    await on.clock.advance(15_000);
    expect(viewer.isEnded()).to.equal(true);
    const { body } = await on.ask({ url: '/api/landscapes', headers: { cookie } });
    expect(idsIn(body)).to.deep.equal([]);
  });

  it('show more when they are granted', async () => {
    const on = stage();
    const cookie = await on.cookieOf('proj-token');
    const viewer = await follow(on, cookie);
    on.users.get('proj-token')?.rights.add('installations/bank');
    await on.clock.advance(DENIED_MS + 10_000);
    expect(viewer.isEnded()).to.equal(true);
    const { body } = await on.ask({ url: '/api/landscapes', headers: { cookie } });
    expect(idsIn(body)).to.include('bank/vault');
  });

  it('include a namespace that is new', async () => {
    const on = stage();
    on.users.get('proj-token')?.rights.add('installations/new');
    const cookie = await on.cookieOf('proj-token');
    on.change(collected(inNamespace('new', installation('web', { phase: 'Succeeded' }))));
    const { body } = await on.ask({ url: '/api/landscapes', headers: { cookie } });
    expect(idsIn(body)).to.deep.equal(['new/web']);
  });

  it('end the session when the API server no longer accepts the token', async () => {
    const on = stage();
    const cookie = await on.cookieOf('root-token');
    const viewer = await follow(on, cookie);
    on.users.delete('root-token');
    await on.clock.advance(ALLOWED_MS + 10_000);
    expect(viewer.isEnded()).to.equal(true);
    expect((await on.ask({ url: '/api/about', headers: { cookie } })).statusCode).to.equal(401);
    expect(on.openClients()).to.equal(0);
    expect(on.log()).to.contain('token refused');
  });

  it('are not assumed while the API server does not answer', async () => {
    const on = stage();
    const cookie = await on.cookieOf('root-token');
    const viewer = await follow(on, cookie);
    on.fail('etcd is down');
    await on.clock.advance(ALLOWED_MS + 10_000);
    expect(viewer.isEnded()).to.equal(true);
    const answer = await on.ask({ url: '/api/landscapes', headers: { cookie } });
    expect(answer.statusCode).to.equal(503);
    expect(answer.body).to.contain('cannot check your rights: etcd is down');
    on.fail('');
    expect((await on.ask({ url: '/api/landscapes', headers: { cookie } })).statusCode).to.equal(200);
  });
});

describe('a session of the console in the cluster', () => {
  it('ends by logout', async () => {
    const { as, openClients } = stage();
    const ask = await as('root-token');
    const answer = await ask('/api/session', { method: 'DELETE' });
    expect(answer.statusCode).to.equal(204);
    expect(String(answer.headers['set-cookie'])).to.contain('Max-Age=0').and.contain('Secure');
    expect((await ask('/api/about')).statusCode).to.equal(401);
    expect(openClients()).to.equal(0);
  });

  it('ends when it was not used for some time', async () => {
    const { as, clock } = stage();
    const ask = await as('root-token');
    await clock.advance(IDLE_MS - 10_000);
    expect((await ask('/api/about')).statusCode).to.equal(200);
    await clock.advance(IDLE_MS - 10_000);
    expect((await ask('/api/about')).statusCode).to.equal(200);
    await clock.advance(IDLE_MS + 10_000);
    expect((await ask('/api/about')).statusCode).to.equal(401);
  });

  it('is not idle while a page is open', async () => {
    const on = stage();
    const cookie = await on.cookieOf('root-token');
    const viewer = await follow(on, cookie);
    await on.clock.advance(2 * IDLE_MS);
    expect(viewer.isEnded()).to.equal(false);
    expect((await on.ask({ url: '/api/about', headers: { cookie } })).statusCode).to.equal(200);
  });

  it('ends after some hours, even if it is used', async () => {
    const clock = new FakeClock();
    const ends: string[] = [];
    const sessions = createSessionStore<string>(clock, (value, reason) => ends.push(`${value}: ${reason}`));
    const secret = sessions.add('user', 'a');
    await clock.advance(MAX_AGE_MS - 1);
    sessions.expire(() => true);
    expect(sessions.use(secret)).to.equal('a');
    await clock.advance(1);
    sessions.expire(() => true);
    expect(sessions.use(secret)).to.equal(undefined);
    expect(ends).to.deep.equal(['a: too old']);
  });

  it('leaves nothing behind when the console stops', async () => {
    const on = stage();
    await follow(on, await on.cookieOf('root-token'));
    await on.server.close();
    expect(on.openClients()).to.equal(0);
    expect(on.clock.pending).to.equal(0);
  });
});
