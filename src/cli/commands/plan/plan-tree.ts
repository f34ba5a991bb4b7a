/**
 * Walks through a tree as its next job would: renders each installation with its current imports, and asks the
 * deployers for the plans of their items. Parts that depend on future values are reported as unknown.
 */
import type { FindComponent } from '../../../../controllers/installation/gather/component.ts';
import { gather } from '../../../../controllers/installation/gather/index.ts';
import {
  childrenOf,
  executionOf,
  ownExecution,
  type Inst,
} from '../../../../controllers/installation/related-objects.ts';
import { partitionChildren, templateNameOf } from '../../../../controllers/installation/children.ts';
import { executionObject } from '../../../../controllers/installation/execution.ts';
import { checkImports } from '../../../../controllers/installation/import-conflicts.ts';
import { executionBeingDeleted, prerequisites } from '../../../../controllers/installation/phases/init.ts';
import type { Snapshot } from '../../../../controllers/installation/snapshot.ts';
import { assign, isUnusedDuplicate } from '../../../../controllers/execution/classify.ts';
import { managedItems } from '../../../../controllers/execution/gather.ts';
import { itemObject, updateItem, type ItemParent } from '../../../../controllers/execution/items.ts';
import { planItem } from '../../../../deployers/sdk/plan.ts';
import type { DeployerPlugin } from '../../../../deployers/sdk/deployer.ts';
import type { Direction, ItemPlan, TargetReader } from '../../../../deployers/sdk/index.ts';
import { standardTimeouts } from '../../../../deployers/sdk/timeout.ts';
import { hasAnnotation, isBeingDeleted } from '../../../api/job.ts';
import type { InstallationLimits } from '../../../api/limits.ts';
import type { DeployItem } from '../../../api/kinds/deployitem.ts';
import type { DeployItemTemplate, Execution } from '../../../api/kinds/execution.ts';
import type { Target } from '../../../api/kinds/target.ts';
import { annotations, labels, TRUE } from '../../../api/labels.ts';
import type { RunnerOf } from '../../../blueprint/work.ts';
import { secretValues } from '../../../blueprint/secrets.ts';
import type { WrittenObject } from '../../../dataflow/objects.ts';
import type { WantedChild } from '../../../dataflow/render-installation.ts';
import { timestamp, type Clock } from '../../../lib/clock.ts';
import { append } from '../../../lib/lists.ts';
import type { Rng } from '../../../lib/rng.ts';
import { PhaseError, type Problem } from '../../../machine/decision.ts';
import { firstDecision, gatherOnce, type Get, type Step } from '../../../machine/phase.ts';
import type { TreeSizes } from '../../../landscape/tree-size.ts';
import type { World } from '../../../landscape/world.ts';
import type { Logger } from '../../../observability/log.ts';
import type { ClientPool } from '../../../runtime/transport/client-pool.ts';
import type { Client, View } from '../../../runtime/types.ts';
import { plainMessage } from '../../tree/print.ts';
import type { TreeBudget } from '../../tree/budget.ts';
import { withObjects } from './current-objects.ts';

export interface PlanPorts {
  /** Must not write. */
  readonly client: Client;
  /** Clients for clusters that issue kubeconfigs; such a request stores nothing. */
  readonly sources: ClientPool;
  readonly runnerOf: RunnerOf;
  readonly findComponent: FindComponent;
  readonly plugins: ReadonlyMap<string, DeployerPlugin>;
  readonly reader: TargetReader;
  /** Deploy items whose status lists the object with this uid. */
  readonly managersOf: (uid: string) => readonly View<DeployItem>[];
  readonly clock: Clock;
  readonly rng: Rng;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** The limits for the plan; the requested installation counts as the root. */
  readonly budget: TreeBudget;
  readonly limits: InstallationLimits;
  /** Collects secret values. */
  readonly secrets: unknown[];
}

/** `new`: the job creates the item; `gone`: the job deletes it; `idle`: its deployer skips the unchanged item. */
type ItemState = 'new' | 'changed' | 'same' | 'gone' | 'idle';

export interface PlannedItem {
  /** Names of the installations from the root, and of the item in its blueprint, separated by `/`. */
  readonly path: string;
  readonly type: string;
  readonly target: string | undefined;
  readonly state: ItemState;
  /** undefined if there is no plan; `problem` or `note` say why. */
  readonly plan: ItemPlan | undefined;
  readonly problem?: string;
  readonly note?: string;
}

export interface PlannedTree {
  readonly items: readonly PlannedItem[];
  /** Installations without a plan, because it is unknown or the job would fail. */
  readonly problems: readonly {
    readonly path: string;
    readonly message: string;
    readonly isUnknown: boolean;
  }[];
}

const PLANNED_JOB = 'planned';

const join = (trees: readonly PlannedTree[]): PlannedTree => ({
  items: trees.flatMap(({ items }) => items),
  problems: trees.flatMap(({ problems }) => problems),
});

/** The plan for the next job of an installation. @param isDeleted whether the installation is to be deleted */
export async function planInstallation(
  self: Inst,
  path: string,
  world: World,
  ports: PlanPorts,
  isDeleted = isBeingDeleted(self.metadata),
): Promise<PlannedTree> {
  if (isDeleted) return planDeletion(self, path, world, ports);
  const tooDeep = ports.budget.checkDepth(path.split('/').length);
  if (tooDeep !== undefined) return failed(path, new Error(tooDeep));
  // The error was reported where the limit was exceeded.
  if (ports.budget.isSpent) return join([]);
  const get = gatherOnce(gather({ ...ports, world, trees })(self, timestamp(ports.clock)));
  try {
    const refused = await problemAt(prerequisites, get);
    if (refused) return failed(path, refused);
    const { imports, missing } = await get('imports');
    if (missing.length > 0) {
      const names = missing.map(({ import: name }) => name).join(', ');
      const message = `not known: imports that do not exist yet: ${names}`;
      return { items: [], problems: [{ path, message, isUnknown: true }] };
    }
    // An existing execution of that name has another owner, since the installation does not exist yet.
    const going =
      self.status?.jobID === PLANNED_JOB ? undefined : await problemAt([executionBeingDeleted], get);
    if (going) return failed(path, going);
    append(ports.secrets, secretValues(imports));
    const rendered = await get('rendered');
    append(
      ports.secrets,
      rendered.importObjects.filter(isTarget).map(({ spec }) => spec.config),
    );
    // A job that fails at this point starts nothing below.
    const { children, items } = rendered;
    const { refusal } = checkImports({
      self,
      rendered,
      children: await get('children'),
      importUpserts: await get('importUpserts'),
    });
    if (refusal) return failed(path, refusal);
    if (children instanceof PhaseError) return failed(path, children);
    const tooMany = ports.budget.count(items instanceof PhaseError ? 0 : items.length);
    if (tooMany !== undefined) return failed(path, new Error(tooMany));
    if (items instanceof PhaseError) return failed(path, items);
    const inside = withObjects(world, rendered.importObjects);
    return join([
      await planItems(self, items, path, inside, ports),
      await planChildren(self, children, path, inside, ports),
    ]);
  } catch (error) {
    if (ports.signal.aborted || !(error instanceof PhaseError)) throw error;
    return failed(path, error);
  }
}

/** Why the job would end in one of these steps. */
async function problemAt(steps: readonly Step<Snapshot>[], get: Get<Snapshot>): Promise<Problem | undefined> {
  const answer = await firstDecision(steps, get, ['self', 'now']);
  return answer?.do === 'fail' || answer?.do === 'retry' ? answer.problem : undefined;
}

const trees: TreeSizes = {
  reserve() {
    throw new Error('a plan reserves no objects');
  },
};

const isTarget = (one: WrittenObject): one is Target => one.kind === 'Target';

const failed = (path: string, { message }: { readonly message: string }): PlannedTree => ({
  items: [],
  problems: [{ path, message: plainMessage(message), isUnknown: false }],
});

// ---------------------------------------------------------------- sub-installations

async function planChildren(
  self: Inst,
  wanted: readonly WantedChild[],
  path: string,
  world: World,
  ports: PlanPorts,
): Promise<PlannedTree> {
  const { living, orphans } = partitionChildren(self, wanted, childrenOf(world, self));
  const trees: PlannedTree[] = [];
  for (const { name, object } of wanted) {
    const child = asPlanned(object, name, living.get(name));
    trees.push(await planInstallation(child, `${path}/${name}`, world, ports, false));
  }
  for (const orphan of orphans) {
    trees.push(
      await planDeletion(orphan, `${path}/${templateNameOf(orphan) ?? orphan.metadata.name}`, world, ports),
    );
  }
  return join(trees);
}

/** The existing child with the spec that its parent would write. */
function asPlanned(wanted: WantedChild['object'], name: string, existing: Inst | undefined): Inst {
  if (existing) return { ...existing, spec: wanted.spec };
  const status = { observedGeneration: 0, jobID: PLANNED_JOB };
  return { ...wanted, metadata: { ...wanted.metadata, name, uid: `${PLANNED_JOB}/${name}` }, status };
}

/**
 * The plan for the deletion of everything below. @param skipsUninstall whether the parent is deleted without an
 * uninstall; children inherit this
 */
async function planDeletion(
  self: Inst,
  path: string,
  world: World,
  ports: PlanPorts,
  skipsUninstall = false,
): Promise<PlannedTree> {
  const isLeft = skipsUninstall || hasAnnotation(self.metadata, annotations.deleteWithoutUninstall);
  const [execution] = ownExecution({ self, execution: executionOf(world, self) });
  const items = execution ? managedItems(world, execution) : [];
  const areLeft =
    isLeft ||
    (execution !== undefined && hasAnnotation(execution.metadata, annotations.deleteWithoutUninstall));
  const trees = [
    {
      items: await inOrder(items, (item) => planOne(goneItem(item, path, areLeft), world, ports)),
      problems: [],
    },
  ] as PlannedTree[];
  for (const child of childrenOf(world, self)) {
    const below = `${path}/${templateNameOf(child) ?? child.metadata.name}`;
    trees.push(await planDeletion(child, below, world, ports, isLeft));
  }
  return join(trees);
}

const inOrder = async <T, R>(all: readonly T[], work: (one: T) => Promise<R>): Promise<R[]> => {
  const results: R[] = [];
  for (const one of all) results.push(await work(one));
  return results;
};

// ---------------------------------------------------------------- items

interface Candidate {
  readonly path: string;
  readonly state: ItemState;
  readonly item: View<DeployItem>;
  readonly direction: Direction;
}

async function planItems(
  self: Inst,
  templates: readonly DeployItemTemplate[],
  path: string,
  world: World,
  ports: PlanPorts,
): Promise<PlannedTree> {
  const [found] = ownExecution({ self, execution: executionOf(world, self) });
  const wanted = executionObject(self);
  const execution: View<Execution> = found ? { ...found, spec: wanted.spec } : wanted;
  const author = { self: execution, now: timestamp(ports.clock), clusterNames: new Map<string, string>() };
  const { active, orphans } = assign(execution, templates, found ? managedItems(world, found) : []);
  const candidates = [
    ...templates.map((template) => candidateOf(template, active.get(template.name), author, path)),
    ...orphans.map((item) => goneItem(item, path, isUnusedDuplicate(item, active))),
  ];
  return { items: await inOrder(candidates, (one) => planOne(one, world, ports)), problems: [] };
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

async function planOne(
  { path, state, item, direction }: Candidate,
  world: World,
  ports: PlanPorts,
): Promise<PlannedItem> {
  const { type, target: reference } = item.spec;
  const targetName = reference?.name;
  const namespace = item.metadata.namespace ?? '';
  const target = targetName === undefined ? undefined : world.targets.get(`${namespace}/${targetName}`);
  // A copy of an imported target has a hash as its name, so its import name is shown.
  const shownTarget = target?.metadata.labels?.[labels.dataKey] ?? targetName;
  const about = { path, type, target: shownTarget, state };
  if (state === 'idle')
    return { ...about, plan: { objects: [], notes: [] }, note: 'skipped: it has not changed' };
  const plugin = ports.plugins.get(type);
  if (!plugin?.plan)
    return { ...about, plan: undefined, note: `not known: items of type ${type} are not planned` };
  if (targetName !== undefined && !target)
    return { ...about, plan: undefined, problem: `there is no target ${namespace}/${targetName}` };
  const { log, signal } = ports;
  try {
    const plan = await planItem(
      { item, direction, target, log, signal },
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
    return { ...about, plan: undefined, problem: plainMessage(error.message) };
  }
}
