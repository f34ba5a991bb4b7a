/** An Espalier for some namespaces works with permissions in these namespaces alone, and does not see the others. */
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { contextKind } from '../../../src/api/kinds/context.ts';
import { installationKind } from '../../../src/api/kinds/installation.ts';
import { API_VERSION, GROUP } from '../../../src/api/labels.ts';
import { readConfiguration } from '../../../src/cli/configuration/configuration.ts';
import { clusterRoleKind, roleKind } from '../../../src/cli/commands/install/kinds.ts';
import {
  startLandscaper,
  type Landscaper,
  type LandscaperOptions,
} from '../../../src/cli/composition/landscaper.ts';
import { applyAll, namespaceObject } from '../../../src/cli/objects.ts';
import { runProgram } from '../../../src/cli/program.ts';
import { systemClock as clock } from '../../../src/lib/clock.ts';
import { silentLogger as log } from '../../../src/observability/log.ts';
import { ConfigMap } from '../../../src/runtime/core-kinds.ts';
import { createClient } from '../../../src/runtime/transport/client.ts';
import { connect } from '../../../src/runtime/transport/http.ts';
import { getIfThere } from '../../../src/runtime/transport/read.ts';
import type { Client, Obj } from '../../../src/runtime/types.ts';
import { shell } from '../../support/containers.ts';
import { Kubelet } from '../../support/kubelet.ts';
import { mockItem } from '../../support/landscape.ts';
import { kubeconfigOfAccount, startStrictServer, type StrictServer } from '../../support/rights.ts';
import { fakeTerminal } from '../../unit/cli/terminal.ts';
import { eventually } from '../../support/waiting.ts';

const HOME = 'ls-system';
const WATCHED = ['shop', 'bank'] as const;
const OTHER = 'other';
const PATIENCE_MS = 60_000;

/** An item that keeps state, and that exports something. */
const image = {
  name: 'image',
  type: `${GROUP}/container`,
  config: shell('echo x > $STATE_PATH/x; echo 1 > $EXPORTS_PATH'),
};

describe('an Espalier for some namespaces', function () {
  this.timeout(2 * PATIENCE_MS);
  let host: StrictServer;
  let admin: Client;
  let running: Landscaper[] = [];
  let kubelet: Kubelet | undefined;

  beforeEach(async () => {
    host = await startStrictServer();
    const { kubeconfig } = host;
    admin = createClient(await connect({ kubeconfig: { text: kubeconfig }, userAgent: 'test', clock, log }));
    await applyAll(admin, [...WATCHED, OTHER].map(namespaceObject));
  });
  afterEach(async () => {
    for (const one of running) await one.stop();
    await kubelet?.stop();
    running = [];
    kubelet = undefined;
    await admin.close();
    await host.close();
  });

  /** Installs into the cluster, with a configuration, and returns the output. */
  async function install(configuration: object, namespace = HOME, ...more: readonly string[]) {
    const file = join(dirname(host.kubeconfigFile), 'config.yaml');
    writeFileSync(file, JSON.stringify(configuration));
    const terminal = fakeTerminal({ env: { KUBECONFIG: host.kubeconfigFile } });
    const image = 'example.org/espalier:1';
    const scope = 'watchNamespaces' in configuration ? [] : ['-A'];
    const args = ['install', '--image', image, '--config', file, '-n', namespace, ...scope, ...more];
    const code = await runProgram(args, terminal);
    return { code, terminal };
  }

  /** Runs what the pod of a Deployment runs. */
  async function start(name = 'espalier', parts: Partial<LandscaperOptions> = {}): Promise<void> {
    const map = await admin.get<ConfigMap>(ConfigMap, `${HOME}/espalier`);
    const mounted = join(dirname(host.kubeconfigFile), 'configuration.yaml');
    writeFileSync(mounted, map.data?.['configuration.yaml'] ?? '');
    const account = { namespace: HOME, name };
    const landscaper = await startLandscaper({
      kubeconfig: { text: await kubeconfigOfAccount(admin, host.kubeconfig, account) },
      configuration: readConfiguration(mounted),
      log,
      crds: false,
      fleet: { namespace: HOME, name },
      pod: { namespace: HOME, name: `${name}-0` },
      ...parts,
    });
    running.push(landscaper);
  }

  const asked = () =>
    host.asked().filter(({ user }) => user.username.startsWith(`system:serviceaccount:${HOME}:espalier`));
  const refused = (): readonly string[] =>
    asked()
      .filter(({ responseStatus }) => responseStatus?.code === 403)
      .map(({ verb, requestURI }) => `${verb} ${requestURI}`);
  /** Requests for the objects of all namespaces, or of the cluster. */
  const clusterWide = (): readonly string[] => [
    ...new Set(
      asked()
        .filter(({ objectRef }) => objectRef && objectRef.namespace === undefined)
        .map(({ verb, objectRef }) => `${verb} ${objectRef?.resource ?? ''}`),
    ),
  ];

  const until = <T>(what: string, ask: () => Promise<T>) =>
    eventually(what, ask, { why: () => `; refused: ${refused().join(', ')}` });

  async function createRoot(namespace: string, ...more: readonly object[]): Promise<void> {
    const template = JSON.stringify({ deployItems: [mockItem('one'), ...more] });
    const blueprint = {
      apiVersion: API_VERSION,
      kind: 'Blueprint',
      deployExecutions: [{ name: 'd', type: 'GoTemplate', template }],
    };
    const object: Obj & { spec: object } = {
      apiVersion: API_VERSION,
      kind: 'Installation',
      metadata: { name: 'web', namespace, annotations: { [`${GROUP}/operation`]: 'reconcile' } },
      spec: { blueprint: { inline: { filesystem: { 'blueprint.yaml': JSON.stringify(blueprint) } } } },
    };
    await admin.send<Obj>({ verb: 'create', kind: installationKind, object });
  }
  const ends = (namespace: string): Promise<unknown> =>
    until(`the job in ${namespace} ends`, async () => {
      const { status } = (await getIfThere(admin, installationKind, `${namespace}/web`)) ?? {};
      if (!status?.jobID || status.jobID !== status.jobIDFinished) return undefined;
      expect(status.phase, status.lastError?.message).to.equal('Succeeded');
      return true;
    });
  async function deleteRoot(namespace: string): Promise<void> {
    const key = `${namespace}/web`;
    await admin.send({ verb: 'delete', kind: installationKind, key });
    await until(`${key} is deleted`, async () => !(await getIfThere(admin, installationKind, key)));
  }
  const rolesIn = async (namespace: string): Promise<boolean> =>
    (await getIfThere(admin, roleKind, `${namespace}/espalier`)) !== undefined;

  /** Runs the pods of container items. */
  async function runPods(): Promise<void> {
    // Controllers of Kubernetes create it in every namespace; a kube-apiserver alone does not.
    const root = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'kube-root-ca.crt', namespace: `${HOME}-pods` },
    };
    await applyAll(admin, [root]);
    kubelet = new Kubelet({ client: admin, kubeconfig: host.kubeconfig, namespace: `${HOME}-pods` });
    kubelet.start();
  }

  it('installs and deletes landscapes there, and reads nothing else of the cluster than the list of namespaces', async () => {
    expect((await install({ watchNamespaces: WATCHED })).code).to.equal(0);
    const role = await admin.get(clusterRoleKind, 'espalier');
    expect(role).to.have.deep.property('rules', [
      { apiGroups: [''], resources: ['namespaces'], verbs: ['list', 'watch'] },
    ]);
    await start();
    await runPods();
    await createRoot(OTHER);
    for (const namespace of WATCHED) await createRoot(namespace, image);
    for (const namespace of WATCHED) await ends(namespace);
    for (const namespace of WATCHED) await deleteRoot(namespace);
    expect(refused()).to.deep.equal([]);
    expect(clusterWide().filter((request) => !/^(list|watch) namespaces$/.test(request))).to.deep.equal([]);

    const { status, metadata } = await admin.get(installationKind, `${OTHER}/web`);
    expect(status?.phase).to.equal(undefined);
    expect(metadata.finalizers).to.equal(undefined);
    expect(await getIfThere(admin, contextKind, `${WATCHED[0]}/default`)).not.to.equal(undefined);
    expect(await getIfThere(admin, contextKind, `${OTHER}/default`)).to.equal(undefined);
  });

  it('installs and deletes landscapes there with separate Deployments, of which deployers need no ClusterRole', async () => {
    const installed = await install({ watchNamespaces: WATCHED }, HOME, '--set', 'deployments=separate');
    expect(installed.code, installed.terminal.errors).to.equal(0);
    expect(await getIfThere(admin, clusterRoleKind, 'espalier-deployers')).to.equal(undefined);
    await start('espalier', { deployers: ['none'] });
    await start('espalier-deployers', { controllers: ['none'] });
    await runPods();
    for (const namespace of WATCHED) await createRoot(namespace, image);
    for (const namespace of WATCHED) await ends(namespace);
    for (const namespace of WATCHED) await deleteRoot(namespace);
    expect(refused()).to.deep.equal([]);
    expect(clusterWide().filter((request) => !/^(list|watch) namespaces$/.test(request))).to.deep.equal([]);
  });

  it('needs no ClusterRole at all if it creates no Contexts', async () => {
    const controllers = { contexts: { config: { default: { disable: true } } } };
    expect((await install({ watchNamespaces: WATCHED, controllers })).code).to.equal(0);
    expect(await getIfThere(admin, clusterRoleKind, 'espalier')).to.equal(undefined);
    const context = {
      apiVersion: API_VERSION,
      kind: 'Context',
      metadata: { name: 'default', namespace: 'shop' },
    };
    await admin.send({ verb: 'create', kind: contextKind, object: context });
    await start();
    await createRoot('shop');
    await ends('shop');
    await deleteRoot('shop');
    expect(refused()).to.deep.equal([]);
    expect(clusterWide()).to.deep.equal([]);

    const second = await install({ watchNamespaces: WATCHED, controllers }, 'elsewhere');
    expect(second.code).not.to.equal(0);
    expect(second.terminal.errors).to.contain(`Espalier is installed in namespace ${HOME}`);
  });

  it('loses its Roles when another configuration names other namespaces, or none', async () => {
    await install({ watchNamespaces: WATCHED });
    expect([await rolesIn('shop'), await rolesIn('bank')]).to.deep.equal([true, true]);
    await install({ watchNamespaces: ['shop'] });
    expect([await rolesIn('shop'), await rolesIn('bank')]).to.deep.equal([true, false]);
    await install({});
    expect([await rolesIn('shop'), await rolesIn('bank')]).to.deep.equal([false, false]);
  });
});
