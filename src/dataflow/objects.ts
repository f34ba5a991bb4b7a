/** DataObjects and Targets that an installation writes: copies of its imports, and its exports. */
import type { ImportDefinition } from '../api/blueprint.ts';
import type { DataObject } from '../api/kinds/dataobject.ts';
import type { Installation } from '../api/kinds/installation.ts';
import type { Target, TargetSpec } from '../api/kinds/target.ts';
import { API_VERSION, annotations, dataSourceTypes } from '../api/labels.ts';
import type { ApiObject } from '../api/shared.ts';
import { NotStorable } from '../blueprint/errors.ts';
import type { ExportValues, TargetExportValue } from '../blueprint/exports.ts';
import type { LoadedBlueprint } from '../blueprint/load.ts';
import type { JsonMap } from '../blueprint/model.ts';
import { goJson } from '../lib/gojson.ts';
import { sha1Hex } from '../lib/hash.ts';
import { copy } from '../lib/json.ts';
import { isObject, type View } from '../lib/objects.ts';
import { storedText } from './dataimport.ts';
import {
  metadataAt,
  locationLabelKeys,
  type Owner,
  type DataLocation,
  type UserMetadata,
} from './location.ts';
import { executionContext, installationContext, parentContext } from './scope.ts';

export * from './ownership.ts';

export type WrittenObject = DataObject | Target;

/**
 * Copies of the declared imports in the own context, in the order of the blueprint.
 * @param values from constructImports and runImportExecutions
 * @throws NotStorable
 */
export function importObjects(
  installation: View<Installation>,
  blueprint: LoadedBlueprint,
  values: JsonMap,
): readonly WrittenObject[] {
  const context = installationContext(installation.metadata.name);
  const write = (definition: View<ImportDefinition>): readonly WrittenObject[] => {
    if (!Object.hasOwn(values, definition.name)) return [];
    const location: DataLocation = {
      context,
      source: context,
      sourceType: dataSourceTypes.import,
      key: definition.name,
      jobID: installation.status?.jobID,
    };
    const own = importCopies(installation, definition, location, values[definition.name]);
    return [...own, ...(definition.imports ?? []).flatMap(write)];
  };
  return (blueprint.info.imports ?? []).flatMap(write);
}

function importCopies(
  installation: View<Installation>,
  { name, type }: View<ImportDefinition>,
  location: DataLocation,
  value: unknown,
): readonly WrittenObject[] {
  const copyOf = (element: unknown, at: DataLocation): Target => {
    if (isObject(element) && isObject(element['spec']) && isObject(element['metadata'])) {
      return targetCopy(installation, at, element as unknown as View<Target>);
    }
    throw notStorable(name, `is of type ${type ?? ''}, but its value is not a target`);
  };
  switch (type) {
    case 'target':
      return [copyOf(value, location)];
    case 'targetList':
      if (!Array.isArray(value)) throw notStorable(name, 'is a targetList, but its value is not a list');
      return value.map((element, index) => copyOf(element, { ...location, index }));
    case 'targetMap':
      if (!isObject(value)) throw notStorable(name, 'is a targetMap, but its value is not a map');
      return Object.entries(value).map(([mapKey, element]) => copyOf(element, { ...location, mapKey }));
    default:
      return [dataObjectAt(ownerOf(installation), location, value ?? null)];
  }
}

/** Bindings of import executions may replace an import with any value. */
const notStorable = (name: string, why: string): NotStorable =>
  new NotStorable('CreateOrUpdateImports', `import "${name}" ${why}, which cannot be stored`);

/** Exports in the parent's context, data first, in the order of the installation. */
export function exportObjects(
  installation: View<Installation>,
  parent: string | undefined,
  values: ExportValues,
): readonly WrittenObject[] {
  const at = (ref: string): DataLocation => ({
    context: parentContext(parent),
    source: installationContext(installation.metadata.name),
    sourceType: dataSourceTypes.export,
    key: ref,
    jobID: installation.status?.jobID,
  });
  return [
    ...values.data.map(({ ref, value }) => dataObjectAt(ownerOf(installation), at(ref), value ?? null)),
    ...values.targets.map((value) => exportedTarget(installation, at(value.ref), value)),
  ];
}

/**
 * The DataObject with the export values of an Execution's items, keyed by item name; null for items without
 * exports.
 */
export function executionExportObject(
  execution: View<ApiObject>,
  values: Readonly<Record<string, unknown>>,
): DataObject {
  const context = executionContext(execution.metadata.name);
  return dataObjectAt(
    { kind: 'Execution', metadata: execution.metadata },
    { context, source: context, key: '' },
    values,
  );
}

// ---------------------------------------------------------------- single objects

const ownerOf = ({ metadata }: View<Installation>): Owner => ({ kind: 'Installation', metadata });

function dataObjectAt(owner: Owner, location: DataLocation, data: unknown): DataObject {
  const hash = sha1Hex(storedText(data));
  return { apiVersion: API_VERSION, kind: 'DataObject', metadata: metadataAt(owner, location, hash), data };
}

function targetAt(owner: Owner, location: DataLocation, spec: TargetSpec, user: UserMetadata): Target {
  const meta = metadataAt(owner, location, targetHash(spec), user);
  return { apiVersion: API_VERSION, kind: 'Target', metadata: meta, spec };
}

/**
 * A copy of a target keeps labels and annotations of users, but not those that describe the location of the source.
 */
function targetCopy(owner: View<Installation>, location: DataLocation, source: View<Target>): Target {
  const { labels: userLabels = {}, annotations: userAnnotations = {} } = source.metadata;
  return targetAt(ownerOf(owner), location, copy(source.spec), {
    labels: omit(userLabels, locationLabelKeys),
    annotations: omit(userAnnotations, NOT_COPIED),
  });
}

function exportedTarget(owner: View<Installation>, location: DataLocation, value: TargetExportValue): Target {
  const { type, config, secretRef } = value;
  const spec: TargetSpec = { type };
  if (config !== undefined) spec.config = config;
  if (secretRef) spec.secretRef = { ...secretRef };
  return targetAt(ownerOf(owner), location, spec, {
    labels: omit(value.labels, locationLabelKeys),
    annotations: value.annotations,
  });
}

/** The annotation of `kubectl apply` contains the previous object, possibly with old credentials. */
const NOT_COPIED: readonly string[] = [
  annotations.dataHash,
  'kubectl.kubernetes.io/last-applied-configuration',
];

const omit = (map: Readonly<Record<string, string>>, keys: readonly string[]): Record<string, string> =>
  Object.fromEntries(Object.entries(map).filter(([key]) => !keys.includes(key)));

/** SHA-1 of the configuration, or of the reference with upstream's order of fields, or of nothing. */
function targetHash({ config, secretRef }: TargetSpec): string {
  if (config !== undefined && config !== null) return sha1Hex(goJson(config));
  if (!secretRef) return sha1Hex('');
  const key = secretRef.key === undefined || secretRef.key === '' ? '' : `,"key":${goJson(secretRef.key)}`;
  return sha1Hex(`{"secretRef":{"name":${goJson(secretRef.name)}${key}}}`);
}
