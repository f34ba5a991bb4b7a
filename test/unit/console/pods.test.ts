/** Pods of objects on targets: which belong to an object, what is shown of them, and pieces of logs. */
import { expect } from 'chai';
import { linesIn, MAX_LOG_BYTES } from '../../../src/cli/console/pods/read-log.ts';
import { podRowOf } from '../../../src/cli/console/pods/rows.ts';
import {
  isPodOf,
  isReplicaSetOf,
  selectorOf,
  workloadKind,
} from '../../../src/cli/console/pods/workloads.ts';
import type { LogLines, Part, PodList } from '../../../src/cli/console/wire.ts';
import type { Pod } from '../../../src/runtime/core-kinds.ts';
import { ApiError, Forbidden, Unauthorized } from '../../../src/runtime/errors.ts';
import type { Client, Kind, Obj, Query } from '../../../src/runtime/types.ts';
import type { TargetReader } from '../../../deployers/sdk/index.ts';
import { appendedLog, emptyLog, MAX_LINES, plainLine } from '../../../web/console/log-lines.ts';
import { collected, execution, installation, item } from '../cli/given.ts';
import { ask, consoleOf, cookieOf } from './parts.ts';

const SECRET = 'hunter2';
const APPS = 'apps/v1';

const objectOf = (kind: string, name = 'web') => ({ apiVersion: APPS, kind, namespace: 'apps', name });

const pod = (name: string, owner: [kind: string, name: string] | undefined, more: object = {}): Pod =>
  ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: 'apps',
      uid: `uid-${name}`,
      labels: { 'pod-template-hash': 'abc' },
      ...(owner && {
        ownerReferences: [{ apiVersion: APPS, kind: owner[0], name: owner[1], uid: 'o', controller: true }],
      }),
    },
    spec: {
      containers: [{ name: 'server', env: [{ name: 'PASSWORD', value: SECRET }] }],
      nodeName: 'node-1',
    },
    status: {
      phase: 'Running',
      containerStatuses: [
        {
          name: 'server',
          ready: true,
          restartCount: 0,
          state: { running: { startedAt: '2026-01-01T00:00:00Z' } },
        },
      ],
    },
    ...more,
  }) as unknown as Pod;

describe('the pods of an object', () => {
  const cases: readonly (readonly [
    title: string,
    kind: string,
    owner: [string, string] | undefined,
    is: boolean,
  ])[] = [
    ['of a ReplicaSet of the Deployment', 'Deployment', ['ReplicaSet', 'web-abc'], true],
    [
      'of a ReplicaSet of a Deployment with a longer name',
      'Deployment',
      ['ReplicaSet', 'web-api-abc'],
      false,
    ],
    ['of an old template, with its own hash', 'Deployment', ['ReplicaSet', 'web-def'], false],
    ['of the StatefulSet', 'StatefulSet', ['StatefulSet', 'web'], true],
    ['of another kind with the same name', 'StatefulSet', ['DaemonSet', 'web'], false],
    ['of the Job', 'Job', ['Job', 'web'], true],
    ['without an owner', 'DaemonSet', undefined, false],
    ['that is the object', 'Pod', undefined, true],
  ];
  for (const [title, kind, owner, is] of cases)
    it(`${is ? 'include' : 'do not include'} a pod ${title}`, () => {
      const found = pod(kind === 'Pod' ? 'web' : 'web-1', owner);
      expect(isPodOf(objectOf(kind), found)).to.equal(is);
    });

  it('exist only for kinds of Kubernetes itself', () => {
    expect(workloadKind({ apiVersion: 'apps/v1', kind: 'Deployment' })?.plural).to.equal('deployments');
    expect(workloadKind({ apiVersion: 'v1', kind: 'Pod' })?.plural).to.equal('pods');
    expect(workloadKind({ apiVersion: 'example.org/v1', kind: 'Deployment' })).to.equal(undefined);
    expect(workloadKind({ apiVersion: 'v1', kind: 'Secret' })).to.equal(undefined);
  });

  it('are requested by all terms of the selector', () => {
    const selector = {
      matchLabels: { app: 'web', tier: 'a' },
      matchExpressions: [
        { key: 'zone', operator: 'In', values: ['x', 'y'] },
        { key: 'old', operator: 'NotIn', values: ['1'] },
        { key: 'ready', operator: 'Exists' },
        { key: 'gone', operator: 'DoesNotExist' },
      ],
    };
    const withSelector = (one: unknown) =>
      ({ metadata: { name: 'web' }, spec: { selector: one } }) as unknown as Obj;
    expect(selectorOf(withSelector(selector))).to.equal(
      'app=web,tier=a,zone in (x,y),old notin (1),ready,!gone',
    );
    expect(selectorOf(withSelector({}))).to.equal(undefined);
    expect(selectorOf(withSelector({ matchExpressions: [{ key: 'a', operator: 'Gt' }] }))).to.equal(
      undefined,
    );
  });

  it('come with events of ReplicaSets that cannot create them', () => {
    const is = (name: string, kind = 'ReplicaSet') => isReplicaSetOf(objectOf('Deployment'), { kind, name });
    expect(is('web-5d4f')).to.equal(true);
    expect(is('web-api-5d4f')).to.equal(false);
    expect(is('web')).to.equal(false);
    expect(is('web-5d4f', 'Pod')).to.equal(false);
  });

  it('are shown with the word of kubectl and the reason, without environments', () => {
    const failing = pod('web-1', ['ReplicaSet', 'web-abc'], {
      status: {
        phase: 'Running',
        containerStatuses: [
          {
            name: 'server',
            ready: false,
            restartCount: 4,
            state: { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 40s' } },
            lastState: { terminated: { reason: 'OOMKilled', exitCode: 137 } },
          },
        ],
      },
    });
    const row = podRowOf(failing);
    expect(row).to.include({
      status: 'CrashLoopBackOff',
      isHealthy: false,
      ready: '0/1',
      restarts: 4,
      message: 'back-off 40s',
      node: 'node-1',
    });
    expect(row.containers[0]).to.deep.include({
      state: 'waiting',
      reason: 'CrashLoopBackOff',
      lastEnd: 'OOMKilled, exit code 137',
      hasStarted: true,
    });
    expect(JSON.stringify(row)).not.to.contain(SECRET);
    expect(podRowOf(pod('web-2', undefined)).isHealthy).to.equal(true);
  });

  it('say why they are not scheduled', () => {
    const conditions = [{ type: 'PodScheduled', status: 'False', message: '0/3 nodes are available' }];
    const row = podRowOf(pod('web-1', undefined, { status: { phase: 'Pending', conditions } }));
    expect(row).to.include({ status: 'Pending', isHealthy: false, message: '0/3 nodes are available' });
    expect(row.containers[0]).to.include({ state: 'waiting', hasStarted: false });
  });
});

describe('a piece of a log', () => {
  const at = (second: number, text: string): string => `2026-01-01T00:00:0${String(second)}.5Z ${text}`;

  it('has lines without stamps, and the stamp of the last one', () => {
    expect(linesIn(`${at(1, 'a')}\n${at(2, 'b c')}\n`, '')).to.deep.equal({
      lines: ['a', 'b c'],
      last: '2026-01-01T00:00:02.5Z',
      isCut: false,
      hasGap: false,
    });
  });

  it('has only lines after a stamp, and keeps the stamp if there are none', () => {
    const [first, second] = [at(1, 'a'), at(1, 'a')];
    expect(linesIn(`${first}\n${at(2, 'b')}\n`, '2026-01-01T00:00:01.5Z').lines).to.deep.equal(['b']);
    expect(linesIn(second, '2026-01-01T00:00:01.5Z')).to.include({ last: '2026-01-01T00:00:01.5Z' });
    expect(linesIn('', '')).to.include({ last: '', isCut: false });
  });

  it('leaves out a last line that the limit cuts, unless it is the only one', () => {
    const long = 'x'.repeat(MAX_LOG_BYTES);
    const cut = linesIn(`${at(1, 'a')}\n${at(2, long)}`.slice(0, MAX_LOG_BYTES), '');
    expect(cut).to.deep.include({ lines: ['a'], last: '2026-01-01T00:00:01.5Z', isCut: true });
    expect(linesIn(at(1, long).slice(0, MAX_LOG_BYTES), '').lines).to.have.length(1);
  });

  it('is appended on the page, without colours, up to a limit', () => {
    const answer = (lines: readonly string[], hasGap = false): LogLines => ({
      lines,
      last: '',
      isCut: false,
      hasGap,
    });
    const first = appendedLog(emptyLog, answer(['\u001b[31mred\u001b[0m', 'b']));
    expect(first).to.deep.equal({ lines: ['red', 'b'], omitted: false });
    expect(appendedLog(first, answer([])).lines).to.equal(first.lines);
    expect(appendedLog(first, answer(['c'], true)).lines).to.deep.equal(['red', 'b', '…', 'c']);
    const many = appendedLog(first, answer(Array.from({ length: MAX_LINES }, (_, i) => String(i))));
    expect(many.omitted).to.equal(true);
    expect(many.lines).to.have.length(MAX_LINES);
    expect(plainLine('\u001b[1;32m✔\u001b[K done')).to.equal('✔ done');
  });
});

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
