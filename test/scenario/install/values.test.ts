/** `espalier install` with values of the chart, on an API server. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import {
  certificateKind,
  configurationKind,
  crdKind,
  issuerKind,
  kindOf,
  leaseKind,
  prometheusRuleKind,
  secretKind,
  serviceMonitorKind,
} from '../../../src/cli/commands/install/kinds.ts';
import { applyAll, namespaceObject } from '../../../src/cli/objects.ts';
import { runProgram } from '../../../src/cli/program.ts';
import { systemClock as clock } from '../../../src/lib/clock.ts';
import type { Fields } from '../../../src/lib/objects.ts';
import { parseYaml } from '../../../src/lib/yaml.ts';
import { silentLogger as log } from '../../../src/observability/log.ts';
import { createClient } from '../../../src/runtime/transport/client.ts';
import { fleetLabel } from '../../../src/runtime/fleet/names.ts';
import { getIfThere } from '../../../src/runtime/transport/read.ts';
import { connect } from '../../../src/runtime/transport/http.ts';
import type { Client, Obj } from '../../../src/runtime/types.ts';
import { crdOf } from '../../support/operators.ts';
import { productChartFolder, renderProduct } from '../../support/product-chart.ts';
import { startStrictServer, type StrictServer } from '../../support/rights.ts';
import { fakeTerminal } from '../../unit/cli/terminal.ts';

const full = join(productChartFolder, 'ci/full-values.yaml');
const IMAGE = 'registry.example.org/espalier:0.1.0';
const CA = Buffer.from('-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n').toString('base64');

describe('install with values of the chart', function () {
  this.timeout(120_000);
  let server: StrictServer;
  let client: Client;

  before(async () => {
    server = await startStrictServer();
    client = createClient(
      await connect({ kubeconfig: { text: server.kubeconfig }, userAgent: 'test', clock, log }),
    );
    await applyAll(client, ['pods', 'health'].map(namespaceObject));
  });
  after(async () => {
    await client?.close();
    await server?.close();
  });

  const run = async (...args: readonly string[]) => {
    const terminal = fakeTerminal({ env: { KUBECONFIG: server.kubeconfigFile } });
    return { code: await runProgram(args, terminal), output: terminal.output, errors: terminal.errors };
  };
  const succeeds = async (...args: readonly string[]): Promise<string> => {
    const { code, output, errors } = await run(...args);
    expect(code, errors).to.equal(0);
    return output;
  };
  const linesOf = (output: string, outcome: string): readonly string[] =>
    output
      .split('\n')
      .filter((line) => line.startsWith(`${outcome} `))
      .map((line) => line.slice(outcome.length).trim());

  it('writes nothing if the chart refuses a value, or the cluster does not know ServiceMonitors', async () => {
    const wrong = await run('install', '--image', IMAGE, '--set', 'replica=2');
    expect([wrong.code, wrong.output]).to.deep.equal([2, '']);
    expect(wrong.errors).to.match(/^error: values don't meet .* "replica"\n$/);
    const unknown = await run('install', '--values', full);
    expect([unknown.code, unknown.output]).to.deep.equal([1, '']);
    expect(unknown.errors).to.contain('the cluster does not know ServiceMonitors; install the Prometheus');
  });

  it('creates all objects of the full file, changes nothing when repeated, and removes what is not needed any more', async () => {
    await client.send<Obj>({ verb: 'create', kind: crdKind, object: crdOf(serviceMonitorKind) });
    const rules = await run('install', '--values', full);
    expect(rules.errors).to.contain('the cluster does not know PrometheusRules; install the Prometheus');
    await client.send<Obj>({ verb: 'create', kind: crdKind, object: crdOf(prometheusRuleKind) });
    const certificates = await run('install', '--values', full);
    expect(certificates.errors).to.contain(
      'the cluster does not know Certificates; install cert-manager, or set webhooks.certificates.source to self',
    );
    await client.send<Obj>({ verb: 'create', kind: crdKind, object: crdOf(certificateKind) });
    const created = linesOf(await succeeds('install', '--values', full), 'created');
    expect(created).to.include.members([
      'ServiceMonitor ls-system/espalier',
      'PrometheusRule ls-system/espalier',
      'ConfigMap ls-system/espalier-dashboard-requests',
      'Service ls-system/espalier',
      'Role pods/espalier-deployers',
      'Role health/espalier',
      'Deployment ls-system/espalier-deployers',
      'Deployment ls-system/espalier-webhooks',
      'Certificate ls-system/espalier-webhooks',
      'ValidatingWebhookConfiguration espalier-webhooks',
    ]);
    expect(await succeeds('install', '--values', full)).to.contain('Nothing to change.');

    const set =
      'serviceMonitor.enabled=false,metrics.service.enabled=false,webhooks.replicas=1,prometheusRule.enabled=false,dashboards.enabled=false';
    expect(linesOf(await succeeds('install', '--values', full, '--set', set), 'removed')).to.have.members([
      'PrometheusRule ls-system/espalier',
      ...['controllers', 'landscapes', 'requests'].map(
        (board) => `ConfigMap ls-system/espalier-dashboard-${board}`,
      ),
      ...['espalier', 'espalier-deployers'].flatMap((name) => [
        `ServiceMonitor ls-system/${name}`,
        `Service ls-system/${name}`,
      ]),
      'PodDisruptionBudget ls-system/espalier-webhooks',
    ]);
  });

  it('separates the deployers, puts them together again, and leaves nothing behind', async () => {
    const installed = async (deployments: string, ...more: readonly string[]) =>
      succeeds('install', '-A', '--image', IMAGE, '--set', `deployments=${deployments}`, ...more);
    const own = 'espalier-deployers';
    await succeeds('uninstall', '--yes');
    await installed('together');
    const separated = await installed('separate', '--replicas', '2');
    expect(linesOf(separated, 'removed')).to.have.members([
      'Role ls-system-pods/espalier',
      'RoleBinding ls-system-pods/espalier',
    ]);
    expect(linesOf(separated, 'created')).to.include.members([
      `Deployment ls-system/${own}`,
      `ServiceAccount ls-system/${own}`,
      `Role ls-system-pods/${own}`,
    ]);
    expect(await installed('separate', '--replicas', '2')).to.contain('Nothing to change.');
    const metadata = { name: `${own}-shard-00`, namespace: 'ls-system', labels: { [fleetLabel]: own } };
    const object = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata };
    await client.send<Obj>({ verb: 'create', kind: leaseKind, object });

    const lines = (await installed('together')).split('\n');
    const removed = lines.flatMap((line) => /^removed +(.*)/.exec(line)?.[1] ?? []);
    expect(removed).to.have.members([
      ...['Deployment', 'PodDisruptionBudget', 'NetworkPolicy', 'Role', 'RoleBinding', 'ServiceAccount'].map(
        (kind) => `${kind} ls-system/${own}`,
      ),
      `ClusterRole ${own}`,
      `ClusterRoleBinding ${own}`,
      `Role ls-system-pods/${own}`,
      `RoleBinding ls-system-pods/${own}`,
      `Lease ls-system/${own}-shard-00`,
      'PodDisruptionBudget ls-system/espalier',
    ]);
    // Two deployers must not handle the same items.
    const at = (pattern: RegExp): number => lines.findIndex((line) => pattern.test(line));
    expect(at(/^removed +Deployment/)).to.be.lessThan(at(/^changed +Deployment ls-system\/espalier /));
    expect(await installed('together')).to.contain('Nothing to change.');

    await installed('separate');
    expect(linesOf(await succeeds('uninstall', '--yes'), 'removed')).to.include.members([
      `Deployment ls-system/${own}`,
      `ServiceAccount ls-system/${own}`,
      `ClusterRole ${own}`,
    ]);
    for (const kind of ['Deployment', 'ServiceAccount', 'Role'])
      expect(await getIfThere(client, kindOf({ kind } as Obj), `ls-system/${own}`), kind).to.equal(undefined);
  });

  it('keeps the permissions if an administrator manages them from now on', async () => {
    await succeeds('install', '-A', '--image', IMAGE);
    const output = await succeeds('install', '-A', '--image', IMAGE, '--set', 'rbac.create=false');
    expect(linesOf(output, 'removed')).to.deep.equal([]);
    await succeeds('uninstall', '--yes');
  });

  it('removes everything with uninstall', async () => {
    await succeeds('install', '--values', full);
    const removed = linesOf(await succeeds('uninstall', '--yes'), 'removed');
    expect(removed).to.include.members([
      'ServiceMonitor ls-system/espalier',
      'PrometheusRule ls-system/espalier',
      'ConfigMap ls-system/espalier-dashboard-landscapes',
      'Service ls-system/espalier',
    ]);
    const position = (words: string): number => removed.indexOf(words);
    expect(position('ValidatingWebhookConfiguration espalier-webhooks'))
      .to.be.greaterThan(-1)
      .and.lessThan(position('Deployment ls-system/espalier-webhooks'));
    expect(await succeeds('uninstall', '--yes')).to.contain('Espalier is not installed');
  });

  it('changes the source of the certificates, and removes what another source needed', async () => {
    await client.send<Obj>({ verb: 'create', kind: crdKind, object: crdOf(issuerKind) });
    const install = async (source: string) => {
      const set = `webhooks.certificates.source=${source}`;
      return succeeds('install', '-A', '--image', IMAGE, '--webhooks', '--set', set);
    };
    await install('self');
    const managed = await install('cert-manager');
    expect(linesOf(managed, 'removed')).to.have.members([
      'ClusterRole espalier-webhooks',
      'ClusterRoleBinding espalier-webhooks',
      'Role ls-system/espalier-webhooks',
      'RoleBinding ls-system/espalier-webhooks',
    ]);
    // As cert-manager does: it adds the authority, and writes the secret with the labels of the template.
    const { webhooks = [] } = await client.get(configurationKind, 'espalier-webhooks');
    const hooks = (webhooks as readonly { readonly clientConfig: object }[]).map((hook) => ({
      ...hook,
      clientConfig: { ...hook.clientConfig, caBundle: CA },
    }));
    const injected = { verb: 'merge', kind: configurationKind, key: 'espalier-webhooks' } as const;
    await client.send({ ...injected, body: { webhooks: hooks } });
    const certificate = await client.get<Obj & { readonly spec?: Fields }>(
      certificateKind,
      'ls-system/espalier-webhooks',
    );
    const { secretName, secretTemplate } = certificate.spec ?? {};
    const metadata = { ...(secretTemplate as object), name: String(secretName), namespace: 'ls-system' };
    const object = { apiVersion: 'v1', kind: 'Secret' as const, metadata };
    await client.send({ verb: 'create', kind: secretKind, object });
    expect(await install('cert-manager')).to.contain('Nothing to change.');
    const kept = await client.get(configurationKind, 'espalier-webhooks');
    expect(JSON.stringify(kept.webhooks)).to.contain(CA);

    const removed = linesOf(await succeeds('uninstall', '--yes'), 'removed');
    expect(removed[0]).to.equal('ValidatingWebhookConfiguration espalier-webhooks');
    expect(removed).to.include.members([
      'Certificate ls-system/espalier-webhooks-ca',
      'Issuer ls-system/espalier-webhooks-ca',
      'Secret ls-system/espalier-webhooks-tls',
    ]);
    const order = removed.filter((line) => line.includes(' ls-system/espalier-webhooks'));
    expect(order.indexOf('Certificate ls-system/espalier-webhooks')).to.be.lessThan(
      order.indexOf('Secret ls-system/espalier-webhooks-tls'),
    );

    await install('cert-manager');
    expect(linesOf(await install('self'), 'removed')).to.have.members([
      'ValidatingWebhookConfiguration espalier-webhooks',
      ...['espalier-webhooks', 'espalier-webhooks-ca'].flatMap((name) => [
        `Certificate ls-system/${name}`,
        `Issuer ls-system/${name}`,
      ]),
    ]);
    await succeeds('uninstall', '--yes');
  });

  it('leaves alone what another tool has applied from the chart', async () => {
    const rendered = renderProduct(parseYaml(readFileSync(full, 'utf8')) as Fields);
    for (const { document } of rendered.manifests) {
      const object = document as Obj;
      await client.send({ verb: 'apply', kind: kindOf(object), object, manager: 'helm', force: true });
    }
    const updated = await run('install', '--values', full);
    expect([updated.code, updated.output]).to.deep.equal([1, '']);
    expect(updated.errors).to.contain('was installed with the Helm chart; update it with the tool that');
    const removed = await run('uninstall', '--yes');
    expect([removed.code, removed.output]).to.deep.equal([1, '']);
    expect(removed.errors).to.contain(
      'Deployment ls-system/espalier was installed with the Helm chart; remove it with the tool that installed it',
    );
    const elsewhere = await run('uninstall', '-n', 'elsewhere', '--crds', '--yes');
    expect([elsewhere.code, elsewhere.output]).to.deep.equal([1, '']);
    expect(elsewhere.errors).to.contain('Espalier is installed with the Helm chart in namespace ls-system');
  });
});
