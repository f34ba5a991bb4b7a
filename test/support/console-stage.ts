/** Landscapes for the console: ready, failed and running ones, with data flow between them and recorded jobs. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { contextKind } from '../../src/api/kinds/context.ts';
import type { DeployItemTemplate } from '../../src/api/kinds/execution.ts';
import { jobRecordKind, type JobRecord } from '../../src/api/kinds/jobrecord.ts';
import { defaultJournal } from '../../src/api/journal.ts';
import { API_VERSION, GROUP } from '../../src/api/labels.ts';
import { startConsole } from '../../src/cli/console/start.ts';
import { ensureCrds } from '../../src/landscape/ensure-crds.ts';
import { namespaceKind } from '../../src/landscape/world.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { systemRng } from '../../src/lib/rng.ts';
import { silentLogger } from '../../src/observability/log.ts';
import { createCaches } from '../../src/runtime/cache/cache.ts';
import { createClient } from '../../src/runtime/transport/client.ts';
import { connect } from '../../src/runtime/transport/http.ts';
import { startCluster, startControllers, type Cluster } from './cluster.ts';
import { startLogProxy, type LogProxy } from './log-proxy.ts';
import { child, fakeItem, mockItem, root, target } from './landscape.ts';
import { Scene } from './scene.ts';
import { eventually } from './waiting.ts';

/** A value in the cluster that no page may contain. */
export const SECRET = 'correct-horse-battery-staple';

const manifestItem = (name: string, objects: readonly object[]): DeployItemTemplate =>
  ({
    name,
    type: `${GROUP}/kubernetes-manifest`,
    target: { import: 'cluster' },
    config: {
      apiVersion: 'manifest.deployer.landscaper.gardener.cloud/v1alpha2',
      kind: 'ProviderConfiguration',
      manifests: objects.map((manifest) => ({ policy: 'manage', manifest })),
    },
  }) as unknown as DeployItemTemplate;

const settings = (name: string, namespace: string): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace },
  data: { password: SECRET },
});

const cluster = { imports: { targets: [{ name: 'cluster', target: 'cluster' }] } };
const importsCluster = {
  imports: [{ name: 'cluster', type: 'target', targetType: `${GROUP}/kubernetes-cluster` }],
};

/** The landscape whose tree reaches down to objects on a target. @param more fields of its deploy item */
export const network = (namespace: string, more: Partial<DeployItemTemplate> = {}) => {
  const zones = manifestItem('zones', [settings('zones', namespace), settings('routes', namespace)]);
  const items = [{ ...zones, ...more }];
  const parts = { items, gives: { cidr: 'network' }, values: { cidr: SECRET }, more: importsCluster };
  return root('network', { ...parts, spec: cluster });
};

const shop = () =>
  root('shop', {
    takes: { cidr: 'network' },
    gives: { url: 'shop-url' },
    values: { url: SECRET },
    children: [
      child('database', {
        takes: { net: 'cidr' },
        gives: { endpoint: 'database-endpoint' },
        items: [mockItem('storage'), mockItem('server', {}, { dependsOn: ['storage'] })],
      }),
      child('cache', {
        takes: { net: 'cidr' },
        gives: { endpoint: 'cache-endpoint' },
        items: [mockItem('server')],
      }),
      child('backend', {
        takes: { database: 'database-endpoint', cache: 'cache-endpoint' },
        gives: { api: 'backend-api' },
        items: [mockItem('server')],
      }),
      child('frontend', { takes: { api: 'backend-api' }, items: [mockItem('pages'), mockItem('server')] }),
    ],
  });

const billing = () =>
  root('billing', {
    takes: { shop: 'shop-url' },
    children: [
      child('ledger', {
        gives: { endpoint: 'ledger-endpoint' },
        items: [mockItem('server', { phase: 'Failed' })],
      }),
      child('invoices', { takes: { ledger: 'ledger-endpoint' }, items: [mockItem('server')] }),
    ],
  });

/** @param trouble how the simulated pods fail; undefined: they run */
const deployment = (name: string, namespace: string, trouble?: string): object => {
  const labels = { app: name };
  const annotations = trouble === undefined ? {} : { 'espalier.dev/simulate': trouble };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace },
    spec: {
      replicas: 2,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels, annotations },
        spec: {
          containers: [
            { name: 'server', image: `${name}:1.4`, env: [{ name: 'PASSWORD', value: SECRET }] },
            { name: 'proxy', image: 'proxy:2' },
          ],
        },
      },
    },
  };
};

/** The landscape with pods, of which some do not start. */
const portal = (namespace: string) => {
  const items = [
    manifestItem('web', [deployment('web', namespace), deployment('worker', namespace, 'crash-loop')]),
  ];
  return root('portal', { items, more: importsCluster, spec: cluster });
};

const search = () => root('search', { takes: { shop: 'shop-url' }, items: [fakeItem('index')] });

export interface ConsoleStage {
  readonly cluster: Cluster;
  /** Logs of the pods. */
  readonly logs: LogProxy['logs'];
  readonly scene: Scene;
  serve(port?: number): ReturnType<typeof startConsole>;
  stop(): Promise<void>;
}

const NAMESPACE = 'shop';

/** Starts a cluster with the landscapes; resolves when all have reached their state. */
export async function startConsoleStage(): Promise<ConsoleStage> {
  const running = await startCluster({ simulate: true });
  const { client, kubeconfig, server } = running;
  if (!server) throw new Error('the stage needs the embedded API server');
  const proxy = await startLogProxy(server.url);
  const folder = mkdtempSync(join(tmpdir(), 'espalier-stage-'));
  const kubeconfigFile = join(folder, 'kubeconfig');
  writeFileSync(kubeconfigFile, kubeconfig, { mode: 0o600 });
  await ensureCrds(client, systemClock, silentLogger, { hasJournal: true });
  const controllers = await startControllers(running, {
    deployers: ['mock', 'manifest'],
    config: { journal: { ...defaultJournal } },
  });
  await client.send({
    verb: 'create',
    kind: namespaceKind,
    object: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } },
  });
  const context = {
    apiVersion: API_VERSION,
    kind: 'Context',
    metadata: { name: 'default', namespace: NAMESPACE },
  };
  await client.send({ verb: 'create', kind: contextKind, object: context });
  const scene = new Scene(running, NAMESPACE);
  await scene.create(
    target('cluster', 'kubernetes-cluster', { kubeconfig: kubeconfig.replaceAll(server.url, proxy.url) }),
  );
  for (const [installation, phase] of [
    [network(NAMESPACE), 'Succeeded'],
    [shop(), 'Succeeded'],
    [billing(), 'Failed'],
    [search(), 'Progressing'],
    [portal(NAMESPACE), 'Progressing'],
  ] as const) {
    await scene.create(installation);
    const { name } = installation.metadata;
    await scene.until(`${name} is ${phase}`, () => scene.installation(name)?.status?.phase === phase);
  }
  await recorded(scene, 'shop');
  const connections: (() => Promise<void>)[] = [];
  return {
    cluster: running,
    scene,
    logs: proxy.logs,
    async serve(port = 0) {
      const connection = await connect({
        kubeconfig: { text: kubeconfig },
        userAgent: 'console-test',
        clock: systemClock,
        rng: systemRng,
        log: silentLogger,
      });
      const own = createClient(connection);
      connections.push(() => own.close());
      const caches = createCaches({ client: own, clock: systemClock, rng: systemRng, log: silentLogger });
      const self = await connection.address();
      const options = { namespace: undefined, port, planArgs: ['--kubeconfig', kubeconfigFile] };
      return startConsole({ client: own, caches, clock: systemClock, self }, options);
    },
    async stop() {
      for (const close of connections) await close();
      await controllers.stop();
      await proxy.close();
      await running.stop();
      rmSync(folder, { recursive: true });
    },
  };
}

const recorded = ({ cluster: { client }, ns }: Scene, name: string): Promise<true> =>
  eventually(`a job of ${name} is recorded`, async () => {
    for await (const page of client.list<JobRecord>(jobRecordKind, { namespace: ns }))
      if (page.items.some(({ spec }) => spec.root.name === name)) return true;
    return false;
  });
