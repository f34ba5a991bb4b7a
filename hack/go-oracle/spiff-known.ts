/** Where our Spiff is allowed to differ from the original, each with the reason. The comparison counts them apart. */

export interface SpiffDifference {
  readonly why: string;
  /** Of the document and both answers, as they are printed. */
  readonly pattern: RegExp;
}

export const knownSpiffDifferences: readonly SpiffDifference[] = [
  {
    why: 'the original panics, ours is an error',
    pattern: /\n {2}Go: {3}ERR panic: [^]*\n {2}ours: ERR (?!crash)/,
  },
];
