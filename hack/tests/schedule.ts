/**
 * Which test file or program starts next. Most tests wait for processes and servers, so more files run at a time than
 * there are processors: another one starts whenever a processor has been idle. On a machine that does other work as well,
 * no more run than it has processors.
 */

/** Something that runs as a whole: a test file, or a program that checks something. */
export interface Item {
  /** Unique; the name in the table of weights. */
  readonly name: string;
  /** The suite that it counts for. */
  readonly suite: string;
  /** It measures processor time or memory: nothing runs beside it. */
  readonly isAlone: boolean;
}

interface Load {
  /** How many items are running. */
  readonly running: number;
  /** How many processors were idle, on average, since the previous decision. */
  readonly idle: number;
  readonly cores: number;
}

/** Processes of tests need some 300 MB each. */
const PER_CORE = 4;
/** A process that starts uses a whole processor for a second, so a smaller gap is not worth it. */
const ENOUGH_IDLE = 0.25;

/** Whether one more item may start now. */
export const mayStart = ({ running, idle, cores }: Load): boolean =>
  running < cores || (running < cores * PER_CORE && idle >= ENOUGH_IDLE);

/** Milliseconds that an item took the last time, by name. */
export type Weights = Readonly<Record<string, number>>;

/** What is not known takes as long as most files do. */
const UNKNOWN_MS = 1000;

const hasWeight = (weights: Weights, name: string): boolean => Object.hasOwn(weights, name);

/**
 * @returns the items in the order in which they start: those that run alone at the end, otherwise the longest first, so
 *   that none of them is still running when all others have ended
 */
export function inOrder<T extends Item>(items: readonly T[], weights: Weights): readonly T[] {
  const weightOf = ({ name }: T): number => (hasWeight(weights, name) ? (weights[name] ?? 0) : UNKNOWN_MS);
  return items.toSorted(
    (a, b) =>
      Number(a.isAlone) - Number(b.isAlone) || weightOf(b) - weightOf(a) || (a.name < b.name ? -1 : 1),
  );
}
