/** Requests for pods and logs to the console: of which objects, with which rights, and how much. */
import { expect } from 'chai';
import type { TargetReader } from '../../../deployers/sdk/index.ts';
import { MAX_LOG_BYTES } from '../../../src/cli/console/pods/read-log.ts';
import type { LogLines, Part, PodList } from '../../../src/cli/console/wire.ts';
import { ApiError, Forbidden, Unauthorized } from '../../../src/runtime/errors.ts';
import type { Client, Kind, Query } from '../../../src/runtime/types.ts';
import { collected, execution, installation, item } from '../cli/given.ts';
import { objectOf, pod, SECRET } from './given-pods.ts';
import { ask, consoleOf, cookieOf } from './parts.ts';

const landscape = (target?: string) => {
  const server = item('i', {
    execution: 'web',
    template: 'server',
    phase: 'Succeeded',
    spec: target === undefined ? {} : { target: { name: target } },
  });
  const resources = [objectOf('Deployment'), { ...objectOf('Secret'), apiVersion: 'v1' }].map((resource) => ({
    resource: { ...resource, uid: 'uid-web' },
  }));
  return collected(installation('web', { phase: 'Succeeded' }), execution('web', { phase: 'Succeeded' }), {
    ...server,
    status: { ...server.status, providerStatus: { managedResources: resources } },
  });
};

const PART = encodeURIComponent('DeployItem/proj/i/apps/v1/Deployment/apps/web');
const PODS = `/api/landscapes/proj/web/pods?part=${PART}`;
const logUrl = (name: string, more = ''): string =>
  `/api/landscapes/proj/web/log?part=${PART}&pod=${name}&container=server${more}`;

const event = (name: string, involvedObject: object): object => ({
  metadata: { name, namespace: 'apps' },
  involvedObject,
  reason: name,
  lastTimestamp: '2026-01-01T00:00:00Z',
});

const refusal = (status: number, message: string): ApiError => {
  const facts = { message, status, reason: 'X', ref: { verb: 'get', kind: 'Pod' } };
  return status === 403
    ? new Forbidden(facts)
    : status === 401
      ? new Unauthorized(facts)
      : new ApiError(facts);
};

/** A cluster with the Deployment, pods of it and of others, and logs; functions replace answers. */
function cluster(answers: { readonly list?: () => void; readonly log?: (path: string) => string } = {}) {
  const paths: string[] = [];
  const queries: Query[] = [];
  const pods = [
    pod('web-ok', ['ReplicaSet', 'web-abc']),
    pod('web-bad', ['ReplicaSet', 'web-abc'], {
      status: { phase: 'Failed', reason: 'Evicted', message: 'disk' },
    }),
    pod('other', ['ReplicaSet', 'other-abc']),
  ];
  const events = [
    event('Evicted', { kind: 'Pod', name: 'web-bad', uid: 'uid-web-bad' }),
    event('FailedCreate', { kind: 'ReplicaSet', name: 'web-5d4f', uid: 'u' }),
    event('Pulled', { kind: 'Pod', name: 'other', uid: 'uid-other' }),
  ];
  const objects: Readonly<Record<string, object>> = {
    'Target proj/self': { spec: { config: { selfConfig: { serviceAccount: { name: 'x' } } } } },
    'Target proj/other': { spec: { config: { kubeconfig: SECRET } } },
    'Deployment apps/web': {
      metadata: { name: 'web', namespace: 'apps', uid: 'uid-web' },
      spec: { selector: { matchLabels: { app: 'web' } } },
    },
    ...Object.fromEntries(pods.map((one) => [`Pod apps/${one.metadata.name}`, one])),
  };
  const client = {
    get: (kind: Kind, key: string) => {
      const found = objects[`${kind.kind} ${key}`];
      return found ? Promise.resolve(found) : Promise.reject(refusal(404, `${kind.kind} ${key} not found`));
    },
    async *list(kind: Kind, query: Query) {
      await Promise.resolve();
      queries.push(query);
      if (kind.kind === 'Event') answers.list?.();
      yield { items: kind.kind === 'Event' ? events : pods, resourceVersion: '1' };
    },
    raw: (_: string, path: string) => {
      paths.push(path);
      return Promise.resolve(answers.log?.(path) ?? '2026-01-01T00:00:01.123456789Z hello\n');
    },
  } as unknown as Client;
  return { client, paths, queries };
}

async function serve(target: string | undefined, client: Client, targets?: TargetReader) {
  const { server, sessions } = consoleOf(landscape(target), client, { targets });
  const cookie = cookieOf(sessions);
  return (url: string) => ask(server, cookie, { url });
}

describe('pods in the console', () => {
  it('are offered only for objects that have some', async () => {
    const get = await serve('self', cluster().client);
    const { items } = (await get('/api/landscapes/proj/web')).json<{ items: Part[] }>();
    expect(items.filter(({ hasPods }) => hasPods).map(({ title }) => title)).to.deep.equal([
      'Deployment web',
    ]);
  });

  it('are those of the object, failed ones first, with their events', async () => {
    const { client, queries } = cluster();
    const answer = await (await serve('self', client))(PODS);
    expect(answer.statusCode, answer.body).to.equal(200);
    const { pods, events, eventsProblem } = answer.json<PodList>();
    expect(pods.map(({ name, status, message }) => [name, status, message])).to.deep.equal([
      ['web-bad', 'Evicted', 'disk'],
      ['web-ok', 'Running', ''],
    ]);
    expect(events.map(({ reason }) => reason).sort()).to.deep.equal(['Evicted', 'FailedCreate']);
    expect(eventsProblem).to.equal('');
    expect(queries[0]).to.deep.equal({ namespace: 'apps', labels: 'app=web' });
    expect(answer.body).not.to.contain(SECRET);
  });

  it('are shown without events if the viewer may not list events', async () => {
    const { client } = cluster({
      list: () => {
        throw refusal(403, 'cannot list events in namespace apps');
      },
    });
    const list = (await (await serve('self', client))(PODS)).json<PodList>();
    expect(list.pods).to.have.length(2);
    expect(list).to.deep.include({ events: [], eventsProblem: 'cannot list events in namespace apps' });
  });

  it('are not read for other objects, or objects without pods', async () => {
    const { client, paths } = cluster();
    const get = await serve('self', client);
    const at = (part: string) => get(`/api/landscapes/proj/web/pods?part=${encodeURIComponent(part)}`);
    for (const part of ['DeployItem/proj/i/apps/v1/Deployment/apps/other', 'DeployItem/proj/i', 'x'])
      expect((await at(part)).statusCode, part).to.equal(404);
    const secret = await at('DeployItem/proj/i/v1/Secret/apps/web');
    expect([secret.statusCode, secret.json()]).to.deep.equal([
      404,
      { error: 'objects of kind Secret have no pods' },
    ]);
    expect((await get('/api/landscapes/proj/web/pods')).statusCode).to.equal(400);
    expect((await get(`/api/landscapes/proj/gone/pods?part=${PART}`)).statusCode).to.equal(404);
    expect(paths).to.deep.equal([]);
  });

  it('of another cluster need its credentials, which a console without a reader of targets does not use', async () => {
    const { client } = cluster();
    const refused = await (await serve('other', client))(PODS);
    expect(refused.statusCode).to.equal(403);
    expect(refused.body).to.contain('uses no credentials of targets').and.not.contain(SECRET);
    expect((await (await serve(undefined, client))(PODS)).body).to.contain('has no target');
    expect((await (await serve('missing', client))(PODS)).statusCode).to.equal(404);
  });

  it('of another cluster are read with the credentials in the target', async () => {
    const { client } = cluster();
    const far = cluster();
    const reader = (connected: Client): TargetReader =>
      ({
        resolve: () =>
          Promise.resolve({ content: undefined, kube: () => Promise.resolve({ client: connected }) }),
      }) as unknown as TargetReader;
    const list = (await (await serve('other', client, reader(far.client)))(PODS)).json<PodList>();
    expect(list.pods).to.have.length(2);
    expect(far.queries).to.have.length(2);
    const get = () => Promise.reject(refusal(401, 'the server of target other answered: unauthorized'));
    const expired = await (await serve('other', client, reader({ ...far.client, get })))(PODS);
    expect(expired.statusCode, 'the session is still valid').to.equal(502);
  });
});

describe('logs in the console', () => {
  it('are the last lines, of a limited size', async () => {
    const { client, paths } = cluster();
    const answer = await (await serve('self', client))(logUrl('web-ok'));
    expect(answer.json()).to.deep.equal({
      lines: ['hello'],
      last: '2026-01-01T00:00:01.123456789Z',
      isCut: false,
      hasGap: false,
    });
    const { pathname, searchParams } = new URL(paths[0] ?? '', 'http://server');
    expect(pathname).to.equal('/api/v1/namespaces/apps/pods/web-ok/log');
    expect(Object.fromEntries(searchParams)).to.deep.equal({
      container: 'server',
      timestamps: 'true',
      limitBytes: String(MAX_LOG_BYTES),
      tailLines: '500',
    });
  });

  it('continue after the last line, and can be those before a restart', async () => {
    const { client, paths } = cluster();
    const get = await serve('self', client);
    const next = await get(logUrl('web-ok', '&after=2026-01-01T00:00:01.123456789Z&previous=true'));
    expect(next.json<LogLines>().lines).to.deep.equal([]);
    const query = new URL(paths[0] ?? '', 'http://server').searchParams;
    expect(query.get('sinceTime')).to.equal('2026-01-01T00:00:01Z');
    expect(query.get('previous')).to.equal('true');
    expect(query.has('tailLines')).to.equal(false);
    expect((await get(logUrl('web-ok', '&after=yesterday'))).statusCode).to.equal(400);
  });

  it('skip lines if more than the limit was logged within a second', async () => {
    const flood = `2026-01-01T00:00:01.1Z x\n`.repeat(MAX_LOG_BYTES / 20).slice(0, MAX_LOG_BYTES);
    const log = (path: string): string =>
      path.includes('sinceTime') ? flood : '2026-01-01T00:00:09Z later\n';
    const get = await serve('self', cluster({ log }).client);
    const answer = await get(logUrl('web-ok', '&after=2026-01-01T00:00:01.1Z'));
    expect(answer.json()).to.deep.include({ lines: ['later'], hasGap: true });
  });

  it('are only those of pods of the object', async () => {
    const { client, paths } = cluster();
    const get = await serve('self', client);
    for (const name of ['other', 'missing', '..%2Fsecrets'])
      expect((await get(logUrl(name))).statusCode, name).to.equal(404);
    expect(paths).to.deep.equal([]);
  });

  it('need the right of the viewer', async () => {
    const { client } = cluster();
    const raw = () => Promise.reject(refusal(403, 'cannot get pods/log in namespace apps'));
    const answer = await (await serve('self', { ...client, raw }))(logUrl('web-ok'));
    expect([answer.statusCode, answer.json<{ error: string }>().error.slice(0, 37)]).to.deep.equal([
      403,
      'cannot get pods/log in namespace apps',
    ]);
  });
});
