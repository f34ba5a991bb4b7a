/** A console in the cluster for users with different rights, on an API server that checks them. */
import { expect } from 'chai';
import type { LightMyRequestResponse } from 'fastify';
import { startApiServer, type ApiServer } from '../../src/apiserver/server.ts';
import { API_VERSION, GROUP } from '../../src/api/labels.ts';
import { targetKind } from '../../src/api/landscaper-kinds.ts';
import { roleBindingKind, roleKind } from '../../src/cli/commands/install/kinds.ts';
import { allowedFor, type Allowances } from '../../src/cli/console/in-cluster/allowances.ts';
import { tokenAccess } from '../../src/cli/console/in-cluster/token-access.ts';
import { clientsOf } from '../../src/cli/console/in-cluster/viewer-client.ts';
import { createServer } from '../../src/cli/console/server.ts';
import { applyAll, namespaceObject } from '../../src/cli/objects.ts';
import type { Collected } from '../../src/cli/tree/collect.ts';
import { ensureCrds } from '../../src/landscape/ensure-crds.ts';
import { systemClock as clock } from '../../src/lib/clock.ts';
import { silentLogger as log } from '../../src/observability/log.ts';
import { Secret } from '../../src/runtime/core-kinds.ts';
import { createClient } from '../../src/runtime/transport/client.ts';
import { connect } from '../../src/runtime/transport/http.ts';
import type { Client, Kind, Obj } from '../../src/runtime/types.ts';
import { startLogProxy, type LogProxy } from './log-proxy.ts';

export const NAMESPACE = 'proj';
const RBAC = 'rbac.authorization.k8s.io';

/** What a user needs to see landscapes. */
export const LANDSCAPES = {
  apiGroups: [GROUP],
  resources: ['installations', 'executions', 'deployitems'],
  verbs: ['list'],
};

export const named = (apiVersion: string, kind: string, name: string) => ({
  apiVersion,
  kind,
  metadata: { name, namespace: NAMESPACE },
});

export interface RightsStage {
  readonly host: ApiServer;
  /** In front of the server; the console and its viewers use it. */
  readonly proxy: LogProxy;
  readonly admin: Client;
  create(kind: Kind, object: object): Promise<void>;
  clientWith(kubeconfig: string): Promise<Client>;
  /** A console in the cluster, with a session of the user. */
  login(
    user: string,
    objects: Collected,
    allowances?: Allowances,
  ): Promise<{
    readonly get: (url: string) => Promise<LightMyRequestResponse>;
    readonly close: () => Promise<void>;
  }>;
  close(): Promise<void>;
}

/**
 * With the targets `self`, which is the server, and `other`, whose kubeconfig is in the Secret `access`.
 * @param rules by user; all others have no rights
 */
export async function startRightsStage(
  rules: Readonly<Record<string, readonly object[]>>,
  others: readonly string[],
): Promise<RightsStage> {
  const users = [...Object.keys(rules), ...others].map((username) => ({
    username,
    groups: [],
    token: `token-of-${username}`,
  }));
  const host = await startApiServer({
    listen: { tls: false },
    authorization: 'RBAC',
    users,
    simulate: true,
  });
  const proxy = await startLogProxy(host.url);
  const clientWith = async (kubeconfig: string): Promise<Client> =>
    createClient(await connect({ kubeconfig: { text: kubeconfig }, userAgent: 'test', clock, log }));
  const admin = await clientWith(host.kubeconfig);
  const create = async (kind: Kind, object: object): Promise<void> => {
    await admin.send({ verb: 'create', kind, object: object as Obj });
  };
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
    stringData: { kubeconfig: host.kubeconfig.replaceAll(host.url, proxy.url) },
  });
  await create(targetKind, {
    ...named(API_VERSION, 'Target', 'other'),
    spec: { type: `${GROUP}/kubernetes-cluster`, secretRef: { name: 'access' } },
  });
  return {
    host,
    proxy,
    admin,
    create,
    clientWith,
    login: (user, objects, allowances) => login(proxy.url, user, objects, allowances),
    async close() {
      await admin.close();
      await proxy.close();
      await host.close();
    },
  };
}

async function login(
  url: string,
  user: string,
  objects: Collected,
  allowances: Allowances = { targets: false },
): ReturnType<RightsStage['login']> {
  const self = { server: url };
  const access = tokenAccess({
    source: {
      collected: () => objects,
      namespaces: () => [NAMESPACE],
      problem: () => '',
      onChange: () => () => undefined,
    },
    clientOf: clientsOf(self, { clock, log }),
    clock,
    log,
    about: { version: '1', server: url },
    rules: { allowedHosts: [], trustsForwardedHeaders: false },
    allowedFor: allowedFor(allowances, self, { clock, log, env: process.env }),
  });
  const server = createServer({ access, assets: new Map() });
  const headers = { host: 'localhost', origin: 'http://localhost' };
  const answer = await server.inject({
    method: 'POST',
    url: '/api/session',
    headers,
    payload: { token: `token-of-${user}` },
  });
  expect(answer.statusCode, answer.body).to.equal(204);
  const cookie = String(answer.headers['set-cookie']).split(';')[0] ?? '';
  return {
    get: (path) => server.inject({ url: path, headers: { ...headers, cookie } }),
    close: () => server.close(),
  };
}
