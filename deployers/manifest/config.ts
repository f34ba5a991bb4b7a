/** The provider configuration of the manifest deployer, in both versions. */
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
import { decodeContinuous, type ContinuousReconcile } from '../sdk/continuous.ts';
import { decodeExports, type ExportSpec } from '../objects/exports.ts';
import { decodeGroups, type DeletionGroup } from '../objects/manifests/groups.ts';
import {
  isKubeObject,
  NO_NAME,
  policies,
  type Manifest,
  type Policy,
  type Strategy,
} from '../objects/manifests/model.ts';
import { hasItems } from '../objects/manifests/order.ts';
import { decodeStrategy } from '../objects/manifests/strategy-name.ts';
import { decodeReadiness, type ReadinessChecks } from '../objects/readiness/custom.ts';
import { describedBy } from '../sdk/schema.ts';
import { manifestSchema, olderManifestSchema, V1ALPHA1, V1ALPHA2 } from './schema.ts';

export interface ManifestConfig {
  readonly strategy: Strategy;
  readonly manifests: readonly Manifest[];
  readonly readiness: ReadinessChecks;
  readonly exports?: readonly ExportSpec[] | undefined;
  readonly deletionGroups: readonly DeletionGroup[];
  readonly deletionGroupsDuringUpdate: readonly DeletionGroup[];
  readonly continuousReconcile?: ContinuousReconcile | undefined;
}

export const manifestConfig: Codec<ManifestConfig> = describedBy(
  { [V1ALPHA2]: manifestSchema, [V1ALPHA1]: olderManifestSchema },
  codec('ProviderConfiguration', {
    [V1ALPHA2]: (fields) => decode(fields, decodeManifest),
    [V1ALPHA1]: (fields) => decode(fields, (entry, path) => decodeManifest({ manifest: entry }, path)),
  }),
);

function decode(fields: Fields, entryOf: (entry: unknown, path: string) => Manifest): ManifestConfig {
  const manifests = optionalList(fields['manifests'], 'manifests') ?? [];
  return {
    strategy: decodeStrategy(fields['updateStrategy']),
    manifests: manifests.map((entry, i) => entryOf(entry, `manifests[${String(i)}]`)),
    readiness: decodeReadiness(fields['readinessChecks'], 'readinessChecks'),
    exports: decodeExports(fields['exports'], 'exports'),
    deletionGroups: decodeGroups(fields['deletionGroups'], 'deletionGroups'),
    deletionGroupsDuringUpdate: decodeGroups(
      fields['deletionGroupsDuringUpdate'],
      'deletionGroupsDuringUpdate',
    ),
    continuousReconcile: decodeContinuous(fields['continuousReconcile']),
  };
}

function decodeManifest(entry: unknown, path: string): Manifest {
  if (!isObject(entry)) throw new CodecError({ step: 'decode', message: `${path}: expected an object` });
  return {
    policy: decodePolicy(entry['policy'], `${path}.policy`),
    object: decodeObject(entry['manifest'], `${path}.manifest`),
    origin: path,
    annotateBeforeCreate: optionalStringMap(entry['annotateBeforeCreate'], `${path}.annotateBeforeCreate`),
    annotateBeforeDelete: optionalStringMap(entry['annotateBeforeDelete'], `${path}.annotateBeforeDelete`),
    patchAfterDeployment: optionalObject(entry['patchAfterDeployment'], `${path}.patchAfterDeployment`),
    patchBeforeDelete: optionalObject(entry['patchBeforeDelete'], `${path}.patchBeforeDelete`),
  };
}

function decodeObject(value: unknown, path: string): Manifest['object'] {
  const fields = optionalObject(value, path);
  if (!fields)
    throw new CodecError({ step: 'validate', message: `${path}: Required value: manifest must be defined` });
  const object = { ...fields, metadata: fields['metadata'] ?? {} };
  if (!isKubeObject(object)) {
    throw new CodecError({
      step: 'validate',
      message: `${path}: the manifest must have apiVersion, kind and metadata`,
    });
  }
  const { kind, metadata } = object;
  const isNamed = typeof metadata.name === 'string' && metadata.name !== '';
  if (!isNamed && !hasItems(object))
    throw new CodecError({ step: 'validate', message: `${path}: ${kind}: ${NO_NAME}` });
  return object;
}

function decodePolicy(value: unknown, path: string): Policy {
  const text = optionalString(value, path);
  if (!text) return 'manage';
  const policy = policies.find((p) => p === text);
  if (policy) return policy;
  throw new CodecError({
    step: 'validate',
    message: `${path}: "${text}" is not a policy, use one of ${policies.join(', ')}`,
  });
}
