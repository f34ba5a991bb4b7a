/** The lines of a log on the screen. Pure. */
import type { LogLines } from '../../src/cli/console/wire.ts';

export interface LogState {
  readonly lines: readonly string[];
  /** Whether lines before or between these are left out. */
  readonly omitted: boolean;
}

export const emptyLog: LogState = { lines: [], omitted: false };

/** More would make the page slow. */
export const MAX_LINES = 5_000;

/** The lines after an answer: the latest ones. */
export function appendedLog({ lines, omitted }: LogState, answer: LogLines): LogState {
  if (answer.lines.length === 0 && !answer.hasGap) return { lines, omitted };
  const all = [...lines, ...(answer.hasGap ? ['…'] : []), ...answer.lines.map(plainLine)];
  return { lines: all.slice(-MAX_LINES), omitted: omitted || all.length > MAX_LINES };
}

/** Without the escape sequences that colour lines on a terminal. */
export const plainLine = (line: string): string => line.replace(/\u001b\[[\d;?]*[A-Za-z]/g, '');
