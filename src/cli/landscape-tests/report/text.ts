/** The report for people: a line for each case, and what is wrong with it. Pure. */
import type { Paint } from '../../terminal/terminal.ts';
import { elapsedText } from '../../tree/print.ts';
import type { CaseResult } from '../case.ts';
import { placeText, problemLines } from './failure.ts';

export function caseText(
  { outcome, name, realMs, virtualMs, note, problems }: CaseResult,
  paint: Paint,
): string {
  const times = paint.dim(`(${elapsedText(realMs, true)}, ${elapsedText(virtualMs, false)} of virtual time)`);
  switch (outcome) {
    case 'passed':
      return `  ${paint.green('✓')} ${name} ${times}`;
    case 'skipped':
      return `  ${paint.yellow('-')} ${name} ${paint.dim(`skipped: ${note ?? ''}`)}`;
    case 'failed':
      return [
        `  ${paint.red('✗')} ${name} ${times}`,
        ...problems.map((problem) => problemText(problem, paint)),
      ].join('\n');
  }
}

function problemText(problem: CaseResult['problems'][number], paint: Paint): string {
  const place = placeText(problem);
  const [title = '', ...details] = problemLines(problem);
  const where = place === undefined ? '' : `${paint.dim(`${place}:`)} `;
  return [`      ${where}${paint.red(title)}`, ...details.map((line) => `      ${line}`)].join('\n');
}

interface Totals {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

export function totalsOf(results: readonly CaseResult[]): Totals {
  const count = (outcome: CaseResult['outcome']): number =>
    results.filter((result) => result.outcome === outcome).length;
  return { passed: count('passed'), failed: count('failed'), skipped: count('skipped') };
}

/** `3 passed, 1 failed in 1.2s` */
export function totalsText({ passed, failed, skipped }: Totals, realMs: number, paint: Paint): string {
  const parts = [
    paint.green(`${String(passed)} passed`),
    ...(failed > 0 ? [paint.red(`${String(failed)} failed`)] : []),
    ...(skipped > 0 ? [paint.yellow(`${String(skipped)} skipped`)] : []),
  ];
  return `${parts.join(', ')} in ${elapsedText(realMs, true)}`;
}
