/**
 * The provider status of the manifest deployer: the list of managed objects. Reads both versions, writes the newer
 * one.
 */
import type { Fields } from '../../src/lib/objects.ts';
import { codec, type Codec } from '../sdk/codec.ts';
import { decodeEntry, decodeInventory } from '../objects/manifests/inventory-codec.ts';
import type { ManagedResource } from '../objects/manifests/model.ts';
import { MANIFEST_GROUP } from './schema.ts';

/** The status as it is stored. */
export interface ManifestStatus extends Fields {
  readonly apiVersion: string;
  readonly kind: 'ProviderStatus';
  /** Omitted if empty. */
  readonly managedResources?: readonly ManagedResource[];
}

export const statusOf = (managed: readonly ManagedResource[]): ManifestStatus => ({
  apiVersion: `${MANIFEST_GROUP}/v1alpha2`,
  kind: 'ProviderStatus',
  ...(managed.length > 0 && { managedResources: managed }),
});

export const manifestStatus: Codec<ManifestStatus> = codec('ProviderStatus', {
  [`${MANIFEST_GROUP}/v1alpha2`]: (fields) => statusOf(decodeInventory(fields)),
  [`${MANIFEST_GROUP}/v1alpha1`]: (fields) =>
    statusOf(
      decodeInventory(fields, (entry, path) => decodeEntry({ policy: 'manage', resource: entry }, path)),
    ),
});
