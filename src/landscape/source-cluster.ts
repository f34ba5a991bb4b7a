/** The cluster that a TargetSync reads from: how to get there, and which shoots it knows. */
import type { TargetSync } from '../api/kinds/targetsync.ts';
import type { ClientPool } from '../runtime/transport/client-pool.ts';
import { Forbidden, NotFound } from '../runtime/errors.ts';
import { foreign } from '../runtime/transport/foreign.ts';
import type { Client, Kind, Obj, View } from '../runtime/types.ts';
import { namespaceKind, secretKind, type Secret } from './world.ts';

/** There is no way to the source cluster; the sentence says what to repair. */
export class SourceUnavailable extends Error {
  override readonly name = 'SourceUnavailable';
}

export interface SourcePorts {
  /** The cluster that holds the TargetSync. */
  readonly client: Client;
  readonly sources: ClientPool;
}

export interface SourceCluster {
  readonly client: Client;
  readonly kubeconfig: string;
  /** Where the kubeconfig was read from. */
  readonly secret: Secret;
  readonly key: string;
}

export interface Shoot extends Obj {
  readonly spec?: unknown;
}
export const shootKind: Kind<Shoot> = {
  group: 'core.gardener.cloud',
  version: 'v1beta1',
  kind: 'Shoot',
  plural: 'shoots',
  namespaced: true,
};

const DEFAULT_KEY = 'kubeconfig';

/** An entry of a secret in the namespace of the TargetSync. */
export interface Access {
  readonly name: string;
  readonly key: string;
}

/** Where the access to the source cluster is kept, with the key filled in. */
export const accessOf = ({ spec }: View<TargetSync>): Access => ({
  name: spec.secretRef.name,
  key: spec.secretRef.key || DEFAULT_KEY,
});

/** @throws SourceUnavailable; KubeconfigError; the errors of runtime/errors.ts when the secret cannot be read */
export async function openSource(
  { client, sources }: SourcePorts,
  sync: View<TargetSync>,
  signal?: AbortSignal,
): Promise<SourceCluster> {
  const { name, key } = accessOf(sync);
  const where = `${sync.metadata.namespace ?? ''}/${name}`;
  const secret = await client.get(secretKind, where, signal).catch((error: unknown) => {
    if (!(error instanceof NotFound)) throw error;
    throw new SourceUnavailable(
      `secret ${where} not found; it must contain the kubeconfig of the source cluster`,
    );
  });
  const data = secret.data?.[key];
  if (!data) throw new SourceUnavailable(`no kubeconfig in secret ${where} under key "${key}"`);
  const kubeconfig = Buffer.from(data, 'base64').toString('utf8');
  const source = await sources.open(kubeconfig);
  return { client: foreign(source, `the source cluster from secret ${where}`), kubeconfig, secret, key };
}

/**
 * Whether a shoot is not there any more, or about to go. A cluster that serves no shoots, or does not know the
 * namespace, cannot tell: the answer is no.
 * @throws the errors of runtime/errors.ts
 */
export async function isShootGone(
  source: Client,
  namespace: string,
  name: string,
  signal?: AbortSignal,
): Promise<boolean> {
  try {
    const shoot = await source.get(shootKind, `${namespace}/${name}`, signal);
    return shoot.metadata.deletionTimestamp !== undefined;
  } catch (error) {
    if (!(error instanceof NotFound)) throw error;
    return (await servesShoots(source, signal)) && (await hasNamespace(source, namespace, signal));
  }
}

async function servesShoots(source: Client, signal?: AbortSignal): Promise<boolean> {
  const { group, version, plural } = shootKind;
  try {
    const list = (await source.raw('GET', `/apis/${group}/${version}`, undefined, signal)) as {
      readonly resources?: readonly { readonly name: string }[];
    };
    return list.resources?.some((resource) => resource.name === plural) ?? false;
  } catch (error) {
    if (error instanceof NotFound) return false;
    throw error;
  }
}

async function hasNamespace(source: Client, namespace: string, signal?: AbortSignal): Promise<boolean> {
  try {
    await source.get(namespaceKind, namespace, signal);
    return true;
  } catch (error) {
    // Who may read shoots may not always read namespaces; only a clear answer counts.
    if (error instanceof NotFound) return false;
    if (error instanceof Forbidden) return true;
    throw error;
  }
}
