/**
 * Writes connection details to a Secret that the object owns. Keys are added and changed, but never removed while the
 * object exists. A Secret of another owner is not changed.
 */
import { mergeDiff } from '../../lib/merge.ts';
import { controllerReference } from '../../lib/objects.ts';
import { Secret } from '../core-kinds.ts';
import { AlreadyExists } from '../errors.ts';
import { apiVersionOf, joinKey, keyOf } from '../keys.ts';
import { getIfThere } from '../transport/read.ts';
import type { Cache, Client, Key, Kind, Obj, View, Writer } from '../types.ts';
import { SecretRefused } from './errors.ts';
import type { ConnectionDetails } from './types.ts';

/** Only Secrets with this label are watched. */
export const CONNECTION_LABEL = 'external.espalier.dev/connection';
/** Type of the Secrets with connection details. */
export const CONNECTION_TYPE = 'external.espalier.dev/connection';

/** The Secret for the connection details; without a namespace it is the object's own. */
export interface SecretPlace {
  readonly name: string;
  readonly namespace?: string;
}

/** Reads `spec.writeConnectionSecretToRef`. */
export function specSecret(object: View<Obj>): SecretPlace | undefined {
  const { spec } = object as View<{ spec?: { writeConnectionSecretToRef?: SecretPlace } }>;
  return spec?.writeConnectionSecretToRef;
}

interface PublisherPorts {
  readonly client: Client;
  readonly cache: Cache<Secret>;
  /** Kind of the objects whose details are published. */
  readonly kind: Kind<never> | Kind;
}

export interface Publishing {
  readonly write: Writer;
  readonly signal: AbortSignal;
}

export class Publisher {
  readonly #ports: PublisherPorts;

  constructor(ports: PublisherPorts) {
    this.#ports = ports;
  }

  /**
   * Creates or updates the Secret, without a request if it is up to date.
   * @throws SecretRefused if the Secret has another owner; errors of requests
   */
  async publish(
    object: View<Obj>,
    place: SecretPlace,
    details: ConnectionDetails,
    how: Publishing,
  ): Promise<void> {
    const key = this.#keyOf(object, place);
    const wanted = encoded(details);
    if (Object.keys(wanted).length === 0) return;
    const known = this.#ports.cache.get(key);
    if (known) {
      await this.#extend(known, object, wanted, how);
      return;
    }
    try {
      const secret = this.#secret(object, key, wanted);
      await how.write({ verb: 'create', kind: Secret, object: secret }, how.signal);
    } catch (error) {
      if (!(error instanceof AlreadyExists)) throw error;
      // Not in our cache, because it has no label, or because the watch is behind.
      const live = await getIfThere(this.#ports.client, Secret, key, how.signal);
      if (!live) throw error;
      await this.#extend(live, object, wanted, how);
    }
  }

  /** Deletes the Secret if we own it and it is in the cache; otherwise the garbage collector deletes it. */
  async remove(object: View<Obj>, place: SecretPlace, how: Publishing): Promise<void> {
    const known = this.#ports.cache.get(this.#keyOf(object, place));
    if (!known || !isOwnedBy(known, object)) return;
    const { uid } = known.metadata;
    const key = keyOf(known);
    await how.write({ verb: 'delete', kind: Secret, key, ...(uid !== undefined && { uid }) }, how.signal);
  }

  async #extend(known: View<Secret>, object: View<Obj>, wanted: Record<string, string>, how: Publishing) {
    const key = keyOf(known);
    if (!isOwnedBy(known, object)) {
      throw new SecretRefused({
        message: `secret ${key} belongs to ${ownerOf(known)}; remove it, or name another one for the connection details`,
      });
    }
    const labels = mergeDiff(known.metadata.labels ?? {}, { ...known.metadata.labels, ...label });
    const data = mergeDiff(known.data ?? {}, { ...known.data, ...wanted });
    if (!labels && !data) return;
    const { resourceVersion } = known.metadata;
    const body = { metadata: { resourceVersion, ...(labels && { labels }) }, ...(data && { data }) };
    await how.write({ verb: 'merge', kind: Secret, key, body, lock: true }, how.signal);
  }

  #keyOf(object: View<Obj>, { name, namespace }: SecretPlace): Key {
    const own = object.metadata.namespace;
    if (own !== undefined && namespace !== undefined && namespace !== own) {
      throw new SecretRefused({
        message: `secret ${joinKey(namespace, name)} cannot belong to an object in ${own}: name one in ${own}`,
      });
    }
    const chosen = own ?? namespace;
    if (chosen === undefined) {
      throw new SecretRefused({ message: `secret ${name} needs a namespace, since the object has none` });
    }
    return joinKey(chosen, name);
  }

  #secret(object: View<Obj>, key: Key, data: Record<string, string>): Secret {
    const [namespace = '', name = ''] = key.split('/');
    const { kind } = this.#ports;
    const owner = controllerReference({
      apiVersion: apiVersionOf(kind),
      kind: kind.kind,
      metadata: object.metadata,
    });
    const metadata = { namespace, name, labels: { ...label }, ownerReferences: [owner] };
    return { apiVersion: 'v1', kind: 'Secret', metadata, type: CONNECTION_TYPE, data };
  }
}

const label = { [CONNECTION_LABEL]: 'true' } as const;

const controllerOf = ({ metadata }: View<Obj>) => metadata.ownerReferences?.find((ref) => ref.controller);

const isOwnedBy = (secret: View<Secret>, { metadata }: View<Obj>): boolean =>
  controllerOf(secret)?.uid === metadata.uid;

function ownerOf(secret: View<Secret>): string {
  const owner = controllerOf(secret);
  return owner ? `${owner.kind} ${owner.name} (uid ${owner.uid})` : 'an unknown owner';
}

const encoded = (details: ConnectionDetails): Record<string, string> =>
  Object.fromEntries(
    Object.entries(details).map(([key, text]) => [key, Buffer.from(text).toString('base64')]),
  );
