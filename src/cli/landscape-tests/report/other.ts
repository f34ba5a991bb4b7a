/** The reports as JSON, and as annotations of GitHub. Pure. */
import { githubCommand } from '../../terminal/print-findings.ts';
import type { CaseResult } from '../case.ts';
import type { Coverage } from '../coverage/coverage.ts';
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

export const resultsJson = (
  results: readonly CaseResult[],
  coverage: readonly Coverage[] | undefined,
): object => ({
  cases: results.map(({ realMs, virtualMs, touched: _touched, ...result }) => ({
    ...result,
    seconds: seconds(realMs),
    virtualSeconds: seconds(virtualMs),
  })),
  ...totalsOf(results),
  ...(coverage && { coverage }),
});

const seconds = (ms: number): number => Math.round(ms) / 1000;
