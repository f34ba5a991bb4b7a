/** Which deploy item belongs to which template, and what each of them is doing. Pure. */
import { byUse, everHadJob } from '../../src/api/duplicates.ts';
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
import { looseDag } from '../../src/workflow/dag.ts';
import { plan, type NodeState, type Plan, type Policy } from '../../src/workflow/plan.ts';

export type Item = View<DeployItem>;

/** The deploy item templates, with durations as Go prints them: that is how everybody stores them. */
export const withStoredDurations = (templates: readonly DeployItemTemplate[]): DeployItemTemplate[] =>
  templates.map((template) =>
    template.timeout !== undefined && isDuration(template.timeout)
      ? { ...template, timeout: formatDuration(parseDuration(template.timeout)) }
      : template,
  );

interface Assignment {
  /** The item of each template, by template name. */
  readonly active: ReadonlyMap<string, Item>;
  /** Items that no template asks for, doubles, and items somebody deleted: they must go before the rest moves. */
  readonly orphans: readonly Item[];
}

/** Of the living items of a name the one with the best claim is the template's; all others are orphans. */
export function assign(
  self: View<Execution>,
  templates: readonly DeployItemTemplate[],
  items: readonly Item[],
): Assignment {
  const jobID = jobOf(self);
  const names = new Set(templates.map((t) => t.name));
  const active = new Map<string, Item>();
  const ranked = items.toSorted(byUse(jobID, hasWorked));
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

/** Whether the item ever had a job, or a deployer noted anything on it. */
const hasWorked = (item: Item): boolean => everHadJob(item) || item.status?.providerStatus !== undefined;

/**
 * Whether the item did nothing yet and another one stands for its template. It has nothing to uninstall, and a deployer
 * that goes by the names in its configuration would uninstall what the other one has installed.
 */
export const isUnusedDouble = (item: Item, active: Assignment['active']): boolean =>
  !hasWorked(item) && active.has(templateName(item));

/** Somebody deleted the item after this job had installed it, or had begun to: only the next job will uninstall it. */
const wasInstalledBefore = (item: Item, jobID: string): boolean =>
  jobID !== '' &&
  isTriggeredFor(item, jobID) &&
  !isJobUnstarted(item) &&
  !isDeletionPhase(item.status?.phase);

/** Empty when the item does not say so. */
export const templateName = ({ metadata }: Item): string => metadata.labels?.[labels.executionName] ?? '';

/** Empty when there is none. */
export const jobOf = ({ status }: View<Execution>): string => status?.jobID ?? '';

/** After a failure nothing more starts or goes. */
const FAIL_FAST: Policy = { gate: 'finished', failFast: true };

/** What each template's item does in the job of the execution, and which may start. */
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

/** An item that is not there counts as failed: somebody took it away in the middle of the job. */
function progressOf(item: Item | undefined, jobID: string): NodeState {
  if (!item) return 'failed';
  if (!isTriggeredFor(item, jobID)) return 'idle';
  if (!hasFinishedJob(item, jobID)) return 'running';
  return item.status?.phase === 'Succeeded' ? 'ready' : 'failed';
}

/** The same for the way down: items go when nothing that depends on them is left. Keys are object names. */
export function planRemoval(
  self: View<Execution>,
  templates: readonly DeployItemTemplate[],
  items: readonly Item[],
  policy = FAIL_FAST,
): Plan & { readonly failed: readonly Item[] } {
  const jobID = jobOf(self);
  const dependsOn = new Map(templates.map((t) => [t.name, t.dependsOn ?? []]));
  const objectNames = (template: string): string[] =>
    items.filter((i) => templateName(i) === template).map((i) => i.metadata.name);
  const dag = looseDag(
    items.map((item) => ({
      name: item.metadata.name,
      dependsOn: (dependsOn.get(templateName(item)) ?? []).flatMap(objectNames),
    })),
  );
  const states = new Map(items.map((item) => [item.metadata.name, removalOf(item, jobID)]));
  const result = plan(dag, (name) => states.get(name) ?? 'removed', policy);
  return { ...result, failed: items.filter((i) => states.get(i.metadata.name) === 'failed') };
}

/** A deployer that answers Succeeded while the item is still there has not finished the removal. */
function removalOf(item: Item, jobID: string): NodeState {
  if (!isTriggeredFor(item, jobID)) return 'doomed';
  const hasFailed = item.status?.phase === 'Failed' || item.status?.phase === 'DeleteFailed';
  return hasFinishedJob(item, jobID) && hasFailed ? 'failed' : 'removing';
}

/** The items that start to go now: in their order when the execution goes, otherwise all that are marked for it. */
export function dueForRemoval(
  self: View<Execution>,
  templates: readonly DeployItemTemplate[],
  items: readonly Item[],
): readonly Item[] {
  if (!isBeingDeleted(self.metadata)) {
    const jobID = jobOf(self);
    return items.filter((item) => isBeingDeleted(item.metadata) && !isTriggeredFor(item, jobID));
  }
  const { remove } = planRemoval(self, templates, items);
  return items.filter(({ metadata }) => remove.includes(metadata.name));
}

/**
 * Items that have not got the job of `self`, but may have been given it by a write that has not arrived yet: nothing held
 * them up before something else failed.
 */
export function mayBeStarting(
  self: View<Execution>,
  templates: readonly DeployItemTemplate[],
  items: readonly Item[],
): readonly Item[] {
  const policy = { gate: 'ready', failFast: false } as const;
  const phase = self.status?.phase;
  if (phase === 'Deleting') {
    const due = new Set(planRemoval(self, templates, items, policy).remove);
    return items.filter(({ metadata }) => due.has(metadata.name));
  }
  if (phase !== 'Progressing') return [];
  const { active, orphans } = assign(self, templates, items);
  const due = planStart(self, templates, active, policy).start.flatMap((name) => active.get(name) ?? []);
  return [...due, ...orphans.filter((item) => !isTriggeredFor(item, jobOf(self)))];
}

/** Whether the item is to be forgotten instead of uninstalled. */
export const isUninstallSkipped = (item: Item): boolean =>
  hasAnnotation(item.metadata, annotations.deleteWithoutUninstall);
