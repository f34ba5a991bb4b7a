/** Updates the table of mutation scores in docs/testing.md. */
import { percentOf, type Score } from './report.ts';

const BEGIN = '<!-- mutation scores: written by make mutate -->';
const END = '<!-- end of mutation scores -->';
const HEADER = [
  '| Folder | Killed | Timeouts | Survived | Not covered | Equivalent | Static, not run | Score |',
  '|---|---|---|---|---|---|---|---|',
];

export function rowOf(folder: string, score: Score): string {
  const percent = percentOf(score);
  const { killed, timeouts, survived, noCoverage, equivalent } = score;
  const cells = [killed, timeouts, survived, noCoverage, equivalent, score.static].map(String);
  return `| ${[folder, ...cells, percent === undefined ? 'no mutants' : `${percent.toFixed(1)} %`].join(' | ')} |`;
}

const notMeasured = (folder: string): string => `| ${folder} | not measured yet | | | | | | |`;

export const tableOf = (rows: readonly string[]): string => [...HEADER, ...rows].join('\n');

/**
 * @param folders all rows, in order
 * @param measured rows of this run; other rows keep their content
 * @throws Error if the page has no markers for the table
 */
export function withScores(
  page: string,
  folders: readonly string[],
  measured: ReadonlyMap<string, string>,
): string {
  const begin = page.indexOf(BEGIN);
  const end = page.indexOf(END);
  if (begin < 0 || end < begin) throw new Error(`the page lacks the lines "${BEGIN}" and "${END}"`);
  const before = page.slice(begin, end).split('\n');
  const rows = folders.map(
    (folder) =>
      measured.get(folder) ?? before.find((line) => line.startsWith(`| ${folder} |`)) ?? notMeasured(folder),
  );
  return `${page.slice(0, begin)}${BEGIN}\n${tableOf(rows)}\n${page.slice(end)}`;
}
