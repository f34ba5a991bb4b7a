/** Compares counted costs with those of the baseline. */

/** Costs per tree by what is done (`mock, installed`), then by what is counted (`patch installations/status`). */
export type Figures = Readonly<Record<string, Readonly<Record<string, number>>>>;

export interface Baseline {
  /** Why the figures were last changed. */
  readonly reason: string;
  /** Major version of Node.js: the figures of code depend on it. */
  readonly node: number;
  readonly figures: Figures;
}

/** What is counted of the code of the controllers; these figures depend on the version of Node.js. */
export const CODE = { blocks: 'executed blocks', allocated: 'allocated bytes' } as const;
export const BYTES = { sent: 'sent bytes', stored: 'stored bytes' } as const;

/**
 * By how much a figure may exceed the baseline. Writes and bytes are nearly the same in each run: on a very busy machine, a few trees
 * wait so long that the wait is written to a status. One more write per tree is always more than the limit. Code
 * also runs when requests are repeated and for timers.
 */
const LIMITS: Readonly<Record<string, number>> = {
  [BYTES.sent]: 0.05,
  [BYTES.stored]: 0.05,
  [CODE.blocks]: 0.1,
  [CODE.allocated]: 0.1,
};
const WRITES_LIMIT = 0.05;
/** A figure that is lower by so much should become the baseline, or else the gain can be lost again unnoticed. */
const GAIN = 0.05;

export type Verdict = 'equal' | 'less' | 'more' | 'missing' | 'other Node.js';

export interface Comparison {
  readonly step: string;
  readonly what: string;
  /** Undefined if the baseline does not have the figure. */
  readonly baseline: number | undefined;
  /** Undefined if it was not measured. */
  readonly now: number | undefined;
  readonly verdict: Verdict;
}

export const isFailure = ({ verdict }: Comparison): boolean => verdict === 'more' || verdict === 'missing';

/** One comparison for each figure of the baseline and each that was measured. */
export function compared(baseline: Baseline, now: Figures, node: number): Comparison[] {
  return unionOf(baseline.figures, now).flatMap((step) => {
    const [before = {}, after = {}] = [baseline.figures[step], now[step]];
    return unionOf(before, after).map((what) => {
      const figures = { baseline: before[what], now: after[what] };
      const isCode = Object.values<string>(CODE).includes(what);
      const verdict = isCode && node !== baseline.node ? 'other Node.js' : verdictOf(what, figures);
      return { step, what, ...figures, verdict };
    });
  });
}

const unionOf = (a: object, b: object): string[] => [...new Set([...Object.keys(a), ...Object.keys(b)])];

function verdictOf(what: string, { baseline, now }: Pick<Comparison, 'baseline' | 'now'>): Verdict {
  const limit = LIMITS[what];
  // Writes of a kind that do not occur are not listed; all other figures exist in each run.
  if (limit !== undefined && (baseline === undefined || now === undefined)) return 'missing';
  const [before, after] = [baseline ?? 0, now ?? 0];
  if (after > before * (1 + (limit ?? WRITES_LIMIT))) return 'more';
  return after < before * (1 - GAIN) ? 'less' : 'equal';
}

/** The lower one of each figure: what only one of two runs needed was caused by other load on the machine. */
export function lower(a: Figures, b: Figures): Figures {
  return Object.fromEntries(
    unionOf(a, b).map((step) => {
      const [one = {}, two = {}] = [a[step], b[step]];
      // Of writes that only one run needed, none were necessary.
      const common = Object.keys(one).filter((what) => what in two);
      return [
        step,
        Object.fromEntries(common.map((what) => [what, Math.min(one[what] ?? 0, two[what] ?? 0)])),
      ];
    }),
  );
}
