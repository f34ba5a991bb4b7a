/** Removes what the console never shows from objects before they are cached: configurations, templates and values. Pure. */
import type { DeployItem } from '../../api/kinds/deployitem.ts';
import type { Execution } from '../../api/kinds/execution.ts';
import type { Installation } from '../../api/kinds/installation.ts';
import { isObject } from '../../lib/objects.ts';
import type { Obj } from '../../runtime/types.ts';

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** Imports, exports and the reference of the blueprint remain. */
export const slimInstallation = (installation: Installation): Installation => {
  const { blueprint, componentDescriptor, imports, exports } = installation.spec;
  const { ref } = blueprint ?? {};
  return {
    ...withSlimMetadata(installation),
    spec: {
      blueprint: ref ? { ref } : {},
      ...(componentDescriptor?.ref && { componentDescriptor: { ref: componentDescriptor.ref } }),
      ...(imports && { imports }),
      ...(exports && { exports }),
    },
  };
};

export const slimExecution = (execution: Execution): Execution => ({
  ...withSlimMetadata(execution),
  spec: {},
});

/** Of the provider status, the list of managed objects remains. */
export const slimDeployItem = (item: DeployItem): DeployItem => {
  const { type, target, timeout } = item.spec;
  const status = item.status && {
    ...item.status,
    providerStatus: { managedResources: managedResourcesOf(item) },
  };
  return {
    ...withSlimMetadata(item),
    spec: { type, ...(target && { target }), ...(timeout !== undefined && { timeout }) },
    ...(status && { status }),
  };
};

/** An object on a target. An empty uid means that it is going to be created. */
export interface ManagedObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** The managed objects of a deploy item; other fields of the entries, such as patches, are left out. */
export function managedResourcesOf({ status }: Pick<DeployItem, 'status'>): readonly ManagedObject[] {
  const provider: unknown = status?.providerStatus;
  const entries: unknown = isObject(provider) ? provider['managedResources'] : undefined;
  if (!Array.isArray(entries)) return [];
  return entries.filter(isObject).map((entry) => {
    const resource = isObject(entry['resource']) ? entry['resource'] : entry;
    const text = (field: string): string => {
      const value = resource[field];
      return typeof value === 'string' ? value : '';
    };
    return {
      apiVersion: text('apiVersion'),
      kind: text('kind'),
      namespace: text('namespace'),
      name: text('name'),
      uid: text('uid'),
    };
  });
}

function withSlimMetadata<T extends Obj>(object: T): T {
  const {
    managedFields: _,
    annotations,
    ...metadata
  } = object.metadata as T['metadata'] & {
    readonly managedFields?: unknown;
  };
  if (!annotations) return { ...object, metadata };
  const { [LAST_APPLIED]: __, ...others } = annotations;
  return { ...object, metadata: { ...metadata, annotations: others } };
}
