/** How values are written. Pure. */
import type { About, Condition } from '../../src/cli/console/wire.ts';

/** `5s`, `3m20s`, `2h5m`, `4d3h`, as the command line writes them. */
export function durationText(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const pair = (big: number, bigUnit: string, small: number, smallUnit: string): string =>
    small === 0 ? `${big}${bigUnit}` : `${big}${bigUnit}${small}${smallUnit}`;
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return pair(Math.floor(seconds / 60), 'm', seconds % 60, 's');
  if (seconds < 86_400) return pair(Math.floor(seconds / 3600), 'h', Math.floor((seconds % 3600) / 60), 'm');
  return pair(Math.floor(seconds / 86_400), 'd', Math.floor((seconds % 86_400) / 3600), 'h');
}

/** Time since a moment; empty if it is not known. */
export const sinceText = (time: number | undefined, now: number): string =>
  time === undefined ? '' : durationText(now - time);

interface Times {
  readonly startedAt?: number;
  readonly endedAt?: number;
}

/** Duration of the job: of the running one so far, or of the last one. */
export const jobDuration = ({ startedAt, endedAt }: Times, now: number): string =>
  startedAt === undefined ? '' : durationText((endedAt ?? now) - startedAt);

export const timeText = (time: number): string =>
  new Date(time)
    .toISOString()
    .replace('T', ' ')
    .replace(/\.\d+Z$/, ' UTC');

export const conditions: readonly Condition[] = ['failed', 'running', 'waiting', 'succeeded'];

export const symbols: Readonly<Record<Condition, string>> = {
  succeeded: '✔',
  failed: '✖',
  running: '●',
  waiting: '○',
};

export const phaseText = ({
  phase,
  marks,
}: {
  readonly phase: string;
  readonly marks: readonly string[];
}): string => (phase || 'No job yet') + (marks.length > 0 ? ` (${marks.join(', ')})` : '');

/** `5,000`. The first call of toLocaleString takes 10 ms, while the page opens. */
export const numberText = (count: number): string => String(count).replaceAll(/\B(?=(\d{3})+$)/g, ',');

/** `1 object`, `2 objects`. */
export const counted = (count: number, noun: string): string =>
  `${numberText(count)} ${noun}${count === 1 ? '' : 's'}`;

/** `all namespaces`, `namespace shop`, `3 namespaces`. */
export const scopeWords = ({ namespaces }: Pick<About, 'namespaces'>): string =>
  namespaces === 'all'
    ? 'all namespaces'
    : namespaces.length === 1
      ? `namespace ${namespaces[0] ?? ''}`
      : counted(namespaces.length, 'namespace');
