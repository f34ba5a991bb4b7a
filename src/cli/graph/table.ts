/** A graph of root installations as a table: one line for each, with the roots that it imports from. Pure. */
import { columns } from '../terminal/columns.ts';
import type { Graph } from './graph.ts';

/** @param isWide with the names of the imported data and targets */
export function rootLines({ nodes, edges }: Graph, isWide: boolean): readonly string[] {
  if (nodes.length === 0) return ['no installations'];
  const labels = new Map(nodes.map(({ id, label }) => [id, label]));
  const rows = nodes.map(({ id, label, phase }) => {
    const sources = edges
      .filter(({ to }) => to === id)
      .map(({ from, names }) => `${labels.get(from) ?? from}${isWide ? ` (${names.join(', ')})` : ''}`);
    return [label, phase || 'no job yet', sources.join(', ')];
  });
  return columns([['ROOT', 'PHASE', 'IMPORTS FROM'], ...rows]);
}
