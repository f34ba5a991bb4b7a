/**
 * Serves the validating webhooks: certificates first, then the server, and only when it answers the configuration that
 * sends API servers here. From then on it looks regularly whether all of that is still as it should be.
 */
import type { InstallationLimits } from '../api/limits.ts';
import type { ValidatedResource } from '../api/validation/index.ts';
import { sleep, type Clock } from '../lib/clock.ts';
import type { Logger } from '../observability/log.ts';
import type { Client } from '../runtime/types.ts';
import type { Certificates } from './certificates.ts';
import { CONFIGURATION_NAME, hostsOf, webhookConfiguration, type Endpoint } from './configuration.ts';
import { installConfiguration, removeConfiguration } from './install.ts';
import { currentCertificates } from './secret.ts';
import type { LargeItemsCheck } from './review.ts';
import { startWebhookServer } from './server.ts';

interface WebhooksOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  /** Where API servers find us. */
  readonly endpoint: Endpoint;
  /** Where we listen; port 0 takes any free one. */
  readonly host: string;
  readonly port: number;
  /** Namespace of the secret with the certificates. */
  readonly certNamespace: string;
  /** What is validated; for nothing the configuration is taken away. */
  readonly resources: readonly ValidatedResource[];
  /** What an installation may have; default: those of a configuration that says nothing. */
  readonly limits?: InstallationLimits;
  /** Where large lists of deploy items are read; default: in this thread. */
  readonly checkLargeItems?: LargeItemsCheck;
  /** Whether the configuration in the cluster is ours to look after. */
  readonly install: boolean;
}

export interface Webhooks {
  readonly port: number;
  /** Stops serving. The configuration stays, and with it the API server refuses what it cannot have validated. */
  close(): Promise<void>;
}

/** A replica learns within this time of certificates that another one has made; they are made months ahead. */
export const CHECK_MS = 10 * 60_000;

/** @throws WebhookPortError; the errors of runtime/errors.ts */
export async function startWebhooks(options: WebhooksOptions): Promise<Webhooks> {
  const { clock, log, host, port, resources, limits, checkLargeItems } = options;
  const hosts = hostsOf(options.endpoint);
  const secret = { ...options, namespace: options.certNamespace, hosts };
  let inUse = await currentCertificates(secret);
  const server = await startWebhookServer({
    ...{ host, port, identity: inUse, resources, limits, checkLargeItems, log },
  });
  const life = new AbortController();

  const check = async (): Promise<void> => {
    const certificates = await currentCertificates(secret, inUse);
    await bringInLine(options, certificates);
    if (certificates.certificate !== inUse.certificate) {
      server.identify(certificates);
      log.info({}, 'serving with a new certificate');
    }
    inUse = certificates;
  };
  try {
    await bringInLine(options, inUse);
  } catch (error) {
    await server.close();
    throw error;
  }
  const watching = watchOver(check, { clock, log, signal: life.signal });
  return {
    port: server.port,
    async close() {
      life.abort(new Error('webhooks stopping'));
      await watching;
      await server.close();
    },
  };
}

/** Before a new certificate is used, so that API servers know its authority. */
async function bringInLine(
  { client, log, endpoint, resources, install }: WebhooksOptions,
  { caBundle }: Certificates,
): Promise<void> {
  if (!install) return;
  const hasChanged =
    resources.length === 0
      ? await removeConfiguration(client)
      : await installConfiguration(client, webhookConfiguration(endpoint, resources, caBundle));
  if (!hasChanged) return;
  log.info(
    { configuration: CONFIGURATION_NAME, resources },
    resources.length === 0 ? 'webhook configuration removed' : 'webhook configuration installed',
  );
}

/** A look that fails is taken again at the next turn: what is in use is good for months. */
async function watchOver(
  check: () => Promise<void>,
  { clock, log, signal }: { readonly clock: Clock; readonly log: Logger; readonly signal: AbortSignal },
): Promise<void> {
  for (;;) {
    try {
      await sleep(clock, CHECK_MS, signal);
    } catch {
      return;
    }
    try {
      await check();
    } catch (error) {
      log.warn({ err: error }, 'checking certificates and webhook configuration failed');
    }
  }
}
