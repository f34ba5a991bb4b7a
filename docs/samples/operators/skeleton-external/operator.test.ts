/** Tests without a cluster and without the service: in virtual time, with faults. */
import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import {
  simulate,
  startTestCluster,
  type OperatorUnderTest,
  type TestCluster,
} from 'espalier/operator-testing';
import { apiVersionOf } from 'espalier/runtime';
import { crd, skeletons, type Skeleton } from './kind.ts';
import { addController, inMemory } from './operator.ts';

const key = 'default/hello';
type Resources = Map<string, Skeleton['spec']>;

/** Calls of the service take time, fail, and are lost. */
function operatorOf(resources: Resources): OperatorUnderTest {
  const service = inMemory(resources);
  return {
    crds: [crd],
    add: (manager, services) =>
      addController(manager, {
        read: (name) => services.call('read', () => service.read(name)),
        write: (name, wanted) => services.call('write', () => service.write(name, wanted)),
        remove: (name) => services.call('remove', () => service.remove(name)),
      }),
  };
}

const create = (cluster: TestCluster, message: string) =>
  cluster.client.send({
    verb: 'create',
    kind: skeletons,
    object: {
      apiVersion: apiVersionOf(skeletons),
      kind: 'Skeleton',
      metadata: { name: 'hello', namespace: 'default' },
      // The API server sets the default of the size.
      spec: { message } as never,
    },
  });
const condition = async (cluster: TestCluster, type: string) =>
  (await cluster.get(skeletons, key))?.status?.conditions?.find((each) => each.type === type);
const isReady = async (cluster: TestCluster) => (await condition(cluster, 'Ready'))?.status === 'True';

await test('creates the resource, and deletes it with its object', async (t) => {
  const resources: Resources = new Map();
  const cluster = await startTestCluster(operatorOf(resources));
  t.after(() => cluster.close());
  await create(cluster, 'hello');
  await cluster.until('it is ready', () => isReady(cluster));
  deepEqual([...resources.values()], [{ message: 'hello', size: 1 }]);
  await cluster.client.send({ verb: 'delete', kind: skeletons, key });
  await cluster.until('it is deleted', async () => !(await cluster.get(skeletons, key)));
  equal(resources.size, 0);
});

await test('names the invalid field', async (t) => {
  const cluster = await startTestCluster(operatorOf(new Map()));
  t.after(() => cluster.close());
  await create(cluster, ' ');
  await cluster.settle();
  equal((await condition(cluster, 'Failed'))?.message, 'spec.message: must not be blank');
});

await test('reaches the desired state, whatever fails', async () => {
  await simulate(
    () => {
      const resources: Resources = new Map();
      return {
        ...operatorOf(resources),
        async act(cluster) {
          await create(cluster, 'one');
          await cluster.advance(cluster.random.between(0, 10_000));
          const body = { spec: { message: 'two' } };
          await cluster.client.send({ verb: 'merge', kind: skeletons, key, body });
        },
        async check(cluster) {
          equal(await isReady(cluster), true);
          deepEqual([...resources.values()], [{ message: 'two', size: 1 }]);
        },
      };
    },
    { seeds: 30 },
  );
});
