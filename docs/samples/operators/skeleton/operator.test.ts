/** Tests without a cluster: in virtual time, with faults. */
import { deepEqual, equal } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { toYaml } from 'espalier/crd';
import {
  simulate,
  startTestCluster,
  type OperatorUnderTest,
  type TestCluster,
} from 'espalier/operator-testing';
import { apiVersionOf, ConfigMap, Service } from 'espalier/runtime';
import { crd, skeletons } from './kind.ts';
import { addController } from './operator.ts';

const key = 'default/hello';
const operator: OperatorUnderTest = { crds: [crd], add: (manager) => addController(manager) };

const create = (cluster: TestCluster, message: string) =>
  cluster.client.send({
    verb: 'create',
    kind: skeletons,
    // The API server sets the defaults.
    object: {
      apiVersion: apiVersionOf(skeletons),
      kind: 'Skeleton',
      metadata: { name: 'hello', namespace: 'default' },
      spec: { message } as never,
    },
  });
const edit = (cluster: TestCluster, spec: object) =>
  cluster.client.send({ verb: 'merge', kind: skeletons, key, body: { spec } });
const isReady = async (cluster: TestCluster) => (await cluster.get(skeletons, key))?.status?.ready;

await test('crd.yaml is generated from kind.ts: npm run crd', () => {
  equal(readFileSync('crd.yaml', 'utf8'), toYaml(crd));
});

await test('creates everything, and reports when it is ready', async (t) => {
  const cluster = await startTestCluster(operator);
  t.after(() => cluster.close());
  await create(cluster, 'hello');
  await cluster.until('it is ready', () => isReady(cluster));
  deepEqual((await cluster.get(ConfigMap, key))?.data, { 'index.html': 'hello' });
  equal((await cluster.get(Service, key))?.spec?.ports?.[0]?.port, 8080);
});

await test('continues after a crash between two writes', async (t) => {
  const cluster = await startTestCluster(operator);
  t.after(() => cluster.close());
  const crash = cluster.failNext('crashAfter', { verb: 'apply', kind: 'ConfigMap' });
  await create(cluster, 'hello');
  await cluster.settle();
  deepEqual([crash.isInjected, await isReady(cluster)], [true, true]);
});

await test('reaches the desired state, whatever fails', async () => {
  await simulate(
    () => ({
      ...operator,
      async act(cluster) {
        await create(cluster, 'one');
        await cluster.advance(cluster.random.between(0, 10_000));
        await edit(cluster, { message: 'two', replicas: 2 });
      },
      async check(cluster) {
        equal(await isReady(cluster), true);
        deepEqual((await cluster.get(ConfigMap, key))?.data, { 'index.html': 'two' });
      },
    }),
    { seeds: 30 },
  );
});
