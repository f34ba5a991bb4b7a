/** The result of a comparison of foreign files: one row for each file, with the verdict and the first difference. */

/** What the original made of a file, or what we made of it: parts with a name, or the error. */
export type Outcome = { readonly parts: ReadonlyMap<string, string> } | { readonly error: string };

export interface NamedFile {
  /** Relative to the given folder. */
  readonly name: string;
  readonly path: string;
}

export interface Row {
  readonly file: string;
  readonly verdict: 'same' | 'different' | 'both refuse' | 'only we refuse' | 'only the original refuses';
  /** The first difference; empty if there is none. */
  readonly difference: string;
}

/** Errors may be worded in another way, so what both refuse is the same. */
export function rowOf(file: string, original: Outcome, ours: Outcome): Row {
  if ('error' in original && 'error' in ours) return { file, verdict: 'both refuse', difference: '' };
  if ('error' in ours) return { file, verdict: 'only we refuse', difference: shortened(ours.error) };
  if ('error' in original)
    return { file, verdict: 'only the original refuses', difference: shortened(original.error) };
  const names = new Set([...original.parts.keys(), ...ours.parts.keys()]);
  for (const name of names) {
    const [a, b] = [original.parts.get(name), ours.parts.get(name)];
    if (a !== b) return { file, verdict: 'different', difference: `${name}: ${firstDifference(a, b)}` };
  }
  return { file, verdict: 'same', difference: '' };
}

function firstDifference(a: string | undefined, b: string | undefined): string {
  if (a === undefined) return 'only ours has it';
  if (b === undefined) return 'only the original has it';
  const [left, right] = [a.split('\n'), b.split('\n')];
  const at = left.findIndex((line, i) => line !== right[i]);
  const line = at < 0 ? left.length : at;
  const shown = (text: string | undefined): string => shortened(JSON.stringify(text) ?? 'the end');
  return `line ${String(line + 1)}: original ${shown(left[line])}, ours ${shown(right[line])}`;
}

const MAX_SHOWN = 200;
const shortened = (text: string): string => {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > MAX_SHOWN ? `${line.slice(0, MAX_SHOWN)}…` : line;
};

export const isSame = ({ verdict }: Row): boolean => verdict === 'same' || verdict === 'both refuse';

/** The table, and a line with the sums. */
export function tableOf(rows: readonly Row[]): string {
  const lines = [
    ['FILE', 'VERDICT', 'FIRST DIFFERENCE'],
    ...rows.map((r) => [r.file, r.verdict, r.difference]),
  ];
  const width = (column: number): number => Math.max(...lines.map((line) => (line[column] ?? '').length));
  const printed = lines.map(([file = '', verdict = '', difference = '']) =>
    `${file.padEnd(width(0))}  ${verdict.padEnd(width(1))}  ${difference}`.trimEnd(),
  );
  const different = rows.filter((row) => !isSame(row)).length;
  return [
    ...printed,
    `${String(rows.length - different)} of ${String(rows.length)} are the same, ${String(different)} differ`,
  ].join('\n');
}
