/** `espalier jobs show`: one job with its parts. */
import type { JobRecordSpec } from '../../../api/kinds/jobrecord.ts';
import type { View } from '../../../runtime/types.ts';
import { columns } from '../../terminal/columns.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { printJob, type JobsOptions } from './read.ts';
import { blueprintWords, changesWords, requestWords, timeWords, tookWords } from './words.ts';

export const show = (
  root: string,
  job: string | undefined,
  options: JobsOptions,
  terminal: Terminal,
): Promise<number> => printJob(root, job, options, terminal, { value: (spec) => spec, lines: linesOf });

/** The lines of the text output. */
export function linesOf(spec: View<JobRecordSpec>, now: number): readonly string[] {
  const isRunning = spec.result === 'Running';
  const facts = [
    ['Job', `${String(spec.number)} of ${spec.root.name}, ${spec.jobID}`],
    ['Result', spec.result],
    ...(spec.error ? [['Error', oneLine(spec.error.message)]] : []),
    ['Requested by', isRunning ? 'shown when the job has ended' : requestWords(spec.request)],
    ['Started (UTC)', timeWords(spec.triggeredAt)],
    ['Took', tookWords(spec.triggeredAt, spec.endedAt, now)],
    ...(isRunning
      ? []
      : [
          ['Changed', changesWords(spec)],
          ['Generation', String(spec.generation ?? '')],
          ['Blueprint', blueprintWords(spec)],
        ]),
    ...(spec.imports ?? []).map(({ name, kind, object }) => ['Import', `${name}: ${kind} ${object}`]),
    ...(spec.specOmitted ? [['Spec', `not recorded: ${spec.specOmitted}`]] : []),
  ];
  return [...columns(facts.map(([name = '', value = '']) => [`${name}:`, value])), ...partLines(spec, now)];
}

const oneLine = (text: string): string => text.replace(/\s*\n\s*/g, '; ');

function partLines({ parts = [], partsOmitted }: View<JobRecordSpec>, now: number): readonly string[] {
  const rows = parts.map((part) => [
    `${'  '.repeat(part.depth - 1)}${part.title}`,
    part.kind,
    part.phase ?? '',
    tookWords(part.triggeredAt, part.endedAt, now),
    part.waitedFor ? `after ${part.waitedFor.join(', ')}` : '',
    oneLine(part.error?.message ?? ''),
  ]);
  return [
    ...(rows.length > 0
      ? ['', ...columns([['PART', 'KIND', 'PHASE', 'TOOK', 'WAITED', 'ERROR'], ...rows])]
      : []),
    ...(partsOmitted ? [`… ${String(partsOmitted)} more parts are not recorded`] : []),
  ];
}
