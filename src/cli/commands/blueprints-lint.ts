/** `espalier blueprints lint`: inspects blueprints without a cluster. */
import { readFileSync } from 'node:fs';
import { append } from '../../lib/lists.ts';
import type { Finding } from '../../blueprint/lint/finding.ts';
import { inspectBlueprint } from '../../blueprint/lint/inspect.ts';
import { blueprintsAt, Unreadable, type FoundBlueprint } from '../blueprint-sources.ts';
import { printJson } from '../documents.ts';
import { exitCodes, UsageError } from '../errors.ts';
import { countsOf, findingJson, findingText, githubText, summaryText } from '../print-findings.ts';
import type { Terminal } from '../terminal.ts';

export interface LintOptions {
  readonly output: 'text' | 'json' | 'github';
  readonly strict?: boolean;
}

/** @returns the exit code: 1 when there are errors */
export async function lint(
  paths: readonly string[],
  options: LintOptions,
  terminal: Terminal,
): Promise<number> {
  if (paths.length === 0) {
    throw new UsageError(
      'which blueprint? Give a folder with a blueprint.yaml, or a file with an Installation',
    );
  }
  const found: FoundBlueprint[] = [];
  const unreadable: Finding[] = [];
  for (const path of paths) {
    try {
      append(found, await blueprintsAt(path, () => readFileSync(0, 'utf8')));
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error;
      unreadable.push(error.finding);
    }
  }
  const findings = [...unreadable, ...found.flatMap(inspect)].map((one) => strictly(one, options));
  const counts = countsOf(findings);
  switch (options.output) {
    case 'json':
      terminal.print(printJson({ findings: findings.map(findingJson), ...counts }));
      break;
    case 'github':
      for (const finding of findings) terminal.print(githubText(finding));
      break;
    case 'text':
      for (const finding of findings) terminal.print(`${findingText(finding, terminal)}\n`);
      terminal.print(summaryText(counts, found.length + unreadable.length));
  }
  return counts.error > 0 ? exitCodes.failed : exitCodes.ok;
}

const strictly = (finding: Finding, { strict }: LintOptions): Finding =>
  strict && finding.level === 'warning' ? { ...finding, level: 'error' } : finding;

const inspect = ({ input, holder }: FoundBlueprint): readonly Finding[] => [
  ...(holder?.findings ?? []),
  ...inspectBlueprint(input),
];
