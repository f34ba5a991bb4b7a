/** `espalier jobs timeline`: when each part of a job worked and waited, as bars. */
import type { JobPart, JobRecordSpec } from '../../../api/kinds/jobrecord.ts';
import { largest } from '../../../lib/lists.ts';
import type { View } from '../../../runtime/types.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { printJob, type JobsOptions } from './read.ts';
import { tookWords } from './words.ts';

export const timeline = (
  root: string,
  job: string | undefined,
  options: JobsOptions,
  terminal: Terminal,
): Promise<number> =>
  printJob(root, job, options, terminal, {
    value: (spec) => spec.parts ?? [],
    lines: (spec, now) => timelineLines(spec, now, terminal.columns),
  });

type Row = Pick<
  View<JobPart>,
  'kind' | 'title' | 'depth' | 'triggeredAt' | 'waitedAt' | 'endedAt' | 'phase' | 'waitedFor'
>;

const MIN_BAR = 20;
/** Room for the duration and the phase. */
const TAIL = 24;

/** The lines of the text output, for a terminal of this width. */
export function timelineLines(spec: View<JobRecordSpec>, now: number, columns: number): readonly string[] {
  const root: Row = { ...spec, kind: 'Installation', title: spec.root.name, depth: 0, phase: spec.result };
  const rows = [root, ...(spec.parts ?? [])];
  const start = Date.parse(spec.triggeredAt ?? '');
  const end = spec.endedAt === undefined ? now : Date.parse(spec.endedAt);
  const label = ({ title, depth }: Row): string => `${'  '.repeat(depth)}${title}`;
  const width = largest(rows.map((row) => label(row).length));
  const bar = Math.max(MIN_BAR, Math.min(columns, 120) - width - TAIL);
  /** Times have whole seconds; a job of less than a second fills the bar. */
  const at = (time: string | undefined): number => {
    const ms = time === undefined ? now : Date.parse(time);
    return Math.min(bar, Math.max(0, Math.round(((ms - start) / Math.max(end - start, 1)) * bar)));
  };
  const lines = rows.map((row) => {
    const took = tookWords(row.triggeredAt, row.endedAt, now);
    return `${label(row).padEnd(width)}  ${barOf(row, at).padEnd(bar)}  ${took.padStart(7)}  ${row.phase ?? ''}`.trimEnd();
  });
  return [...lines, '', '█ running  ░ waiting for others; times have whole seconds'];
}

/** From the trigger to the end; from `waitedAt` on the objects below work. */
function barOf(row: Row, at: (time: string | undefined) => number): string {
  if (row.triggeredAt === undefined) return '';
  const from = at(row.triggeredAt);
  const to = Math.max(at(row.endedAt), from + 1);
  const turn = row.waitedAt === undefined ? to : Math.min(Math.max(at(row.waitedAt), from), to);
  // An installation waits for its predecessors at first; an item is triggered only after them.
  const isWaitingFirst = row.kind === 'Installation' && row.waitedFor !== undefined;
  const [before, after] = isWaitingFirst ? ['░', '█'] : ['█', '░'];
  return ' '.repeat(from) + before.repeat(turn - from) + after.repeat(to - turn);
}
