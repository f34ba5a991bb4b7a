/** The result of a comparison with the originals, and the table of allowed differences. */

/** An allowed difference between our result and the original's, with the reason. */
export interface KnownDifference {
  readonly why: string;
  /** Matches the printed request and both results. */
  readonly pattern: RegExp;
}

export interface Comparison {
  readonly cases: number;
  readonly differences: readonly string[];
  /** How often each known difference occurred. */
  readonly known: ReadonlyMap<string, number>;
}

/** @param texts the differences of the cases that differ */
export function compared(
  cases: number,
  texts: readonly string[],
  allowed: readonly KnownDifference[],
): Comparison {
  const known = new Map<string, number>();
  const differences: string[] = [];
  for (const text of texts) {
    const why = allowed.find(({ pattern }) => pattern.test(text))?.why;
    if (why === undefined) differences.push(text);
    else known.set(why, (known.get(why) ?? 0) + 1);
  }
  return { cases, differences, known };
}

export const describe = (asked: string, theirs: string, ours: string): string =>
  `${asked.trimEnd()}\n  Go:   ${theirs}\n  ours: ${ours}`;
