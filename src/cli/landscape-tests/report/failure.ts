/** What is wrong with a case as plain text, for reports that other programs read. Pure. */
import type { CaseResult } from '../case.ts';

type Problem = CaseResult['problems'][number];

/** The title, and the details below it. */
export const problemLines = ({ title, details }: Problem): readonly string[] => [
  title,
  ...details.map((line) => `  ${line}`),
];

/** `shop.test.yaml:12:5` */
export const placeText = ({ place }: Problem): string | undefined =>
  place && `${place.file}:${String(place.line)}:${String(place.column)}`;
