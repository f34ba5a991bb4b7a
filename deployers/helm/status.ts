/** The provider status of the helm deployer: the managed objects, and the release. */
import { isObject, type Fields } from '../../src/lib/objects.ts';
import { codec, optionalObject, optionalString, type Codec } from '../sdk/codec.ts';
import { decodeInventory } from '../objects/manifests/inventory-codec.ts';
import type { ManagedResource } from '../objects/manifests/model.ts';
import { HELM_API_VERSION } from './schema.ts';

/** The release and the inputs that it was created from; upstream has no such field. */
export interface ReleaseNote {
  readonly name: string;
  readonly namespace: string;
  /** Digest of chart, values and options. */
  readonly digest?: string;
  readonly revision?: number;
  /** An action was started to create this revision; whether it succeeded is not recorded. */
  readonly planned?: boolean;
}

/** The status as it is stored. */
export interface HelmStatus extends Fields {
  readonly apiVersion: string;
  readonly kind: 'ProviderStatus';
  /** Omitted if empty. */
  readonly managedResources?: readonly ManagedResource[];
  readonly release?: ReleaseNote;
}

export const statusOf = (managed: readonly ManagedResource[], release?: ReleaseNote): HelmStatus => ({
  apiVersion: HELM_API_VERSION,
  kind: 'ProviderStatus',
  ...(managed.length > 0 && { managedResources: managed }),
  ...(release && { release }),
});

export const helmStatus: Codec<HelmStatus> = codec('ProviderStatus', {
  [HELM_API_VERSION]: (fields) => statusOf(decodeInventory(fields), decodeRelease(fields['release'])),
});

function decodeRelease(value: unknown): ReleaseNote | undefined {
  const release = optionalObject(value, 'release');
  if (!isObject(release)) return undefined;
  const text = (key: string): string | undefined => optionalString(release[key], `release.${key}`);
  const digest = text('digest');
  const { revision } = release;
  return {
    name: text('name') ?? '',
    namespace: text('namespace') ?? '',
    ...(digest !== undefined && { digest }),
    ...(typeof revision === 'number' && { revision }),
    ...(release['planned'] === true && { planned: true }),
  };
}
