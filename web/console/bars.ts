/** Bars and errors of a timeline. Pure. */
import type { TimelineRow } from '../../src/cli/console/wire.ts';

/** A shorter bar would not be visible. */
const MIN_WIDTH = 0.5;

/** Bars in percent of the job: from the trigger, with the time at which waiting began or ended. */
export function barsOf(
  row: TimelineRow,
  { start, end }: { readonly start: number; readonly end: number },
): readonly { readonly kind: 'working' | 'waiting'; readonly left: number; readonly width: number }[] {
  if (row.triggeredAt === undefined) return [];
  const at = (time: number): number => Math.min(100, Math.max(0, ((time - start) / (end - start)) * 100));
  const from = Math.min(at(row.triggeredAt), 100 - MIN_WIDTH);
  const to = Math.max(at(row.endedAt ?? end), from + MIN_WIDTH);
  const turn = row.waitedAt === undefined ? to : Math.min(Math.max(at(row.waitedAt), from), to);
  // An installation waits for its predecessors at first; an item is triggered only after them.
  const isWaitingFirst = row.kind === 'Installation' && row.waitedFor.length > 0;
  const [before, after] = isWaitingFirst
    ? (['waiting', 'working'] as const)
    : (['working', 'waiting'] as const);
  return [
    { kind: before, left: from, width: turn - from },
    { kind: after, left: turn, width: to - turn },
  ].filter(({ width }) => width > 0);
}

/** Whether a row below one has an error, which explains that of the row itself. */
export function isExplained(rows: readonly Pick<TimelineRow, 'depth' | 'error'>[], index: number): boolean {
  const { depth = 0 } = rows[index] ?? {};
  for (let i = index + 1; i < rows.length; i++) {
    const row = rows[i];
    if (!row || row.depth <= depth) return false;
    if (row.error !== '') return true;
  }
  return false;
}
