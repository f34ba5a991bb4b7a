/** Tests of the conversion: both directions, that it loses nothing, and on an API server. */
import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import { checkConversion, startTestCluster } from 'espalier/operator-testing';
import { apiVersionOf, type Kind } from 'espalier/runtime';
import { conversion } from './conversion.ts';
import { crd, older, skeletons } from './kind.ts';
import { addController } from '../skeleton/operator.ts';

const key = 'default/hello';
const objectOf = (kind: Kind, spec: object, annotations?: Record<string, string>) => ({
  apiVersion: apiVersionOf(kind),
  kind: kind.kind,
  metadata: { name: 'hello', namespace: 'default', ...(annotations && { annotations }) },
  spec,
});
const annotations = { 'example.org/port': '9090' };

await test('converts from the older version', () => {
  const converted = conversion.convert(
    objectOf(older, { text: 'hello', replicas: 2 }),
    apiVersionOf(skeletons),
  );
  deepEqual(converted, objectOf(skeletons, { message: 'hello', replicas: 2, port: 8080 }));
});

await test('converts to the older version, and keeps the port in an annotation', () => {
  const object = objectOf(skeletons, { message: 'hello', replicas: 2, port: 9090 });
  const converted = conversion.convert(object, apiVersionOf(older));
  deepEqual(converted, objectOf(older, { text: 'hello', replicas: 2 }, annotations));
  deepEqual(conversion.convert(converted, apiVersionOf(skeletons)), object);
});

await test('ignores a port that is not valid', () => {
  const object = objectOf(older, { text: 'hello', replicas: 2 }, { 'example.org/port': 'none' });
  const converted = conversion.convert(object, apiVersionOf(skeletons));
  deepEqual(converted, objectOf(skeletons, { message: 'hello', replicas: 2, port: 8080 }));
});

await test('loses nothing', () => {
  checkConversion({ conversion, crd });
});

await test('reconciles objects of the older version', async (t) => {
  const cluster = await startTestCluster({
    crds: [crd],
    conversions: [conversion],
    add: (manager) => addController(manager),
  });
  t.after(() => cluster.close());
  const object = objectOf(older, { text: 'hello' });
  await cluster.client.send({ verb: 'create', kind: older, object: object as never });
  await cluster.until('it is ready', async () => (await cluster.get(older, key))?.status?.ready);
  equal((await cluster.get(skeletons, key))?.spec.message, 'hello');
});
