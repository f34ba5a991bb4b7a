/** `espalier webhooks`: runs the validating webhooks until the process is stopped. */
import { UnreadableDeployItems } from '../../../api/kinds/execution.ts';
import type { InstallationLimits } from '../../../api/limits.ts';
import { validatedResources, type ValidatedResource } from '../../../api/validation/index.ts';
import { workerRunners } from '../../../blueprint/workers/runner.ts';
import type { RunnerOf } from '../../../blueprint/work.ts';
import { systemClock } from '../../../lib/clock.ts';
import { systemRng } from '../../../lib/rng.ts';
import { createClient } from '../../../runtime/transport/client.ts';
import { connect } from '../../../runtime/transport/http.ts';
import type { Endpoint } from '../../../runtime/webhooks/endpoint.ts';
import type { LargeItemsCheck } from '../../../webhooks/review.ts';
import type { Skipping } from '../../../webhooks/configuration.ts';
import { startWebhooks } from '../../../webhooks/index.ts';
import { defaults, readConfiguration } from '../../configuration/configuration.ts';
import { UsageError } from '../../errors.ts';
import { kubeconfigSource, type ClusterOptions } from '../../kubeconfig.ts';
import { applyVerbosity, loggerFor, type LogOptions } from '../../logging.ts';
import type { NamespacedName } from '../../terminal/options.ts';
import { aborted, onInterrupt } from '../../../runtime/manager/signals.ts';
import type { Terminal } from '../../terminal/terminal.ts';

export interface WebhooksCommandOptions extends ClusterOptions, LogOptions {
  readonly host: string;
  readonly port: number;
  readonly webhookService?: NamespacedName;
  readonly webhookServicePort: number;
  readonly webhookUrl?: URL;
  readonly certNs?: string;
  readonly disableWebhooks?: readonly string[];
  readonly config?: string;
  readonly ownerRole?: string;
  readonly certDir?: string;
  readonly skipValidation?: Skipping;
  /** false with --no-install. */
  readonly install: boolean;
}

const ALL = 'all';

/** Behind a Service: longer than it takes until all API servers know that a pod is being deleted. */
const DRAIN_MS = 5_000;

export async function webhooks(options: WebhooksCommandOptions, terminal: Terminal): Promise<void> {
  applyVerbosity(terminal, options);
  const log = loggerFor(options, { level: 'info' });
  const endpoint = endpointOf(options);
  refuseWithFolder(options);
  const resources = enabled(options.disableWebhooks ?? []);
  const kubeconfig = kubeconfigSource(options, terminal.env);
  const { limits, templating } =
    options.config === undefined ? defaults : readConfiguration(options.config, log);
  const interruption = onInterrupt(() => {
    log.info({}, 'stopping; a second signal exits immediately');
  });
  try {
    const [clock, rng] = [systemClock, systemRng];
    const connection = await connect({ kubeconfig, userAgent: 'espalier-webhooks', clock, rng, log });
    const client = createClient(connection);
    const runners = workerRunners({ clock, ...templating, workers: 1 });
    try {
      const { host, port, install, certNs, webhookService, ownerRole, certDir, skipValidation } = options;
      const certNamespace = certNs ?? webhookService?.namespace ?? connection.namespace;
      const server = await startWebhooks({
        client,
        clock,
        log,
        endpoint,
        host,
        port,
        certNamespace,
        resources,
        install,
        ...(ownerRole !== undefined && { ownerRole }),
        ...(certDir !== undefined && { certificateFolder: certDir }),
        ...(skipValidation && { skipping: skipValidation }),
        limits,
        checkLargeItems: checkIn(runners.of, limits),
        drainMs: webhookService ? DRAIN_MS : 0,
      });
      log.info({ host, port: server.port, resources }, 'started');
      await aborted(interruption.signal);
      await server.close();
    } finally {
      await runners.close();
      await client.close();
    }
  } finally {
    interruption.release();
  }
}

/** Checks objects in a worker process; namespaces take turns. */
const checkIn =
  (runnerOf: RunnerOf, limits: InstallationLimits): LargeItemsCheck =>
  async (namespace, packed) => {
    try {
      const job = { packed, limits, isOnlyChecked: true };
      const { problem } = await runnerOf(namespace).unpackItems(job);
      return problem === undefined ? undefined : { kind: 'wrong', message: problem };
    } catch (error) {
      if (!(error instanceof UnreadableDeployItems)) throw error;
      return { kind: 'unreadable', message: error.message };
    }
  };

/** @throws UsageError unless there is exactly one */
export function endpointOf(
  options: Pick<WebhooksCommandOptions, 'webhookService' | 'webhookServicePort' | 'webhookUrl'>,
): Endpoint {
  const { webhookService, webhookServicePort, webhookUrl } = options;
  if (webhookService && !webhookUrl) return { service: { ...webhookService, port: webhookServicePort } };
  if (webhookUrl && !webhookService) return { url: webhookUrl };
  throw new UsageError(
    `the address of the webhooks is ${webhookUrl ? 'ambiguous' : 'missing'}; give ${webhookUrl ? 'only one' : 'one'} of --webhook-service NAMESPACE/NAME and --webhook-url URL`,
  );
}

/** @throws UsageError if an option needs the objects that the server does not write with --cert-dir */
export function refuseWithFolder({
  certDir,
  certNs,
  ownerRole,
}: Pick<WebhooksCommandOptions, 'certDir' | 'certNs' | 'ownerRole'>): void {
  const given = [certNs !== undefined && '--cert-ns', ownerRole !== undefined && '--owner-role'].filter(
    Boolean,
  );
  if (certDir === undefined || given.length === 0) return;
  throw new UsageError(
    `${given.join(', ')}: not with --cert-dir, with which the server writes neither the secret nor the ValidatingWebhookConfiguration; remove ${given.length === 1 ? 'the option' : 'the options'}, or --cert-dir`,
  );
}

/** @throws UsageError for unknown names */
export function enabled(disabled: readonly string[]): readonly ValidatedResource[] {
  const known = [...validatedResources, ALL];
  const unknown = disabled.filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    throw new UsageError(`there is no webhook "${unknown.join('", "')}"; known are ${known.join(', ')}`);
  }
  return disabled.includes(ALL) ? [] : validatedResources.filter((name) => !disabled.includes(name));
}
