/** The connection of commands that send a few requests to a cluster and then exit. */
import type { Clock } from '../lib/clock.ts';
import { systemRng } from '../lib/rng.ts';
import { silentLogger } from '../observability/log.ts';
import { createCaches } from '../runtime/cache/cache.ts';
import { createClient } from '../runtime/transport/client.ts';
import { connect, type Connection, type ServerAddress } from '../runtime/transport/http.ts';
import type { Caches, Client } from '../runtime/types.ts';
import { CLI_MANAGER } from './field-managers.ts';
import { kubeconfigSource, type ClusterOptions } from './kubeconfig.ts';
import { applyVerbosity, loggerFor, type LogOptions } from './logging.ts';
import type { Terminal } from './terminal/terminal.ts';

export interface Cluster {
  readonly client: Client;
  readonly caches: Caches;
  readonly clock: Clock;
  /** The namespace option, or the namespace of the kubeconfig's context. */
  readonly namespace: string;
  /** Address of the API server, for targets that refer to their own cluster. */
  readonly self: ServerAddress;
  /** The raw body of a response, while it arrives; for logs of pods. */
  readonly stream: Connection['stream'];
}

export interface NamespacedOptions extends ClusterOptions, LogOptions {
  readonly namespace?: string;
}

/** Connects, calls `work` with the cluster, and disconnects. */
export async function withCluster<T>(
  options: NamespacedOptions,
  terminal: Terminal,
  work: (cluster: Cluster) => Promise<T>,
): Promise<T> {
  applyVerbosity(terminal, options);
  const log = options.logLevel === undefined ? silentLogger : loggerFor(options, { level: 'error' });
  const source = kubeconfigSource(options, terminal.env);
  const [{ clock }, rng] = [terminal, systemRng];
  const connection = await connect({
    kubeconfig: source,
    userAgent: 'espalier-cli',
    fieldManager: CLI_MANAGER,
    clock,
    rng,
    log,
  });
  const client = createClient(connection);
  try {
    const caches = createCaches({ client, clock, rng, log });
    const namespace = options.namespace ?? connection.namespace;
    const stream: Connection['stream'] = (request) => connection.stream(request);
    return await work({ client, caches, clock, namespace, self: await connection.address(), stream });
  } finally {
    await client.close();
  }
}
