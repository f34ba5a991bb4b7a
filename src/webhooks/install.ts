/** Brings the ValidatingWebhookConfiguration in the cluster in line with what is wanted, or takes it away. */
import { isObject } from '../lib/objects.ts';
import { AlreadyExists, Conflict, NotFound } from '../runtime/errors.ts';
import { getIfThere } from '../runtime/transport/read.ts';
import type { Client } from '../runtime/types.ts';
import { CONFIGURATION_NAME, configurationKind, type WebhookConfiguration } from './configuration.ts';

/** More than there can be replicas that write at the same time. */
const MAX_ATTEMPTS = 10;

/**
 * Whether something had to be written. What the server adds to the configuration by itself does not count.
 * @throws the errors of runtime/errors.ts
 */
export async function installConfiguration(client: Client, wanted: WebhookConfiguration): Promise<boolean> {
  for (let attempt = 1; ; attempt++) {
    const present = await readConfiguration(client);
    if (present && covers(present.webhooks, wanted.webhooks)) return false;
    try {
      if (present) await update(client, present, wanted);
      else await client.send({ verb: 'create', kind: configurationKind, object: wanted });
      return true;
    } catch (error) {
      const isOvertaken =
        error instanceof AlreadyExists || error instanceof Conflict || (present && error instanceof NotFound);
      if (!isOvertaken || attempt === MAX_ATTEMPTS) throw error;
    }
  }
}

/** Whether it was there. @throws the errors of runtime/errors.ts */
export async function removeConfiguration(client: Client): Promise<boolean> {
  try {
    await client.send({ verb: 'delete', kind: configurationKind, key: CONFIGURATION_NAME });
    return true;
  } catch (error) {
    if (error instanceof NotFound) return false;
    throw error;
  }
}

const readConfiguration = (client: Client): Promise<WebhookConfiguration | undefined> =>
  getIfThere(client, configurationKind, CONFIGURATION_NAME);

/** The whole list: a webhook that is not wanted any more must not stay behind. */
async function update(
  client: Client,
  { metadata: { resourceVersion } }: WebhookConfiguration,
  { webhooks }: WebhookConfiguration,
): Promise<void> {
  const body = { metadata: { resourceVersion }, webhooks };
  await client.send({ verb: 'merge', kind: configurationKind, key: CONFIGURATION_NAME, body });
}

/** Whether everything that is wanted is there; more may be. */
function covers(present: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted)) {
    if (!Array.isArray(present) || present.length !== wanted.length) return false;
    return wanted.every((each, i) => covers(present[i], each));
  }
  if (!isObject(wanted)) return present === wanted;
  return isObject(present) && Object.entries(wanted).every(([key, value]) => covers(present[key], value));
}
