/** Opens the cluster that a TargetSync reads from, and looks up its shoots. */
import type { TargetSync } from '../api/kinds/targetsync.ts';
import type { ClientPool } from '../runtime/transport/client-pool.ts';
import { Forbidden, NotFound } from '../runtime/errors.ts';
import { withServerName } from '../runtime/transport/server-name.ts';
import type { Client, Kind, Obj, View } from '../runtime/types.ts';
import { namespaceKind, secretKind, type Secret } from './world.ts';

/** The source cluster is not reachable; the message says what to repair. */
export class SourceUnavailable extends Error {
  override readonly name = 'SourceUnavailable';
}

export interface SourcePorts {
  /** The cluster of the TargetSync. */
  readonly client: Client;
  readonly sources: ClientPool;
}

export interface SourceCluster {
  readonly client: Client;
  readonly kubeconfig: string;
  /** The secret with the kubeconfig. */
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

/** A key of a secret in the namespace of the TargetSync. */
export interface Access {
  readonly name: string;
  readonly key: string;
}

/** The secret key with the kubeconfig of the source cluster; the default key if the spec has none. */
export const accessOf = ({ spec }: View<TargetSync>): Access => ({
  name: spec.secretRef.name,
  key: spec.secretRef.key || DEFAULT_KEY,
});

/** @throws SourceUnavailable; KubeconfigError; the errors of runtime/errors.ts if the secret cannot be read */
export async function openSource(
  { client, sources }: SourcePorts,
  sync: View<TargetSync>,
  signal?: AbortSignal,
): Promise<SourceCluster> {
  const { name, key } = accessOf(sync);
  const { namespace = '' } = sync.metadata;
  const where = `${namespace}/${name}`;
  const secret = await client.get(secretKind, where, signal).catch((error: unknown) => {
    if (!(error instanceof NotFound)) throw error;
    throw new SourceUnavailable(
      `secret ${where} not found; it must contain the kubeconfig of the source cluster`,
    );
  });
  const data = secret.data?.[key];
  if (!data) throw new SourceUnavailable(`no kubeconfig in secret ${where} under key "${key}"`);
  const kubeconfig = Buffer.from(data, 'base64').toString('utf8');
  const source = await sources.open(kubeconfig, namespace);
  return {
    client: withServerName(source, `the source cluster from secret ${where}`),
    kubeconfig,
    secret,
    key,
  };
}

/**
 * Whether a shoot does not exist or is being deleted. The answer is no if the cluster does not serve shoots or the
 * namespace does not exist.
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
    // A user who may read shoots may not be allowed to read namespaces; only NotFound proves that the namespace
    // does not exist.
    if (error instanceof NotFound) return false;
    if (error instanceof Forbidden) return true;
    throw error;
  }
}
