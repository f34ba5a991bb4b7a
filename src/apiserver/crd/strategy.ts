/** CustomResourceDefinition: default names, stored versions, and fields that are immutable once it is established. */
import { validateCrd, validateCrdUpdate } from './validation.ts';
import type { Strategy } from '../kinds/kinds.ts';
import { isObject } from '../types.ts';
import type { JsonObject, KubeObject } from '../types.ts';

export const CLEANUP_FINALIZER = 'customresourcecleanup.apiextensions.k8s.io';

export const customResourceDefinition: Strategy = {
  defaults(object) {
    const spec = specOf(object);
    const names = isObject(spec['names']) ? spec['names'] : {};
    const kind = typeof names['kind'] === 'string' ? names['kind'] : '';
    if (!names['singular'] && kind !== '') names['singular'] = kind.toLowerCase();
    if (!names['listKind'] && kind !== '') names['listKind'] = `${kind}List`;
    spec['conversion'] ??= { strategy: 'None' };
    defaultPort(spec['conversion']);
    if (spec['preserveUnknownFields'] === false) delete spec['preserveUnknownFields'];
  },
  prepareForCreate(object) {
    object['status'] = {
      conditions: null,
      acceptedNames: { plural: '', kind: '' },
      storedVersions: storageVersions(object).slice(0, 1),
    };
  },
  prepareForUpdate(object, old) {
    const status = object['status'] as JsonObject | undefined;
    const stored = new Set([...(((status ?? old['status']) as JsonObject)['storedVersions'] as string[])]);
    for (const version of storageVersions(object)) stored.add(version);
    object['status'] = { ...status, storedVersions: [...stored] };
    if (old.metadata.deletionTimestamp === undefined || !old.metadata.finalizers?.includes(CLEANUP_FINALIZER))
      return;
  },
  validate: (object) => validateCrd(object),
  validateUpdate: (object, old) => validateCrdUpdate(object, old),
};

/** The port of the service of a conversion webhook. */
function defaultPort(conversion: unknown): void {
  const path = ['webhook', 'clientConfig', 'service'];
  const service = path.reduce((value, member) => (isObject(value) ? value[member] : undefined), conversion);
  if (isObject(service)) service['port'] ??= 443;
}

const specOf = (object: KubeObject): JsonObject => {
  if (!isObject(object['spec'])) object['spec'] = {};
  return object['spec'] as JsonObject;
};

function storageVersions(object: KubeObject): string[] {
  const versions = specOf(object)['versions'];
  return Array.isArray(versions)
    ? (versions as JsonObject[]).filter((v) => v['storage'] === true).map((v) => String(v['name']))
    : [];
}
