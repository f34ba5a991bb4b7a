/**
 * The container deployer: runs an image as a pod in the host cluster, provides its input as files, and publishes
 * its exports. docs/container.md describes the contract with images.
 */
import { GROUP } from '../../src/api/labels.ts';
import { ownField } from '../../src/lib/objects.ts';
import type { Caches, View } from '../../src/runtime/types.ts';
import type { DeployItem } from '../sdk/kinds.ts';
import type { DeployerPlugin, Watched } from '../sdk/deployer.ts';
import { endPods } from './cleanup.ts';
import { containerConfig, type ContainerConfig } from './config.ts';
import { CONTAINER_GROUP, labels } from './contract.ts';
import { POD } from './kinds.ts';
import { apply, remove } from './observe.ts';
import { inNamespace } from './namespace-move.ts';
import { itemOf } from './names.ts';
import type { ContainerOptions, ContainerContext } from './options.ts';
import { providerStatus, type ProviderStatus } from './pod-status.ts';
import { placeOf } from './prepare.ts';
import { VERSION } from './settings.ts';
import { sidecarSupport } from './sidecar.ts';

export { startGarbageCollection } from './garbage-collection.ts';
export type { ContainerOptions } from './options.ts';
export { defaultSettings, type ContainerSettings } from './settings.ts';

export function containerDeployer(given: ContainerOptions): DeployerPlugin<ContainerConfig, ProviderStatus> {
  const options = { supportsSidecars: sidecarSupport(given.client), ...given };
  return {
    type: `${GROUP}/container`,
    name: CONTAINER_GROUP,
    version: VERSION,
    initOperation: 'InitContainerOperation',
    decodeReason: 'Decode',
    config: containerConfig,
    status: providerStatus,
    schedule: (config) => config.continuousReconcile,
    watches: (caches) => [podsIn(caches, options)],
    apply: (ctx: ContainerContext) => apply(ctx, options),
    remove: (ctx: ContainerContext) => remove(ctx, options),
    onJobEnded: (item, signal) => endPods(placeOf(inNamespace(options, namespaceOf(item))), item, signal),
  };
}

/** The namespace of the item's last run. */
function namespaceOf({ status }: View<DeployItem>): string | undefined {
  const namespace = ownField(status?.providerStatus, 'namespace');
  return typeof namespace === 'string' && namespace !== '' ? namespace : undefined;
}

/** Events of a pod trigger a reconcile of its item. */
const podsIn = (caches: Caches, { settings }: ContainerOptions): Watched => ({
  cache: caches.of(POD, {
    namespaces: [settings.namespace],
    labels: labels.itemName,
  }),
  toItems: (pod) => {
    const item = itemOf(pod);
    return item ? [`${item.namespace}/${item.name}`] : [];
  },
});
