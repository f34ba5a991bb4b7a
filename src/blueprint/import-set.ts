/** The imports of an installation as read from the cluster, before they are compared with the blueprint. */
import type { Target } from '../api/kinds/target.ts';
import { API_VERSION } from '../api/labels.ts';
import type { View } from '../lib/objects.ts';

export interface DataImport {
  readonly value: unknown;
  /** SHA-1 of the content, for the hash of all imports. */
  readonly version: string;
  /** Read from a Secret: messages must not contain it. */
  readonly isSecret?: boolean;
}

/** Keyed by the import's name in the installation; order of insertion is that of the spec. */
export interface ImportSet {
  readonly data: ReadonlyMap<string, DataImport>;
  readonly targets: ReadonlyMap<string, View<Target>>;
  readonly targetLists: ReadonlyMap<string, readonly View<Target>[]>;
  readonly targetMaps: ReadonlyMap<string, Readonly<Record<string, View<Target>>>>;
}

export const emptyImportSet: ImportSet = {
  data: new Map(),
  targets: new Map(),
  targetLists: new Map(),
  targetMaps: new Map(),
};

/** All imports as plain values by name, as data mappings see them. */
export function importValues(found: ImportSet): Record<string, unknown> {
  return {
    ...mapValues(found.data, ({ value }) => value),
    ...mapValues(found.targets, plainTarget),
    ...mapValues(found.targetLists, (list) => list.map(plainTarget)),
    ...mapValues(found.targetMaps, (map) => mapValues(new Map(Object.entries(map)), plainTarget)),
  };
}

/** A target as templates see it: complete, except for managed fields. */
export function plainTarget(target: View<Target>): Record<string, unknown> {
  const { managedFields: _, ...metadata } = target.metadata;
  return { ...target, apiVersion: API_VERSION, kind: 'Target', metadata };
}

const mapValues = <T, R>(map: ReadonlyMap<string, T>, change: (value: T) => R): Record<string, R> =>
  Object.fromEntries([...map].map(([key, value]) => [key, change(value)]));
