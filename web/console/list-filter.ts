/** Search, filters and order of the list. Pure. */
import type { Condition, LandscapeRow } from '../../src/cli/console/wire.ts';
import { conditions } from './format.ts';

export interface ListFilter {
  /** Words that name, namespace, phase or note contain; all have to match. */
  readonly search: string;
  /** Empty: all. */
  readonly condition: string;
  /** Empty: all. */
  readonly namespace: string;
}

export interface FilteredList {
  readonly rows: readonly LandscapeRow[];
  /** Rows of each condition that the other filters leave. */
  readonly counts: Readonly<Record<Condition, number>>;
  readonly total: number;
}

/** Failed landscapes first, then running and waiting ones, each by namespace and name. */
export function filterList(rows: Iterable<LandscapeRow>, filter: ListFilter): FilteredList {
  const words = filter.search.toLowerCase().split(/\s+/).filter(Boolean);
  const counts = { failed: 0, running: 0, waiting: 0, succeeded: 0 };
  const found: Readonly<Record<Condition, LandscapeRow[]>> = {
    failed: [],
    running: [],
    waiting: [],
    succeeded: [],
  };
  for (const row of rows) {
    if (filter.namespace !== '' && row.namespace !== filter.namespace) continue;
    if (!matches(row, words)) continue;
    counts[row.condition]++;
    if (filter.condition === '' || row.condition === filter.condition) found[row.condition].push(row);
  }
  // The rows arrive in this order, and sorting a sorted list is cheap.
  const sorted = conditions.flatMap((condition) => found[condition].sort((a, b) => (a.id < b.id ? -1 : 1)));
  return { rows: sorted, counts, total: Object.values(counts).reduce((sum, count) => sum + count, 0) };
}

function matches({ id, phase, note, marks }: LandscapeRow, words: readonly string[]): boolean {
  if (words.length === 0) return true;
  const text = [id, phase, note, ...marks].join(' ').toLowerCase();
  return words.every((word) => text.includes(word));
}

export const namespacesIn = (rows: Iterable<LandscapeRow>): readonly string[] =>
  [...new Set([...rows].map(({ namespace }) => namespace))].sort();
