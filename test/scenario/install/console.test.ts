/** The console that `espalier install` installs: its permissions, and those of its viewers, on a server that checks them. */
import { expect } from 'chai';
import { installationKind } from '../../../src/api/kinds/installation.ts';
import { API_VERSION, GROUP } from '../../../src/api/labels.ts';
import {
  clusterRoleBindingKind,
  clusterRoleKind,
  deploymentKind,
  roleBindingKind,
  roleKind,
  serviceAccountKind,
  serviceKind,
} from '../../../src/cli/commands/install/kinds.ts';
import { tokenAccess } from '../../../src/cli/console/in-cluster/token-access.ts';
import { clientsOf } from '../../../src/cli/console/in-cluster/viewer-client.ts';
import { watchSource } from '../../../src/cli/console/model.ts';
import { createServer, listen } from '../../../src/cli/console/server.ts';
import { applyAll, namespaceObject } from '../../../src/cli/objects.ts';
import { runProgram } from '../../../src/cli/program.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { systemRng as rng } from '../../../src/lib/rng.ts';
import { silentLogger as log } from '../../../src/observability/log.ts';
import { createCaches } from '../../../src/runtime/cache/cache.ts';
import { createClient } from '../../../src/runtime/transport/client.ts';
import { connect } from '../../../src/runtime/transport/http.ts';
import { getIfThere } from '../../../src/runtime/transport/read.ts';
import type { Client, Kind, Obj } from '../../../src/runtime/types.ts';
import { kubeconfigOfAccount, startStrictServer, type StrictServer } from '../../support/rights.ts';
import { SkippingClock } from '../../support/skipping-clock.ts';
import { fakeTerminal } from '../../unit/cli/terminal.ts';
import { eventually } from '../../support/waiting.ts';

const HOME = 'ls-system';
const USERS = 'users';
const CONSOLE = { namespace: HOME, name: 'espalier-console' };
const LANDSCAPES = ['shop/web', 'bank/vault'] as const;
const PATIENCE_MS = 60_000;

describe('the console in a cluster', function () {
  this.timeout(2 * PATIENCE_MS);
  let host: StrictServer;
  let admin: Client;
  let console: Awaited<ReturnType<typeof start>>;

  before(async () => {
    host = await startStrictServer();
    admin = await clientFor(host.kubeconfig);
    await install('--set', 'console.enabled=true');
    await applyAll(admin, ['shop', 'bank', USERS].map(namespaceObject));
    for (const key of LANDSCAPES) await create(installationKind, landscape(key));
    for (const user of ['admin', 'viewer', 'without-rights'])
      await create(serviceAccountKind, named('ServiceAccount', 'v1', `${USERS}/${user}`));
    await create(clusterRoleBindingKind, {
      ...named('ClusterRoleBinding', RBAC, 'console-test'),
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [{ kind: 'ServiceAccount', name: 'admin', namespace: USERS }],
    } as Obj);
    await create(roleKind, {
      ...named('Role', RBAC, 'shop/viewer'),
      rules: [
        {
          apiGroups: [GROUP],
          resources: ['installations', 'executions', 'deployitems'],
          verbs: ['get', 'list', 'watch'],
        },
      ],
    } as Obj);
    await grant();
    console = await start();
  });
  after(async () => {
    await console?.close();
    await admin?.close();
    await host?.close();
  });

  const clientFor = async (text: string): Promise<Client> =>
    createClient(await connect({ kubeconfig: { text }, userAgent: 'test', clock: systemClock, log }));

  const create = async (kind: Kind, object: Obj): Promise<void> => {
    await admin.send({ verb: 'create', kind, object });
  };

  async function install(...more: readonly string[]): Promise<void> {
    const terminal = fakeTerminal({ env: { KUBECONFIG: host.kubeconfigFile } });
    const args = ['install', '-A', '--image', 'example.org/espalier:1', ...more];
    expect(await runProgram(args, terminal), terminal.errors).to.equal(0);
  }

  const grant = (): Promise<void> =>
    create(roleBindingKind, {
      ...named('RoleBinding', RBAC, 'shop/viewer'),
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'viewer' },
      subjects: [{ kind: 'ServiceAccount', name: 'viewer', namespace: USERS }],
    } as Obj);

  const tokenOf = async (name: string): Promise<string> => {
    const text = await kubeconfigOfAccount(admin, host.kubeconfig, { namespace: USERS, name });
    return (JSON.parse(text) as { users: { user: { token: string } }[] }).users[0]?.user.token ?? '';
  };

  /** Serves with the service account of the console, as its pod does. */
  async function start() {
    const clock = new SkippingClock();
    const kubeconfig = { text: await kubeconfigOfAccount(admin, host.kubeconfig, CONSOLE) };
    const connection = await connect({ kubeconfig, userAgent: 'espalier-console', clock, rng, log });
    const client = createClient(connection);
    const life = new AbortController();
    const source = await watchSource(createCaches({ client, clock, rng, log }), undefined, life.signal);
    const self = await connection.address();
    const access = tokenAccess({
      source,
      clientOf: clientsOf(self, { clock, log }),
      clock,
      log,
      about: { version: '1.0.0', server: self.server },
      rules: { allowedHosts: [], trustsForwardedHeaders: false },
    });
    const server = createServer({ access, assets: new Map() });
    const url = `http://127.0.0.1:${String(await listen(server, { port: 0 }))}`;
    return {
      clock,
      url,
      async close() {
        life.abort(new Error('the tests are over'));
        await server.close();
        await client.close();
      },
    };
  }

  async function login(name: string) {
    const origin = console.url;
    const answer = await fetch(`${origin}/api/session`, {
      method: 'POST',
      headers: { origin, 'content-type': 'application/json' },
      body: JSON.stringify({ token: await tokenOf(name) }),
    });
    expect(answer.status, await answer.text()).to.equal(204);
    const cookie = answer.headers.get('set-cookie')?.split(';')[0] ?? '';
    return (path: string, request: RequestInit = {}) =>
      fetch(origin + path, { ...request, headers: { cookie, origin, 'content-type': 'application/json' } });
  }
  type Ask = Awaited<ReturnType<typeof login>>;

  const listed = async (ask: Ask): Promise<readonly string[]> => {
    const { items } = (await (await ask('/api/landscapes')).json()) as { items: { id: string }[] };
    return items.map(({ id }) => id).sort();
  };
  const act = async (ask: Ask, key: string, action: string): Promise<Response> => {
    const { metadata } = await admin.get(installationKind, key);
    return ask(`/api/landscapes/${key}/actions`, {
      method: 'POST',
      body: JSON.stringify({ action, uid: metadata.uid }),
    });
  };

  it('shows each user what the user may list', async () => {
    expect(await listed(await login('admin'))).to.deep.equal([...LANDSCAPES].sort());
    expect(await listed(await login('viewer'))).to.deep.equal(['shop/web']);
    expect(await listed(await login('without-rights'))).to.deep.equal([]);
  });

  it('knows the names of users, and their rights', async () => {
    const rightsAt = async (name: string, key: string): Promise<unknown> =>
      (await (await login(name))(`/api/landscapes/${key}/rights`)).json();
    const all = { reconcile: true, interrupt: true, suspend: true, resume: true, delete: true };
    const none = { reconcile: false, interrupt: false, suspend: false, resume: false, delete: false };
    expect(await rightsAt('admin', 'bank/vault')).to.deep.equal(all);
    expect(await rightsAt('viewer', 'shop/web')).to.deep.equal(none);
    const about = (await (await login('viewer'))('/api/about')).json();
    expect(await about).to.include({ user: `system:serviceaccount:${USERS}:viewer` });
  });

  it('acts only with the rights of the user', async () => {
    const viewer = await login('viewer');
    for (const key of LANDSCAPES)
      for (const action of ['reconcile', 'interrupt', 'suspend', 'resume', 'delete']) {
        const answer = await act(viewer, key, action);
        expect(answer.status, `${action} ${key}`).to.equal(403);
        expect(await answer.text()).to.contain(`system:serviceaccount:${USERS}:viewer`);
      }
    expect((await act(await login('admin'), 'shop/web', 'reconcile')).status).to.equal(204);
    const { metadata } = await admin.get(installationKind, 'shop/web');
    expect(metadata.annotations).to.include({ [`${GROUP}/operation`]: 'reconcile' });
  });

  it('reads with its own account only what it lists and watches', () => {
    const account = `system:serviceaccount:${HOME}:${CONSOLE.name}`;
    const own = host.asked().filter(({ user }) => user.username === account);
    const used = own.map(({ verb, objectRef }) => `${verb} ${objectRef?.resource ?? ''}`);
    expect([...new Set(used)].sort()).to.satisfy((all: readonly string[]) =>
      all.every((each) => /^(list|watch) (installations|executions|deployitems)$/.test(each)),
    );
    expect(used).to.include('watch installations');
    expect(own.filter(({ responseStatus }) => responseStatus?.code === 403)).to.deep.equal([]);
  });

  it('refuses tokens that the API server does not know', async () => {
    const answer = await fetch(`${console.url}/api/session`, {
      method: 'POST',
      headers: { origin: console.url, 'content-type': 'application/json' },
      body: JSON.stringify({ token: `${(await tokenOf('admin')).slice(0, -8)}AAAAAAAA` }),
    });
    expect(answer.status).to.equal(401);
  });

  it('ends the live view of a user whose permission is revoked', async () => {
    const viewer = await login('viewer');
    const events = await viewer('/api/events');
    const reader = (events.body ?? expect.fail('no events')).pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    const isOver = reader
      .read()
      .then(async function next({ done, value = '' }): Promise<void> {
        text += value;
        if (!done) await reader.read().then(next);
      })
      .catch(() => undefined);
    await eventually('the snapshot has arrived', () => Promise.resolve(text.includes('shop/web')));
    await admin.send({ verb: 'delete', kind: roleBindingKind, key: 'shop/viewer' });
    let hasEnded = false;
    void isOver.then(() => (hasEnded = true));
    await eventually('the events have ended', () => {
      console.clock.advance(10_000);
      return Promise.resolve(hasEnded);
    });
    expect(text).not.to.contain('bank');
    expect(await listed(viewer)).to.deep.equal([]);
    await grant();
  });

  it('ends the session of a user who is deleted', async () => {
    const viewer = await login('viewer');
    await admin.send({ verb: 'delete', kind: serviceAccountKind, key: `${USERS}/viewer` });
    await eventually('the session has ended', async () => {
      console.clock.advance(10_000);
      return (await viewer('/api/about')).status === 401;
    });
  });

  it('is removed when it is turned off', async () => {
    await install();
    const key = `${HOME}/espalier-console`;
    for (const kind of [deploymentKind, serviceKind, serviceAccountKind])
      expect(await getIfThere(admin, kind, key), kind.kind).to.equal(undefined);
    for (const kind of [clusterRoleKind, clusterRoleBindingKind])
      expect(await getIfThere(admin, kind, 'espalier-console'), kind.kind).to.equal(undefined);
    expect(await getIfThere(admin, deploymentKind, `${HOME}/espalier`)).not.to.equal(undefined);
  });
});

const RBAC = 'rbac.authorization.k8s.io/v1';

function named(kind: string, apiVersion: string, key: string): Obj {
  const [name = '', namespace] = key.split('/').toReversed();
  return { apiVersion, kind, metadata: { name, ...(namespace !== undefined && { namespace }) } };
}

const landscape = (key: string): Obj =>
  ({
    ...named('Installation', API_VERSION, key),
    spec: { blueprint: { inline: { filesystem: { 'blueprint.yaml': '{}' } } } },
  }) as Obj;
