/** Parts of a plan, in groups, and their words. Pure. */
import type { Plan, PlannedItem, PlannedObject } from '../../src/cli/console/wire.ts';
import { counted } from './format.ts';

interface PlanGroups {
  /** Deploy items that the next job would create, change or delete. */
  readonly changed: readonly PlannedItem[];
  /** Deploy items that stay the same, of whose objects some differ on the target. */
  readonly drifted: readonly PlannedItem[];
  /** Deploy items that the next job skips, although objects differ: with these objects. */
  readonly skipped: readonly PlannedItem[];
  readonly unchanged: readonly PlannedItem[];
}

export function groupsOf({ items }: Plan): PlanGroups {
  const groups: Record<keyof PlanGroups, PlannedItem[]> = {
    changed: [],
    drifted: [],
    skipped: [],
    unchanged: [],
  };
  for (const { drift, ...item } of items)
    if (drift) groups.skipped.push({ ...item, ...drift });
    else groups[groupOf(item)].push(item);
  return groups;
}

function groupOf({ state, isKnown, problem, objects, notes }: PlannedItem): keyof PlanGroups {
  if (state === 'new' || state === 'changed' || state === 'gone') return 'changed';
  const isQuiet = problem === undefined && isKnown && notes.length === 0;
  return isQuiet && objects.every(isUnchanged) ? 'unchanged' : 'drifted';
}

export const isUnchanged = ({ change, problem }: PlannedObject): boolean =>
  problem === undefined && (change === 'unchanged' || change === 'kept');

/** `1 to create, 2 to change, 1 differs and stays, 3 objects unchanged` */
export function summaryWords({ summary, items }: Plan): string {
  const { create, change, delete: gone, unchanged, kept, unknown, problems } = summary;
  const parts = [
    [create, 'to create'],
    [change, 'to change'],
    [gone, 'to delete'],
    [unknown, 'not known'],
    [problems, 'would fail'],
  ] as const;
  const shown = parts.filter(([count]) => count > 0).map(([count, words]) => `${count} ${words}`);
  const staying = items.reduce((sum, { drift }) => sum + (drift?.objects.length ?? 0), 0);
  return [
    ...(shown.length > 0 ? shown : ['nothing to change']),
    ...(staying > 0 ? [`${staying} ${staying === 1 ? 'differs and stays' : 'differ and stay'}`] : []),
    `${counted(unchanged + kept, 'object')} unchanged`,
  ].join(', ');
}

/** A value on one line, or a string with several lines as it is. */
export const valueText = (value: unknown): string =>
  typeof value === 'string' && value.includes('\n') ? value : JSON.stringify(value);
