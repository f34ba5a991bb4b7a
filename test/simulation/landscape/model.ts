/** What the user wants: roots with children and items, the data passed between them, and the expected values. */

/** How the deployer of an item behaves until everything is healed. */
export type Behaviour = 'ok' | 'slow' | 'flaky' | 'fails' | 'hangs' | 'cannot-go';

export interface ItemModel {
  readonly name: string;
  /**
   * `script`: the real SDK with a scripted plugin. `mock`: the mock deployer. `nobody`: a deployer that starts late
   * or never.
   */
  readonly type: 'script' | 'mock' | 'nobody';
  behaviour: Behaviour;
  /** The number of reconciles that a slow or flaky one takes. */
  looks: number;
  dependsOn: string[];
  /** Whether it exports a value, which is part of the value that its installation exports. */
  gives: boolean;
  onlyOnChange: boolean;
  rev: number;
}

export interface NodeModel {
  readonly name: string;
  rev: number;
  items: ItemModel[];
  children: NodeModel[];
  /** Names of data imports: exports of siblings and imports of the parent, or for roots also the user's data. */
  takes: string[];
  /** Whether it exports `<name>out`. */
  gives: boolean;
  /** Whether it imports the target of the user, or its parent's import of it. */
  takesTarget: boolean;
  /** Whether it exports the target `<name>tgt`. */
  givesTarget: boolean;
  /** Names of targets of siblings, as one target map. */
  targetMap: string[];
  /** Counts the templates that had to be recreated under another name, because items without deployer must be removed. */
  annotations: Record<string, string>;
  automatic: object | undefined;
}

export const outOf = (name: string): string => `${name}out`;
export const targetOf = (name: string): string => `${name}tgt`;
/** The data object and the target that the user provides. */
export const USER_DATA = 'userdata';
export const USER_TARGET = 'usertgt';

export function* nodesOf(node: NodeModel): Generator<NodeModel> {
  yield node;
  for (const child of node.children) yield* nodesOf(child);
}

// ---------------------------------------------------------------- expected values

/** Values of data by name, as seen where they are imported. */
export type Values = ReadonlyMap<string, string>;

export const itemValue = (item: ItemModel, node: NodeModel, scope: Values): string =>
  `${item.name}:${item.rev}${importsText(node, scope)}`;

const importsText = (node: NodeModel, scope: Values): string =>
  `<${node.takes.map((name) => scope.get(name) ?? '?').join(',')}>`;

/** What a node exports, given the values in the scope that it imports from. */
export function nodeValue(node: NodeModel, scope: Values): string {
  const inner = scopeWithin(node, scope);
  const items = node.items.filter((item) => item.gives).map((item) => itemValue(item, node, scope));
  const children = node.children
    .filter((child) => child.gives)
    .map((child) => inner.get(outOf(child.name)) ?? '?');
  return `${node.name}:${node.rev}${importsText(node, scope)}[${[...items, ...children].join(';')}]`;
}

/** The scope that the children of a node import from. */
export function scopeWithin(node: NodeModel, scope: Values): Values {
  const inner = new Map(node.takes.map((name) => [name, scope.get(name) ?? '?']));
  for (const child of inOrder(node.children)) {
    if (child.gives) inner.set(outOf(child.name), nodeValue(child, inner));
  }
  return inner;
}

/** Exporters first. */
export function inOrder(nodes: readonly NodeModel[]): NodeModel[] {
  const result: NodeModel[] = [];
  const left = [...nodes];
  while (left.length > 0) {
    const wanted = new Set(left.filter((n) => n.gives).map((n) => outOf(n.name)));
    const at = left.findIndex((n) => n.takes.every((name) => !wanted.has(name) || name === outOf(n.name)));
    result.push(...left.splice(Math.max(at, 0), 1));
  }
  return result;
}
