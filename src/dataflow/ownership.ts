/** Whose the DataObjects and Targets of a context are: what may be overwritten, what is stale, what an update says. */
import type { DataObject } from '../api/kinds/dataobject.ts';
import type { Installation } from '../api/kinds/installation.ts';
import type { Target } from '../api/kinds/target.ts';
import { annotations, dataSourceTypes, GROUP, labels } from '../api/labels.ts';
import type { ObjectMeta, OwnerReference } from '../api/shared.ts';
import { equal } from '../lib/json.ts';
import type { View } from '../lib/objects.ts';
import { placeLabelKeys } from './place.ts';
import { installationContext } from './scope.ts';

/**
 * Why an export must not be written over `existing`.
 * - `owned`: another installation owns it; upstream's sentence
 * - `foreign`: nobody of ours wrote it, and it was not released; upstream takes such objects over and deletes them with
 *   the next job
 */
export interface ExportConflict {
  readonly kind: 'owned' | 'foreign';
  readonly message: string;
}

/** Undefined when the export may be written. */
export function exportConflict(
  installation: View<Installation>,
  wanted: View<DataObject | Target>,
  existing: View<DataObject | Target> | undefined,
): ExportConflict | undefined {
  if (!existing) return undefined;
  const { name } = wanted.metadata;
  const at = `${installation.metadata.namespace ?? ''}/${name}`;
  const what = `${wanted.kind.toLowerCase()} '${at}'`;
  const key = wanted.metadata.labels?.[labels.dataKey] ?? '';
  const owner = existing.metadata.ownerReferences?.find(isInstallation);
  if (owner && !isSelf(owner, installation)) {
    const message =
      `${what} for export '${key}' conflicts with existing ${wanted.kind.toLowerCase()} owned by another installation: ` +
      `object '${at}' is already owned by another object with kind 'Installation' (${owner.name})`;
    return { kind: 'owned', message };
  }
  if (owner || isOwnExport(existing.metadata, installation)) return undefined;
  const self = installation.metadata.name;
  if (existing.metadata.annotations?.[annotations.adoptableBy] === self) return undefined;
  const message =
    `${what} for export '${key}' exists already and was not written by this installation; rename the export, delete the ` +
    `object, or hand it over with the annotation ${annotations.adoptableBy}: ${self}`;
  return { kind: 'foreign', message };
}

const isInstallation = (owner: View<OwnerReference>): boolean =>
  owner.kind === 'Installation' && owner.apiVersion.startsWith(`${GROUP}/`);

const isSelf = (owner: View<OwnerReference>, { metadata }: View<Installation>): boolean =>
  metadata.uid !== undefined && owner.uid !== '' ? owner.uid === metadata.uid : owner.name === metadata.name;

const isOwnExport = ({ labels: l }: View<ObjectMeta>, { metadata }: View<Installation>): boolean =>
  l?.[labels.dataSourceType] === dataSourceTypes.export &&
  l[labels.dataSource] === installationContext(metadata.name);

/**
 * Metadata and content that `existing` has to have, with the wanted place, content and owner laid over its own: other
 * labels, annotations and owners stay. Undefined when nothing would change.
 */
export function overlay(
  existing: View<DataObject | Target>,
  wanted: View<DataObject | Target>,
): (Readonly<Record<string, unknown>> & { readonly metadata: View<ObjectMeta> }) | undefined {
  const { metadata } = existing;
  const kept = Object.entries(metadata.labels ?? {}).filter(([key]) => !placeLabelKeys.includes(key));
  const next = {
    ...contentOf(wanted),
    metadata: {
      ...metadata,
      labels: { ...Object.fromEntries(kept), ...wanted.metadata.labels },
      annotations: { ...metadata.annotations, ...wanted.metadata.annotations },
      ownerReferences: mergedOwners(metadata.ownerReferences ?? [], wanted.metadata.ownerReferences ?? []),
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

/** Labels of the exports an installation wrote: all of these go at the start of Init. */
export const exportSelector = (installation: string): Readonly<Record<string, string>> => ({
  [labels.dataSource]: installationContext(installation),
  [labels.dataSourceType]: dataSourceTypes.export,
});

/** Labels of all that lives in the own context: copies of imports and exports of children. */
export const contextSelector = (installation: string): Readonly<Record<string, string>> => ({
  [labels.dataContext]: installationContext(installation),
});

/**
 * Of the objects in the own context those that another job left behind. Without any job id among all DataObjects
 * and Targets nothing is stale: they are older than that label. So give both kinds at once.
 */
export function staleObjects<T extends { readonly metadata: View<ObjectMeta> }>(
  objects: readonly T[],
  jobID: string,
): readonly T[] {
  const job = (object: T): string => object.metadata.labels?.[labels.dataJobId] ?? '';
  if (!objects.some((object) => job(object) !== '')) return [];
  return objects.filter((object) => job(object) !== jobID);
}
