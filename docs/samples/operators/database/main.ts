/** Runs the operator on the cluster of the current kubeconfig, with schemas in the given folder. */
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
import { addDatabases } from './operator.ts';
import { Schemas } from './schemas.ts';

const log = createLogger({ level: 'info' });
const kubeconfig = findKubeconfig(process.env);
if (!kubeconfig) throw new Error('there is no kubeconfig; set KUBECONFIG to the file of one');
const client = createClient(await connect({ kubeconfig, userAgent: 'database-operator', clock, log }));
const caches = createCaches({ client, clock, rng, log });
const identity = `database-operator-${process.pid}`;
const manager = createManager({ client, caches, clock, rng, log, metrics: createMetrics(), identity });
addDatabases(manager, new Schemas(process.argv[2] ?? './schemas'));
await manager.start();
for (const signal of ['SIGINT', 'SIGTERM'])
  process.once(signal, () => void manager.stop().then(() => client.close()));
