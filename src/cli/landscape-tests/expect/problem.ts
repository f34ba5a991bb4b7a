/** What a case found wrong. Plain data, because it may come from another process. */

export interface Problem {
  /** Where the test says it. */
  readonly place?: ProblemPlace | undefined;
  /** What is wrong, on which object. */
  readonly title: string;
  readonly details: readonly string[];
}

export interface ProblemPlace {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** A difference between an expected and an actual value. */
export interface Difference {
  /** Such as `spec.replicas`; empty for the whole value. */
  readonly path: string;
  readonly expected: string;
  readonly actual: string;
}

/** Expected and actual below each other. */
export const differenceLines = ({ path, expected, actual }: Difference): readonly string[] => [
  ...(path === '' ? [] : [path]),
  ...block('  expected  ', expected),
  ...block('  actual    ', actual),
];

const block = (head: string, text: string): readonly string[] =>
  text.split('\n').map((line, i) => (i === 0 ? head : ' '.repeat(head.length)) + line);
