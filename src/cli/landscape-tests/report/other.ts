/** The reports as JSON, and as annotations of GitHub. Pure. */
import { githubCommand } from '../../terminal/print-findings.ts';
import type { CaseResult } from '../case.ts';
import { problemLines } from './failure.ts';
import { totalsOf } from './text.ts';

/** An annotation for each problem. */
export const githubLines = (results: readonly CaseResult[]): readonly string[] =>
  results.flatMap(({ file, line, name, problems }) =>
    problems.map((problem) => {
      const { place = { file, line, column: 1 } } = problem;
      const properties = { file: place.file, line: place.line, col: place.column, title: name };
      return githubCommand('error', properties, problemLines(problem).join('\n'));
    }),
  );

export const resultsJson = (results: readonly CaseResult[]): object => ({
  cases: results.map(({ realMs, virtualMs, ...result }) => ({
    ...result,
    seconds: seconds(realMs),
    virtualSeconds: seconds(virtualMs),
  })),
  ...totalsOf(results),
});

const seconds = (ms: number): number => Math.round(ms) / 1000;
