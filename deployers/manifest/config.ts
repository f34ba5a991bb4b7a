/** The provider configuration of the manifest deployer, in both versions. */
import { GROUP } from '../../src/api/labels.ts';
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
import { continuousShape, decodeContinuous, type ContinuousReconcile } from '../sdk/continuous.ts';
import { decodeExports, exportsShape, type ExportSpec } from '../objects/exports.ts';
import { decodeGroups, groupsShape, type DeletionGroup } from '../objects/manifests/groups.ts';
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
import { decodeReadiness, readinessShape, type ReadinessChecks } from '../objects/readiness/custom.ts';
import { anything } from '../sdk/shape.ts';

export const MANIFEST_GROUP = `manifest.deployer.${GROUP}`;

export interface ManifestConfig {
  readonly strategy: Strategy;
  readonly manifests: readonly Manifest[];
  readonly readiness: ReadinessChecks;
  readonly exports?: readonly ExportSpec[] | undefined;
  readonly deletionGroups: readonly DeletionGroup[];
  readonly deletionGroupsDuringUpdate: readonly DeletionGroup[];
  readonly continuousReconcile?: ContinuousReconcile | undefined;
}

const V1ALPHA2 = `${MANIFEST_GROUP}/v1alpha2`;
/** Manifests of this version are plain objects, and all of them are managed. */
const V1ALPHA1 = `${MANIFEST_GROUP}/v1alpha1`;

const shape = {
  updateStrategy: anything,
  manifests: anything,
  readinessChecks: readinessShape,
  exports: exportsShape,
  deletionGroups: groupsShape,
  deletionGroupsDuringUpdate: groupsShape,
  continuousReconcile: continuousShape,
} as const;
const entryShape = {
  policy: anything,
  manifest: anything,
  annotateBeforeCreate: anything,
  annotateBeforeDelete: anything,
  patchAfterDeployment: anything,
  patchBeforeDelete: anything,
} as const;

export const manifestConfig: Codec<ManifestConfig> = codec(
  'ProviderConfiguration',
  {
    [V1ALPHA2]: (fields) => decode(fields, decodeManifest),
    [V1ALPHA1]: (fields) => decode(fields, (entry, path) => decodeManifest({ manifest: entry }, path)),
  },
  { [V1ALPHA2]: { ...shape, manifests: [entryShape] }, [V1ALPHA1]: shape },
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
