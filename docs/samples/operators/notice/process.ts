/** A process for the controller. There may be several: one leads, the others stand by. */
import {
  connect,
  createCaches,
  createClient,
  createLogger,
  createManager,
  createMetrics,
  findKubeconfig,
  startHealthServer,
  systemClock as clock,
  systemRng as rng,
  type KubeconfigSource,
} from 'espalier/runtime';
import { noticeController, type Board } from './notices.ts';

export interface Settings {
  readonly kubeconfig: KubeconfigSource;
  readonly namespace: string;
  readonly healthPort: number;
  readonly level: 'debug' | 'info' | 'silent';
  readonly identity: string;
}

/** @throws Error if there is no kubeconfig */
export function settingsFrom(env: NodeJS.ProcessEnv): Settings {
  const kubeconfig = findKubeconfig(env);
  if (!kubeconfig) throw new Error('there is no kubeconfig; set KUBECONFIG to the file of one');
  return {
    kubeconfig,
    namespace: env['NAMESPACE'] ?? 'default',
    healthPort: Number(env['HEALTH_PORT'] ?? 8081),
    level: env['DEBUG'] === undefined ? 'info' : 'debug',
    identity: env['HOSTNAME'] ?? `notices-${process.pid}`,
  };
}

/** @param onLost ends the process when it does not lead any more */
export async function startNotices(settings: Settings, board: Board, onLost: (error: Error) => void) {
  const { kubeconfig, namespace, identity } = settings;
  const log = createLogger({ level: settings.level });
  const metrics = createMetrics({ process: true });
  const open = async () =>
    createClient(await connect({ kubeconfig, userAgent: 'notice-operator', clock, log }));
  const client = await open();
  const caches = createCaches({ client, clock, rng, log, registry: metrics.registry });

  // Renewals have connections of their own, so that nothing delays them.
  const leaseClient = await open();
  const lease = { namespace, name: 'notice-operator', client: leaseClient, onLost };
  const manager = createManager({ client, caches, clock, rng, log, metrics, identity, lease });
  manager.add(noticeController(board, metrics));

  const port = settings.healthPort;
  const health = await startHealthServer({ host: '127.0.0.1', port, metrics, checks: manager.checks });
  return {
    url: health.url,
    /** Resolves when it leads. */
    leads: manager.start(),
    async stop() {
      await manager.stop();
      await health.close();
      await Promise.all([client.close(), leaseClient.close()]);
    },
  };
}
