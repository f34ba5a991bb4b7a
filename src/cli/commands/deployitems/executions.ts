/**
 * The executions of a run: one for all items of a namespace with the same Context, similar to those of
 * installations.
 */
import { itemObject } from '../../../../controllers/execution/items.ts';
import { withStoredDurations } from '../../../../controllers/execution/classify.ts';
import { hasFinishedJob, isTriggeredFor } from '../../../api/job.ts';
import type { DeployItem } from '../../../api/kinds/deployitem.ts';
import {
  executionKind,
  writeDeployItems,
  type DeployItemTemplate,
  type Execution,
} from '../../../api/kinds/execution.ts';
import { annotations, API_VERSION, FINALIZER, operations } from '../../../api/labels.ts';
import { timestamp } from '../../../lib/clock.ts';
import { sha1Name } from '../../../lib/hash.ts';
import { isLabelValue } from '../../../lib/names.ts';
import { jobFor } from '../../../landscape/job-start.ts';
import { NotFound } from '../../../runtime/errors.ts';
import { keyOf } from '../../../runtime/keys.ts';
import type { Client } from '../../../runtime/types.ts';
import type { Cluster } from '../../cluster.ts';
import { UsageError } from '../../errors.ts';
import type { Collected } from '../../tree/collect.ts';
import { contextOf, type WantedItem } from './input.ts';

interface RunExecution {
  readonly key: string;
  readonly object: Execution;
  readonly items: readonly { readonly wanted: WantedItem; readonly object: DeployItem }[];
}

/**
 * @param targetOf name of the target that an item uses. @throws UsageError for a dependency between different
 * executions
 */
export function executionsOf(
  items: readonly WantedItem[],
  targetOf: (item: WantedItem) => string | undefined,
): readonly RunExecution[] {
  checkDependencies(items);
  const groups = new Map<string, WantedItem[]>();
  for (const item of items) groups.set(groupOf(item), [...(groups.get(groupOf(item)) ?? []), item]);
  return [...groups.values()].flatMap((group, i) => {
    const [first] = group;
    if (!first) return [];
    const place = { namespace: first.namespace, context: contextOf(first), name: `run-${String(i + 1)}` };
    return [executionOf(place, group, targetOf)];
  });
}

const groupOf = (item: WantedItem): string => `${item.namespace}/${contextOf(item)}`;

function checkDependencies(items: readonly WantedItem[]): void {
  const byName = new Map(items.map((item) => [item.name, item]));
  for (const item of items) {
    const other = item.dependsOn
      .flatMap((name) => byName.get(name) ?? [])
      .find((one) => groupOf(one) !== groupOf(item));
    if (!other) continue;
    const place = (one: WantedItem): string => `namespace ${one.namespace} with context ${contextOf(one)}`;
    throw new UsageError(
      `DeployItem ${item.name} in ${place(item)} depends on DeployItem ${other.name} in ${place(other)}; ` +
        'items can only depend on items of the same namespace and context',
    );
  }
}

function executionOf(
  {
    name,
    namespace,
    context,
  }: { readonly name: string; readonly namespace: string; readonly context: string },
  items: readonly WantedItem[],
  targetOf: (item: WantedItem) => string | undefined,
): RunExecution {
  const templates = withStoredDurations(items.map((item) => templateOf(item, targetOf(item))));
  const object: Execution = {
    apiVersion: API_VERSION,
    kind: executionKind.kind,
    metadata: { name, namespace, finalizers: [FINALIZER] },
    spec: { context, ...writeDeployItems(templates) },
  };
  const objects = templates.flatMap((template, i) => {
    const wanted = items[i];
    return wanted ? [{ wanted, object: itemOf(wanted, template, object) }] : [];
  });
  return { key: `${namespace}/${name}`, object, items: objects };
}

function templateOf(
  { name, namespace, labels, dependsOn, spec }: WantedItem,
  target: string | undefined,
): DeployItemTemplate {
  const { context: _context, config = {}, ...rest } = spec;
  return {
    ...rest,
    config,
    labels,
    name: templateName(name),
    dependsOn: dependsOn.map(templateName),
    ...(target !== undefined && { target: { name: target, namespace } }),
  };
}

/** The label value is shorter than an object name may be. */
const templateName = (item: string): string => (isLabelValue(item).length === 0 ? item : sha1Name(item));

/**
 * The item with its own name and the status of an earlier run. It has no owner reference: the controller assumes
 * that items which it created itself have nothing installed elsewhere.
 */
function itemOf(wanted: WantedItem, template: DeployItemTemplate, self: Execution): DeployItem {
  const author = { self, now: '', clusterNames: new Map<string, string>() };
  const { metadata, ...rest } = itemObject(author, template, () => wanted.name);
  const { ownerReferences: _owner, generateName: _name, ...own } = metadata;
  const { [annotations.reconcileTime]: _time, ...notes } = own.annotations ?? {};
  return { ...rest, metadata: { ...own, annotations: { ...wanted.annotations, ...notes } } };
}

// ---------------------------------------------------------------- jobs

export interface Job {
  readonly jobID: string;
  readonly direction: 'apply' | 'remove';
}

type Ports = Pick<Cluster, 'client' | 'clock'>;

/** Gives the job to an execution, as an installation would. To remove its items, it is deleted first. */
export async function startJob(
  key: string,
  { jobID, direction }: Job,
  { client, clock }: Ports,
): Promise<void> {
  if (direction === 'remove') await client.send({ verb: 'delete', kind: executionKind, key });
  const status = jobFor(await client.get(executionKind, key), jobID, timestamp(clock));
  await client.send({ verb: 'merge', kind: executionKind, key, body: { status }, sub: 'status' });
}

/** Asks the controller to end the job of an execution; nothing to do if the execution is deleted. */
export async function interruptJob(key: string, client: Pick<Client, 'send'>): Promise<void> {
  const body = { metadata: { annotations: { [annotations.operation]: operations.interrupt } } };
  try {
    await client.send({ verb: 'merge', kind: executionKind, key, body });
  } catch (error) {
    if (!(error instanceof NotFound)) throw error;
  }
}

/**
 * Whether all executions of a run have ended the job and no item is unfinished. Deleted executions no longer exist.
 */
export const isOver = (
  { jobID, direction }: Job,
  keys: readonly string[],
  { executions, deployItems }: Pick<Collected, 'executions' | 'deployItems'>,
): boolean =>
  keys.every((key) => {
    const execution = executions.find((one) => keyOf(one) === key);
    return execution ? hasFinishedJob(execution, jobID) : direction === 'remove';
  }) && deployItems.every((item) => !isTriggeredFor(item, jobID) || hasFinishedJob(item, jobID));
