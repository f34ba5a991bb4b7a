/** `espalier test`: runs landscape tests and reports their results. */
import { availableParallelism } from 'node:os';
import { dirname } from 'node:path';
import type { Finding } from '../../../blueprint/lint/finding.ts';
import { systemClock } from '../../../lib/clock.ts';
import { exitCodes, UsageError } from '../../errors.ts';
import type { CaseResult } from '../../landscape-tests/case.ts';
import { coverageLines, coverageOf, type Coverage } from '../../landscape-tests/coverage/coverage.ts';
import { inventoryOf } from '../../landscape-tests/coverage/inventory.ts';
import { testFilesAt } from '../../landscape-tests/file/discover.ts';
import { loadSuites, type LoadedSuite } from '../../landscape-tests/file/load.ts';
import { junitText } from '../../landscape-tests/report/junit.ts';
import { githubLines, resultsJson } from '../../landscape-tests/report/other.ts';
import { caseText, totalsOf, totalsText } from '../../landscape-tests/report/text.ts';
import { runAll } from '../../landscape-tests/run-all.ts';
import { homeOf } from '../../landscape-tests/stage/landscape.ts';
import { printJson } from '../../terminal/documents.ts';
import { findingJson, findingText, githubText } from '../../terminal/print-findings.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { isInstallation } from '../apply/prepare.ts';
import { timeoutOf } from '../installations/operation.ts';

export interface TestOptions {
  readonly filter?: string;
  readonly jobs?: number;
  readonly timeout: string;
  readonly update?: true;
  readonly coverage?: true;
  readonly format: 'text' | 'junit' | 'github' | 'json';
}

/** A process takes about as long to start as a few cases. */
const CASES_PER_PROCESS = 6;
const MAX_DEFAULT_JOBS = 4;

/** @returns 1 if a case failed, 2 if a file is invalid */
export async function test(
  paths: readonly string[],
  options: TestOptions,
  terminal: Terminal,
): Promise<number> {
  const realMs = timeoutOf(options.timeout);
  const { suites, findings, problems } = await loadSuites(testFilesAt(paths.length > 0 ? paths : ['.']));
  if (findings.length + problems.length > 0) {
    refuse(findings, problems, options, terminal);
    return exitCodes.usage;
  }
  const count = suites.reduce((sum, { file }) => sum + file.suite.cases.length, 0);
  const usual = Math.min(availableParallelism(), MAX_DEFAULT_JOBS, Math.ceil(count / CASES_PER_PROCESS));
  const { jobs = usual, update = false, filter, format } = options;
  const startedAt = systemClock.now();
  let shownFile: string | undefined;
  const results = await runAll(
    suites,
    { jobs, realMs, update, coverage: options.coverage === true, filter },
    (result) => {
      if (format !== 'text') return;
      if (result.file !== shownFile) terminal.print(terminal.paint.bold(result.file));
      shownFile = result.file;
      terminal.print(caseText(result, terminal.paint));
    },
  );
  if (results.length === 0)
    throw new UsageError(`no case has "${filter ?? ''}" in its name; there are ${String(count)} cases`);
  const coverage = options.coverage ? coverageOfAll(suites, results) : undefined;
  report(results, { coverage, format, realMs: systemClock.now() - startedAt }, terminal);
  return totalsOf(results).failed > 0 ? exitCodes.failed : exitCodes.ok;
}

/** Mistakes in files, in the format that the caller reads. */
function refuse(
  findings: readonly Finding[],
  problems: readonly string[],
  { format }: TestOptions,
  terminal: Terminal,
): void {
  if (format === 'json') terminal.print(printJson({ findings: findings.map(findingJson), problems }));
  else if (format === 'github') for (const finding of findings) terminal.print(githubText(finding));
  else for (const finding of findings) terminal.warn(`${findingText(finding, terminal)}\n`);
  if (format !== 'json') for (const problem of problems) terminal.warn(problem);
}

/** Files that test the same landscape share what their cases touch. */
function coverageOfAll(suites: readonly LoadedSuite[], results: readonly CaseResult[]): readonly Coverage[] {
  const landscapes = new Map<string, LoadedSuite[]>();
  for (const suite of suites) {
    const id = suite.documents.map(({ file }) => file).join(' ');
    landscapes.set(id, [...(landscapes.get(id) ?? []), suite]);
  }
  return [...landscapes.values()].flatMap((group) => {
    const [first] = group;
    if (!first) return [];
    const { documents, file } = first;
    const home = file.suite.namespace ?? homeOf(documents);
    const root = documents.find(({ object }) => isInstallation(object))?.file ?? file.file;
    const touched = results
      .filter((result) => group.some((suite) => suite.file.file === result.file))
      .map((result) => result.touched);
    return [coverageOf(dirname(root), inventoryOf(documents, home), touched)];
  });
}

interface ReportParts {
  readonly coverage: readonly Coverage[] | undefined;
  readonly format: TestOptions['format'];
  readonly realMs: number;
}

function report(
  results: readonly CaseResult[],
  { coverage, format, realMs }: ReportParts,
  terminal: Terminal,
): void {
  const covered = (coverage ?? []).flatMap(coverageLines);
  const total = totalsText(totalsOf(results), realMs, terminal.paint);
  switch (format) {
    case 'text':
      terminal.print(`\n${[...covered, ...(coverage ? [''] : []), total].join('\n')}`);
      return;
    case 'github':
      for (const line of githubLines(results)) terminal.print(line);
      for (const line of covered) terminal.print(line);
      terminal.print(total);
      return;
    case 'junit':
      terminal.print(junitText(results));
      for (const line of covered) terminal.warn(line);
      return;
    case 'json':
      terminal.print(printJson(resultsJson(results, coverage)));
  }
}
