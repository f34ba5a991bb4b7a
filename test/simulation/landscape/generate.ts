/** Generates random landscapes, and changes of them. */
import { annotations } from '../../../src/api/labels.ts';
import type { Chance } from '../../../src/testing/engine/chance.ts';
import {
  USER_DATA,
  nodesOf,
  outOf,
  targetOf,
  type Behaviour,
  type ItemModel,
  type NodeModel,
} from './model.ts';

const MAX_DEPTH = 2;

const behaviours: Readonly<Record<Behaviour, number>> = {
  ok: 10,
  slow: 5,
  flaky: 2,
  fails: 1,
  hangs: 0.4,
  'cannot-go': 0.4,
};

export function drawRoots(chance: Chance): NodeModel[] {
  const roots: NodeModel[] = [];
  for (const name of ['r1', 'r2', 'r3', 'r4'].slice(0, chance.between(1, chance.pick([1, 2, 2, 4])))) {
    roots.push(drawNode(name, 0, givers(roots), targets(roots), chance));
  }
  // A cycle of roots: the first imports from the last.
  const last = roots.at(-1);
  if (roots.length > 1 && last?.gives && chance.happens(0.05)) roots[0]!.takes.push(outOf(last.name));
  return roots;
}

const givers = (nodes: readonly NodeModel[]): string[] =>
  nodes.filter((n) => n.gives).map((n) => outOf(n.name));
const targets = (nodes: readonly NodeModel[]): string[] =>
  nodes.filter((n) => n.givesTarget).map((n) => targetOf(n.name));

/** @param offered data that it can import @param maps targets that it can import */
export function drawNode(
  name: string,
  depth: number,
  offered: readonly string[],
  maps: readonly string[],
  chance: Chance,
): NodeModel {
  const node: NodeModel = {
    name,
    rev: 1,
    items: [],
    children: [],
    takes: chance.some(depth === 0 ? [...offered, USER_DATA] : offered, 0.5),
    gives: chance.happens(0.6),
    takesTarget: depth === 0 && chance.happens(0.2),
    givesTarget: chance.happens(0.15),
    targetMap: chance.some(maps, 0.5),
    annotations: {},
    automatic: undefined,
  };
  if (depth === 0 && chance.happens(0.15)) node.annotations[annotations.reconcileIfChanged] = 'true';
  if (depth === 0 && chance.happens(0.1))
    node.automatic = { failedReconcile: { numberOfReconciles: 2, interval: '40s' } };
  for (const item of ['i1', 'i2', 'i3'].slice(0, chance.between(0, 3))) addItem(node, item, chance);
  const count = depth >= MAX_DEPTH ? 0 : chance.between(0, depth === 0 ? chance.pick([1, 2, 3]) : 1);
  for (let i = 0; i < count; i++) addChild(node, depth, chance);
  return node;
}

export function addItem(node: NodeModel, name: string, chance: Chance): void {
  const type = chance.weighted({ script: 8, mock: 2, nobody: 0.15 });
  const item: ItemModel = {
    name: type === 'script' ? name : `${type}${name}`,
    type,
    behaviour: chance.weighted(behaviours),
    looks: chance.between(1, 3),
    dependsOn: chance.some(
      node.items.map((other) => other.name),
      0.35,
    ),
    gives: type !== 'nobody' && chance.happens(0.4),
    onlyOnChange: chance.happens(0.1),
    rev: 1,
  };
  if (!node.items.some((other) => other.name === item.name)) node.items.push(item);
}

export function addChild(node: NodeModel, depth: number, chance: Chance): void {
  const letter = ['a', 'b', 'c', 'd'].find((each) => !node.children.some((c) => c.name === node.name + each));
  if (letter === undefined) return;
  const offered = [...node.takes, ...givers(node.children)];
  const child = drawNode(node.name + letter, depth + 1, offered, targets(node.children), chance);
  child.takesTarget = node.takesTarget && chance.happens(0.7);
  node.children.push(child);
}

/** Changes a root or anything below it. @returns the change, for the trace */
export function mutate(root: NodeModel, chance: Chance): string {
  const node = chance.pick([...nodesOf(root)]);
  const depth = node.name.length - root.name.length;
  const what = chance.weighted({
    rev: 4,
    item: 3,
    addItem: 2,
    dropItem: 2,
    addChild: 1.5,
    dropChild: 1.5,
    wiring: 1,
  });
  switch (what) {
    case 'rev':
      break;
    case 'item': {
      if (node.items.length === 0) break;
      const item = chance.pick(node.items);
      item.rev++;
      item.behaviour = chance.weighted(behaviours);
      return `${node.name}: item ${item.name} becomes ${item.behaviour}`;
    }
    case 'addItem': {
      const name = `i${chance.between(1, 5)}`;
      addItem(node, name, chance);
      return `${node.name}: item ${name} is added`;
    }
    case 'dropItem': {
      if (node.items.length === 0) break;
      const { name } = chance.pick(node.items);
      dropItem(node, name);
      return `${node.name}: item ${name} is taken away`;
    }
    case 'addChild':
      if (depth >= MAX_DEPTH) break;
      addChild(node, depth, chance);
      return `${node.name}: a child is added`;
    case 'dropChild': {
      if (node.children.length === 0) break;
      const { name } = chance.pick(node.children);
      dropChild(node, name);
      return `${node.name}: child ${name} is taken away`;
    }
    case 'wiring':
      if (node.takes.length === 0 || node.children.length > 0) break;
      node.takes.splice(chance.between(0, node.takes.length - 1), 1);
      return `${node.name}: imports less`;
  }
  node.rev++;
  return `${node.name}: revision ${node.rev}`;
}

export function dropItem(node: NodeModel, name: string): void {
  node.items = node.items.filter((item) => item.name !== name);
  for (const item of node.items) item.dependsOn = item.dependsOn.filter((other) => other !== name);
}

function dropChild(node: NodeModel, name: string): void {
  node.children = node.children.filter((child) => child.name !== name);
  for (const child of node.children) {
    child.takes = child.takes.filter((other) => other !== outOf(name));
    child.targetMap = child.targetMap.filter((other) => other !== targetOf(name));
    cutOff(child);
  }
}

/** The children of a node cannot import what the node no longer imports. */
function cutOff(node: NodeModel): void {
  for (const child of node.children) {
    const offered = new Set([...node.takes, ...givers(node.children)]);
    child.takes = child.takes.filter((name) => offered.has(name));
    cutOff(child);
  }
}

/** Removes everything that cannot succeed: failing items, items without deployer, cycles, missing imports. */
export function heal(roots: readonly NodeModel[]): void {
  const before = new Set<string>([USER_DATA]);
  const mapsBefore = new Set<string>();
  for (const root of roots) {
    root.takes = root.takes.filter((name) => before.has(name));
    root.targetMap = root.targetMap.filter((name) => mapsBefore.has(name));
    cutOff(root);
    if (root.gives) before.add(outOf(root.name));
    if (root.givesTarget) mapsBefore.add(targetOf(root.name));
    for (const node of nodesOf(root)) {
      for (const { name } of node.items.filter((item) => item.type === 'nobody')) dropItem(node, name);
      for (const item of node.items) item.behaviour = 'ok';
    }
  }
}
