/** `espalier blueprints lint` and `validate`: inspect blueprints without a cluster. */
import { readFileSync } from 'node:fs';
import { append } from '../../../lib/lists.ts';
import type { Finding } from '../../../blueprint/lint/finding.ts';
import { inspectBlueprint } from '../../../blueprint/lint/inspect.ts';
import { blueprintsAt, InvalidYaml, type FoundBlueprint } from './sources.ts';
import { builtInDeployers } from '../../composition/item-configurations.ts';
import { printJson, printValue } from '../../terminal/documents.ts';
import type { ReportFormat } from '../../terminal/output-option.ts';
import { packageInfo } from '../../package.ts';
import { CommandError, exitCodes, UsageError } from '../../errors.ts';
import {
  countsOf,
  findingJson,
  findingText,
  githubText,
  summaryText,
  validationText,
  type Counts,
} from '../../terminal/print-findings.ts';
import { sarifLog } from '../../terminal/sarif.ts';
import type { Terminal } from '../../terminal/terminal.ts';

export interface LintOptions {
  readonly output: ReportFormat | 'sarif' | 'github';
  readonly strict?: boolean;
}

/** The differences between the two commands. */
interface CommandStyle {
  readonly summary: (counts: Counts, blueprints: number) => string;
  /** Returns the error to throw if there is no blueprint. */
  readonly missing: (error: UsageError) => Error;
}

const asLint: CommandStyle = { summary: summaryText, missing: (error) => error };
/** For scripts written for landscaper-cli. */
const asValidate: CommandStyle = {
  summary: validationText,
  missing: ({ message }) => new CommandError(message),
};

/** @returns the exit code: 1 if there are errors */
export const lint = (paths: readonly string[], options: LintOptions, terminal: Terminal): Promise<number> =>
  inspectAll(paths, options, terminal, asLint);

/**
 * Like `lint`, with the messages and exit codes of landscaper-cli: 1 also if there is no blueprint.
 * @returns the exit code: 1 if there are errors
 * @see gardener/landscapercli cmd/blueprints
 */
export const validate = (
  paths: readonly string[],
  options: LintOptions,
  terminal: Terminal,
): Promise<number> => inspectAll(paths, options, terminal, asValidate);

async function inspectAll(
  paths: readonly string[],
  options: LintOptions,
  terminal: Terminal,
  style: CommandStyle,
): Promise<number> {
  if (paths.length === 0) {
    throw new UsageError(
      'no blueprint given; name a folder with a blueprint.yaml, or a file with an Installation',
    );
  }
  const { found, unreadable } = await read(paths, style);
  const findings = [...unreadable, ...found.flatMap(inspect)].map((one) => strictly(one, options));
  const counts = countsOf(findings);
  switch (options.output) {
    case 'json':
    case 'yaml':
      terminal.print(printValue({ findings: findings.map(findingJson), ...counts }, options.output));
      break;
    case 'sarif':
      terminal.print(printJson(sarifLog(findings, packageInfo().version)));
      break;
    case 'github':
      for (const finding of findings) terminal.print(githubText(finding));
      break;
    case 'text':
      for (const finding of findings) terminal.print(`${findingText(finding, terminal)}\n`);
      terminal.print(style.summary(counts, found.length + unreadable.length));
  }
  return counts.error > 0 ? exitCodes.failed : exitCodes.ok;
}

async function read(paths: readonly string[], { missing }: CommandStyle) {
  const found: FoundBlueprint[] = [];
  const unreadable: Finding[] = [];
  for (const path of paths) {
    try {
      append(found, await blueprintsAt(path, () => readFileSync(0, 'utf8')));
    } catch (error) {
      if (error instanceof UsageError) throw missing(error);
      if (!(error instanceof InvalidYaml)) throw error;
      unreadable.push(error.finding);
    }
  }
  return { found, unreadable };
}

const strictly = (finding: Finding, { strict }: LintOptions): Finding =>
  strict && finding.level === 'warning' ? { ...finding, level: 'error' } : finding;

const inspect = ({ input, enclosing }: FoundBlueprint): readonly Finding[] => [
  ...(enclosing?.findings ?? []),
  ...inspectBlueprint(input, builtInDeployers),
];
