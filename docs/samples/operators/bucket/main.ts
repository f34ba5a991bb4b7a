/** Runs the operator on the cluster of the current kubeconfig, with the service in BUCKET_SERVICE. */
import {
  connect,
  createCaches,
  createClient,
  createLogger,
  createManager,
  createMetrics,
  findKubeconfig,
  systemClock as clock,
  systemRng as rng,
} from 'espalier/runtime';
import { bucketController } from './bucket.ts';

const { BUCKET_SERVICE: url = '', BUCKET_TOKEN: token = '' } = process.env;
const log = createLogger({ level: 'info' });
const kubeconfig = findKubeconfig(process.env);
if (!kubeconfig) throw new Error('there is no kubeconfig; set KUBECONFIG to the file of one');
const client = createClient(await connect({ kubeconfig, userAgent: 'bucket-operator', clock, log }));
const caches = createCaches({ client, clock, rng, log });
const identity = `bucket-operator-${process.pid}`;
const manager = createManager({ client, caches, clock, rng, log, metrics: createMetrics(), identity });
manager.add(bucketController({ url, token }, { client, caches, clock, rng }));
await manager.start();
for (const signal of ['SIGINT', 'SIGTERM'])
  process.once(signal, () => void manager.stop().then(() => client.close()));
