/** Deploy items as an execution writes them: created, updated, given a job, interrupted, let go. Pure. */
import { FINALIZER, NO_TARGET_NAME, TRUE, annotations, labels } from '../../src/api/labels.ts';
import { deployItemKind, type DeployItem } from '../../src/api/kinds/deployitem.ts';
import type { DeployItemTemplate, Execution } from '../../src/api/kinds/execution.ts';
import { equal } from '../../src/lib/json.ts';
import { create, patch, patchStatus, type Effect } from '../../src/machine/decision.ts';
import type { FreshName } from '../../src/landscape/fresh-names.ts';
import { update } from '../../src/machine/update.ts';
import { INTERRUPTED, endItem } from '../../src/landscape/item-end.ts';
import type { View } from '../../src/runtime/types.ts';
import type { Item } from './classify.ts';

interface Parent {
  readonly self: View<Execution>;
  readonly now: string;
}
/** The parent, and what it found out about the items it writes. */
export interface Author extends Parent {
  readonly clusterNames: ReadonlyMap<string, string>;
}

/** Beginning of the name of a template's item. */
export const itemPrefix = (self: View<Execution>, template: string): string =>
  `${self.metadata.name}-${template}-`;

/** The item of a template as it is created. */
export function itemObject(
  { self, now, clusterNames }: Author,
  template: DeployItemTemplate,
  freshName: FreshName,
): DeployItem {
  const prefix = itemPrefix(self, template.name);
  const { namespace } = self.metadata;
  return {
    apiVersion: self.apiVersion,
    kind: deployItemKind.kind,
    metadata: {
      name: freshName(prefix),
      generateName: prefix,
      ...(namespace !== undefined && { namespace }),
      labels: ownLabels(self, template),
      annotations: { ...ownAnnotations(template, clusterNames), [annotations.reconcileTime]: now },
      finalizers: [FINALIZER],
      ownerReferences: [ownerOf(self)],
    },
    spec: itemSpec(self, template),
  };
}

export const createItem = (author: Author, template: DeployItemTemplate, freshName: FreshName): Effect =>
  create(deployItemKind, itemObject(author, template, freshName));

/** Brings an item in line with its template; nothing when it is already. Labels of others stay. */
export function updateItem(
  { self, now, clusterNames }: Author,
  template: DeployItemTemplate,
  item: Item,
): Effect | undefined {
  const spec = itemSpec(self, template);
  const wanted = ownLabels(self, template);
  const dropped = labelsGivenUp(item, wanted);
  const metadata = missing(item.metadata, {
    labels: { ...wanted, ...Object.fromEntries(dropped.map((key) => [key, null])) },
    annotations: {
      ...ownAnnotations(template, clusterNames),
      ...(dropped.length > 0 && !hasLabels(template) && { [annotations.templateLabels]: null }),
    },
  });
  if (equal(item.spec, spec) && !metadata) return undefined;
  return update(
    deployItemKind,
    item,
    { spec },
    {
      metadata: {
        ...metadata,
        annotations: { ...metadata?.['annotations'], [annotations.reconcileTime]: now },
      },
    },
  );
}

/** Labels that an earlier version of the template gave the item; those of others are not on the list. */
function labelsGivenUp({ metadata }: Item, wanted: Readonly<Record<string, string>>): readonly string[] {
  const given = metadata.annotations?.[annotations.templateLabels]?.split(',') ?? [];
  return given.filter((key) => wanted[key] === undefined && metadata.labels?.[key] !== undefined);
}

const hasLabels = ({ labels: own }: DeployItemTemplate): boolean => Object.keys(own ?? {}).length > 0;

/** null: to be taken away. */
type Maps = Record<string, Record<string, string | null>>;

/** The entries of `wanted` that `actual` lacks or has with another value. */
function missing(actual: Item['metadata'], wanted: Maps): Maps | undefined {
  const result: Maps = {};
  for (const [field, entries] of Object.entries(wanted)) {
    const have = (actual as unknown as Partial<Maps>)[field] ?? {};
    const lacking = Object.entries(entries).filter(([key, value]) => (have[key] ?? null) !== value);
    if (lacking.length > 0) result[field] = Object.fromEntries(lacking);
  }
  return Object.keys(result).length > 0 ? result : undefined;
}

function itemSpec(self: View<Execution>, template: DeployItemTemplate): DeployItem['spec'] {
  const { name: _name, labels: _labels, dependsOn: _dependsOn, ...spec } = template;
  return { ...spec, context: self.spec.context ?? 'default' };
}

const ownLabels = (self: View<Execution>, template: DeployItemTemplate): Record<string, string> => ({
  ...template.labels,
  [labels.executionManagedBy]: self.metadata.name,
  [labels.executionName]: template.name,
});

function ownAnnotations(
  template: DeployItemTemplate,
  clusterNames: Author['clusterNames'],
): Record<string, string> {
  const cluster = clusterNames.get(template.name);
  return {
    [annotations.dependsOn]: (template.dependsOn ?? []).join(','),
    [annotations.deployerType]: template.type,
    [annotations.deployerTargetName]: template.target?.name ?? NO_TARGET_NAME,
    ...(cluster !== undefined && { [annotations.clusterName]: cluster }),
    ...(hasLabels(template) && {
      [annotations.templateLabels]: Object.keys(template.labels ?? {})
        .sort()
        .join(','),
    }),
  };
}

const ownerOf = (self: View<Execution>) => ({
  apiVersion: self.apiVersion,
  kind: self.kind,
  name: self.metadata.name,
  uid: self.metadata.uid ?? '',
  controller: true,
  blockOwnerDeletion: true,
});

/** Hands the execution's job to an item: from this write on its deployer has work. */
export const giveJob = ({ self, now }: Parent, item: Item): Effect =>
  patchStatus(deployItemKind, item, {
    jobID: self.status?.jobID,
    jobIDGenerationTime: now,
    transitionTimes: { triggerTime: now, initTime: null, waitTime: null, finishedTime: null },
    observedGeneration: item.status?.observedGeneration ?? 0,
  });

/** Ends the item's part of the job at the user's wish. */
export const interruptItem = ({ self, now }: Parent, item: Item): Effect =>
  endItem(item, {
    problem: INTERRUPTED,
    now,
    jobID: self.status?.jobID,
    observedGeneration: item.status?.observedGeneration ?? 0,
  });

/** Lets an item go without uninstalling anything. */
export const stripFinalizer = (item: Item): Effect =>
  patch(deployItemKind, item, {
    metadata: { finalizers: (item.metadata.finalizers ?? []).filter((f) => f !== FINALIZER) },
  });

export const markWithoutUninstall = (item: Item): Effect =>
  patch(deployItemKind, item, { metadata: { annotations: { [annotations.deleteWithoutUninstall]: TRUE } } });
