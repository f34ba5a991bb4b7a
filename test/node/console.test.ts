/** The console in the cluster, as the chart installs it, for users with tokens of service accounts. */
import { readFileSync } from 'node:fs';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { expect } from 'chai';
import { files } from '../../hack/node/settings.ts';
import type { LogLines, Part, Plan, PodList } from '../../src/cli/console/wire.ts';
import type { Client } from '../../src/runtime/types.ts';
import {
  apply,
  connectClient,
  install,
  kubeconfig,
  kubectl,
  LS_SYSTEM,
  namespace,
  rolledOut,
  uninstall,
  until,
} from './support/cluster.ts';
import { finished, ownCluster, tree } from './support/landscapes.ts';

const SHOP = 'shop';
const PAGE = '/api/landscapes/shop/web';
const RBAC = 'rbac.authorization.k8s.io';

/** A user who may do what `rules` say, in the namespace of the landscape. */
const user = (name: string, rules: readonly object[]): readonly object[] => [
  { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace: SHOP } },
  { apiVersion: `${RBAC}/v1`, kind: 'Role', metadata: { name, namespace: SHOP }, rules },
  {
    apiVersion: `${RBAC}/v1`,
    kind: 'RoleBinding',
    metadata: { name, namespace: SHOP },
    roleRef: { apiGroup: RBAC, kind: 'Role', name },
    subjects: [{ kind: 'ServiceAccount', name, namespace: SHOP }],
  },
];

const LANDSCAPER = 'landscaper.gardener.cloud';
const LANDSCAPES = {
  apiGroups: [LANDSCAPER],
  resources: ['installations', 'executions', 'deployitems'],
  verbs: ['get', 'list', 'watch'],
};
const OWNER = [
  { apiGroups: [LANDSCAPER], resources: ['*'], verbs: ['*'] },
  { apiGroups: [''], resources: ['secrets', 'configmaps', 'pods', 'pods/log'], verbs: ['get', 'list'] },
  { apiGroups: [''], resources: ['events'], verbs: ['list'] },
  { apiGroups: [''], resources: ['serviceaccounts/token'], verbs: ['create'] },
  { apiGroups: ['apps'], resources: ['deployments'], verbs: ['get'] },
];

interface AuditedRequest {
  readonly verb: string;
  readonly user: { readonly username: string };
  readonly objectRef?: { readonly resource?: string; readonly namespace?: string };
}

/** Requests in the audit log of the API server. */
const requests = (namespace: string, verb: string, resource: string): readonly AuditedRequest[] =>
  readFileSync(files.auditLog, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as AuditedRequest)
    .filter((each) => each.verb === verb && each.objectRef?.namespace === namespace)
    .filter((each) => each.objectRef?.resource === resource);

/** The Service of the console, as `kubectl port-forward` of a user reaches it. */
async function forward(): Promise<{ readonly url: string; readonly process: ChildProcess }> {
  const args = ['port-forward', 'service/espalier-console', ':8082', '-n', LS_SYSTEM];
  const process_ = spawn('kubectl', args, { env: { ...process.env, KUBECONFIG: kubeconfig() } });
  let output = '';
  for (const stream of [process_.stdout, process_.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  const port = await until('kubectl forwards a port', 30, () => {
    if (process_.exitCode !== null) throw new Error(output);
    return /127\.0\.0\.1:(\d+)/.exec(output)?.[1];
  });
  return { url: `http://localhost:${port}`, process: process_ };
}

describe('the console on a node', function () {
  this.timeout(0);
  let client: Client;
  let forwarded: Awaited<ReturnType<typeof forward>>;

  before(async () => {
    client = await connectClient();
    const values = ['console.enabled', 'console.allowTargets', 'console.plans.enabled'];
    install(values.flatMap((value) => ['--set', `${value}=true`]));
    rolledOut('espalier-console');
    apply(
      namespace(SHOP),
      ...ownCluster(SHOP),
      ...user('owner', OWNER),
      ...user('viewer', [LANDSCAPES]),
      { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'stranger', namespace: SHOP } },
      tree(SHOP, 'web', { hasPod: true }),
    );
    expect((await finished(client, SHOP, 'web')).status?.phase).to.equal('Succeeded');
    forwarded = await forward();
  });
  after(async () => {
    if (forwarded?.process.exitCode === null) {
      forwarded.process.kill('SIGTERM');
      await once(forwarded.process, 'exit');
    }
    uninstall(SHOP);
    await client.close();
  });

  /** Logs in with a token that kubectl created. @returns how to send requests of this user */
  async function login(name: string) {
    const { url: origin } = forwarded;
    const token = kubectl('create', 'token', name, '-n', SHOP).trim();
    const headers = { origin, 'content-type': 'application/json' };
    const answer = await fetch(`${origin}/api/session`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ token }),
    });
    expect(answer.status, await answer.text()).to.equal(204);
    const cookie = answer.headers.get('set-cookie')?.split(';')[0] ?? '';
    return (path: string, request: RequestInit = {}) =>
      fetch(origin + path, { ...request, headers: { ...headers, cookie } });
  }
  type Ask = Awaited<ReturnType<typeof login>>;

  async function json<T>(ask: Ask, path: string): Promise<T> {
    const answer = await ask(path);
    const text = await answer.text();
    expect(answer.status, `${path}: ${text}`).to.equal(200);
    return JSON.parse(text) as T;
  }
  const listed = async (ask: Ask): Promise<readonly string[]> =>
    (await json<{ items: readonly { id: string }[] }>(ask, '/api/landscapes')).items.map(({ id }) => id);

  /** The part of the landscape that is the Deployment on the target. */
  const deployment = async (ask: Ask): Promise<string> =>
    until('the tree reaches down to the Deployment', 30, async () => {
      const { items } = await json<{ items: readonly Part[] }>(ask, PAGE);
      const part = items.find(({ kind, title }) => kind === 'Object' && title.includes('Deployment'));
      return part && encodeURIComponent(part.id);
    });

  it('shows a landscape down to the log of its pod, to a user who may see it', async () => {
    const owner = await login('owner');
    expect(await listed(owner)).to.deep.equal(['shop/web']);
    const part = await deployment(owner);
    const { pods } = await json<PodList>(owner, `${PAGE}/pods?part=${part}`);
    expect(pods.map(({ status, ready }) => [status, ready])).to.deep.equal([['Running', '1/1']]);
    const [pod] = pods;
    const container = pod?.containers[0]?.name ?? '';
    const log = await json<LogLines>(
      owner,
      `${PAGE}/log?part=${part}&pod=${pod?.name ?? ''}&container=${container}`,
    );
    expect(log.lines.join('\n')).to.contain('listening');
  });

  it('plans with the rights of the user, and shows what changed on the cluster', async () => {
    const owner = await login('owner');
    kubectl('patch', 'configmap', 'web', '-n', SHOP, '-p', '{"data":{"value":"edited"}}');
    const { items } = await json<Plan>(owner, `${PAGE}/changes`);
    const objects = items.flatMap(({ objects: all }) => all.map(({ change, name }) => `${change} ${name}`));
    expect(items.map(({ problem }) => problem).filter(Boolean)).to.deep.equal([]);
    expect(objects).to.have.members(['change web', 'unchanged web']);
  });

  it('shows nothing of the target and plans nothing for a user who may only list landscapes', async () => {
    const viewer = await login('viewer');
    expect(await listed(viewer)).to.deep.equal(['shop/web']);
    expect((await viewer(`${PAGE}/pods?part=${await deployment(viewer)}`)).status).to.equal(403);
    expect((await viewer(`${PAGE}/changes`)).status).to.equal(502);
  });

  it('shows nothing to a user without rights', async () => {
    const stranger = await login('stranger');
    expect(await listed(stranger)).to.deep.equal([]);
    expect((await stranger(PAGE)).status).to.equal(404);
  });

  it('starts a job as the user, who is in the audit log', async () => {
    const owner = await login('owner');
    const before = await finished(client, SHOP, 'web');
    const answer = await owner(`${PAGE}/actions`, {
      method: 'POST',
      body: JSON.stringify({ action: 'reconcile', uid: before.metadata.uid }),
    });
    expect(answer.status, await answer.text()).to.be.lessThan(300);
    const after = await finished(client, SHOP, 'web', { after: before.status?.jobID ?? '' });
    expect(after.status?.phase).to.equal('Succeeded');
    const users = requests(SHOP, 'patch', 'installations').map(({ user: { username } }) => username);
    expect(users).to.include(`system:serviceaccount:${SHOP}:owner`);
    const value = kubectl('get', 'configmap', 'web', '-n', SHOP, '-o', 'jsonpath={.data.value}');
    expect(value).to.equal('1');
  });
});
