/** Prints a tree in columns: one coloured line per object, cut to the width of the terminal. Pure. */
import { largest } from '../../lib/lists.ts';
import type { Condition, Node } from './tree.ts';
import type { Paint } from '../terminal/terminal.ts';

export interface PrintOptions {
  readonly paint: Paint;
  /** Characters per line; Infinity for no limit. */
  readonly columns: number;
  /** Current time in milliseconds, for the duration of running jobs. */
  readonly now: number;
  /** Milliseconds since the start of a node's job; undefined if unknown. Default: from the times in the status. */
  readonly elapsed?: (node: Node) => number | undefined;
  /** Frame of the progress animation; without it, the symbol is static. */
  readonly frame?: number;
}

/** The lines, without line breaks. */
export function treeLines(roots: readonly Node[], options: PrintOptions): string[] {
  const rows = roots.flatMap((root) => rowsOf(root, '', '', options));
  if (rows.length === 0) return [];
  const width = (pick: (row: Row) => string): number => largest(rows.map((row) => pick(row).length));
  const widths = {
    label: width((r) => r.label),
    kind: width((r) => r.kind),
    phase: width((r) => r.phase),
    time: width((r) => r.time),
    name: width((r) => r.name),
  };
  return rows.map((row) => lineOf(row, widths, options));
}

/** Below this width, kinds are shown with kubectl's short names. */
const NARROW = 100;
const shortKinds: Readonly<Record<Node['kind'], string>> = {
  Installation: 'inst',
  Execution: 'exec',
  DeployItem: 'di',
};

interface Row {
  /** Branch characters and title. */
  readonly label: string;
  readonly branches: string;
  readonly kind: string;
  readonly isBold: boolean;
  readonly phase: string;
  readonly time: string;
  readonly name: string;
  readonly note: string;
  readonly condition: Condition;
  readonly frame: number | undefined;
}

function rowsOf(node: Node, branch: string, indent: string, options: PrintOptions): Row[] {
  const { children } = node;
  const row: Row = {
    label: branch + node.title,
    branches: branch,
    kind: options.columns < NARROW ? shortKinds[node.kind] : node.kind,
    isBold: node.kind === 'Installation',
    phase: phaseOf(node),
    time: timeText(node, options),
    name: node.name === node.title ? '' : node.name,
    note: noteOf(node),
    condition: node.condition,
    frame: options.frame,
  };
  const below = children.flatMap((child, i) => {
    const isLast = i === children.length - 1;
    return rowsOf(child, `${indent}${isLast ? '└─ ' : '├─ '}`, `${indent}${isLast ? '   ' : '│  '}`, options);
  });
  return [row, ...below];
}

const phaseOf = ({ phase, marks }: Node): string => (phase || 'Waiting') + marksText(marks);

/** ` (outdated)` after a phase, or an empty string. */
export const marksText = (marks: readonly string[]): string =>
  marks.length > 0 ? ` (${marks.join(', ')})` : '';

/** The note for a node: why it failed, or what it waits for. Parents have no note if their children do. */
export function noteOf(node: Node): string {
  if (node.condition === 'succeeded')
    return node.isWait ? plainMessage(node.message ?? '') : warningNote(node);
  if (node.children.some((child) => child.condition === node.condition)) return '';
  switch (node.condition) {
    case 'failed':
      return node.blockedBy.length > 0
        ? `because of ${node.blockedBy.join(', ')}`
        : plainMessage(node.message ?? '');
    case 'running':
      return node.blockedBy.length > 0
        ? `waits for ${node.blockedBy.join(', ')}`
        : plainMessage(node.message ?? '');
    case 'waiting':
      return node.isWait ? plainMessage(node.message ?? '') : '';
  }
}

/** The first warning, and the number of others. */
function warningNote({ warnings }: Node): string {
  const [first] = warnings;
  if (first === undefined) return '';
  const more = warnings.length - 1;
  return `warning: ${first}${more > 0 ? ` (and ${String(more)} more)` : ''}`;
}

const WRAPPING = /^Op: \S+ - Reason: \S+ - Message: /;

/** The message without the names of steps around it, on one line; indented lines continue the one above. */
export const plainMessage = (message: string): string =>
  withoutSteps(message)
    .trim()
    .replaceAll(/\s*\n[ \t]+/g, ' ')
    .replaceAll(/([:;,.]?)\s*\n\s*/g, (_, end: string) => `${end || ';'} `);

/** The same, with its line breaks. */
export function withoutSteps(message: string): string {
  let text = message;
  while (WRAPPING.test(text)) text = text.replace(WRAPPING, '');
  return text;
}

// ---------------------------------------------------------------- a line

type Widths = Readonly<Record<'label' | 'kind' | 'phase' | 'time' | 'name', number>>;
type Optional = 'kind' | 'time' | 'name';

/** A shorter note would be useless. */
const MIN_NOTE_WIDTH = 16;
/** From this width on, object names are shown, since kubectl needs them. */
const WIDE = 110;
const GAP = '  ';

/** Width of the line without notes, if it has these columns. */
const widthOf = (widths: Widths, optional: readonly Optional[]): number =>
  widths.label +
  GAP.length +
  2 +
  widths.phase +
  optional.reduce((sum, key) => sum + GAP.length + widths[key], 0);

/** The optional columns that fit completely. */
function optionalColumns(widths: Widths, columns: number): readonly Optional[] {
  const names: readonly Optional[] =
    widths.name > 0 && columns >= WIDE && columns !== Infinity ? ['name'] : [];
  const choices: readonly (readonly Optional[])[] = [
    ['kind', 'time', ...names],
    ['kind', 'time'],
    ['time'],
    [],
  ];
  return choices.find((choice) => widthOf(widths, choice) <= columns) ?? [];
}

function lineOf(row: Row, widths: Widths, { paint, columns }: PrintOptions): string {
  const optional = optionalColumns(widths, columns);
  const pad = (key: Optional): string[] => (optional.includes(key) ? [padded(row, key, widths)] : []);
  const label = row.label.padEnd(widths.label);
  const phase = `${symbolOf(row)} ${row.phase.padEnd(widths.phase)}`;
  const used = widthOf(widths, optional);
  if (used > columns) return cut([label, phase].join(GAP), columns);
  const room = columns - used - GAP.length;
  const note = room < MIN_NOTE_WIDTH ? '' : cut(row.note, room);
  const title = label.slice(row.branches.length);
  const painted = [
    paint.dim(row.branches) + (row.isBold ? paint.bold(title) : title),
    ...pad('kind').map(paint.dim),
    colour(paint, row.condition)(phase),
    ...[...pad('time'), ...pad('name')].map(paint.dim),
    ...(note ? [row.condition === 'failed' ? paint.red(note) : paint.dim(note)] : []),
  ];
  return paint.isColorSupported ? painted.join(GAP) : painted.join(GAP).trimEnd();
}

const padded = (row: Row, key: Optional, widths: Widths): string =>
  key === 'time' ? row.time.padStart(widths.time) : row[key].padEnd(widths[key]);

const symbols: Readonly<Record<Condition, string>> = {
  succeeded: '✔',
  failed: '✖',
  running: '●',
  waiting: '·',
};
const SPINNER = '⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏';

const symbolOf = ({ condition, frame }: Row): string =>
  condition === 'running' && frame !== undefined
    ? (SPINNER[frame % SPINNER.length] ?? '')
    : symbols[condition];

function colour(paint: Paint, condition: Condition): (text: string) => string {
  switch (condition) {
    case 'succeeded':
      return paint.green;
    case 'failed':
      return paint.red;
    case 'running':
      return paint.yellow;
    case 'waiting':
      return paint.dim;
  }
}

export const cut = (text: string, width: number): string =>
  text.length <= width ? text : `${text.slice(0, Math.max(0, width - 1))}…`;

// ---------------------------------------------------------------- time

function timeText(node: Node, options: PrintOptions): string {
  const exact = options.elapsed?.(node);
  if (exact !== undefined) return elapsedText(exact, true);
  if (node.startedAt === undefined) return '';
  if (node.endedAt === undefined && node.condition !== 'running') return '';
  return elapsedText(Math.max(0, (node.endedAt ?? options.now) - node.startedAt), false);
}

/**
 * `2.1s`, `45s`, `3m20s`, `2h5m`, `4d3h`.
 * @param isExact false for times from a status, which have whole seconds only
 */
export function elapsedText(ms: number, isExact: boolean): string {
  const seconds = ms / 1000;
  if (seconds < 10)
    return isExact ? `${(Math.floor(seconds * 10) / 10).toFixed(1)}s` : `${Math.floor(seconds)}s`;
  const whole = Math.floor(seconds);
  const pair = (big: number, bigUnit: string, small: number, smallUnit: string): string =>
    small === 0 ? `${big}${bigUnit}` : `${big}${bigUnit}${small}${smallUnit}`;
  if (whole < 60) return `${whole}s`;
  if (whole < 3600) return pair(Math.floor(whole / 60), 'm', whole % 60, 's');
  if (whole < 86_400) return pair(Math.floor(whole / 3600), 'h', Math.floor((whole % 3600) / 60), 'm');
  return pair(Math.floor(whole / 86_400), 'd', Math.floor((whole % 86_400) / 3600), 'h');
}
