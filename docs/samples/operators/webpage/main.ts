/** Runs the operator on the cluster of the current kubeconfig. */
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
import { addWebPages } from './operator.ts';

const log = createLogger({ level: 'info' });
const kubeconfig = findKubeconfig(process.env);
if (!kubeconfig) throw new Error('there is no kubeconfig; set KUBECONFIG to the file of one');
const client = createClient(await connect({ kubeconfig, userAgent: 'webpage-operator', clock, log }));
const caches = createCaches({ client, clock, rng, log });
const identity = `webpage-operator-${process.pid}`;
const manager = createManager({ client, caches, clock, rng, log, metrics: createMetrics(), identity });
addWebPages(manager);
await manager.start();
for (const signal of ['SIGINT', 'SIGTERM'])
  process.once(signal, () => void manager.stop().then(() => client.close()));
