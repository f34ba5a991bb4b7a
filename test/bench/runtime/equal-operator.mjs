/**
 * The operator of hack/go-operator on our runtime, as compiled: it copies the data of each ConfigMap with the label "bench" to
 * a ConfigMap that the first one owns, and corrects the copy if it differs. Prints "synced" when its caches are filled.
 *
 *     KUBECONFIG=… node equal-operator.mjs NAMESPACE
 */
import { isDeepStrictEqual } from 'node:util';
import { byController, ConfigMap, startOperator, watchSource } from '../../../dist/src/runtime/index.js';

const [, , namespace = ''] = process.argv;
const WORKERS = 10;

const operator = await startOperator({
  name: 'copies',
  namespaces: [namespace],
  add(manager) {
    // One cache for primaries and copies, as in controller-runtime.
    const configMaps = manager.caches.of(ConfigMap);
    manager.add({
      name: 'copies',
      kind: ConfigMap,
      maxConcurrent: WORKERS,
      generation: 'off',
      filter: isPrimary(),
      sources: [watchSource({ cache: configMaps, toPrimary: byController(ConfigMap) })],
      reconciler: { reconcile: (primary, ctx) => copy(configMaps, primary, ctx) },
    });
  },
});
await operator.started;
console.log('synced');
process.once('SIGTERM', () => void operator.stop());

function isPrimary() {
  const test = ({ metadata }) => metadata.labels?.bench !== undefined;
  return { add: test, update: (_, object) => test(object), delete: test };
}

async function copy(cache, { metadata, data }, { write }) {
  if (metadata.labels?.bench === undefined) return { write: 'none' };
  const name = `${metadata.name}-copy`;
  const present = cache.get(`${metadata.namespace}/${name}`);
  if (!present) {
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: metadata.name, uid: metadata.uid };
    const ownerReferences = [{ ...owner, controller: true, blockOwnerDeletion: true }];
    const wanted = { name, namespace: metadata.namespace, ownerReferences };
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: wanted, data };
    await write({ verb: 'create', kind: ConfigMap, object });
  } else if (!isDeepStrictEqual(present.data, data))
    await write({ verb: 'replace', kind: ConfigMap, object: { ...present, data } });
  return { write: 'none' };
}
