/** Access to a target cluster. */
import type { Client, Kind, Obj } from '../../src/runtime/types.ts';

/** Access to one target cluster; close it after use. */
export interface KubeAccess {
  readonly client: Client;
  /** Address of the API server, to describe the cluster. */
  readonly server?: string | undefined;
  /**
   * The kind, with its URL path on that cluster.
   * @param signal ends the wait for the response
   * @throws NoSuchKind
   */
  kindOf(apiVersion: string, kind: string, signal?: AbortSignal): Promise<Kind<Obj>>;
  close(): Promise<void>;
}
