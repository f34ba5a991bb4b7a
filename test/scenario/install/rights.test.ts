/** The rights that `espalier install` grants are enough for everything, and nearly all of them are used. */
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { startHealthCheck } from '../../../controllers/health/index.ts';
import { installationKind, type Installation } from '../../../src/api/kinds/installation.ts';
import { lsHealthCheckKind } from '../../../src/api/kinds/lshealthcheck.ts';
import { targetKind } from '../../../src/api/kinds/target.ts';
import { targetSyncKind } from '../../../src/api/kinds/targetsync.ts';
import { API_VERSION, GROUP } from '../../../src/api/labels.ts';
import type { ValidatedResource } from '../../../src/api/validation/index.ts';
import { startApiServer, type ApiServer } from '../../../src/apiserver/server.ts';
import { readConfiguration, type Configuration } from '../../../src/cli/configuration/configuration.ts';
import { roleBindingKind, roleKind, serviceAccountKind } from '../../../src/cli/commands/install/kinds.ts';
import { startLandscaper, type Landscaper } from '../../../src/cli/composition/landscaper.ts';
import { applyAll, namespaceObject } from '../../../src/cli/objects.ts';
import { runProgram } from '../../../src/cli/program.ts';
import { sample, sampleObjects } from '../../../src/cli/commands/servers/sample.ts';
import { systemClock as clock } from '../../../src/lib/clock.ts';
import { systemRng as rng } from '../../../src/lib/rng.ts';
import { silentLogger as log } from '../../../src/observability/log.ts';
import { createClient } from '../../../src/runtime/transport/client.ts';
import { ConfigMap, Deployment, Secret } from '../../../src/runtime/core-kinds.ts';
import { AlreadyExists } from '../../../src/runtime/errors.ts';
import { connect } from '../../../src/runtime/transport/http.ts';
import { getIfThere } from '../../../src/runtime/transport/read.ts';
import type { Client, Kind, Obj } from '../../../src/runtime/types.ts';
import { startWebhooks } from '../../../src/webhooks/index.ts';
import { skipRights } from '../../../src/webhooks/skip-rights.ts';
import { shell } from '../../support/containers.ts';
import { allRights, type Right } from '../../support/product-chart.ts';
import { Kubelet } from '../../support/kubelet.ts';
import { mockItem } from '../../support/landscape.ts';
import {
  kubeconfigOfAccount,
  startStrictServer,
  type Asked,
  type StrictServer,
} from '../../support/rights.ts';
import { fakeTerminal } from '../../unit/cli/terminal.ts';
import { eventually } from '../../support/waiting.ts';

const HOME = 'ls-system';
const PODS = 'ls-pods';
const PLACE = sample.namespace;
/** If many processes run, new ones start slowly. A test that fails waits this long. */
const PATIENCE_MS = 120_000;

for (const deployments of ['together', 'separate'] as const)
  describe(`the rights of an installed Espalier, with controllers and deployers ${deployments}`, function () {
    this.timeout(2 * PATIENCE_MS);
    let host: StrictServer;
    let target: ApiServer;
    let admin: Client;
    let there: Client;
    let installed: { readonly kubeconfig: string; readonly configuration: Configuration };
    let running: readonly Landscaper[] = [];
    let kubelet: Kubelet;

    const clientOf = async (text: string): Promise<Client> =>
      createClient(await connect({ kubeconfig: { text }, userAgent: 'test', clock, log }));

    before(async () => {
      host = await startStrictServer();
      target = await startApiServer({ simulate: true });
      admin = await clientOf(host.kubeconfig);
      there = await clientOf(target.kubeconfig);
      await applyAll(there, [namespaceObject(PLACE)]);
      await applyAll(admin, [namespaceObject(PODS)]);
      installed = await install();
      running = await startInstalled();
      kubelet = new Kubelet({ client: admin, kubeconfig: host.kubeconfig, namespace: PODS });
      kubelet.start();
    });
    after(async () => {
      for (const one of running) await one.stop();
      await kubelet?.stop();
      for (const client of [admin, there]) await client?.close();
      for (const server of [target, host]) await server?.close();
    });

    // -------------------------------------------------------------- the product

    async function install() {
      const beside = (name: string): string => join(dirname(host.kubeconfigFile), name);
      const lsDeployments = {
        deploymentsNamespace: HOME,
        lsHealthCheckName: 'own',
        lsController: 'espalier',
      };
      const config = beside('config.yaml');
      writeFileSync(config, JSON.stringify({ container: { namespace: PODS }, lsDeployments }));
      const terminal = fakeTerminal({ env: { KUBECONFIG: host.kubeconfigFile } });
      const args = ['install', '-A', '--image', 'example.org/espalier:1', '--config', config, '--webhooks'];
      args.push('--set', `rbac.serviceAccountTokens=true,deployments=${deployments}`);
      expect(await runProgram(args, terminal), terminal.errors).to.equal(0);
      const map = await admin.get<ConfigMap>(ConfigMap, `${HOME}/espalier`);
      const mounted = beside('configuration.yaml');
      writeFileSync(mounted, map.data?.['configuration.yaml'] ?? '');
      const account = { namespace: HOME, name: 'espalier' };
      return {
        kubeconfig: await kubeconfigOfAccount(admin, host.kubeconfig, account),
        configuration: readConfiguration(mounted),
      };
    }

    const names = deployments === 'together' ? ['espalier'] : ['espalier', 'espalier-deployers'];

    /** Runs what the pods of the Deployments run, with the same arguments and service accounts. */
    const startInstalled = (): Promise<readonly Landscaper[]> => Promise.all(names.map(startPod));

    async function startPod(deployment: string): Promise<Landscaper> {
      const { spec } =
        (await admin.get<Deployment>(Deployment, `${HOME}/${deployment}`)).spec?.template ?? {};
      const option = (name: string): string | undefined =>
        spec?.containers[0]?.args?.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3);
      const [namespace = '', name = ''] = option('lease')?.split('/') ?? [];
      const account = { namespace: HOME, name: spec?.serviceAccountName ?? '' };
      const controllers = option('controllers')?.split(',');
      return startLandscaper({
        kubeconfig: { text: await kubeconfigOfAccount(admin, host.kubeconfig, account) },
        configuration: installed.configuration,
        log,
        crds: false,
        signal: new AbortController().signal,
        fleet: { namespace, name },
        pod: { namespace: HOME, name: `${deployment}-0` },
        deployers: option('deployers')?.split(',') ?? [],
        ...(controllers && { controllers }),
      });
    }

    // -------------------------------------------------------------- what was asked

    const ACCOUNTS = [`system:serviceaccount:${HOME}:espalier`, `system:serviceaccount:${PODS}:`];
    /** Requests of the product, and of the programs in pods of images. */
    const asked = (): readonly Asked[] =>
      host.asked().filter(({ user }) => ACCOUNTS.some((name) => user.username.startsWith(name)));
    const refused = (): readonly string[] =>
      asked()
        .filter(({ responseStatus }) => responseStatus?.code === 403)
        .map(({ verb, requestURI, user }) => `${user.username}: ${verb} ${requestURI}`);

    // -------------------------------------------------------------- what users do

    const create = (kind: Kind, object: object, client = admin): Promise<Obj> =>
      client.send({ verb: 'create', kind, object: object as Obj });

    async function secret(name: string, namespace: string, text: string, client = admin): Promise<void> {
      const data = { kubeconfig: Buffer.from(text).toString('base64') };
      await create(Secret, { ...named('Secret', name, namespace), data }, client);
    }

    /** A service account of the host that may deploy in its namespace, and the target that refers to it. */
    async function selfTarget(): Promise<void> {
      const apiGroup = 'rbac.authorization.k8s.io';
      await create(serviceAccountKind, named('ServiceAccount', 'deploy', PLACE));
      await create(roleKind, {
        ...named('Role', 'deploy', PLACE),
        apiVersion: `${apiGroup}/v1`,
        rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['*'] }],
      });
      await create(roleBindingKind, {
        ...named('RoleBinding', 'deploy', PLACE),
        apiVersion: `${apiGroup}/v1`,
        roleRef: { apiGroup, kind: 'Role', name: 'deploy' },
        subjects: [{ kind: 'ServiceAccount', name: 'deploy', namespace: PLACE }],
      });
      const config = { selfConfig: { serviceAccount: { name: 'deploy' } } };
      await create(targetKind, {
        ...named('Target', 'self', PLACE),
        apiVersion: API_VERSION,
        spec: { type: `${GROUP}/kubernetes-cluster`, config },
      });
    }

    const until = <T>(what: string, ask: () => Promise<T>) =>
      eventually(what, ask, { why: () => `; refused: ${refused().join(', ')}` });

    /** Waits for the end of a job with another id than the given one. @returns its id */
    const succeeds = (name: string, before?: string): Promise<string> =>
      until(`${name} ends`, async () => {
        const { status } = (await getIfThere(admin, installationKind, `${PLACE}/${name}`)) ?? {};
        const { jobID, jobIDFinished, phase, lastError } = status ?? {};
        if (!jobID || jobID === before || jobID !== jobIDFinished) return undefined;
        expect(phase, lastError?.message).to.equal('Succeeded');
        return jobID;
      });

    async function goes(kind: Kind, name: string): Promise<void> {
      const key = `${PLACE}/${name}`;
      await admin.send({ verb: 'delete', kind, key });
      await until(`${name} is gone`, async () => (await getIfThere(admin, kind, key)) === undefined);
    }

    // -------------------------------------------------------------- stories

    it('are enough to install and delete the sample landscape', async () => {
      await applyAll(admin, await sampleObjects(target.kubeconfig));
      await succeeds(sample.installation);
      await goes(installationKind, sample.installation);
      expect(refused()).to.deep.equal([]);
    });

    it('are enough to run images, to deploy as a service account of the cluster, to keep state, and to change all that', async () => {
      await selfTarget();
      await secret('word', PLACE, 'hello');
      await create(ConfigMap, {
        ...named('ConfigMap', 'kube-root-ca.crt', PODS),
        data: { 'ca.crt': '' },
      }).catch(unlessThere); // the embedded server creates it in every namespace, as controllers of Kubernetes do
      await create(installationKind, everything(everyItem(), 1));
      const first = await succeeds('all');
      expect(kubelet.runs).to.have.length(1);

      const { spec, metadata } = everything(everyItem().slice(1), 2);
      const key = `${PLACE}/all`;
      await admin.send({ verb: 'merge', kind: installationKind, key, body: { spec, metadata } });
      await succeeds('all', first);
      await goes(installationKind, 'all');
      expect(kubelet.runs).to.have.length(3);
      expect(refused()).to.deep.equal([]);
    });

    it('are enough to copy targets from another cluster', async () => {
      await applyAll(there, [namespaceObject('clusters')]);
      await secret('prod', 'clusters', 'one', there);
      await secret('access', PLACE, target.kubeconfig);
      const spec = { sourceNamespace: 'clusters', secretRef: { name: 'access' }, secretNameExpression: '.*' };
      await create(targetSyncKind, { ...named('TargetSync', 'sync', PLACE), apiVersion: API_VERSION, spec });
      await until('a target is copied', () => getIfThere(admin, targetKind, `${PLACE}/prod`));
      await goes(targetSyncKind, 'sync');
      expect(refused()).to.deep.equal([]);
    });

    /** The health check of the running product works once a minute. */
    it('are enough to report the health of the system', async () => {
      const settings = installed.configuration.health ?? expect.fail('there are no settings');
      const client = await clientOf(installed.kubeconfig);
      const stale = { ...named('LsHealthCheck', 'stale', HOME), apiVersion: API_VERSION };
      const fields = { status: 'Ok', description: 'ok', lastUpdateTime: '2026-01-01T00:00:00Z' };
      await create(lsHealthCheckKind, { ...stale, ...fields });
      const check = startHealthCheck({
        client,
        clock,
        log,
        rng,
        settings,
        write: (write, signal) => client.send(write, signal),
      });
      const found = (name: string) => getIfThere(admin, lsHealthCheckKind, `${HOME}/${name}`);
      await until('the check has ended', async () => {
        const own = await found('own');
        return own && own.lastUpdateTime > '1971' && !(await found('stale'));
      });
      await check.stop();
      await client.close();
      expect(refused()).to.deep.equal([]);
    });

    /** Last, because writes are rejected while no webhook answers. */
    it('are enough for the webhooks to create certificates, and to register themselves with the API server', async () => {
      const account = { namespace: HOME, name: 'espalier-webhooks' };
      const client = await clientOf(await kubeconfigOfAccount(admin, host.kubeconfig, account));
      const serve = async (name: string, resources: readonly ValidatedResource[]): Promise<void> => {
        const endpoint = { service: { namespace: HOME, name, port: 9443 } };
        const webhooks = await startWebhooks({
          client,
          clock,
          log,
          endpoint,
          resources,
          host: '127.0.0.1',
          port: 0,
          certNamespace: HOME,
          install: true,
          ownerRole: 'espalier-webhooks',
        });
        await webhooks.close();
      };
      await serve('espalier-webhooks', ['targets']);
      await serve('another-name', ['targets']);
      await serve('espalier-webhooks', []);
      const user = { username: 'alice', groups: ['system:authenticated'] };
      const question = { resource: 'targets', namespace: PLACE, name: 'self' } as const;
      expect(await skipRights({ client, clock })(user, question)).to.equal(false);
      await client.close();
      expect(refused()).to.deep.equal([]);
    });

    it('are used, except for those that only faults need', async () => {
      for (const one of running) await one.stop();
      const all = allRights(deployments);
      const unusedIn = (rights: readonly Right[], requests: readonly Asked[]): readonly string[] => {
        const used = new Set(requests.map(rightOf));
        return [...new Set(rights.flatMap(rightsOf))].filter(
          (right) => !used.has(right) && !SELDOM.has(right),
        );
      };
      expect(unusedIn(all, asked())).to.deep.equal([]);
      if (deployments === 'together') return;
      // Each account has only what its part uses.
      const unusedOf = (component: string, account: string): readonly string[] => {
        const user = `system:serviceaccount:${HOME}:${account}`;
        return unusedIn(
          all.filter((right) => right.component === component),
          asked().filter((one) => one.user.username === user),
        );
      };
      expect({
        controllers: unusedOf('controllers', 'espalier'),
        deployers: unusedOf('deployers', 'espalier-deployers'),
      }).to.deep.equal({
        // The items above do not change while they exist, no replica of Landscaper holds a lock, and no Context has settings.
        controllers: [`patch ${GROUP}/deployitems`, 'get pods'],
        deployers: ['get configmaps'],
      });
    });
  });

/** Rights that a landscape without faults need not use; the scenarios of other suites do. */
const SELDOM: ReadonlySet<string> = new Set([
  // A cached object is read by itself only after a conflict, and listed only where a watch cannot start with a list.
  ...[
    'installations',
    'deployitems',
    'executions',
    'dataobjects',
    'targets',
    'contexts',
    'targetsyncs',
  ].flatMap((resource) => [`get ${GROUP}/${resource}`, `list ${GROUP}/${resource}`]),
  `list ${GROUP}/syncobjects`,
  'list namespaces',
  'list coordination.k8s.io/leases',
  // Where a patch cannot express the change.
  ...['installations', 'deployitems', 'dataobjects', 'targets'].map(
    (resource) => `update ${GROUP}/${resource}`,
  ),
  // Checked by an admission plugin, for requests that are in the log under another name.
  `update ${GROUP}/installations/finalizers`,
  `update ${GROUP}/executions/finalizers`,
  // Exports of targets, settings of Contexts and overwrites do not occur in the landscapes above.
  `patch ${GROUP}/targets`,
  `patch ${GROUP}/contexts`,
  `get ${GROUP}/componentversionoverwrites`,
  // Needed for other replicas, ours or upstream's, and for bugs.
  `delete ${GROUP}/syncobjects`,
  'delete coordination.k8s.io/leases',
  'patch events',
  ...['get', 'create', 'patch'].map((verb) => `${verb} ${GROUP}/criticalproblems`),
  // An apply is a patch in the log, and needs the right to create missing objects.
  'create configmaps',
  'create admissionregistration.k8s.io/validatingwebhookconfigurations',
  'create serviceaccounts',
  'create rbac.authorization.k8s.io/roles',
  'create rbac.authorization.k8s.io/rolebindings',
  'patch configmaps',
  'delete configmaps',
]);

const rightText = (verb: string, group: string, resource: string): string =>
  `${verb} ${group === '' ? '' : `${group}/`}${resource}`;

const rightOf = ({ verb, objectRef }: Asked): string => {
  const { apiGroup = '', resource = '', subresource } = objectRef ?? {};
  return rightText(verb, apiGroup, subresource ? `${resource}/${subresource}` : resource);
};

const rightsOf = ({ group, resources, verbs }: Right): readonly string[] =>
  verbs.flatMap((verb) => resources.map((resource) => rightText(verb, group, resource)));

const named = (kind: string, name: string, namespace: string): Obj => ({
  apiVersion: 'v1',
  kind,
  metadata: { name, namespace },
});

function unlessThere(error: unknown): void {
  if (!(error instanceof AlreadyExists)) throw error;
}

/** Items of each deployer that needs no third-party program; the first one will be deleted. */
const everyItem = (): readonly object[] => [
  mockItem('gone'),
  mockItem('one', { export: { nothing: null, some: 1 } }),
  {
    name: 'image',
    type: `${GROUP}/container`,
    config: shell('echo x > $STATE_PATH/x; echo 1 > $EXPORTS_PATH'),
  },
  {
    name: 'objects',
    type: `${GROUP}/kubernetes-manifest`,
    target: { namespace: PLACE, name: 'self' },
    config: {
      apiVersion: `manifest.deployer.${GROUP}/v1alpha2`,
      kind: 'ProviderConfiguration',
      manifests: [
        { policy: 'manage', manifest: { ...named('ConfigMap', 'deployed', PLACE), data: { a: 'b' } } },
      ],
    },
  },
];

/** A root with an import from a secret, an export and state. */
function everything(deployItems: readonly object[], round: number): Installation {
  const template = JSON.stringify({ deployItems, state: { round } });
  const blueprint = {
    apiVersion: API_VERSION,
    kind: 'Blueprint',
    imports: [{ name: 'word', type: 'data', schema: {} }],
    exports: [{ name: 'out', type: 'data', schema: {} }],
    deployExecutions: [{ name: 'd', type: 'GoTemplate', template }],
    exportExecutions: [{ name: 'e', type: 'GoTemplate', template: `exports:\n  out: ${String(round)}` }],
  };
  return {
    apiVersion: API_VERSION,
    kind: 'Installation',
    metadata: { name: 'all', namespace: PLACE, annotations: { [`${GROUP}/operation`]: 'reconcile' } },
    spec: {
      imports: { data: [{ name: 'word', secretRef: { name: 'word', key: 'kubeconfig' } }] },
      exports: { data: [{ name: 'out', dataRef: 'out' }] },
      blueprint: { inline: { filesystem: { 'blueprint.yaml': JSON.stringify(blueprint) } } },
    },
  };
}
