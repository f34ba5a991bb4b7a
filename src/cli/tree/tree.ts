/**
 * Builds trees from collected objects: installations with their sub-installations, execution and deploy items.
 * Pure.
 */
import { conditionTypes } from '../../api/conditions.ts';
import { isFinalPhase, isFinished, parentInstallation } from '../../api/job.ts';
import type { DeployItem } from '../../api/kinds/deployitem.ts';
import type { Execution } from '../../api/kinds/execution.ts';
import type { Installation } from '../../api/kinds/installation.ts';
import { annotations, labels } from '../../api/labels.ts';
import { concernsPredecessor } from '../../api/predecessors.ts';
import { importedNames } from '../../api/data-names.ts';
import { exportersByName } from '../../blueprint/dependencies.ts';
import { siblingOf } from '../../dataflow/siblings.ts';
import type { View } from '../../lib/objects.ts';
import type { Obstacle } from '../../machine/decision.ts';
import { joinKey, keyOf } from '../../runtime/keys.ts';
import type { Collected } from './collect.ts';
import { isRetrying, isWait, marksOf, messageOf, obstacleOf } from './messages.ts';

export type TreeObject = View<Installation> | View<Execution> | View<DeployItem>;

/** The state of a node in one word; determines symbol and colour. */
export type Condition = 'succeeded' | 'failed' | 'running' | 'waiting';

export interface Node {
  readonly kind: 'Installation' | 'Execution' | 'DeployItem';
  /** Name of the object. */
  readonly name: string;
  readonly namespace: string;
  /** Name in the blueprint; an execution has the name of its installation, a root its object name. */
  readonly title: string;
  /** From the status; empty before the first job. */
  readonly phase: string;
  readonly condition: Condition;
  /** Whether the object has not received the job of its root yet. */
  readonly isOutdated: boolean;
  /** Additional states: outdated, drifted since the job, suspended. */
  readonly marks: readonly string[];
  /** The error, or the objects that it waits for, from the status. */
  readonly message: string | undefined;
  /** Lines about mistakes that do not fail the job, such as unknown fields. */
  readonly warnings: readonly string[];
  /** Whether the message is about waiting, not about a failure. */
  readonly isWait: boolean;
  /** What holds up the job of the object, or of an object below. */
  readonly obstacle: Obstacle | undefined;
  /** Whether the running job retries an error of this object. */
  readonly isRetrying: boolean;
  /** Titles of siblings that it waits for, or that made it fail. */
  readonly blockedBy: readonly string[];
  /** Start and end of the job, in milliseconds since 1970. */
  readonly startedAt: number | undefined;
  readonly endedAt: number | undefined;
  readonly object: TreeObject;
  readonly children: readonly Node[];
}

/** Trees of all roots, by namespace and name; or the one tree of the installation `name`. */
export function treesOf(collected: Collected, name?: string): Node[] {
  const index = indexOf(collected);
  const tops =
    name === undefined
      ? collected.installations.filter((i) => isTop(i, index))
      : collected.installations.filter((i) => i.metadata.name === name);
  return [...tops].sort(byPlace).map((top) => installationNode(top, topOf(top, index), index));
}

/** Deploy items without an owner, each as a tree of its own. */
export const itemTrees = ({ deployItems }: Pick<Collected, 'deployItems'>): Node[] =>
  [...deployItems].sort(byPlace).map((item) => node(item, 'DeployItem', topOf(item), undefined, []));

interface Top {
  /** Name of the root installation; the tree may begin below it. */
  readonly root: string;
  /** The job of the object at the top of the tree. */
  readonly job: string | undefined;
}

export function topOf({ metadata, status }: TreeObject, index?: Index): Top {
  const seen = new Set<string>();
  let root = metadata.name;
  let parent = parentInstallation(metadata);
  while (index && parent !== undefined && !seen.has(parent)) {
    seen.add(parent);
    root = parent;
    const above = index.installations.get(joinKey(metadata.namespace, parent));
    parent = above && parentInstallation(above.metadata);
  }
  return { root, job: status?.jobID };
}

/** Objects by key, and by the key of their owner. */
export interface Index {
  readonly installations: ReadonlyMap<string, View<Installation>>;
  readonly subInstallations: ReadonlyMap<string, readonly View<Installation>[]>;
  readonly executions: ReadonlyMap<string, View<Execution>>;
  readonly deployItems: ReadonlyMap<string, readonly View<DeployItem>[]>;
}

export function indexOf({ installations, executions, deployItems }: Collected): Index {
  return {
    installations: new Map(installations.map((i) => [keyOf(i), i])),
    subInstallations: grouped(installations, (i) => parentInstallation(i.metadata)),
    executions: new Map(executions.map((e) => [keyOf(e), e])),
    deployItems: grouped(deployItems, (item) => item.metadata.labels?.[labels.executionManagedBy]),
  };
}

/** Grouped by namespace and name of the owner. */
function grouped<T extends TreeObject>(
  objects: readonly T[],
  ownerOf: (object: T) => string | undefined,
): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const object of objects) {
    const owner = ownerOf(object);
    if (owner === undefined) continue;
    const key = joinKey(object.metadata.namespace, owner);
    const group = groups.get(key);
    if (group) group.push(object);
    else groups.set(key, [object]);
  }
  return groups;
}

/** A sub-installation without an existing parent is shown at the top, otherwise it would be invisible. */
export function isTop(installation: View<Installation>, index: Index): boolean {
  const parent = parentInstallation(installation.metadata);
  return parent === undefined || !index.installations.has(joinKey(installation.metadata.namespace, parent));
}

// ---------------------------------------------------------------- nodes

export function installationNode(self: View<Installation>, top: Top, index: Index): Node {
  const key = keyOf(self);
  const order = (self.status?.subInstCache?.activeSubs ?? []).map(({ objectName }) => objectName);
  const subs = inOrder(index.subInstallations.get(key) ?? [], order);
  const execution = executionOf(self, index);
  const title = titleOf(self);
  return node(self, 'Installation', top, title, [
    ...withPredecessors(subs, top, index),
    ...(execution ? [executionNode(execution, title, top, index)] : []),
  ]);
}

export const executionOf = (self: View<Installation>, index: Index): View<Execution> | undefined =>
  index.executions.get(
    joinKey(self.metadata.namespace, self.status?.executionRef?.name || self.metadata.name),
  );

/** The name of an installation in the blueprint of its parent; of a root, its own. */
export const titleOf = ({ metadata }: View<Installation>): string =>
  metadata.annotations?.[annotations.subinstallationName] ?? metadata.name;

/** Titles in `blockedBy`; any number of siblings can export a name. */
const MAX_BLOCKED_BY = 100;

/** The nodes of sub-installations, each with the titles of the siblings that it waits for or that made it fail. */
function withPredecessors(subs: readonly View<Installation>[], top: Top, index: Index): readonly Node[] {
  const nodes = subs.map((sub) => ({ sub, node: installationNode(sub, top, index) }));
  const unfinished = nodes.filter(({ node }) => node.condition !== 'succeeded');
  const titles = new Map(unfinished.map(({ node: { name, title } }) => [name, title]));
  const exporters = exportersByName(unfinished.map(({ sub }) => siblingOf(sub)));
  const blockedBy = ({ metadata, spec }: View<Installation>): string[] => {
    const found = new Set<string>();
    for (const id of importedNames(spec)) {
      for (const name of exporters.get(id) ?? []) {
        if (found.size === MAX_BLOCKED_BY) break;
        if (name !== metadata.name) found.add(name);
      }
    }
    return [...found].map((name) => titles.get(name) ?? name);
  };
  return nodes.map(({ sub, node }) =>
    node.condition === 'succeeded' || !concernsPredecessor(sub.status?.lastError)
      ? node
      : { ...node, blockedBy: blockedBy(sub) },
  );
}

function executionNode(self: View<Execution>, title: string, top: Top, index: Index): Node {
  const order = (self.status?.deployItemCache?.activeDIs ?? []).map(({ objectName }) => objectName);
  const items = inOrder(index.deployItems.get(keyOf(self)) ?? [], order);
  return node(
    self,
    'Execution',
    top,
    title,
    items.map((item) => node(item, 'DeployItem', top, item.metadata.labels?.[labels.executionName], [])),
  );
}

function node(
  object: TreeObject,
  kind: Node['kind'],
  top: Top,
  title: string | undefined,
  children: readonly Node[],
): Node {
  const { metadata, status } = object;
  const times = status?.transitionTimes;
  const isRunning = !isFinished(object);
  const isOutdated = (status?.jobID ?? '') !== (top.job ?? '');
  const obstacle = obstacleOf(
    object,
    children.map((child) => child.obstacle),
  );
  const facts = { object, root: top.root, obstacle };
  return {
    kind,
    name: metadata.name,
    namespace: metadata.namespace ?? '',
    title: title ?? metadata.name,
    phase: status?.phase ?? '',
    condition: conditionOf(object),
    isOutdated,
    marks: marksOf(object, isOutdated),
    message: messageOf(facts),
    warnings: warningsOf(status),
    isWait: isWait(facts),
    obstacle,
    isRetrying: isRetrying(object),
    blockedBy: [],
    startedAt: timeOf(times?.triggerTime ?? times?.initTime),
    endedAt: isRunning ? undefined : timeOf(times?.finishedTime),
    object,
    children,
  };
}

/** The conditions of Espalier that report such mistakes. */
const warningTypes: readonly string[] = [
  conditionTypes.ValidateBlueprint,
  conditionTypes.ValidateConfiguration,
];

const warningsOf = (status: TreeObject['status']): readonly string[] =>
  (status?.conditions ?? [])
    .filter(({ type, status }) => warningTypes.includes(type) && status === 'False')
    .flatMap(({ message }) => message.split('\n'));

function conditionOf(object: TreeObject): Condition {
  if (!isFinished(object)) return object.status?.phase ? 'running' : 'waiting';
  const phase = object.status?.phase;
  if (!isFinalPhase(phase)) return 'waiting';
  return phase === 'Succeeded' ? 'succeeded' : 'failed';
}

const timeOf = (text: string | undefined): number | undefined => {
  const time = text === undefined ? NaN : Date.parse(text);
  return Number.isNaN(time) ? undefined : time;
};

// ---------------------------------------------------------------- filters

/** Only nodes that failed or retry an error, and their ancestors. */
export const failedOnly = (nodes: readonly Node[]): Node[] =>
  nodes.flatMap((each) => {
    const children = failedOnly(each.children);
    const isShown = children.length > 0 || each.condition === 'failed' || each.isRetrying;
    return isShown ? [{ ...each, children }] : [];
  });

/** Failed nodes that no failed child or sibling explains: the root causes. */
export function rootCauses(node: Node): Node[] {
  const below = node.children.flatMap(rootCauses);
  const isExplained = below.length > 0 || node.blockedBy.length > 0;
  return isExplained || node.condition !== 'failed' ? below : [node];
}

export const someNode = (nodes: readonly Node[], test: (node: Node) => boolean): boolean =>
  nodes.some((each) => test(each) || someNode(each.children, test));

// ---------------------------------------------------------------- order

const byPlace = (a: TreeObject, b: TreeObject): number => compare(keyOf(a), keyOf(b));
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** In the order of the parent's status, which is the order of the blueprint; others follow, sorted by name. */
function inOrder<T extends TreeObject>(objects: readonly T[], order: readonly string[]): readonly T[] {
  const places = new Map(order.map((name, at) => [name, at]));
  const rank = (object: T): number => places.get(object.metadata.name) ?? order.length;
  return [...objects].sort((a, b) => rank(a) - rank(b) || byPlace(a, b));
}
