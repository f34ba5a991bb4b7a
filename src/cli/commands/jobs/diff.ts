/** `espalier jobs diff`: the differences between two jobs. */
import type { JobRecordSpec } from '../../../api/kinds/jobrecord.ts';
import type { View } from '../../../runtime/types.ts';
import { printValue } from '../../terminal/documents.ts';
import { withNamed } from '../../named-objects.ts';
import { CommandError, exitCodes } from '../../errors.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { diffOf, type FieldChange } from '../plan/diff.ts';
import { lineDiff } from '../plan/line-diff.ts';
import { isNamed, recordsOf, specIn, type JobsOptions } from './read.ts';
import { requestWords, tookWords } from './words.ts';
import { selfCommand } from '../../self-command.ts';

export interface DiffOptions extends JobsOptions {
  readonly exitCode?: true;
}

interface Range {
  readonly from: string | undefined;
  readonly to: string | undefined;
}

export async function diff(
  printed: string,
  range: Range,
  options: DiffOptions,
  terminal: Terminal,
): Promise<number> {
  const { output } = options;
  return withNamed(printed, options, terminal, async ({ client, namespace }, root) => {
    const records = (await recordsOf(client, namespace, root)).map(({ spec }) => spec);
    const [before, after] = pairOf(records, range, root);
    const changes = inputChanges(before, after);
    const results = resultChanges(before, after);
    if (output !== 'text') terminal.print(printValue([...changes, ...results], output));
    else {
      terminal.print(`Jobs ${String(before.number)} and ${String(after.number)} of ${root}`);
      for (const line of [...changeLines('Inputs', changes), ...changeLines('Results', results)])
        terminal.print(line);
      if (changes.length + results.length === 0) terminal.print('no differences');
    }
    return options.exitCode && changes.length > 0 ? exitCodes.failed : exitCodes.ok;
  });
}

/** @throws CommandError if a job is not recorded */
function pairOf(
  records: readonly View<JobRecordSpec>[],
  { from, to }: Range,
  root: string,
): readonly [View<JobRecordSpec>, View<JobRecordSpec>] {
  const at = (job: string): number => records.findIndex((spec) => isNamed(spec, job));
  const newer = to === undefined ? 0 : at(to);
  const older = from === undefined ? newer + 1 : at(from);
  const [before, after] = [records[older], records[newer]];
  if (before && after) return [before, after];
  const missing = newer < 0 ? to : from;
  throw new CommandError(
    missing === undefined
      ? `a comparison needs two recorded jobs, and fewer of ${root} are recorded`
      : `there is no record of job ${missing} of ${root}; list them with: ${selfCommand()} jobs list ${root}`,
  );
}

/** Differences of spec and imports; a spec that one record lacks is compared by its hash. */
export function inputChanges(
  before: View<JobRecordSpec>,
  after: View<JobRecordSpec>,
): readonly FieldChange[] {
  const hasSpecs = before.specOmitted === undefined && after.specOmitted === undefined;
  const specs = hasSpecs
    ? diffOf(specIn(before), specIn(after), 'spec')
    : diffOf(before.specHash ?? 'unknown', after.specHash ?? 'unknown', 'spec (SHA-256)');
  const imports = diffOf(importMap(before), importMap(after), 'imports');
  return [...specs, ...imports];
}

const importMap = ({ imports = [] }: View<JobRecordSpec>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    imports.map(({ name, kind, object, version }) => [
      `${name} (${kind} ${object})`,
      version === undefined ? 'version not recorded' : `version ${version}`,
    ]),
  );

/** Differences of the results of root and parts. */
function resultChanges(before: View<JobRecordSpec>, after: View<JobRecordSpec>): readonly FieldChange[] {
  const summary = (spec: View<JobRecordSpec>) => ({
    result: spec.result,
    'requested by': requestWords(spec.request),
    took: tookWords(spec.triggeredAt, spec.endedAt, 0),
    parts: Object.fromEntries(
      (spec.parts ?? []).map(({ kind, name, title, phase, error }) => [
        kind === 'Execution' || title === name ? `${kind} ${title}` : `${kind} ${title} (${name})`,
        [phase, error?.message].filter(Boolean).join(': '),
      ]),
    ),
  });
  return diffOf(summary(before), summary(after));
}

export function changeLines(title: string, changes: readonly FieldChange[]): readonly string[] {
  if (changes.length === 0) return [];
  return ['', `${title}:`, ...changes.flatMap(changeLine)];
}

function changeLine({ path, before, after }: FieldChange): readonly string[] {
  if (typeof before === 'string' && typeof after === 'string' && `${before}${after}`.includes('\n')) {
    const lines = lineDiff(before, after).map(({ sign, line }) => `    ${sign} ${line}`);
    return [`  ~ ${path}:`, ...lines];
  }
  if (before === undefined) return [`  + ${path}: ${valueText(after)}`];
  if (after === undefined) return [`  - ${path}: ${valueText(before)}`];
  return [`  ~ ${path}: ${valueText(before)} → ${valueText(after)}`];
}

const valueText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
