/** Pods and logs in the console, for users with different rights, on an API server that checks them. */
import { expect } from 'chai';
import { targetReaderOf } from '../../../deployers/sdk/controller.ts';
import { startApiServer, type ApiServer } from '../../../src/apiserver/server.ts';
import { API_VERSION, GROUP } from '../../../src/api/labels.ts';
import { targetKind } from '../../../src/api/landscaper-kinds.ts';
import { roleBindingKind, roleKind } from '../../../src/cli/commands/install/kinds.ts';
import { tokenAccess } from '../../../src/cli/console/in-cluster/token-access.ts';
import { clientsOf } from '../../../src/cli/console/in-cluster/viewer-client.ts';
import { createServer } from '../../../src/cli/console/server.ts';
import type { LogLines, PodList } from '../../../src/cli/console/wire.ts';
import { applyAll, namespaceObject } from '../../../src/cli/objects.ts';
import { ensureCrds } from '../../../src/landscape/ensure-crds.ts';
import { sleep, systemClock as clock } from '../../../src/lib/clock.ts';
import { secureRng } from '../../../src/lib/secure-rng.ts';
import { silentLogger as log } from '../../../src/observability/log.ts';
import { Deployment, Pod, Secret } from '../../../src/runtime/core-kinds.ts';
import { createClient } from '../../../src/runtime/transport/client.ts';
import { connect } from '../../../src/runtime/transport/http.ts';
import type { Client, Kind, Obj } from '../../../src/runtime/types.ts';
import { startLogProxy, type LogProxy } from '../../support/log-proxy.ts';
import { collected, execution, installation, item } from '../../unit/cli/given.ts';
import { ask, consoleOf, cookieOf } from '../../unit/console/parts.ts';

const NAMESPACE = 'proj';
const RBAC = 'rbac.authorization.k8s.io';

const LANDSCAPES = [
  { apiGroups: [GROUP], resources: ['installations', 'executions', 'deployitems'], verbs: ['list'] },
];
const TARGETS = [{ apiGroups: [GROUP], resources: ['targets'], verbs: ['get'] }];
const PODS = [
  { apiGroups: ['apps'], resources: ['deployments'], verbs: ['get'] },
  { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list'] },
];
const LOGS = [
  { apiGroups: [''], resources: ['pods/log'], verbs: ['get'] },
  { apiGroups: [''], resources: ['events'], verbs: ['list'] },
];

const rules: Readonly<Record<string, readonly object[]>> = {
  operator: [...LANDSCAPES, ...TARGETS, ...PODS, ...LOGS],
  viewer: [...LANDSCAPES, ...TARGETS, ...PODS],
  guest: LANDSCAPES,
};
const users = ['operator', 'viewer', 'guest', 'stranger'].map((username) => ({
  username,
  groups: [],
  token: `token-of-${username}`,
}));

const landscape = (target: string) => {
  const one = item('i', {
    execution: 'web',
    template: 'server',
    phase: 'Succeeded',
    spec: { target: { name: target } },
  });
  const resource = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: NAMESPACE, name: 'web', uid: 'u' };
  return collected(installation('web', { phase: 'Succeeded' }), execution('web', { phase: 'Succeeded' }), {
    ...one,
    status: { ...one.status, providerStatus: { managedResources: [{ resource }] } },
  });
};

const PART = encodeURIComponent(`DeployItem/${NAMESPACE}/i/apps/v1/Deployment/${NAMESPACE}/web`);
const podsUrl = `/api/landscapes/${NAMESPACE}/web/pods?part=${PART}`;
const logUrl = (pod: string): string =>
  `/api/landscapes/${NAMESPACE}/web/log?part=${PART}&pod=${pod}&container=server`;

describe('pods in the console, for users with different rights', function () {
  this.timeout(60_000);
  let host: ApiServer;
  let proxy: LogProxy;
  let admin: Client;
  let pod = '';

  const create = async (kind: Kind, object: object): Promise<void> => {
    await admin.send({ verb: 'create', kind, object: object as Obj });
  };
  const named = (apiVersion: string, kind: string, name: string) => ({
    apiVersion,
    kind,
    metadata: { name, namespace: NAMESPACE },
  });
  const clientWith = async (kubeconfig: string): Promise<Client> =>
    createClient(await connect({ kubeconfig: { text: kubeconfig }, userAgent: 'test', clock, log }));
  /** With the log of each pod. */
  const kubeconfigOf = (text: string): string => text.replaceAll(host.url, proxy.url);

  before(async () => {
    host = await startApiServer({ listen: { tls: false }, authorization: 'RBAC', users, simulate: true });
    proxy = await startLogProxy(host.url);
    admin = await clientWith(host.kubeconfig);
    await ensureCrds(admin, clock, log);
    await applyAll(admin, [namespaceObject(NAMESPACE)]);
    for (const [name, granted] of Object.entries(rules)) {
      await create(roleKind, { ...named(`${RBAC}/v1`, 'Role', name), rules: granted });
      await create(roleBindingKind, {
        ...named(`${RBAC}/v1`, 'RoleBinding', name),
        roleRef: { apiGroup: RBAC, kind: 'Role', name },
        subjects: [{ kind: 'User', name }],
      });
    }
    const self = { selfConfig: { serviceAccount: { name: 'deployer' } } };
    await create(targetKind, {
      ...named(API_VERSION, 'Target', 'self'),
      spec: { type: `${GROUP}/kubernetes-cluster`, config: self },
    });
    await create(Secret, {
      ...named('v1', 'Secret', 'access'),
      stringData: { kubeconfig: kubeconfigOf(host.kubeconfig) },
    });
    await create(targetKind, {
      ...named(API_VERSION, 'Target', 'other'),
      spec: { type: `${GROUP}/kubernetes-cluster`, secretRef: { name: 'access' } },
    });
    const labels = { app: 'web' };
    await create(Deployment, {
      ...named('apps/v1', 'Deployment', 'web'),
      spec: {
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'server', image: 'web:1' }] } },
      },
    });
    pod = await runningPod();
    proxy.logs.set(`${pod}/server`, ['2026-01-01T00:00:01Z listening', '2026-01-01T00:00:02Z ready']);
  });
  after(async () => {
    await admin?.close();
    await proxy?.close();
    await host?.close();
  });

  async function runningPod(): Promise<string> {
    for (;;) {
      for await (const { items } of admin.list(Pod, { namespace: NAMESPACE }))
        for (const { metadata, status } of items) if (status?.phase === 'Running') return metadata.name;
      await sleep(clock, 50);
    }
  }

  /** A console in the cluster, with a session of the user. */
  async function inCluster(user: string, target: string) {
    const access = tokenAccess({
      source: {
        collected: () => landscape(target),
        namespaces: () => [NAMESPACE],
        problem: () => '',
        onChange: () => () => undefined,
      },
      clientOf: clientsOf({ server: proxy.url }, { clock, log }),
      clock,
      log,
      about: { version: '1', server: proxy.url },
      rules: { allowedHosts: [], trustsForwardedHeaders: false },
    });
    const server = createServer({ access, assets: new Map() });
    const headers = { host: 'localhost', origin: 'http://localhost' };
    const login = await server.inject({
      method: 'POST',
      url: '/api/session',
      headers,
      payload: { token: `token-of-${user}` },
    });
    expect(login.statusCode, login.body).to.equal(204);
    const cookie = String(login.headers['set-cookie']).split(';')[0] ?? '';
    return {
      get: (url: string) => server.inject({ url, headers: { ...headers, cookie } }),
      close: () => server.close(),
    };
  }

  it('shows pods, events and logs to a user who may read them', async () => {
    const { get, close } = await inCluster('operator', 'self');
    const list = (await get(podsUrl)).json<PodList>();
    expect(list.pods.map(({ name, status, ready }) => [name, status, ready])).to.deep.equal([
      [pod, 'Running', '1/1'],
    ]);
    expect(list.eventsProblem).to.equal('');
    expect((await get(logUrl(pod))).json<LogLines>().lines).to.deep.equal(['listening', 'ready']);
    const next = await get(`${logUrl(pod)}&after=2026-01-01T00:00:01Z`);
    expect(next.json<LogLines>().lines).to.deep.equal(['ready']);
    await close();
  });

  it('shows pods without events and logs to a user who may only read pods', async () => {
    const { get, close } = await inCluster('viewer', 'self');
    const list = (await get(podsUrl)).json<PodList>();
    expect(list.pods).to.have.length(1);
    expect(list.eventsProblem).to.contain('events').and.contain('forbidden');
    const refused = await get(logUrl(pod));
    expect(refused.statusCode).to.equal(403);
    expect(refused.body).to.contain('pods/log').and.not.contain('listening');
    await close();
  });

  it('shows nothing of the target to users who may only list landscapes, or nothing', async () => {
    const guest = await inCluster('guest', 'self');
    for (const url of [podsUrl, logUrl(pod)]) {
      const refused = await guest.get(url);
      expect(refused.statusCode, url).to.equal(403);
      expect(refused.body).to.contain('targets').and.not.contain('listening');
    }
    await guest.close();
    const stranger = await inCluster('stranger', 'self');
    for (const url of [podsUrl, logUrl(pod)]) expect((await stranger.get(url)).statusCode, url).to.equal(404);
    await stranger.close();
  });

  it('uses no credentials of targets in the cluster, whatever the user may read', async () => {
    const { get, close } = await inCluster('operator', 'other');
    const refused = await get(podsUrl);
    expect(refused.statusCode).to.equal(403);
    expect(refused.body).to.contain('uses no credentials of targets');
    await close();
  });

  it('uses them on the machine of the user, who needs the right to read them', async () => {
    const as = async (kubeconfig: string) => {
      const client = await clientWith(kubeconfig);
      const life = new AbortController();
      const targets = targetReaderOf({ client, clock, log, rng: secureRng, signal: life.signal });
      const { server, sessions } = consoleOf(landscape('other'), client, { targets });
      const cookie = cookieOf(sessions);
      const answers = [
        await ask(server, cookie, { url: podsUrl }),
        await ask(server, cookie, { url: logUrl(pod) }),
      ];
      life.abort(new Error('the test is over'));
      await server.close();
      await client.close();
      return answers;
    };
    const [pods, lines] = await as(host.kubeconfig);
    expect(pods?.json<PodList>().pods.map(({ name }) => name)).to.deep.equal([pod]);
    expect(lines?.json<LogLines>().lines).to.deep.equal(['listening', 'ready']);
    const [refused] = await as(host.client({ username: 'operator', groups: [] }).kubeconfig);
    expect(refused?.statusCode).not.to.equal(200);
    expect(refused?.body).to.contain('secrets').and.contain('forbidden');
  });
});
