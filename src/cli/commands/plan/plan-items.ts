/** Asks the deployers for the plans of deploy items: of an installation, of a deletion, or of a single item. */
import { shownTargetName } from '../../../api/target-name.ts';
import {
  executionOf,
  ownExecution,
  type Inst,
} from '../../../../controllers/installation/related-objects.ts';
import { executionObject } from '../../../../controllers/installation/execution.ts';
import { assign, isUnusedDuplicate } from '../../../../controllers/execution/classify.ts';
import { managedItems } from '../../../../controllers/execution/gather.ts';
import { itemObject, updateItem, type ItemParent } from '../../../../controllers/execution/items.ts';
import { isPlanUnknown } from '../../../../deployers/sdk/item-plan.ts';
import { planItem } from '../../../../deployers/sdk/plan.ts';
import type { Direction } from '../../../../deployers/sdk/index.ts';
import { standardTimeouts } from '../../../../deployers/sdk/timeout.ts';
import { isBeingDeleted } from '../../../api/job.ts';
import type { DeployItem } from '../../../api/kinds/deployitem.ts';
import type { DeployItemTemplate, Execution } from '../../../api/kinds/execution.ts';
import { annotations, labels, TRUE } from '../../../api/labels.ts';
import { timestamp } from '../../../lib/clock.ts';
import type { World } from '../../../landscape/world.ts';
import type { View } from '../../../runtime/types.ts';
import { plainMessage } from '../../tree/print.ts';
import type { ItemState, PlannedItem, PlanPorts } from './planned.ts';

interface Candidate {
  readonly path: string;
  readonly state: ItemState;
  readonly item: View<DeployItem>;
  readonly direction: Direction;
}

/** The plans for the items of an installation, in the order of its blueprint. */
export async function planItems(
  self: Inst,
  templates: readonly DeployItemTemplate[],
  path: string,
  world: World,
  ports: PlanPorts,
): Promise<readonly PlannedItem[]> {
  const [found] = ownExecution({ self, execution: executionOf(world, self) });
  const wanted = executionObject(self);
  const execution: View<Execution> = found ? { ...found, spec: wanted.spec } : wanted;
  const author = { self: execution, now: timestamp(ports.clock), clusterNames: new Map<string, string>() };
  const { active, orphans } = assign(execution, templates, found ? managedItems(world, found) : []);
  const candidates = [
    ...templates.map((template) => candidateOf(template, active.get(template.name), author, path)),
    ...orphans.map((item) => goneItem(item, path, isUnusedDuplicate(item, active))),
  ];
  return inOrder(candidates, (one) => planOne(one, world, ports));
}

function candidateOf(
  template: DeployItemTemplate,
  existing: View<DeployItem> | undefined,
  author: ItemParent,
  path: string,
): Candidate {
  const wanted = itemObject(author, template, (prefix) => `${prefix}xxxxx`);
  const at = { path: `${path}/${template.name}`, direction: 'apply' } as const;
  if (!existing) return { ...at, state: 'new', item: wanted };
  const isSame = updateItem(author, template, existing) === undefined;
  const state = isSame ? (isIdle(existing) ? 'idle' : 'same') : 'changed';
  return { ...at, state, item: { ...existing, spec: wanted.spec } };
}

/** Whether the deployer has nothing to do because the item has not changed. */
const isIdle = ({ metadata, spec, status }: View<DeployItem>): boolean =>
  spec.updateOnChangeOnly === true &&
  status?.phase === 'Succeeded' &&
  status.observedGeneration === metadata.generation;

function goneItem(item: View<DeployItem>, path: string, isLeft: boolean): Candidate {
  const { metadata } = item;
  const name = metadata.labels?.[labels.executionName] ?? metadata.name;
  const notes = { ...metadata.annotations, [annotations.deleteWithoutUninstall]: TRUE };
  const left = isLeft ? { ...item, metadata: { ...metadata, annotations: notes } } : item;
  return { path: `${path}/${name}`, state: 'gone', item: left, direction: 'remove' };
}

/** The plan for the next job of a single deploy item. */
export const planDeployItem = (
  item: View<DeployItem>,
  world: World,
  ports: PlanPorts,
  isDeleted = isBeingDeleted(item.metadata),
): Promise<PlannedItem> => {
  const path = item.metadata.name;
  const state = isDeleted ? 'gone' : isIdle(item) ? 'idle' : 'same';
  return planOne({ path, state, item, direction: isDeleted ? 'remove' : 'apply' }, world, ports);
};

async function planOne(candidate: Candidate, world: World, ports: PlanPorts): Promise<PlannedItem> {
  const planned = await askDeployer(candidate, world, ports);
  return candidate.state === 'idle' ? skipped(planned) : planned;
}

/** An item that the job skips: the plan shows only what the job will not correct. */
function skipped({ plan, problem, note, ...about }: PlannedItem): PlannedItem {
  const objects = plan?.objects.filter(({ change }) => change !== 'unchanged' && change !== 'kept') ?? [];
  const why = problem ?? (plan ? undefined : note);
  return {
    ...about,
    plan: { objects: [], notes: [] },
    note: 'skipped: it has not changed',
    ...((objects.length > 0 || why !== undefined) && {
      drift: { objects, ...(why !== undefined && { problem: why }) },
    }),
  };
}

async function askDeployer(
  { path, state, item, direction }: Candidate,
  world: World,
  ports: PlanPorts,
): Promise<PlannedItem> {
  const { type, target: reference } = item.spec;
  const targetName = reference?.name;
  const namespace = item.metadata.namespace ?? '';
  const target = targetName === undefined ? undefined : world.targets.get(`${namespace}/${targetName}`);
  const shownTarget = target ? shownTargetName(target.metadata) : targetName;
  const about = { path, type, target: shownTarget, state };
  const plugin = ports.pluginOf(type);
  if (!plugin) {
    const note = `not known: items of type ${type} are not planned; name the module or the program of their deployer with --deployer`;
    return { ...about, plan: undefined, note };
  }
  if (!plugin.plan)
    return { ...about, plan: undefined, note: `not known: the deployer of type ${type} has no plans` };
  if (targetName !== undefined && !target)
    return { ...about, plan: undefined, problem: `there is no target ${namespace}/${targetName}` };
  const { log, signal } = ports;
  try {
    const plan = await planItem(
      { item, direction, target, isStrict: ports.strictTypes.has(type), log, signal },
      {
        ...ports,
        plugin,
        contexts: world.contexts,
        targets: world.targets,
        timeouts: standardTimeouts,
      },
    );
    if (plan) return { ...about, plan };
    return { ...about, plan, note: 'not known: its deployer cannot plan it' };
  } catch (error) {
    if (signal.aborted || !(error instanceof Error)) throw error;
    if (isPlanUnknown(error))
      return { ...about, plan: undefined, note: `not known: ${plainMessage(error.message)}` };
    return { ...about, plan: undefined, problem: plainMessage(error.message) };
  }
}

/** The plans for the items of an installation that is deleted. @param areLeft whether they are not uninstalled */
export const planDeletions = (
  items: readonly View<DeployItem>[],
  path: string,
  areLeft: boolean,
  world: World,
  ports: PlanPorts,
): Promise<readonly PlannedItem[]> =>
  inOrder(items, (item) => planOne(goneItem(item, path, areLeft), world, ports));

const inOrder = async <T, R>(all: readonly T[], work: (one: T) => Promise<R>): Promise<R[]> => {
  const results: R[] = [];
  for (const one of all) results.push(await work(one));
  return results;
};
