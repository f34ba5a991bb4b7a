/** Validating webhooks for the embedded API server, in the same process. */
import { validatedResources } from '../../api/validation/index.ts';
import { systemClock } from '../../lib/clock.ts';
import { systemRng } from '../../lib/rng.ts';
import type { Logger } from '../../observability/log.ts';
import { createClient } from '../../runtime/transport/client.ts';
import { connect } from '../../runtime/transport/http.ts';
import { removeConfiguration } from '../../webhooks/install.ts';
import { startWebhooks } from '../../webhooks/index.ts';
import { defaults, type Configuration } from '../configuration/configuration.ts';
import type { Embedded } from './embedded.ts';

interface EmbeddedWebhooks {
  /** Also removes their configuration, because a server without them would refuse every object. */
  close(): Promise<void>;
}

const HOST = '127.0.0.1';

/** @throws WebhookPortError; the errors of runtime/errors.ts */
export async function startEmbeddedWebhooks(
  { kubeconfig }: Pick<Embedded, 'kubeconfig'>,
  log: Logger,
  { limits }: Pick<Configuration, 'limits'> = defaults,
): Promise<EmbeddedWebhooks> {
  const [clock, rng] = [systemClock, systemRng];
  const connection = await connect({
    kubeconfig: { text: kubeconfig },
    userAgent: 'espalier-webhooks',
    clock,
    rng,
    log,
  });
  const client = createClient(connection);
  try {
    const server = await startWebhooks({
      client,
      clock,
      log,
      endpoint: { url: new URL(`https://${HOST}:0`) },
      host: HOST,
      port: 0,
      certNamespace: 'default',
      resources: validatedResources,
      install: true,
      limits,
    });
    return {
      async close() {
        await removeConfiguration(client);
        await server.close();
        await client.close();
      },
    };
  } catch (error) {
    await client.close();
    throw error;
  }
}
