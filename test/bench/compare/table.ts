/** Compares the figures of two products over several rounds, and prints them. */
import type { Figure, Figures } from './measure.ts';

/** The figures of one round, which were measured one after the other. */
export interface Round {
  readonly base: Figures;
  readonly now: Figures;
}

export interface Row extends Omit<Figure, 'value'> {
  /** Medians of all rounds; 0 if there was no such write. */
  readonly base: number;
  readonly now: number;
  /** now / base: the median, the least and the greatest of all rounds; undefined if a base is 0. */
  readonly ratio: { readonly median: number; readonly least: number; readonly most: number } | undefined;
}

/** One row for each figure of any round, in the order of the first round that has it. */
export function rowsOf(rounds: readonly Round[]): Row[] {
  const all = new Map(rounds.flatMap(({ base, now }) => [...base, ...now]));
  return [...all].map(([key, { section, what, unit }]) => {
    const pairs = rounds.map((round) => ({
      base: round.base.get(key)?.value ?? 0,
      now: round.now.get(key)?.value ?? 0,
    }));
    const ratios = pairs.map(({ base, now }) => now / base);
    return {
      section,
      what,
      unit,
      base: median(pairs.map(({ base }) => base)),
      now: median(pairs.map(({ now }) => now)),
      ratio: pairs.every(({ base }) => base > 0)
        ? { median: median(ratios), least: Math.min(...ratios), most: Math.max(...ratios) }
        : undefined,
    };
  });
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const [low = NaN, high = NaN] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]];
  return (low + high) / 2;
}

/** A difference below this is not worth a word. */
const NOTABLE = 0.02;

/** In words: whether all rounds agree that it is more or less. */
export function differenceOf({ base, now, ratio }: Row): string {
  if (ratio === undefined) return base === now ? '' : 'new';
  if (ratio.least > 1 + NOTABLE) return 'more';
  if (ratio.most < 1 - NOTABLE) return 'less';
  return ratio.least >= 1 - NOTABLE && ratio.most <= 1 + NOTABLE ? 'equal' : 'not clear';
}

/** Kinds of writes that are equal are not listed: the sum of writes contains them. */
const isWorthALine = (row: Row): boolean => !row.what.startsWith('- ') || differenceOf(row) !== 'equal';

/** Lines of a table, by section. */
export function table(rounds: readonly Round[], commit: string): string[] {
  const lines = [line('', `base ${commit}`, 'now', 'ratio', 'of all rounds', '')];
  let section = '';
  for (const row of rowsOf(rounds)) {
    if (row.base === 0 && row.now === 0) continue;
    if (!isWorthALine(row)) continue;
    if (row.section !== section) lines.push('', (section = row.section));
    const { ratio } = row;
    lines.push(
      line(
        `  ${row.what}`,
        `${figure(row.base)} ${row.unit}`,
        `${figure(row.now)} ${row.unit}`,
        ratio === undefined ? '-' : ratio.median.toFixed(2),
        ratio === undefined || rounds.length < 2
          ? ''
          : `${ratio.least.toFixed(2)} to ${ratio.most.toFixed(2)}`,
        differenceOf(row),
      ),
    );
  }
  return lines;
}

const line = (...[what, base, now, ratio, spread, difference]: readonly string[]): string =>
  [
    what?.padEnd(46),
    base?.padStart(17),
    now?.padStart(17),
    ratio?.padStart(7),
    spread?.padStart(14),
    `  ${difference ?? ''}`,
  ]
    .join('')
    .trimEnd();

const figure = (value: number): string =>
  value.toLocaleString('en', { maximumFractionDigits: value < 1 ? 2 : value < 1000 ? 1 : 0 });
