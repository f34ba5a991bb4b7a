/** What a comparison with the originals found, and where differences are allowed. */

/** Where answers of ours may differ from the original's, with the reason. */
export interface KnownDifference {
  readonly why: string;
  /** Of what was asked and both answers, as they are printed. */
  readonly pattern: RegExp;
}

export interface Comparison {
  readonly cases: number;
  readonly differences: readonly string[];
  /** How often each known difference was met. */
  readonly known: ReadonlyMap<string, number>;
}

/** @param texts one per case: what is different, or undefined */
export function compared(
  texts: readonly (string | undefined)[],
  allowed: readonly KnownDifference[],
): Comparison {
  const known = new Map<string, number>();
  const differences: string[] = [];
  for (const text of texts) {
    if (text === undefined) continue;
    const why = allowed.find(({ pattern }) => pattern.test(text))?.why;
    if (why === undefined) differences.push(text);
    else known.set(why, (known.get(why) ?? 0) + 1);
  }
  return { cases: texts.length, differences, known };
}

export const describe = (asked: string, theirs: string, ours: string): string =>
  `${asked.trimEnd()}\n  Go:   ${theirs}\n  ours: ${ours}`;
