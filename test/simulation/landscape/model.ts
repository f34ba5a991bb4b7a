/** What the user wants: roots with children and items, who hands data to whom, and the values that must come out. */

/** How the deployer of an item behaves until everything is healed. */
export type Behaviour = 'ok' | 'slow' | 'flaky' | 'fails' | 'hangs' | 'cannot-go';

export interface ItemModel {
  readonly name: string;
  /** `script`: the real SDK with a scripted plugin. `mock`: the mock deployer. `nobody`: served late or never. */
  readonly type: 'script' | 'mock' | 'nobody';
  behaviour: Behaviour;
  /** How many looks a slow or flaky one takes. */
  looks: number;
  dependsOn: string[];
  /** Whether it exports a value, which goes into the one its installation exports. */
  gives: boolean;
  onlyOnChange: boolean;
  rev: number;
}

export interface NodeModel {
  readonly name: string;
  rev: number;
  items: ItemModel[];
  children: NodeModel[];
  /** Names of data imports: what siblings, the parent, or for roots also the user provides. */
  takes: string[];
  /** Whether it exports `<name>out`. */
  gives: boolean;
  /** Whether it takes the target that the user provides, or its parent took. */
  takesTarget: boolean;
  /** Whether it exports the target `<name>tgt`. */
  givesTarget: boolean;
  /** Names of targets of siblings, as one target map. */
  targetMap: string[];
  /** Counts the templates that had to be made under another name, because items of a type that nobody serves must go. */
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

// ---------------------------------------------------------------- what must come out

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

/** Givers first. */
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
