/** Creates, updates or deletes the ValidatingWebhookConfiguration in the cluster. */
import { isObject } from '../lib/objects.ts';
import { AlreadyExists, Conflict, NotFound } from '../runtime/errors.ts';
import { getIfThere } from '../runtime/transport/read.ts';
import type { Client } from '../runtime/types.ts';
import { CONFIGURATION_NAME, configurationKind, type WebhookConfiguration } from './configuration.ts';

const FIELD_MANAGER = 'espalier-webhooks';

/** Higher than the number of replicas that may write at the same time. */
const MAX_ATTEMPTS = 10;

/**
 * @returns whether the configuration was written. Fields that the API server adds do not count as a difference.
 * @throws the errors of runtime/errors.ts
 */
export async function installConfiguration(client: Client, wanted: WebhookConfiguration): Promise<boolean> {
  const owners = wanted.metadata.ownerReferences;
  for (let attempt = 1; ; attempt++) {
    const present = await readConfiguration(client);
    const isOwned = owners === undefined || contains(present?.metadata.ownerReferences, owners);
    if (present && isOwned && contains(present.webhooks, wanted.webhooks)) return false;
    try {
      if (present) await update(client, present, wanted);
      else await createByName(client, wanted);
      return true;
    } catch (error) {
      const isConflict =
        error instanceof AlreadyExists || error instanceof Conflict || (present && error instanceof NotFound);
      if (!isConflict || attempt === MAX_ATTEMPTS) throw error;
    }
  }
}

/** @returns whether the configuration existed. @throws the errors of runtime/errors.ts */
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

/**
 * As an apply, because its request names the object: so a role can permit the creation of this one alone. Other replicas
 * write the same fields, so there is nothing to overwrite.
 */
const createByName = (client: Client, object: WebhookConfiguration): Promise<WebhookConfiguration> =>
  client.send({ verb: 'apply', kind: configurationKind, object, manager: FIELD_MANAGER, force: true });

/** Replaces the whole lists, so that no outdated webhook or owner remains. */
async function update(
  client: Client,
  { metadata: { resourceVersion } }: WebhookConfiguration,
  { metadata: { ownerReferences }, webhooks }: WebhookConfiguration,
): Promise<void> {
  const body = { metadata: { resourceVersion, ...(ownerReferences && { ownerReferences }) }, webhooks };
  await client.send({ verb: 'merge', kind: configurationKind, key: CONFIGURATION_NAME, body });
}

/** Whether all wanted fields are present; there may be more, except in an empty object: an empty selector selects all. */
function contains(present: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted)) {
    if (!Array.isArray(present) || present.length !== wanted.length) return false;
    return wanted.every((each, i) => contains(present[i], each));
  }
  if (!isObject(wanted)) return present === wanted;
  if (!isObject(present)) return false;
  const fields = Object.entries(wanted);
  if (fields.length === 0) return Object.keys(present).length === 0;
  return fields.every(([key, value]) => contains(present[key], value));
}
