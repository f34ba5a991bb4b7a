/**
 * The container deployer: runs an image as a pod beside itself, with everything that the image needs in files, and
 * brings back what it exports. See docs/container.md for the contract with images.
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
import { inNamespace } from './move.ts';
import { itemOf } from './names.ts';
import type { ContainerOptions, ContainerContext } from './options.ts';
import { providerStatus, type ProviderStatus } from './pod-status.ts';
import { placeOf } from './prepare.ts';
import { VERSION } from './settings.ts';

export { startGarbageCollection } from './garbage.ts';
export type { ContainerOptions } from './options.ts';
export { defaultSettings, type ContainerSettings } from './settings.ts';

export function containerDeployer(
  options: ContainerOptions,
): DeployerPlugin<ContainerConfig, ProviderStatus> {
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

/** Where the last run of an item was. */
function namespaceOf({ status }: View<DeployItem>): string | undefined {
  const namespace = ownField(status?.providerStatus, 'namespace');
  return typeof namespace === 'string' && namespace !== '' ? namespace : undefined;
}

/** What happens to a pod is seen at once. */
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
