/** The writes of an execution to its deploy items: create, update, hand down a job, interrupt, release. Pure. */
import { FINALIZER, NO_TARGET_NAME, TRUE, annotations, labels } from '../../src/api/labels.ts';
import { deployItemKind, type DeployItem } from '../../src/api/kinds/deployitem.ts';
import type { DeployItemTemplate, Execution } from '../../src/api/kinds/execution.ts';
import { equal } from '../../src/lib/json.ts';
import { controllerReference } from '../../src/lib/objects.ts';
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
/** The execution, and the clusters of the items that it writes. */
export interface ItemParent extends Parent {
  readonly clusterNames: ReadonlyMap<string, string>;
  /** Trace context of an item in the current job; default: traces are switched off. */
  readonly traceparentOf?: (item: string) => string | undefined;
}

/** Name prefix of a template's item. */
export const itemPrefix = (self: View<Execution>, template: string): string =>
  `${self.metadata.name}-${template}-`;

/** The object to create for a template. */
export function itemObject(
  { self, now, clusterNames, traceparentOf }: ItemParent,
  template: DeployItemTemplate,
  freshName: FreshName,
): DeployItem {
  const prefix = itemPrefix(self, template.name);
  const name = freshName(prefix);
  const traceparent = traceparentOf?.(name);
  const { namespace } = self.metadata;
  return {
    apiVersion: self.apiVersion,
    kind: deployItemKind.kind,
    metadata: {
      name,
      generateName: prefix,
      ...(namespace !== undefined && { namespace }),
      labels: ownLabels(self, template),
      annotations: {
        ...ownAnnotations(template, clusterNames),
        [annotations.reconcileTime]: now,
        ...(traceparent !== undefined && { [annotations.traceparent]: traceparent }),
      },
      finalizers: [FINALIZER],
      ownerReferences: [controllerReference(self)],
    },
    spec: itemSpec(self, template),
  };
}

export const createItem = (parent: ItemParent, template: DeployItemTemplate, freshName: FreshName): Effect =>
  create(deployItemKind, itemObject(parent, template, freshName));

/** Updates an item to match its template; undefined if it already does. Labels of other owners stay. */
export function updateItem(
  { self, now, clusterNames, traceparentOf }: ItemParent,
  template: DeployItemTemplate,
  item: Item,
): Effect | undefined {
  const spec = itemSpec(self, template);
  const wanted = ownLabels(self, template);
  const obsolete = droppedLabels(item, wanted);
  const metadata = missing(item.metadata, {
    labels: { ...wanted, ...Object.fromEntries(obsolete.map((key) => [key, null])) },
    annotations: {
      ...ownAnnotations(template, clusterNames),
      ...(obsolete.length > 0 && !hasLabels(template) && { [annotations.templateLabels]: null }),
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
        annotations: {
          ...metadata?.['annotations'],
          [annotations.reconcileTime]: now,
          ...traceContext(item, traceparentOf?.(item.metadata.name)),
        },
      },
    },
  );
}

/** The trace context goes along with writes that happen anyway; one of an earlier job is removed. */
const traceContext = ({ metadata }: Item, traceparent: string | undefined): Record<string, string | null> =>
  traceparent === undefined && metadata.annotations?.[annotations.traceparent] === undefined
    ? {}
    : { [annotations.traceparent]: traceparent ?? null };

/**
 * Labels that an earlier version of the template set and the current one does not. Labels of other owners are not
 * included.
 */
function droppedLabels({ metadata }: Item, wanted: Readonly<Record<string, string>>): readonly string[] {
  const templateLabels = metadata.annotations?.[annotations.templateLabels]?.split(',') ?? [];
  return templateLabels.filter((key) => wanted[key] === undefined && metadata.labels?.[key] !== undefined);
}

const hasLabels = ({ labels: own }: DeployItemTemplate): boolean => Object.keys(own ?? {}).length > 0;

/** null removes the entry. */
type MetadataPatch = Record<string, Record<string, string | null>>;

/** The entries of `wanted` that `actual` does not have, or has with another value. */
function missing(actual: Item['metadata'], wanted: MetadataPatch): MetadataPatch | undefined {
  const result: MetadataPatch = {};
  for (const [field, entries] of Object.entries(wanted)) {
    const have = (actual as unknown as Partial<MetadataPatch>)[field] ?? {};
    const missingEntries = Object.entries(entries).filter(([key, value]) => (have[key] ?? null) !== value);
    if (missingEntries.length > 0) result[field] = Object.fromEntries(missingEntries);
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
  clusterNames: ItemParent['clusterNames'],
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

/** Hands the execution's job down to an item. This write starts the item's deployer. */
export const handDownJob = ({ self, now }: Parent, item: Item): Effect =>
  patchStatus(deployItemKind, item, {
    jobID: self.status?.jobID,
    jobIDGenerationTime: now,
    transitionTimes: { triggerTime: now, initTime: null, waitTime: null, finishedTime: null },
    observedGeneration: item.status?.observedGeneration ?? 0,
  });

/** Ends the item's job because a user interrupted it. */
export const interruptItem = ({ self, now }: Parent, item: Item): Effect =>
  endItem(item, {
    problem: INTERRUPTED,
    now,
    jobID: self.status?.jobID,
    observedGeneration: item.status?.observedGeneration ?? 0,
  });

export const markWithoutUninstall = (item: Item): Effect =>
  patch(deployItemKind, item, { metadata: { annotations: { [annotations.deleteWithoutUninstall]: TRUE } } });
