/** One operator in a process: connection, caches, manager, health server. */
import { hostname } from 'node:os';
import { systemClock } from '../../lib/clock.ts';
import { Closing } from '../../lib/closing.ts';
import { systemRng } from '../../lib/rng.ts';
import { startHealthServer, type Check } from '../../observability/health.ts';
import { silentLogger, type Logger } from '../../observability/log.ts';
import { createMetrics } from '../../observability/metrics.ts';
import { serveConversions, type ConversionOptions } from '../conversion/serve.ts';
import type { Sharing } from '../fleet/sharing.ts';
import type { NamespaceScope } from '../cache/namespace-scope.ts';
import { createCaches } from '../cache/cache.ts';
import { KubeconfigError, type LeadershipLostError } from '../errors.ts';
import { createManager, type Manager, type StartableManager } from '../manager/manager.ts';
import { createClient } from '../transport/client.ts';
import { connect, type Connection, type ConnectOptions } from '../transport/http.ts';
import { defaultResponses } from '../transport/responses.ts';
import { findKubeconfig, type KubeconfigSource } from '../transport/kubeconfig.ts';
import type { Caches, Client } from '../types.ts';
import { coordinateReplicas } from './replicas.ts';

/** Another cluster: a client, and caches of its objects. */
export interface Cluster {
  readonly client: Client;
  readonly caches: Caches;
}

/** An operator before its controllers start. */
export interface Operator extends Manager {
  /** Aborts when the operator stops. */
  readonly signal: AbortSignal;
  /**
   * Connects to another cluster; `stop` closes the connection.
   * @throws KubeconfigError when the kubeconfig cannot be used
   */
  connect(kubeconfig: KubeconfigSource): Promise<Cluster>;
}

/** Options of an operator. */
export interface OperatorOptions {
  /** Identifies the operator to the API server, and is the default name of its lease. */
  readonly name: string;
  /** Adds the controllers; nothing is read or watched before it returns. */
  add(operator: Operator): unknown;
  /** Default: the file in `KUBECONFIG`, then the service account of the pod, then `~/.kube/config`. */
  readonly kubeconfig?: KubeconfigSource;
  /**
   * Leader election: of all processes with the same lease, one runs the controllers, and the others stand by with
   * synced caches. Without it, every process runs them. The default namespace is that of the pod or of the
   * kubeconfig's context. Times are milliseconds, by default 15,000, 10,000 and 2,000.
   */
  readonly lease?: {
    readonly namespace?: string;
    readonly name?: string;
    readonly durationMs?: number;
    readonly renewDeadlineMs?: number;
    readonly retryMs?: number;
  };
  /**
   * All processes with the same fleet name share the work: each primary is reconciled by one of them at a time, and its
   * work moves when processes start, stop or die. `leases`: with all defaults. Used instead of `lease`.
   */
  readonly sharing?: 'leases' | Sharing;
  /**
   * Restricts all caches that name no namespaces themselves: of primaries, and of secondaries. Kinds without namespace are
   * not restricted. A scope can be changed while the operator runs. Default: all namespaces.
   */
  readonly namespaces?: readonly string[] | NamespaceScope;
  /**
   * Converts kinds with several versions: serves the requests of API servers by HTTPS, creates the certificates, and writes
   * `spec.conversion` of the CustomResourceDefinitions. Default: none.
   */
  readonly conversion?: ConversionOptions;
  /** Names this process in the lease and in events; unique among replicas. Default `<host name>-<process id>`. */
  readonly identity?: string;
  /** Serves /metrics, /healthz and /readyz on this address; port 0 takes any free port. Default: not served. */
  readonly metricsAddress?: { readonly host: string; readonly port: number };
  /** Checks in addition to those of the manager. */
  readonly checks?: readonly Check[];
  /** Default: no log. */
  readonly log?: Logger;
  /** Time limit for the first lists, default 120,000. */
  readonly syncTimeoutMs?: number;
  /** Time limit for active reconciles when the operator stops, default 30,000. */
  readonly drainMs?: number;
  /**
   * What happens if a kind cannot be read at the start, because its CRD or a permission is missing. `fail` (default):
   * the operator does not start. `skip`: the other controllers start, `/readyz` names the kind, and controllers that
   * need it start when it can be read.
   */
  readonly unreadable?: 'fail' | 'skip';
}

/** A running operator, returned by `startOperator`. */
export interface OperatorProcess {
  /** Address of metrics and probes, such as `http://127.0.0.1:8080`. */
  readonly health: string | undefined;
  /**
   * Resolves when the caches are synced and the controllers run; with a lease, when this process becomes the leader; with
   * `sharing`, when it takes part in the work. Rejects with a SourceError when the first lists fail, with Forbidden or
   * NotFound when it may not use Leases, and with a ShutdownError if `stop` was called before.
   */
  readonly started: Promise<void>;
  /**
   * Resolves when the operator has stopped. Rejects if it stopped without `stop`: with a LeadershipLostError, or with
   * the error with which `started` rejected.
   */
  readonly ended: Promise<void>;
  /**
   * Starts no more reconciles, waits for active ones, releases the lease, and closes all connections.
   * @returns the number of reconciles that did not end in time and were abandoned
   */
  stop(): Promise<number>;
}

/**
 * Connects, adds the controllers and begins to start them. It does not handle signals of the process; `runOperator`
 * does.
 * @throws KubeconfigError when no kubeconfig is found or it cannot be used; HealthPortError when the address is in
 * use;
 *   errors of `add`
 */
export async function startOperator(options: OperatorOptions): Promise<OperatorProcess> {
  const closing = new Closing();
  try {
    const life = new Life(closing);
    const manager = await createOperator(options, closing, (error) => {
      life.end(error);
    });
    const { metricsAddress, checks = [] } = options;
    if (metricsAddress) {
      const { metrics } = manager;
      const all = [...manager.checks, ...checks];
      const health = await startHealthServer({ ...metricsAddress, metrics, checks: all });
      life.health = health.url;
      closing.add(() => health.close());
    }
    life.begin(manager);
    return life;
  } catch (error) {
    await closing.close();
    throw error;
  }
}

/** Connects with the settings of the operator, except for those given. The operator closes the connection. */
type OpenConnection = (more: Partial<ConnectOptions>) => Promise<[Connection, Client]>;

/** The manager of an operator, with the controllers added. */
async function createOperator(
  options: OperatorOptions,
  closing: Closing,
  onLost: (error: LeadershipLostError) => void,
): Promise<StartableManager> {
  const { name, kubeconfig = findKubeconfig(process.env), log = silentLogger } = options;
  if (!kubeconfig) throw new KubeconfigError({ message: 'no cluster given; set KUBECONFIG to a file' });
  const { identity = `${hostname()}-${String(process.pid)}`, syncTimeoutMs, drainMs, unreadable } = options;
  const metrics = createMetrics({ process: true });
  const ports = { clock: systemClock, rng: systemRng, log };
  const open: OpenConnection = async (more) => {
    const connection = await connect({ kubeconfig, userAgent: name, fieldManager: name, ...ports, ...more });
    const client = createClient(connection);
    closing.add(() => client.close());
    return [connection, client];
  };
  const { host: responses } = defaultResponses;
  const [connection, client] = await open({ responses, metrics });
  if (options.conversion) {
    const { namespace } = connection;
    const conversions = await serveConversions(options.conversion, { client, name, namespace, ...ports });
    closing.add(() => conversions.close());
  }
  // Catching up reads the caches of all clusters, which do not exist yet.
  const clusters: Cluster[] = [];
  const replicas = await coordinateReplicas(options, {
    ...ports,
    metrics,
    identity,
    namespace: connection.namespace,
    clusters: () => clusters,
    openClient: async () => (await open({ responses }))[1],
    onLost,
  });
  const isPatient = unreadable === 'skip';
  const caches = createCaches({
    client,
    ...ports,
    metrics,
    ...(options.namespaces && { namespaces: options.namespaces }),
    ...(isPatient && { syncTimeoutMs: Infinity }),
  });
  clusters.push({ client, caches });
  const manager = createManager({
    client,
    caches,
    metrics,
    identity,
    ...ports,
    ...replicas,
    ...(syncTimeoutMs !== undefined && { syncTimeoutMs }),
    ...(drainMs !== undefined && { drainMs }),
    ...(unreadable && { unreadable }),
  });
  closing.add(() => manager.stop());
  await options.add(operatorOf(manager, { open, clusters, signal: closing.signal }));
  return manager;
}

/** What `add` receives: the manager, and connections to other clusters, which are appended to `clusters`. */
function operatorOf(
  manager: Manager,
  { open, clusters, signal }: { open: OpenConnection; clusters: Cluster[]; signal: AbortSignal },
): Operator {
  const { client, caches, metrics, clock, rng, log } = manager;
  const ports = { clock, rng, log };
  return {
    client,
    caches,
    metrics,
    ...ports,
    signal,
    add: (spec) => manager.add(spec),
    async connect(source) {
      const [, other] = await open({ kubeconfig: source });
      const cluster = { client: other, caches: createCaches({ client: other, ...ports }) };
      clusters.push(cluster);
      return cluster;
    },
  };
}

const ignore = (): void => undefined;

/** The promises of an operator; callers may ignore them. */
class Life implements OperatorProcess {
  readonly started: Promise<void>;
  readonly ended: Promise<void>;
  health: string | undefined;
  readonly #closing: Closing;
  #manager: StartableManager | undefined;
  #begin: (running: Promise<void>) => void = ignore;
  #finish: (error?: Error) => void = ignore;

  constructor(closing: Closing) {
    this.#closing = closing;
    this.started = new Promise((resolve) => {
      this.#begin = resolve;
    });
    this.ended = new Promise((resolve, reject) => {
      this.#finish = (error) => {
        if (error) reject(error);
        else resolve();
      };
    });
    this.started.catch(ignore);
    this.ended.catch(ignore);
  }

  begin(manager: StartableManager): void {
    this.#manager = manager;
    const running = manager.start();
    this.#begin(running);
    running.catch((error: unknown) => {
      this.end(error as Error);
    });
  }

  /** The operator cannot continue. */
  end(error: Error): void {
    if (this.#closing.signal.aborted) return;
    this.#manager?.log.error({ err: error }, 'operator stopped');
    void this.#closing.close().then(() => {
      this.#finish(error);
    });
  }

  async stop(): Promise<number> {
    await this.#closing.close();
    this.#finish();
    return this.#manager?.unfinished ?? 0;
  }
}
