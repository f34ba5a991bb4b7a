/**
 * How fast trees are installed and deleted on the embedded API server, and what a tree costs in requests.
 *
 *   npm run bench -- trees [N]
 *
 * Figures of different machines do not compare; ratios of one run do: the same trees are timed against as many bare
 * creates, the least that any controller has to do.
 */
import { startApiServer, type ApiServer } from '../../src/apiserver/server.ts';
import { startLandscaper, type Landscaper } from '../../src/cli/landscaper.ts';
import { installationKind, type Installation } from '../../src/api/kinds/installation.ts';
import { isFinished } from '../../src/api/job.ts';
import { API_VERSION, annotations } from '../../src/api/labels.ts';
import { createWorld } from '../../src/machine/world.ts';
import { silentLogger } from '../../src/observability/log.ts';
import type { Obj } from '../../src/runtime/types.ts';

const NAMESPACE = 'default';
const WARM_UP = 33;
const MOCK = `deployItems: [{name: app, type: landscaper.gardener.cloud/mock, config: {apiVersion: mock.deployer.landscaper.gardener.cloud/v1alpha1, kind: ProviderConfiguration, phase: Succeeded}}]`;
const blueprint = (body: object): string =>
  JSON.stringify({ apiVersion: API_VERSION, kind: 'Blueprint', ...body });
const withItem = (body: object = {}): string =>
  blueprint({ deployExecutions: [{ name: 'main', type: 'GoTemplate', template: MOCK }], ...body });
const child = (name: string, file: string, data: object) => ({
  apiVersion: API_VERSION,
  kind: 'InstallationTemplate',
  name,
  blueprint: { filesystem: { 'blueprint.yaml': file } },
  ...data,
});
const link = { name: 'link', type: 'data', schema: { type: 'string' } };
const ref = { data: [{ name: 'link', dataRef: 'link' }] };

/** A root with one mock item; a parent with two such children, the second importing from the first. */
const shapes: Readonly<Record<string, string>> = {
  mock: withItem(),
  stack: blueprint({
    subinstallations: [
      child(
        'a',
        withItem({
          exports: [link],
          exportExecutions: [{ name: 'e', type: 'GoTemplate', template: 'exports: {link: x}' }],
        }),
        { exports: ref },
      ),
      child('b', withItem({ imports: [link] }), { imports: ref }),
    ],
  }),
};

const root = (name: string, file: string): Installation => ({
  apiVersion: API_VERSION,
  kind: 'Installation',
  metadata: { name, namespace: NAMESPACE, annotations: { [annotations.operation]: 'reconcile' } },
  spec: { blueprint: { inline: { filesystem: { 'blueprint.yaml': file } } } },
});

async function until(done: () => boolean): Promise<void> {
  while (!done()) await new Promise((resolve) => setTimeout(resolve, 5));
}

async function measure(server: ApiServer, landscaper: Landscaper, shape: string, count: number) {
  const { client, manager } = landscaper;
  const world = createWorld(manager.caches);
  const names = Array.from({ length: count }, (_, i) => `${shape}-${count}-${i}`);
  const bareStart = performance.now();
  const bare = names.map((name) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace: NAMESPACE },
  }));
  const configMaps = { group: '', version: 'v1', kind: 'ConfigMap', plural: 'configmaps', namespaced: true };
  await Promise.all(bare.map((object: Obj) => client.send({ verb: 'create', kind: configMaps, object })));
  const bareMs = performance.now() - bareStart;

  const mark = server.audit.mark();
  const start = performance.now();
  await Promise.all(
    names.map((name) =>
      client.send({ verb: 'create', kind: installationKind, object: root(name, shapes[shape] ?? '') }),
    ),
  );
  await until(() =>
    names.every((name) => {
      const installation = world.installations.get(`${NAMESPACE}/${name}`);
      return installation?.status?.phase === 'Succeeded' && isFinished(installation);
    }),
  );
  const installMs = performance.now() - start;
  // The creation of the root is the user's.
  const { writes, reads } = server.audit.since(mark).by({ userAgent: /^espalier/ });
  const perTree = (requests: number): string => (requests / count).toFixed(1);

  const deleteStart = performance.now();
  await Promise.all(
    names.map((name) => client.send({ verb: 'delete', kind: installationKind, key: `${NAMESPACE}/${name}` })),
  );
  await until(() => names.every((name) => !world.installations.get(`${NAMESPACE}/${name}`)));
  const deleteMs = performance.now() - deleteStart;

  const perSecond = (ms: number): string => ((count * 1000) / ms).toFixed(1);
  console.log(
    `${shape.padEnd(6)} ×${count}: installed ${perSecond(installMs)}/s, deleted ${perSecond(deleteMs)}/s; ` +
      `per tree ${perTree(writes - count)} writes, ${perTree(reads)} reads; ` +
      `${(installMs / bareMs).toFixed(1)} times as long as one bare create each`,
  );
}

export async function benchTrees(count: number): Promise<void> {
  const server = await startApiServer({ history: { events: 1_000_000, seconds: 3600 } });
  const landscaper = await startLandscaper({
    kubeconfig: { text: server.kubeconfig },
    log: silentLogger,
    deployers: ['mock'],
  });
  try {
    await measure(server, landscaper, 'mock', WARM_UP);
    console.log('that was to warm up');
    for (const shape of Object.keys(shapes)) await measure(server, landscaper, shape, count);
    console.log(
      `memory of server, controllers and deployer together: ${Math.round(process.memoryUsage.rss() / 2 ** 20)} MiB`,
    );
  } finally {
    await landscaper.stop();
    await server.close();
  }
}
