/** `espalier install` and `espalier uninstall` on an API server: what they write, print, refuse and delete. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { ROLE, ROLE_BINDING, SECRET, SERVICE_ACCOUNT } from '../../../deployers/container/kinds.ts';
import { accountFor, bindingFor, roleFor, secretFor } from '../../../deployers/container/objects.ts';
import { deployItemKind } from '../../../src/api/kinds/deployitem.ts';
import { installationKind } from '../../../src/api/kinds/installation.ts';
import { targetKind } from '../../../src/api/kinds/target.ts';
import { API_VERSION, FINALIZER } from '../../../src/api/labels.ts';
import {
  clusterRoleBindingKind,
  configurationKind,
  crdKind,
  deploymentKind,
  disruptionBudgetKind,
  namespaceKind,
  networkPolicyKind,
  roleKind,
  secretKind,
} from '../../../src/cli/commands/install/kinds.ts';
import { listAll } from '../../../src/cli/commands/install/listing.ts';
import { applyAll, namespaceObject } from '../../../src/cli/objects.ts';
import { runProgram } from '../../../src/cli/program.ts';
import { systemClock as clock } from '../../../src/lib/clock.ts';
import { silentLogger as log } from '../../../src/observability/log.ts';
import { createClient } from '../../../src/runtime/transport/client.ts';
import { connect } from '../../../src/runtime/transport/http.ts';
import { getIfThere } from '../../../src/runtime/transport/read.ts';
import type { Client, Kind } from '../../../src/runtime/types.ts';
import type { Installation } from '../../../src/api/kinds/installation.ts';
import { validatedResources } from '../../../src/api/validation/index.ts';
import { webhookConfiguration } from '../../../src/webhooks/configuration.ts';
import { startStrictServer, type StrictServer } from '../../support/rights.ts';
import { fakeTerminal, type FakeTerminal } from '../../unit/cli/terminal.ts';

const HOME = 'ls-system';
const IMAGE = 'registry.example.org/espalier:0.1.0';

describe('install and uninstall on the command line', function () {
  this.timeout(120_000);
  let server: StrictServer;
  let client: Client;
  let folder: string;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'espalier-install-'));
    server = await startStrictServer();
    client = createClient(
      await connect({ kubeconfig: { text: server.kubeconfig }, userAgent: 'test', clock, log }),
    );
  });
  after(async () => {
    await client?.close();
    await server?.close();
    rmSync(folder, { recursive: true, force: true });
  });
  /** Deletes everything that a test has left, so that each starts with an empty cluster. */
  afterEach(async () => {
    for (const namespace of [HOME, 'elsewhere']) {
      const terminal = fakeTerminal({ env: { KUBECONFIG: server.kubeconfigFile } });
      await runProgram(['uninstall', '-n', namespace, '--keep-objects', '--yes'], terminal);
    }
  });

  const run = async (args: readonly string[], answer?: string): Promise<[number, FakeTerminal]> => {
    const terminal = fakeTerminal({
      env: { KUBECONFIG: server.kubeconfigFile },
      ask: () => Promise.resolve(answer),
    });
    return [await runProgram(args, terminal), terminal];
  };
  const succeeds = async (...args: string[]): Promise<string> => {
    const [code, terminal] = await run(args);
    expect(code, terminal.errors).to.equal(0);
    return terminal.output;
  };
  const fails = async (...args: string[]): Promise<string> => {
    const [code, terminal] = await run(args);
    expect(code, terminal.output).to.equal(1);
    return terminal.errors;
  };
  const install = (...more: string[]): Promise<string> =>
    succeeds('install', '-A', '--image', IMAGE, ...more);
  const uninstall = (...more: string[]): Promise<string> => succeeds('uninstall', '--yes', ...more);
  const has = async (kind: Kind, key: string): Promise<boolean> =>
    (await getIfThere(client, kind, key)) !== undefined;
  const linesOf = (output: string, outcome: string): readonly string[] =>
    output
      .split('\n')
      .filter((line) => line.startsWith(`${outcome} `))
      .map((line) => line.slice(outcome.length).trim());
  const versions = async (): Promise<readonly string[]> => {
    const kinds = [deploymentKind, roleKind, clusterRoleBindingKind, crdKind] as readonly Kind[];
    const found = await Promise.all(kinds.map((kind) => listAll(client, kind, {})));
    return found.flat().map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion ?? ''}`);
  };

  it('create everything, and nothing when repeated', async () => {
    const first = await install('--webhooks');
    expect(linesOf(first, 'created')).to.include.members([
      'Deployment ls-system/espalier',
      'Deployment ls-system/espalier-webhooks',
      'Service ls-system/espalier-webhooks',
      'ClusterRole espalier',
    ]);
    expect(first).to.contain('kubectl rollout status deployment/espalier -n ls-system');
    const before = await versions();
    const second = await install('--webhooks');
    expect(linesOf(second, 'created')).to.deep.equal([]);
    expect(linesOf(second, 'changed')).to.deep.equal([]);
    expect(second).to.contain('Nothing to change.');
    expect(await versions()).to.deep.equal(before);
  });

  it('change the image and nothing else', async () => {
    await install('--deployers', 'manifest,helm');
    const output = await succeeds(
      'install',
      '-A',
      '--image',
      'example.org/other:2',
      '--deployers',
      'manifest,helm',
    );
    expect(linesOf(output, 'changed')).to.deep.equal(['Deployment ls-system/espalier (image)']);
    expect([...linesOf(output, 'created'), ...linesOf(output, 'removed')]).to.deep.equal([]);
  });

  it('remove rights that are no longer needed', async () => {
    const config = join(folder, 'pods.yaml');
    await applyAll(client, [namespaceObject('pods')]);
    writeFileSync(config, 'container: {namespace: pods}\n');
    await install('--config', config);
    expect(await has(roleKind, 'pods/espalier')).to.equal(true);
    const output = await install();
    expect(linesOf(output, 'removed')).to.deep.equal([
      'RoleBinding pods/espalier',
      'Role pods/espalier',
      'NetworkPolicy pods/espalier-container-items',
    ]);
    expect(await has(roleKind, 'ls-system-pods/espalier')).to.equal(true);
  });

  it('keep a disruption budget only while there are several pods', async () => {
    await install('--replicas', '2');
    expect(await has(disruptionBudgetKind, 'ls-system/espalier')).to.equal(true);
    expect(linesOf(await install(), 'removed')).to.deep.equal(['PodDisruptionBudget ls-system/espalier']);
    expect(await has(networkPolicyKind, 'ls-system/espalier')).to.equal(true);
    await uninstall();
    expect(await has(networkPolicyKind, 'ls-system/espalier')).to.equal(false);
    expect(await has(networkPolicyKind, 'ls-system-pods/espalier-container-items')).to.equal(false);
    expect(await has(namespaceKind, 'ls-system-pods'), 'the state of container items').to.equal(true);
  });

  it('do not mistake other software for the product, and install it once', async () => {
    await applyAll(client, [namespaceObject(HOME)]);
    const foreign = {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: 'espalier', namespace: HOME },
    };
    await client.raw('POST', `/api/v1/namespaces/${HOME}/serviceaccounts`, foreign);
    expect(await fails('install', '-A', '--image', IMAGE)).to.match(
      /^error: ServiceAccount ls-system\/espalier already exists and was not created by "espalier install"; rename or delete it/,
    );
    expect(await has(deploymentKind, `${HOME}/espalier`)).to.equal(false);
    await client.raw('DELETE', `/api/v1/namespaces/${HOME}/serviceaccounts/espalier`);

    await install('-n', 'elsewhere');
    const line = 'error: Espalier is installed in namespace elsewhere; update it with -n elsewhere';
    expect(await fails('install', '-A', '--image', IMAGE)).to.contain(line);
    expect(await fails('uninstall', '--yes')).to.contain(line);
  });

  it('delete webhook configurations before the pods that serve them', async () => {
    await install('--webhooks');
    const service = { namespace: HOME, name: 'espalier-webhooks', port: 9443 };
    await client.send({
      verb: 'create',
      kind: configurationKind,
      object: webhookConfiguration({ service }, validatedResources, 'ca'),
    });
    await client.send({
      verb: 'create',
      kind: secretKind,
      object: {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'landscaper-webhook-certs', namespace: HOME },
      },
    });
    expect(await install()).to.contain('The webhooks of an earlier call are not changed');
    const output = linesOf(await install('--no-webhooks'), 'removed');
    expect(output.slice(0, 6)).to.deep.equal([
      'ValidatingWebhookConfiguration landscaper-validation-webhook',
      'Deployment ls-system/espalier-webhooks',
      'Service ls-system/espalier-webhooks',
      'PodDisruptionBudget ls-system/espalier-webhooks',
      'Secret ls-system/landscaper-webhook-certs',
      'NetworkPolicy ls-system/espalier-webhooks',
    ]);
    expect(await has(deploymentKind, `${HOME}/espalier`)).to.equal(true);
  });

  it('leave a webhook configuration alone that points elsewhere', async () => {
    await install('--webhooks');
    const object = webhookConfiguration({ url: new URL('https://127.0.0.1:1') }, [], '');
    await client.send({ verb: 'create', kind: configurationKind, object });
    await uninstall();
    expect(await has(configurationKind, object.metadata.name)).to.equal(true);
    await client.send({ verb: 'delete', kind: configurationKind, key: object.metadata.name });
  });

  it('delete credentials of deleted container items, and keep those of existing items', async () => {
    await install();
    await applyAll(client, [namespaceObject('shop')]);
    const item = {
      apiVersion: API_VERSION,
      kind: 'DeployItem',
      metadata: { name: 'kept', namespace: 'shop' },
    };
    const spec = { type: 'landscaper.gardener.cloud/container' };
    await client.send({ verb: 'create', kind: deployItemKind, object: { ...item, spec } });
    const owner = (name: string) => ({
      item: { namespace: 'shop', name },
      namespace: HOME,
      deployerId: 'test',
    });
    for (const name of ['forgotten', 'kept']) {
      await client.send({
        verb: 'create',
        kind: SECRET,
        object: secretFor(owner(name), `${name}-target`, { a: 'b' }),
      });
      await client.send({
        verb: 'create',
        kind: SERVICE_ACCOUNT,
        object: accountFor(owner(name), `${name}-wait`),
      });
      await client.send({ verb: 'create', kind: ROLE, object: roleFor(owner(name), `${name}-wait`, []) });
      await client.send({
        verb: 'create',
        kind: ROLE_BINDING,
        object: bindingFor(owner(name), `${name}-wait`),
      });
    }
    expect(await succeeds('uninstall', '--dry-run')).to.contain(
      `would remove  Secret ${HOME}/forgotten-target\n`,
    );
    const output = await uninstall();
    const kinds = [
      [SECRET, 'target'],
      [SERVICE_ACCOUNT, 'wait'],
      [ROLE, 'wait'],
      [ROLE_BINDING, 'wait'],
    ] as const;
    for (const [kind, end] of kinds) {
      expect(await has(kind, `${HOME}/forgotten-${end}`), kind.kind).to.equal(false);
      expect(await has(kind, `${HOME}/kept-${end}`), kind.kind).to.equal(true);
      expect(output).to.contain(`removed  ${kind.kind} ${HOME}/forgotten-${end}\n`);
      await client.send({ verb: 'delete', kind: kind, key: `${HOME}/kept-${end}` });
    }
    await client.send({ verb: 'delete', kind: deployItemKind, key: 'shop/kept' });
  });

  it('ask before anything is deleted, and say what to do if there is no terminal to ask', async () => {
    await install();
    const [code, nobody] = await run(['uninstall']);
    expect([code, nobody.errors]).to.deep.equal([
      2,
      'error: cannot ask for confirmation without a terminal; check with --dry-run, then add --yes\n',
    ]);
    const [refused, somebody] = await run(['uninstall'], 'yes');
    expect([refused, somebody.errors]).to.deep.equal([1, 'error: not confirmed, nothing was removed\n']);
    expect(await succeeds('uninstall', '--dry-run')).to.contain(
      'would remove  Deployment ls-system/espalier\n',
    );
    expect(await has(deploymentKind, `${HOME}/espalier`)).to.equal(true);
    const [done, terminal] = await run(['uninstall'], HOME);
    expect(done, terminal.errors).to.equal(0);
    expect(await has(deploymentKind, `${HOME}/espalier`)).to.equal(false);
    expect(await uninstall()).to.equal('Espalier is not installed in namespace ls-system.\n');
  });

  it('keep landscapes, and the CRDs while there are any objects', async () => {
    await install();
    await applyAll(client, [namespaceObject('shop')]);
    const held = installation('web');
    await client.send({ verb: 'create', kind: installationKind, object: held });
    const target = { apiVersion: API_VERSION, kind: 'Target', metadata: { name: 'db', namespace: 'shop' } };
    await client.send({
      verb: 'create',
      kind: targetKind,
      object: { ...target, spec: { type: 'example.org/db', config: {} } },
    });
    expect(await fails('uninstall', '--yes')).to.match(
      /^error: Installation shop\/web could not be deleted any more without Espalier\. .*kubectl.*force-delete NAME.*--keep-objects\n$/,
    );
    expect(await has(deploymentKind, `${HOME}/espalier`)).to.equal(true);
    const time = '2026-01-01T00:00:00Z';
    const condition = (type: string) => ({
      type,
      status: 'True',
      reason: 'R',
      message: 'm',
      lastTransitionTime: time,
      lastUpdateTime: time,
    });
    const conditions = ['CreateImports', 'Waiting', 'Drifted'].map(condition);
    await client.send({
      verb: 'merge',
      kind: installationKind,
      sub: 'status',
      key: 'shop/web',
      body: { status: { observedGeneration: 1, conditions, phase: 'Failed' } },
    });
    const words = 'conditions of Installation shop/web that Landscaper does not know';
    expect(await succeeds('uninstall', '--keep-objects', '--dry-run')).to.contain(`would remove  ${words}\n`);
    const output = await uninstall('--keep-objects');
    expect(output).to.contain(`removed  ${words}\n`);
    const { status } = await client.get(installationKind, 'shop/web');
    expect(status).to.deep.include({ phase: 'Failed', conditions: [condition('CreateImports')] });
    expect(output).to.contain('Kept, but no controller reconciles them: Installation shop/web.');
    expect(await has(deploymentKind, `${HOME}/espalier`)).to.equal(false);
    expect(await has(installationKind, 'shop/web')).to.equal(true);

    const key = 'shop/web';
    await client.send({
      verb: 'merge',
      kind: installationKind,
      key,
      body: { metadata: { finalizers: null } },
    });
    await client.send({ verb: 'delete', kind: installationKind, key });
    expect(await fails('uninstall', '--crds', '--yes')).to.equal(
      'error: deleting the definitions would also delete these objects: Target shop/db; delete them first, or omit --crds\n',
    );
    await client.send({ verb: 'delete', kind: targetKind, key: 'shop/db' });
    expect(linesOf(await uninstall('--crds'), 'removed')).to.have.length(12);
  });

  it('delete the CRDs as well, although every namespace has a Context', async () => {
    await install();
    await client.raw('POST', `/apis/${API_VERSION}/namespaces/${HOME}/contexts`, {
      apiVersion: API_VERSION,
      kind: 'Context',
      metadata: { name: 'default', namespace: HOME },
    });
    await uninstall('--crds');
    const [code, terminal] = await run(['uninstall', '--crds', '--keep-objects']);
    expect([code, terminal.errors]).to.deep.equal([
      2,
      'error: --keep-objects and --crds exclude each other: deleting a definition deletes its objects\n',
    ]);
  });
});

const installation = (name: string): Installation => ({
  apiVersion: API_VERSION,
  kind: 'Installation',
  metadata: { name, namespace: 'shop', finalizers: [FINALIZER] },
  spec: { blueprint: { ref: { resourceName: 'b' } } },
});
