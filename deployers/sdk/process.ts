/** One deployer as a program of its own: connection, caches, controller, health server. */
import { hostname } from 'node:os';
import { systemClock } from '../../src/lib/clock.ts';
import { Closing } from '../../src/lib/closing.ts';
import { secureRng } from '../../src/lib/secure-rng.ts';
import { startHealthServer } from '../../src/observability/health.ts';
import { silentLogger, type Logger } from '../../src/observability/log.ts';
import { createMetrics } from '../../src/observability/metrics.ts';
import { createCaches } from '../../src/runtime/cache.ts';
import { createClient } from '../../src/runtime/client.ts';
import type { ControllerSpec } from '../../src/runtime/controller.ts';
import { connect, type KubeconfigSource } from '../../src/runtime/http.ts';
import { createManager } from '../../src/runtime/manager.ts';
import type { Obj } from '../../src/runtime/types.ts';
import { deployerController } from './controller.ts';
import type { DeployerPlugin, DeployerSettings } from './deployer.ts';
import { deployerMetrics } from './metrics.ts';

export interface DeployerProcessOptions {
  /** The host cluster, where deploy items and targets are. */
  readonly kubeconfig: KubeconfigSource;
  /** Default: says nothing. */
  readonly log?: Logger;
  readonly settings?: DeployerSettings;
  /** Goes to `status.deployer.identity`; default `<name>-<unix seconds>`. */
  readonly identity?: string;
  /** Serve /metrics, /healthz and /readyz here. */
  readonly metricsAddress?: { readonly host: string; readonly port: number };
}

export interface DeployerProcess {
  /** Where metrics and probes are served. */
  readonly health: string | undefined;
  /** Brings what runs to its end. */
  stop(): Promise<void>;
}

/**
 * Resolves when the deployer works.
 * @throws InvalidSelector; KubeconfigError, TransportError, ApiError when the cluster cannot be used; SourceError when its
 *   kinds are not there
 */
export async function startDeployer<C, S>(
  plugin: DeployerPlugin<C, S>,
  { kubeconfig, log = silentLogger, settings, identity, metricsAddress }: DeployerProcessOptions,
): Promise<DeployerProcess> {
  const clock = systemClock;
  const rng = secureRng;
  const closing = new Closing();
  try {
    const metrics = createMetrics({ process: true });
    const connection = await connect({ kubeconfig, userAgent: plugin.name, clock, rng, log });
    const client = createClient(connection);
    closing.add(() => client.close());
    const caches = createCaches({ client, clock, rng, log, registry: metrics.registry });
    const ground = { client, caches, clock, rng, log, metrics };
    const manager = createManager({ ...ground, identity: `${hostname()}-${String(process.pid)}` });
    closing.add(() => manager.stop());
    const controller = deployerController(plugin, {
      ...ground,
      metrics: deployerMetrics(metrics),
      signal: closing.signal,
      self: await connection.address(),
      ...(settings && { config: settings }),
      ...(identity !== undefined && { identity }),
    });
    manager.add(controller as unknown as ControllerSpec<Obj>);
    const health =
      metricsAddress && (await startHealthServer({ ...metricsAddress, metrics, checks: manager.checks }));
    if (health) closing.add(() => health.close());
    await manager.start();
    return { health: health?.url, stop: () => closing.close() };
  } catch (error) {
    await closing.close();
    throw error;
  }
}
