/** `espalier test`: runs landscape tests and reports their results. */
import { workerRunners } from '../../../blueprint/workers/runner.ts';
import { systemClock } from '../../../lib/clock.ts';
import { exitCodes } from '../../errors.ts';
import { runCase, type CaseResult } from '../../landscape-tests/case.ts';
import { testFilesAt } from '../../landscape-tests/file/discover.ts';
import { loadSuites } from '../../landscape-tests/file/load.ts';
import { caseText, fileHead, totalsOf, totalsText } from '../../landscape-tests/report/text.ts';
import { findingText } from '../../terminal/print-findings.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { timeoutOf } from '../installations/operation.ts';

export interface TestOptions {
  readonly filter?: string;
  readonly timeout: string;
  readonly update?: true;
  readonly format: 'text' | 'junit' | 'github' | 'json';
}

export async function test(
  paths: readonly string[],
  options: TestOptions,
  terminal: Terminal,
): Promise<number> {
  const realMs = timeoutOf(options.timeout);
  const { suites, findings, problems } = await loadSuites(testFilesAt(paths.length > 0 ? paths : ['.']));
  if (findings.length + problems.length > 0) {
    for (const finding of findings) terminal.warn(findingText(finding, terminal));
    for (const problem of problems) terminal.warn(problem);
    return exitCodes.usage;
  }
  const startedAt = systemClock.now();
  const runners = workerRunners({ clock: systemClock });
  const results: CaseResult[] = [];
  try {
    for (const { file, documents } of suites) {
      terminal.print(fileHead(file.file, terminal.paint));
      for (const index of file.suite.cases.keys()) {
        const result = await runCase(file, index, documents, {
          realMs,
          update: options.update === true,
          runnerOf: runners.of,
        });
        results.push(result);
        terminal.print(caseText(result, terminal.paint));
      }
    }
  } finally {
    await runners.close();
  }
  const totals = totalsOf(results);
  terminal.print(`\n${totalsText(totals, systemClock.now() - startedAt, terminal.paint)}`);
  return totals.failed > 0 ? exitCodes.failed : exitCodes.ok;
}
