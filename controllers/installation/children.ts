/** Creates, updates and deletes sub-installations to match the blueprint. Pure. */
import { inUseFirst } from '../../src/api/duplicates.ts';
import { append } from '../../src/lib/lists.ts';
import { hasAnnotation, isBeingDeleted } from '../../src/api/job.ts';
import { TRUE, annotations } from '../../src/api/labels.ts';
import { installationKind } from '../../src/api/kinds/installation.ts';
import { create, patch, remove, type PhaseCondition, type Effect } from '../../src/machine/decision.ts';
import { update } from '../../src/machine/update.ts';
import type { WantedChild } from '../../src/dataflow/render-installation.ts';
import type { Inst } from './related-objects.ts';
import type { Snapshot } from './snapshot.ts';

interface EnsuredChildren {
  readonly effects: readonly Effect[];
  readonly condition: PhaseCondition;
  /** `status.subInstCache`; null clears a field. */
  readonly cache: object;
}

export const templateNameOf = (child: Inst): string | undefined =>
  child.metadata.annotations?.[annotations.subinstallationName];

interface ChildPartition<Wanted> {
  /** The child of each template, keyed by template name. */
  readonly living: ReadonlyMap<string, Inst>;
  /** Children without a template, duplicates, and children under deletion. */
  readonly orphans: readonly Inst[];
  /** Templates without a living child. */
  readonly missing: readonly Wanted[];
}

/** Children under deletion do not count. If several children have the same template name, the one in use wins. */
export function partitionChildren<Wanted extends { readonly name: string }>(
  self: Inst,
  wanted: readonly Wanted[],
  children: readonly Inst[],
): ChildPartition<Wanted> {
  const living = new Map<string, Inst>();
  const names = new Set(wanted.map((w) => w.name));
  for (const child of children.toSorted(inUseFirst(self.status?.jobID ?? ''))) {
    const name = templateNameOf(child);
    const isWanted =
      name !== undefined && names.has(name) && !living.has(name) && !isBeingDeleted(child.metadata);
    if (isWanted) living.set(name, child);
  }
  const taken = new Set(living.values());
  return {
    living,
    orphans: children.filter((child) => !taken.has(child)),
    missing: wanted.filter(({ name }) => !living.has(name)),
  };
}

/** A child under deletion is not reused: its replacement is created with another name. */
export function ensureChildren(
  { self, children, freshName }: Pick<Snapshot, 'self' | 'children' | 'freshName'>,
  wanted: readonly WantedChild[],
): EnsuredChildren {
  const { living, orphans } = partitionChildren(self, wanted, children);
  const effects: Effect[] = orphans.flatMap(deleteOrphan);
  const active = wanted.map(({ name, object }) => {
    const child = living.get(name);
    if (child) append(effects, updateChild(child, object));
    const objectName = child?.metadata.name ?? freshName(object.metadata.generateName);
    if (!child) effects.push(createChild(object, objectName));
    return { specName: name, objectName };
  });
  return {
    effects,
    condition: {
      type: 'EnsureSubInstallations',
      status: 'True',
      reason: 'InstallationsInstalled',
      message: 'All Installations are successfully installed',
    },
    cache: {
      activeSubs: active.length > 0 ? active : null,
      orphanedSubs: orphans.length > 0 ? orphans.map((o) => o.metadata.name) : null,
    },
  };
}

/** An orphan is deleted even if siblings import its exports, and even if a user deleted it. */
export const deleteOrphan = (orphan: Inst): Effect[] => {
  const key = annotations.deleteIgnoreSuccessors;
  return [
    ...(hasAnnotation(orphan.metadata, key)
      ? []
      : [patch(installationKind, orphan, { metadata: { annotations: { [key]: TRUE } } })]),
    ...(isBeingDeleted(orphan.metadata) ? [] : [remove(installationKind, orphan)]),
  ];
};

const createChild = (object: WantedChild['object'], name: string): Effect =>
  create(installationKind, { ...object, metadata: { ...object.metadata, name } });

/** The parent owns the spec; labels and annotations of other owners stay. */
function updateChild(child: Inst, object: WantedChild['object']): Effect[] {
  const labels = missingEntries(child.metadata.labels, object.metadata.labels);
  const annotated = {
    ...missingEntries(child.metadata.annotations, object.metadata.annotations),
    ...staleCacheAnnotation(child, object),
  };
  const metadata = {
    ...(Object.keys(labels).length > 0 && { labels }),
    ...(Object.keys(annotated).length > 0 && { annotations: annotated }),
  };
  const hasMore = Object.keys(metadata).length > 0;
  const effect = update(installationKind, child, { spec: object.spec }, hasMore ? { metadata } : {});
  return effect ? [effect] : [];
}

/** `cache-helm-charts` is inherited from the parent, including its removal. */
const staleCacheAnnotation = (child: Inst, object: WantedChild['object']): Record<string, null> => {
  const key = annotations.cacheHelmCharts;
  const isLeftOver =
    child.metadata.annotations?.[key] !== undefined && object.metadata.annotations[key] === undefined;
  return isLeftOver ? { [key]: null } : {};
};

type Strings = Readonly<Record<string, string>>;
const missingEntries = (actual: Strings | undefined, wanted: Strings): Record<string, string> =>
  Object.fromEntries(Object.entries(wanted).filter(([key, value]) => actual?.[key] !== value));
