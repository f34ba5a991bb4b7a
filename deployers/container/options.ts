/** Types that all parts of the container deployer share. */
import type { Credentials } from '../../src/components/credentials.ts';
import type { TextReader } from '../../src/lib/yaml-texts.ts';
import type { Client } from '../../src/runtime/types.ts';
import type { DeployContext } from '../sdk/deployer.ts';
import type { ContainerConfig } from './config.ts';
import type { Operation } from './contract.ts';
import { podName, type ItemRef, type RunKey } from './names.ts';
import type { ProviderStatus } from './pod-status.ts';
import type { ContainerSettings } from './settings.ts';

export type ContainerContext = DeployContext<ContainerConfig, ProviderStatus>;

export interface ContainerOptions {
  /** The host cluster, where pods run. */
  readonly client: Client;
  readonly settings: ContainerSettings;
  /** Reads the exports of pods of a namespace; default: in this thread, up to a few MiB. */
  readonly textsOf?: ((namespace: string) => TextReader) | undefined;
  /** Adds the operator's credentials, for registries that item and Context have none for; default: none. */
  readonly withDefaults?: ((credentials: Credentials) => Credentials) | undefined;
  /** Certificate authorities in PEM that the init container trusts for the registry of the component; default: none. */
  readonly authorities?: (() => readonly string[]) | undefined;
  /** Identity of the deployer in labels; default: its name. */
  readonly deployerId?: string | undefined;
  /** Whether the cluster supports native sidecars; default: it does not. */
  readonly supportsSidecars?: ((signal: AbortSignal) => Promise<boolean>) | undefined;
}

export const PREFIX = 'container deployer';

const itemRef = ({ item }: Pick<ContainerContext, 'item'>): ItemRef => ({
  namespace: item.metadata.namespace ?? '',
  name: item.metadata.name,
});

/** Identifies the run of the current reconcile. */
export function runKey(ctx: ContainerContext, operation: Operation): RunKey & { readonly pod: string } {
  const { metadata, status } = ctx.item;
  const key = {
    item: itemRef(ctx),
    uid: metadata.uid ?? '',
    jobID: status?.jobID ?? '',
    generation: metadata.generation ?? 0,
    operation,
  };
  return { ...key, pod: podName(key) };
}
