/**
 * What a plugin can do on the host cluster: read and write secrets and config maps in the namespace of its deploy
 * item.
 */
import { getIfThere } from '../../src/runtime/transport/read.ts';
import type { Client, Kind, Obj, View } from '../../src/runtime/types.ts';
import { removeExports } from './export-owner.ts';
import { SECRET, type DeployItem } from './kinds.ts';

/**
 * What a plugin can read and write besides the deploy item, in its namespace.
 * @throws ApiError or TransportError of the request
 */
export interface HostApi {
  /** Decoded values by key; undefined if the secret does not exist. */
  secret(name: string): Promise<Readonly<Record<string, string>> | undefined>;
  configMap(name: string): Promise<Readonly<Record<string, string>> | undefined>;
  /**
   * Deletes a secret that the deploy item owns or exports to. A missing secret is not an error; a secret of
   * another owner stays.
   */
  deleteSecret(name: string): Promise<void>;
}

interface ConfigMap extends Obj {
  data?: Record<string, string>;
}

const CONFIG_MAP: Kind<ConfigMap> = {
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  namespaced: true,
};

export const hostApi = (client: Client, item: View<DeployItem>, signal: AbortSignal): HostApi => {
  const { namespace = '' } = item.metadata;
  return {
    async secret(name) {
      const found = await getIfThere(client, SECRET, `${namespace}/${name}`, signal);
      if (!found) return undefined;
      const entries = Object.entries(found.data ?? {});
      return Object.fromEntries(
        entries.map(([key, value]) => [key, Buffer.from(value, 'base64').toString('utf8')]),
      );
    },
    async configMap(name) {
      const found = await getIfThere(client, CONFIG_MAP, `${namespace}/${name}`, signal);
      return found && (found.data ?? {});
    },
    deleteSecret: (name) =>
      removeExports(`${namespace}/${name}`, item, {
        write: (write) => client.send(write, signal),
        live: client,
        signal,
      }),
  };
};
