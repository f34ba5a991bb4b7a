/**
 * Ownership of the DataObjects and Targets in a context: which may be overwritten, which are stale, and how an
 * update changes them.
 */
import type { DataObject } from '../api/kinds/dataobject.ts';
import type { Installation } from '../api/kinds/installation.ts';
import type { Target } from '../api/kinds/target.ts';
import { annotations, dataSourceTypes, GROUP, labels } from '../api/labels.ts';
import type { ObjectMeta, OwnerReference } from '../api/shared.ts';
import { equal } from '../lib/json.ts';
import type { View } from '../lib/objects.ts';
import { locationLabelKeys } from './location.ts';
import { executionContext, installationContext } from './scope.ts';

/**
 * Why an import or export must not overwrite `existing`.
 * - `owned`: another installation owns it
 * - `foreignConflict`: no installation wrote it, and its author did not allow the takeover; upstream takes such objects
 *   over and deletes them in the next job
 */
export interface WriteConflict {
  readonly kind: 'owned' | 'foreign';
  readonly message: string;
}

/** undefined if the export may be written. */
export function exportConflict(
  installation: View<Installation>,
  wanted: View<DataObject | Target>,
  existing: View<DataObject | Target> | undefined,
): WriteConflict | undefined {
  if (!existing) return undefined;
  const { metadata } = existing;
  const owner = metadata.ownerReferences?.find(isInstallation);
  const importer = writerOf(metadata, dataSourceTypes.import);
  if (importer !== undefined && importer !== installation.metadata.name) {
    return ownedBy(importer, installation, wanted, existing, 'export');
  }
  if (owner && !isSelf(owner, installation)) {
    return ownedBy(owner.name, installation, wanted, existing, 'export');
  }
  if (owner || isOwnExport(metadata, installation)) return undefined;
  return foreignConflict(installation, wanted, existing, 'export');
}

/**
 * undefined if the copy of an import may be written.
 * @param isExported whether an installation of this name still exports the object; if not, the object may be
 * overwritten
 */
export function importConflict(
  installation: View<Installation>,
  wanted: View<DataObject | Target>,
  existing: View<DataObject | Target> | undefined,
  isExported: (owner: string) => boolean,
): WriteConflict | undefined {
  if (!existing) return undefined;
  const { metadata } = existing;
  const self = installation.metadata.name;
  if (writerOf(metadata, dataSourceTypes.import) === self) return undefined;
  // After a restore from a backup, the installation has another uid than in the owner reference, so the name
  // counts.
  const owners = (metadata.ownerReferences ?? []).filter(isInstallation).map(({ name }) => name);
  const isOwn = owners.includes(self);
  const owner = writerOf(metadata, dataSourceTypes.export) ?? (isOwn ? self : owners[0]);
  if (owner === undefined) return foreignConflict(installation, wanted, existing, 'import');
  const isInOwnContext = metadata.labels?.[labels.dataContext] === installationContext(self);
  if (owner === self || (isInOwnContext && !isExported(owner))) return undefined;
  return ownedBy(owner, installation, wanted, existing, 'import');
}

/** Why an execution must not write its items' exports to `existing`; undefined if it may. */
export function executionExportConflict(
  { metadata: { name, namespace = '' } }: { readonly metadata: View<ObjectMeta> },
  existing: View<DataObject> | undefined,
): string | undefined {
  if (!existing) return undefined;
  const { ownerReferences = [], labels: l } = existing.metadata;
  const isOwn = ownerReferences.some((owner) => owner.kind === 'Execution' && owner.name === name);
  if (isOwn || l?.[labels.dataSource] === executionContext(name)) return undefined;
  const owner = ownerReferences[0];
  const ownerText = owner ? `is owned by ${owner.kind} '${owner.name}'` : 'was not written by it';
  return (
    `dataobject '${namespace}/${existing.metadata.name}', where execution '${namespace}/${name}' publishes the exports of its ` +
    `deploy items, exists already and ${ownerText}; delete or rename that object`
  );
}

type Role = 'import' | 'export';

/** The message begins with upstream's words. */
function ownedBy(
  owner: string,
  { metadata: { name: self, namespace = '' } }: View<Installation>,
  wanted: View<DataObject | Target>,
  existing: View<DataObject | Target>,
  role: Role,
): WriteConflict {
  const kind = wanted.kind.toLowerCase();
  const at = `${namespace}/${wanted.metadata.name}`;
  const key = keyOf(wanted);
  const existingRole = writerOf(existing.metadata, dataSourceTypes.import) === owner ? 'import' : 'export';
  const message =
    `${kind} '${at}' for ${role} '${key}' conflicts with existing ${kind} owned by another installation: ` +
    `object '${at}' is already owned by another object with kind 'Installation' (${owner}); ` +
    `installation '${namespace}/${owner}' keeps its ${existingRole} '${keyOf(existing)}' there, and installation ` +
    `'${namespace}/${self}' does not overwrite it with its ${role} '${key}': rename or remove one of the two`;
  return { kind: 'owned', message };
}

function foreignConflict(
  { metadata: { name: self, namespace = '' } }: View<Installation>,
  wanted: View<DataObject | Target>,
  { metadata }: View<DataObject | Target>,
  role: Role,
): WriteConflict | undefined {
  if (metadata.annotations?.[annotations.adoptableBy] === self) return undefined;
  const message =
    `${wanted.kind.toLowerCase()} '${namespace}/${wanted.metadata.name}' for ${role} '${keyOf(wanted)}' exists already and ` +
    `was not written by this installation; rename the ${role}, delete the ` +
    `object, or hand it over with the annotation ${annotations.adoptableBy}: ${self}`;
  return { kind: 'foreign', message };
}

const keyOf = ({ metadata }: View<DataObject | Target>): string => metadata.labels?.[labels.dataKey] ?? '';

/** The installation that wrote the object as an import or export, according to the labels; undefined if none did. */
function writerOf({ labels: l }: View<ObjectMeta>, role: Role): string | undefined {
  const prefix = installationContext('');
  const source = l?.[labels.dataSource];
  return l?.[labels.dataSourceType] === role && source?.startsWith(prefix)
    ? source.slice(prefix.length)
    : undefined;
}

const isInstallation = (owner: View<OwnerReference>): boolean =>
  owner.kind === 'Installation' && owner.apiVersion.startsWith(`${GROUP}/`);

const isSelf = (owner: View<OwnerReference>, { metadata }: View<Installation>): boolean =>
  metadata.uid !== undefined && owner.uid !== '' ? owner.uid === metadata.uid : owner.name === metadata.name;

const isOwnExport = ({ labels: l }: View<ObjectMeta>, { metadata }: View<Installation>): boolean =>
  l?.[labels.dataSourceType] === dataSourceTypes.export &&
  l[labels.dataSource] === installationContext(metadata.name);

/**
 * Merges the desired location, content and owner into the metadata of `existing`. Other labels, annotations and
 * owners stay, except that the copy of an import has exactly one installation as its owner. undefined if nothing
 * changes.
 */
export function overlay(
  existing: View<DataObject | Target>,
  wanted: View<DataObject | Target>,
): (Readonly<Record<string, unknown>> & { readonly metadata: View<ObjectMeta> }) | undefined {
  const { metadata } = existing;
  const kept = Object.entries(metadata.labels ?? {}).filter(([key]) => !locationLabelKeys.includes(key));
  const isImport = wanted.metadata.labels?.[labels.dataSourceType] === dataSourceTypes.import;
  const owners = (metadata.ownerReferences ?? []).filter((owner) => !(isImport && isInstallation(owner)));
  const next = {
    ...contentOf(wanted),
    metadata: {
      ...metadata,
      labels: { ...Object.fromEntries(kept), ...wanted.metadata.labels },
      annotations: { ...metadata.annotations, ...wanted.metadata.annotations },
      ownerReferences: mergedOwners(owners, wanted.metadata.ownerReferences ?? []),
    },
  };
  return equal(existing, { ...existing, ...next }) ? undefined : next;
}

const contentOf = (object: View<DataObject | Target>): object =>
  'spec' in object ? { spec: object.spec } : { data: object.data };

function mergedOwners(
  existing: readonly View<OwnerReference>[],
  wanted: readonly View<OwnerReference>[],
): readonly View<OwnerReference>[] {
  const isSame = (a: View<OwnerReference>, b: View<OwnerReference>): boolean =>
    a.kind === b.kind && a.name === b.name && a.apiVersion.split('/')[0] === b.apiVersion.split('/')[0];
  const others = existing.filter((owner) => !wanted.some((w) => isSame(owner, w)));
  return [...others, ...wanted];
}

// ---------------------------------------------------------------- lifetime

/** Labels of the exports that an installation wrote; all of them are deleted at the start of Init. */
export const exportSelector = (installation: string): Readonly<Record<string, string>> => ({
  [labels.dataSource]: installationContext(installation),
  [labels.dataSourceType]: dataSourceTypes.export,
});

/** Labels of all objects in the own context: copies of imports and exports of children. */
export const contextSelector = (installation: string): Readonly<Record<string, string>> => ({
  [labels.dataContext]: installationContext(installation),
});

/**
 * The objects in the own context that an earlier job wrote. If none of the DataObjects and Targets has a job id, no
 * object is stale, because they are older than that label. So pass both kinds together.
 */
export function staleObjects<T extends { readonly metadata: View<ObjectMeta> }>(
  objects: readonly T[],
  jobID: string,
): readonly T[] {
  const job = (object: T): string => object.metadata.labels?.[labels.dataJobId] ?? '';
  if (!objects.some((object) => job(object) !== '')) return [];
  return objects.filter((object) => job(object) !== jobID);
}
