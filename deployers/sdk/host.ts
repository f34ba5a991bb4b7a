/** What a plugin may read of the host cluster: secrets and config maps in the namespace of its item. */
import { getIfThere } from '../../src/runtime/read.ts';
import type { Client, Kind, Obj } from '../../src/runtime/types.ts';
import { SECRET } from './kinds.ts';

export interface HostApi {
  /** Texts by key; undefined when there is no such secret. */
  secret(name: string): Promise<Readonly<Record<string, string>> | undefined>;
  configMap(name: string): Promise<Readonly<Record<string, string>> | undefined>;
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

export const hostApi = (client: Client, namespace: string, signal: AbortSignal): HostApi => ({
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
});
