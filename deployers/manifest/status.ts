/** The provider status of the manifest deployer: the list of what it manages. Both versions are read, the newer written. */
import { isObject, type Fields } from '../../src/lib/objects.ts';
import {
  codec,
  CodecError,
  optionalList,
  optionalObject,
  optionalString,
  optionalStringMap,
  type Codec,
} from '../sdk/codec.ts';
import type { ManagedResource } from '../sdk/manifests/model.ts';
import { MANIFEST_GROUP } from './config.ts';

/** As it is on the wire. */
export interface ManifestStatus extends Fields {
  readonly apiVersion: string;
  readonly kind: 'ProviderStatus';
  /** Absent when empty. */
  readonly managedResources?: readonly ManagedResource[];
}

export const statusOf = (managed: readonly ManagedResource[]): ManifestStatus => ({
  apiVersion: `${MANIFEST_GROUP}/v1alpha2`,
  kind: 'ProviderStatus',
  ...(managed.length > 0 && { managedResources: managed }),
});

export const manifestStatus: Codec<ManifestStatus> = codec('ProviderStatus', {
  [`${MANIFEST_GROUP}/v1alpha2`]: (fields) => statusOf(decodeList(fields, decodeEntry)),
  [`${MANIFEST_GROUP}/v1alpha1`]: (fields) =>
    statusOf(decodeList(fields, (entry, path) => decodeEntry({ policy: 'manage', resource: entry }, path))),
});

const decodeList = (
  fields: Fields,
  entryOf: (entry: unknown, path: string) => ManagedResource,
): readonly ManagedResource[] =>
  (optionalList(fields['managedResources'], 'managedResources') ?? []).map((entry, i) =>
    entryOf(entry, `managedResources[${String(i)}]`),
  );

function decodeEntry(entry: unknown, path: string): ManagedResource {
  if (!isObject(entry)) throw new CodecError('decode', `${path}: expected an object`);
  const resource = optionalObject(entry['resource'], `${path}.resource`) ?? {};
  const text = (key: string): string | undefined => optionalString(resource[key], `${path}.resource.${key}`);
  const namespace = text('namespace');
  const uid = text('uid');
  const policy = optionalString(entry['policy'], `${path}.policy`);
  const annotateBeforeDelete = optionalStringMap(
    entry['annotateBeforeDelete'],
    `${path}.annotateBeforeDelete`,
  );
  const patchBeforeDelete = optionalObject(entry['patchBeforeDelete'], `${path}.patchBeforeDelete`);
  return {
    ...(policy && { policy }),
    resource: {
      apiVersion: text('apiVersion') ?? '',
      kind: text('kind') ?? '',
      name: text('name') ?? '',
      ...(namespace && { namespace }),
      ...(uid !== undefined && { uid }),
    },
    ...(annotateBeforeDelete && { annotateBeforeDelete }),
    ...(patchBeforeDelete && { patchBeforeDelete }),
  };
}
