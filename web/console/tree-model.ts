/** The visible rows of a tree, from its parts in any order. Pure. */
import type { Part } from '../../src/cli/console/wire.ts';
import { indexAfter } from './keys.ts';

export interface TreeRow {
  readonly part: Part;
  /** 1 for the root. */
  readonly level: number;
  /** Position among the visible siblings, from 1, and their number. */
  readonly position: number;
  readonly siblings: number;
  readonly hasChildren: boolean;
  readonly isOpen: boolean;
}

interface TreeOptions {
  /** Ids of parts whose state differs from the default. */
  readonly toggled: ReadonlySet<string>;
  /** Only parts that are not ready, and those above them. */
  readonly onlyOpen: boolean;
}

/** Objects on targets are hidden at first if there are more parts than this. */
const MANY = 200;

export function treeRows(
  parts: ReadonlyMap<string, Part>,
  { toggled, onlyOpen }: TreeOptions,
): readonly TreeRow[] {
  const children = childrenIn(onlyOpen ? withoutReady(parts) : parts);
  const rows: TreeRow[] = [];
  const visit = (siblings: readonly Part[], level: number): void => {
    siblings.forEach((part, i) => {
      const below = children.get(part.id) ?? [];
      const isOpen = below.length > 0 && isOpenByDefault(part, parts.size) !== toggled.has(part.id);
      rows.push({
        part,
        level,
        position: i + 1,
        siblings: siblings.length,
        hasChildren: below.length > 0,
        isOpen,
      });
      if (isOpen) visit(below, level + 1);
    });
  };
  visit(children.get('') ?? [], 1);
  return rows;
}

const isOpenByDefault = ({ kind }: Part, count: number): boolean => kind !== 'DeployItem' || count <= MANY;

function childrenIn(parts: ReadonlyMap<string, Part>): ReadonlyMap<string, readonly Part[]> {
  const children = new Map<string, Part[]>();
  for (const part of parts.values()) {
    const siblings = children.get(part.parent);
    if (siblings) siblings.push(part);
    else children.set(part.parent, [part]);
  }
  for (const siblings of children.values()) siblings.sort((a, b) => a.at - b.at);
  return children;
}

function withoutReady(parts: ReadonlyMap<string, Part>): ReadonlyMap<string, Part> {
  const kept = new Map<string, Part>();
  for (const part of parts.values()) {
    const isReady = part.condition === undefined || (part.condition === 'succeeded' && !part.why);
    if (isReady) continue;
    for (let each: Part | undefined = part; each && !kept.has(each.id); each = parts.get(each.parent))
      kept.set(each.id, each);
  }
  return kept;
}

/** The effect of a key: the part to select, or to open or close. Empty for keys that trees do not use. */
export function afterKey(
  key: string,
  rows: readonly TreeRow[],
  active: number,
): { readonly select?: string | undefined; readonly open?: string } {
  const next = indexAfter(key, active, rows.length);
  if (next !== undefined) return { select: rows[next]?.part.id };
  const row = rows[active];
  if (!row) return {};
  if (key === 'ArrowRight' && row.hasChildren)
    return row.isOpen ? { select: rows[active + 1]?.part.id } : { open: row.part.id };
  if (key === 'ArrowLeft' && row.isOpen) return { open: row.part.id };
  if (key === 'ArrowLeft' && row.part.parent !== '') return { select: row.part.parent };
  return {};
}
