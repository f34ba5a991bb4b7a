/** A cluster to install things on. */
import type { Client, Kind, Obj } from '../../src/runtime/types.ts';

/** The way to one target cluster; close it when it is not needed any more. */
export interface KubeAccess {
  readonly client: Client;
  /**
   * The kind's place in the API of that cluster.
   * @param signal ends the wait for the answer
   * @throws NoSuchKind
   */
  kindOf(apiVersion: string, kind: string, signal?: AbortSignal): Promise<Kind<Obj>>;
  close(): Promise<void>;
}
