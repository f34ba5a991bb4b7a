/** Prints findings like a compiler: the place, the message, the source line, and a mark below it. Pure. */
import type { Finding, Level } from '../../blueprint/lint/finding.ts';
import type { Place } from '../../blueprint/lint/source.ts';
import type { Paint } from './terminal.ts';

interface FindingsOptions {
  readonly paint: Paint;
  /** Characters per line. */
  readonly columns: number;
}

export function findingText(
  { place, level, message, rule }: Finding,
  { paint, columns }: FindingsOptions,
): string {
  const where = `${place.file}:${place.line}:${place.column}:`;
  const colour = colourOf(level, paint);
  const head = `${paint.bold(where)} ${colour(`${level}:`)} ${message} ${paint.dim(`[${rule}]`)}`;
  const number = String(place.line).padStart(5);
  const { text, column } = excerpt(place.sourceLine, place.column - 1, columns - number.length - 3);
  const room = Math.max(1, text.length - column);
  const mark = '^'.repeat(Math.min(place.length, room));
  // Tabs are kept, so that the mark is aligned with the line.
  const indent = text.slice(0, column).replace(/[^\t]/g, ' ');
  return [
    head,
    `${paint.dim(`${number} |`)} ${text}`,
    `${paint.dim(`${' '.repeat(number.length)} |`)} ${indent}${colour(mark)}`,
  ].join('\n');
}

/** The part of a long line around the place. */
function excerpt(
  line: string,
  column: number,
  width: number,
): { readonly text: string; readonly column: number } {
  if (line.length <= width) return { text: line.trimEnd(), column };
  const start = Math.max(0, Math.min(column - Math.floor(width / 3), line.length - width));
  const before = start > 0 ? '…' : '';
  const after = start + width < line.length ? '…' : '';
  const text = before + line.slice(start + before.length, start + width - after.length) + after;
  return { text, column: column - start };
}

function colourOf(level: Level, paint: Paint): (text: string) => string {
  switch (level) {
    case 'error':
      return paint.red;
    case 'warning':
      return paint.yellow;
    case 'info':
      return paint.cyan;
  }
}

export interface Counts {
  readonly error: number;
  readonly warning: number;
  readonly info: number;
}

export function countsOf(findings: readonly Finding[]): Counts {
  const count = (level: Level): number => findings.filter((one) => one.level === level).length;
  return { error: count('error'), warning: count('warning'), info: count('info') };
}

/** `2 errors and 1 warning in 3 blueprints` */
export function summaryText(counts: Counts, blueprints: number): string {
  const parts = [
    ...(counts.error > 0 ? [counted(counts.error, 'error')] : []),
    ...(counts.warning > 0 ? [counted(counts.warning, 'warning')] : []),
    ...(counts.info > 0 ? [counted(counts.info, 'hint')] : []),
  ];
  const last = parts.pop();
  const all =
    last === undefined ? 'no problems found' : [parts.join(', '), last].filter(Boolean).join(' and ');
  return `${all} in ${counted(blueprints, 'blueprint')}`;
}

/** The message of landscaper-cli; with errors like `summaryText`. */
export function validationText(counts: Counts, blueprints: number): string {
  if (counts.error > 0) return summaryText(counts, blueprints);
  const subject = blueprints === 1 ? 'Blueprint' : counted(blueprints, 'blueprint');
  return `${subject} validated without errors`;
}

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** 1-based, after the last character. */
export const endColumn = ({ column, length }: Place): number => column + length;

export function githubText({ level, place, message, rule }: Finding): string {
  const properties = {
    file: place.file,
    line: place.line,
    endLine: place.line,
    col: place.column,
    endColumn: endColumn(place),
    title: rule,
  };
  return githubCommand(level === 'info' ? 'notice' : level, properties, message);
}

/** @see https://docs.github.com/actions/reference/workflow-commands-for-github-actions */
export function githubCommand(
  command: 'notice' | 'warning' | 'error',
  properties: Readonly<Record<string, string | number>>,
  message: string,
): string {
  const list = Object.entries(properties).map(([key, value]) => `${key}=${escaped(String(value), true)}`);
  return `::${command} ${list.join(',')}::${escaped(message, false)}`;
}

/** Escapes line breaks and separators of properties, which would end the command. */
function escaped(text: string, isProperty: boolean): string {
  const plain = text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
  return isProperty ? plain.replaceAll(':', '%3A').replaceAll(',', '%2C') : plain;
}

export const findingJson = ({ place, level, rule, message }: Finding): object => ({
  file: place.file,
  line: place.line,
  column: place.column,
  endLine: place.line,
  endColumn: endColumn(place),
  length: place.length,
  level,
  rule,
  message,
});
