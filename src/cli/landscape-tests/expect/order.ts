/** Checks the order in which things happened. Pure. */
import { hintFor } from '../../../lib/closest.ts';
import { readOrderEntry, type OrderEntry } from '../file/order-entry.ts';
import type { HistoryEvent } from '../stage/history.ts';

/**
 * Each entry must happen after the one before it. What is not mentioned may happen at any time.
 * @returns what is wrong with the first entry that does not
 */
export function checkOrder(
  entries: readonly string[],
  events: readonly HistoryEvent[],
): { readonly index: number; readonly message: string } | undefined {
  let from = 0;
  for (const [index, text] of entries.entries()) {
    const entry = readOrderEntry(text);
    if ('problem' in entry) return { index, message: entry.problem };
    const found = events.findIndex((event, i) => i >= from && isSame(event, entry));
    if (found >= 0) {
      from = found + 1;
      continue;
    }
    return { index, message: whyNot(entry, entries[index - 1], events) };
  }
  return undefined;
}

function whyNot(entry: OrderEntry, before: string | undefined, events: readonly HistoryEvent[]): string {
  const name = `"${entry.path} ${entry.what}"`;
  if (before !== undefined && events.some((event) => isSame(event, entry)))
    return `${name} happened before "${before}"`;
  const ofPath = events.filter(({ path }) => path === entry.path).map(({ what }) => what);
  if (ofPath.length > 0) return `${name} never happened; ${entry.path}: ${[...new Set(ofPath)].join(', ')}`;
  const paths = [...new Set(events.map(({ path }) => path))];
  return `${name} never happened: there is no ${entry.path}; ${hintFor(entry.path, paths, paths.length === 0 ? 'nothing happened' : `there are ${paths.join(', ')}`)}`;
}

const isSame = (event: HistoryEvent, { path, what }: OrderEntry): boolean =>
  event.path === path && event.what === what;
