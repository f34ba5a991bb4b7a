/** Matches deploy items to templates and determines the state of each item. Pure. */
import { inUseFirst, everHadJob } from '../../src/api/duplicates.ts';
import { annotations, labels } from '../../src/api/labels.ts';
import {
  hasAnnotation,
  hasFinishedJob,
  isBeingDeleted,
  isDeletionPhase,
  isJobUnstarted,
  isTriggeredFor,
} from '../../src/api/job.ts';
import type { DeployItem } from '../../src/api/kinds/deployitem.ts';
import type { DeployItemTemplate, Execution } from '../../src/api/kinds/execution.ts';
import { formatDuration, isDuration, parseDuration } from '../../src/lib/duration.ts';
import type { View } from '../../src/runtime/types.ts';
import { looseDag, type Dag } from '../../src/workflow/dag.ts';
import { plan, type NodeState, type Plan, type Policy } from '../../src/workflow/plan.ts';

export type Item = View<DeployItem>;

/** The deploy item templates with durations in Go's format, which is how all writers store them. */
export const withStoredDurations = (templates: readonly DeployItemTemplate[]): DeployItemTemplate[] =>
  templates.map((template) =>
    template.timeout !== undefined && isDuration(template.timeout)
      ? { ...template, timeout: formatDuration(parseDuration(template.timeout)) }
      : template,
  );

interface Assignment {
  /** The item of each template, keyed by template name. */
  readonly active: ReadonlyMap<string, Item>;
  /**
   * Items without a template, duplicates, and items that a user deleted. They are removed before other items start.
   */
  readonly orphans: readonly Item[];
}

/**
 * Assigns one item to each template. If several items have the same template name, the one in use wins; the others
 * are orphans.
 */
export function assign(
  self: View<Execution>,
  templates: readonly DeployItemTemplate[],
  items: readonly Item[],
): Assignment {
  const jobID = jobOf(self);
  const names = new Set(templates.map((t) => t.name));
  const active = new Map<string, Item>();
  const ranked = items.toSorted(inUseFirst(jobID, hasBeenProcessed));
  const take = (isFit: (item: Item) => boolean): void => {
    for (const item of ranked) {
      const name = templateName(item);
      if (names.has(name) && !active.has(name) && isFit(item)) active.set(name, item);
    }
  };
  take((item) => !isBeingDeleted(item.metadata));
  take((item) => wasInstalledBefore(item, jobID));
  const taken = new Set(active.values());
  return { active, orphans: items.filter((item) => !taken.has(item)) };
}

/** Whether the item ever had a job or a deployer wrote its status. */
const hasBeenProcessed = (item: Item): boolean =>
  everHadJob(item) || item.status?.providerStatus !== undefined;

/**
 * Whether the item is a duplicate that no deployer has processed. It has nothing to uninstall. A deployer that
 * identifies resources by the names in its configuration would uninstall the resources of the active item.
 */
export const isUnusedDuplicate = (item: Item, active: Assignment['active']): boolean =>
  !hasBeenProcessed(item) && active.has(templateName(item));

/** A user deleted the item after this job started it. The item is uninstalled in the next job. */
const wasInstalledBefore = (item: Item, jobID: string): boolean =>
  jobID !== '' &&
  isTriggeredFor(item, jobID) &&
  !isJobUnstarted(item) &&
  !isDeletionPhase(item.status?.phase);

/** Empty if the item has no such label. */
export const templateName = ({ metadata }: Item): string => metadata.labels?.[labels.executionName] ?? '';

/** Empty if the execution has no job. */
export const jobOf = ({ status }: View<Execution>): string => status?.jobID ?? '';

/** After a failure, no other item starts or is removed. */
const FAIL_FAST: Policy = { gate: 'finished', failFast: true };

/** The items with these object names, in their own order. */
export function itemsNamed(items: readonly Item[], names: readonly string[]): readonly Item[] {
  const wanted = new Set(names);
  return items.filter(({ metadata }) => wanted.has(metadata.name));
}

/** The state of each template's item in the execution's job, and the items that may start. */
export function planStart(
  self: View<Execution>,
  templates: readonly DeployItemTemplate[],
  active: Assignment['active'],
  policy = FAIL_FAST,
): Plan & { readonly failed: readonly string[] } {
  const jobID = jobOf(self);
  const states = new Map(templates.map((t) => [t.name, progressOf(active.get(t.name), jobID)]));
  const dag = looseDag(templates);
  const result = plan(dag, (name) => states.get(name) ?? 'idle', policy);
  return { ...result, failed: [...states].filter(([, state]) => state === 'failed').map(([name]) => name) };
}

/** A missing item counts as failed: it was removed while the job was running. */
function progressOf(item: Item | undefined, jobID: string): NodeState {
  if (!item) return 'failed';
  if (!isTriggeredFor(item, jobID)) return 'idle';
  if (!hasFinishedJob(item, jobID)) return 'running';
  return item.status?.phase === 'Succeeded' ? 'ready' : 'failed';
}

/** The same for removal: an item is removed after all items that depend on it. Keys are object names. */
export function planRemoval(
  self: View<Execution>,
  templates: readonly DeployItemTemplate[],
  items: readonly Item[],
  policy = FAIL_FAST,
): Plan & { readonly failed: readonly Item[] } {
  const jobID = jobOf(self);
  const dag = removalGraph(templates, items);
  const states = new Map(items.map((item) => [item.metadata.name, removalOf(item, jobID)]));
  const result = plan(dag, (name) => states.get(name) ?? 'removed', policy);
  return { ...result, failed: items.filter((i) => states.get(i.metadata.name) === 'failed') };
}

/**
 * An item waits for one of the items that depend on its template, since as long as there are any, one exists. A graph
 * of all of them would be quadratic: any number of items can name the same template.
 */
function removalGraph(templates: readonly DeployItemTemplate[], items: readonly Item[]): Dag {
  const templateOf = new Map(items.map((item) => [item.metadata.name, templateName(item)]));
  const anItemOf = new Map([...templateOf].map(([item, template]) => [template, item]));
  const dependentOf = new Map<string, string>();
  for (const { name, dependsOn = [] } of templates) {
    const dependent = anItemOf.get(name);
    if (dependent !== undefined) for (const needed of dependsOn) dependentOf.set(needed, dependent);
  }
  return {
    nodes: [...templateOf.keys()],
    dependencies: () => [],
    dependents: (item) => [dependentOf.get(templateOf.get(item) ?? '')].filter((one) => one !== undefined),
  };
}

/** An item that still exists is not removed yet, even if its phase is Succeeded. */
function removalOf(item: Item, jobID: string): NodeState {
  if (!isTriggeredFor(item, jobID)) return 'doomed';
  const hasFailed = item.status?.phase === 'Failed' || item.status?.phase === 'DeleteFailed';
  return hasFinishedJob(item, jobID) && hasFailed ? 'failed' : 'removing';
}

/**
 * The items whose uninstall starts now. If the execution is being deleted: those that are next in reverse
 * dependency order; otherwise: all items with a deletion timestamp.
 */
export function dueForRemoval(
  self: View<Execution>,
  templates: readonly DeployItemTemplate[],
  items: readonly Item[],
): readonly Item[] {
  if (!isBeingDeleted(self.metadata)) {
    const jobID = jobOf(self);
    return items.filter((item) => isBeingDeleted(item.metadata) && !isTriggeredFor(item, jobID));
  }
  return itemsNamed(items, planRemoval(self, templates, items).remove);
}

/**
 * Items that do not have the job of `self` yet, but may have received it by a write that is still in flight:
 * nothing blocked them before another item failed.
 */
export function mayBeStarting(
  self: View<Execution>,
  templates: readonly DeployItemTemplate[],
  items: readonly Item[],
): readonly Item[] {
  const policy = { gate: 'ready', failFast: false } as const;
  const phase = self.status?.phase;
  if (phase === 'Deleting') {
    return itemsNamed(items, planRemoval(self, templates, items, policy).remove);
  }
  if (phase !== 'Progressing') return [];
  const { active, orphans } = assign(self, templates, items);
  const due = planStart(self, templates, active, policy).start.flatMap((name) => active.get(name) ?? []);
  return [...due, ...orphans.filter((item) => !isTriggeredFor(item, jobOf(self)))];
}

/** Whether the item is deleted without an uninstall. */
export const isUninstallSkipped = (item: Item): boolean =>
  hasAnnotation(item.metadata, annotations.deleteWithoutUninstall);
