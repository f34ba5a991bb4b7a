/** One deployer as a separate program: connection, caches, controller, health server. */
import { hostname } from 'node:os';
import { systemClock } from '../../src/lib/clock.ts';
import { Closing } from '../../src/lib/closing.ts';
import { secureRng } from '../../src/lib/secure-rng.ts';
import { startHealthServer } from '../../src/observability/health.ts';
import { silentLogger, type Logger } from '../../src/observability/log.ts';
import { createMetrics } from '../../src/observability/metrics.ts';
import type { TracingConfiguration } from '../../src/observability/tracing/settings.ts';
import { startTracing } from '../../src/observability/tracing/start.ts';
import { withTracing } from '../../src/landscape/tracing/controller.ts';
import { createCaches } from '../../src/runtime/cache/cache.ts';
import { createClient } from '../../src/runtime/transport/client.ts';
import { connect, type KubeconfigSource } from '../../src/runtime/transport/http.ts';
import { createResponses, type ResponseSettings } from '../../src/runtime/transport/responses.ts';
import { createManager } from '../../src/runtime/manager/manager.ts';
import { deployerController } from './controller.ts';
import type { DeployerPlugin, DeployerSettings } from './deployer.ts';
import { createItemFleet } from './item-fleet.ts';
import { DEPLOY_ITEM } from './kinds.ts';
import { deployerMetrics } from './metrics.ts';

/** Options of `startDeployer`: cluster, log, and the address of metrics. */
export interface DeployerProcessOptions {
  /** The host cluster, which contains deploy items and targets. */
  readonly kubeconfig: KubeconfigSource;
  /** Default: no log. */
  readonly log?: Logger;
  readonly settings?: DeployerSettings;
  /** Limits for responses of clusters. */
  readonly responses?: ResponseSettings;
  /** Written to `status.deployer.identity`; default `<name>-<unix seconds>-<random>`. */
  readonly identity?: string;
  /**
   * Shares the deploy items with all processes of this deployer that have the same lease; the names of their Leases
   * begin with it.
   */
  readonly lease?: { readonly namespace: string; readonly name: string };
  /**
   * Exports traces with these settings and the standard environment variables of OpenTelemetry; undefined: never.
   * `serve` passes `{}`: OTEL_TRACES_EXPORTER=otlp switches traces on.
   */
  readonly tracing?: TracingConfiguration;
  /** Address of /metrics, /healthz and /readyz. */
  readonly metricsAddress?: { readonly host: string; readonly port: number };
}

/** A running deployer, returned by `startDeployer`. */
export interface DeployerProcess {
  /** Address of metrics and probes. */
  readonly health: string | undefined;
  /** Waits for active reconciles and stops. */
  stop(): Promise<void>;
}

/**
 * Resolves when the deployer is running.
 * @throws InvalidSelector; TracingSettingsError for invalid environment variables of traces; KubeconfigError, TransportError, ApiError when the cluster cannot be used; SourceError
 * when its
 *   kinds are not served
 */
export async function startDeployer<C, S>(
  plugin: DeployerPlugin<C, S>,
  {
    kubeconfig,
    log = silentLogger,
    settings,
    identity,
    lease,
    metricsAddress,
    responses,
    tracing,
  }: DeployerProcessOptions,
): Promise<DeployerProcess> {
  const clock = systemClock;
  const rng = secureRng;
  const closing = new Closing();
  try {
    const metrics = createMetrics({ process: true });
    const name = `${hostname()}-${String(process.pid)}`;
    const service = { name: plugin.name, version: plugin.version, instance: name };
    const tracer = tracing && (await startTracing(tracing, { clock, log, metrics, service }));
    if (tracer) closing.add(() => tracer.close());
    const { host, target } = createResponses(responses);
    const toHost = { kubeconfig, userAgent: plugin.name, clock, rng, log, responses: host };
    const connection = await connect(toHost);
    const client = createClient(connection);
    closing.add(() => client.close());
    const caches = createCaches({ client, clock, rng, log, metrics });
    const ports = { client, caches, clock, rng, log, metrics };
    const items = caches.of(DEPLOY_ITEM);
    const fleet = { ...ports, items, itemClient: client, identity: name, parts: `deployer ${plugin.name}` };
    // Renewals have their own connections, so that other requests do not delay them.
    const renewals = lease && createClient(await connect(toHost));
    if (renewals) closing.add(() => renewals.close());
    const share = lease && renewals && createItemFleet({ ...fleet, ...lease, client: renewals });
    const manager = createManager({ ...ports, identity: name, ...(share && { share }) });
    closing.add(() => manager.stop());
    const controller = deployerController(plugin, {
      ...ports,
      responses: target,
      metrics: deployerMetrics(metrics),
      signal: closing.signal,
      self: await connection.address(),
      ...(tracer && { tracer }),
      ...(settings && { config: settings }),
      ...(identity !== undefined && { identity }),
    });
    manager.add(tracer ? withTracing(controller, items, { tracer, clock }) : controller);
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
