/** Types of manifests: desired objects, their policies, and the inventory. */
import { isObject, ownField, type Fields } from '../../../src/lib/objects.ts';
import type { Obj } from '../../../src/runtime/types.ts';
import { InvalidObjectName } from '../../../src/runtime/errors.ts';

/** `ensure` creates an object that does not exist and otherwise ignores it; an addition of ours. */
export const policies = ['manage', 'fallback', 'keep', 'ignore', 'immutable', 'ensure'] as const;
export type Policy = (typeof policies)[number];

/** `apply` is server-side apply, an addition of ours. */
export const strategies = ['update', 'patch', 'merge', 'mergeOverwrite', 'apply'] as const;
export type Strategy = (typeof strategies)[number];

/** An object to apply to the target. */
export type KubeObject = Obj & Fields;

/** One entry of a configuration. */
export interface Manifest {
  readonly policy: Policy;
  readonly object: KubeObject;
  /** The position in the configuration, for example `manifests[2].items[0]`, for messages. */
  readonly origin?: string | undefined;
  readonly annotateBeforeCreate?: Readonly<Record<string, string>> | undefined;
  readonly annotateBeforeDelete?: Readonly<Record<string, string>> | undefined;
  readonly patchAfterDeployment?: Fields | undefined;
  readonly patchBeforeDelete?: Fields | undefined;
}

/** Whether the item never owns objects with this policy. */
export const isForeign = (policy: Policy): boolean => policy === 'ignore' || policy === 'ensure';

/** A reference to a cluster object. */
export interface ResourceRef {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
}

/**
 * One entry of the inventory in a provider status. The uid is absent in entries of other programs, and empty if the
 * entry was recorded before the object was created; such an object belongs to the item only if its label says so.
 */
export interface ManagedResource {
  readonly policy?: string;
  readonly resource: ResourceRef & { readonly uid?: string };
  readonly annotateBeforeDelete?: Readonly<Record<string, string>>;
  readonly patchBeforeDelete?: Fields;
}

export const CRD_KIND = 'CustomResourceDefinition';

export const groupOf = (apiVersion: string): string =>
  apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '';

export const NO_NAME =
  'the manifest has no metadata.name; generateName is not supported because the object could not be found again';

/** Identifies an object independently of its API version. */
export const idOf = ({ apiVersion, kind, name, namespace = '' }: ResourceRef): string =>
  `${groupOf(apiVersion)}|${kind}|${namespace}|${name}`;

export const refOf = (object: KubeObject): ResourceRef => ({
  apiVersion: object.apiVersion,
  kind: object.kind,
  name: object.metadata.name,
  ...(object.metadata.namespace && { namespace: object.metadata.namespace }),
});

/** `ConfigMap app/settings` */
export const describeRef = ({ kind, name, namespace }: ResourceRef): string =>
  `${kind} ${namespace ? `${namespace}/` : ''}${name || '(without a name)'}`;

/** `ConfigMap app/settings (manifests[3])` */
export const describeManifest = ({ object, origin }: Manifest): string =>
  describeRef(refOf(object)) + (origin === undefined ? '' : ` (${origin})`);

/** Key of the object for the runtime. @throws InvalidObjectName */
export function keyOfRef({ kind, name, namespace }: ResourceRef): string {
  if (namespace) return `${namespace}/${name}`;
  // The part before a slash would be used as the namespace.
  if (name.includes('/'))
    throw new InvalidObjectName({ message: `"${name}" cannot be the name of a ${kind}: it has a slash` });
  return name;
}

/** Whether a value can be sent to a cluster as an object. */
export function isKubeObject(value: unknown): value is KubeObject {
  const metadata = ownField(value, 'metadata');
  return (
    isObject(value) &&
    typeof value['apiVersion'] === 'string' &&
    typeof value['kind'] === 'string' &&
    isObject(metadata)
  );
}
