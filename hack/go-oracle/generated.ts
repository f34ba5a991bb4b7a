/** Generated cases with the answers of the originals: they are recorded once, and compared with ours in unit tests, without Go. */
import { parseYaml } from '../../src/lib/yaml.ts';
import type { Answer, OracleRequest, SpiffRequest } from './oracle.ts';
import { evaluateDocument, isSame as isSameDocument } from './spiff/documents.ts';
import { evaluateExecution } from './spiff/merges.ts';
import { answerTo as answerToTemplate, isSame as isSameTemplate } from './templates/compare.ts';

export interface GeneratedCase {
  readonly request: OracleRequest;
  readonly answer: Answer;
}

/** As they are stored: requests refer to their values, most of which are the same, by number. */
export interface RecordedCases {
  readonly values: readonly unknown[];
  readonly cases: readonly (readonly [request: object, values: number | null, answer: Answer])[];
}

const isSpiff = (request: OracleRequest): request is SpiffRequest => 'document' in request;

/** Our answer to a request. */
export function answerTo(request: OracleRequest): Answer {
  if (!isSpiff(request)) return answerToTemplate(request);
  const { document, stored } = request;
  if (stored === undefined) return evaluateDocument(document);
  return evaluateExecution(parsed(document), parsed(stored));
}

/** Spiff, not YAML, merges what is below `<<`. */
const parsed = (text: string): unknown => parseYaml(text.replace(/^([ -]*)<<:/gm, '$1"<<":'));

export const isSame = (request: OracleRequest, theirs: Answer, ours: Answer): boolean =>
  isSpiff(request) ? isSameDocument(theirs, ours) : isSameTemplate(request, theirs, ours);

export function stored(cases: readonly GeneratedCase[]): RecordedCases {
  const numbers = new Map<string, number>();
  const numberOf = (values: unknown): number => {
    const text = JSON.stringify(values);
    const number = numbers.get(text) ?? numbers.size;
    numbers.set(text, number);
    return number;
  };
  const entries = cases.map(({ request, answer }) => {
    const { values, ...rest } = request as { readonly values?: unknown };
    return [rest, values === undefined ? null : numberOf(values), answer] as const;
  });
  return { values: [...numbers.keys()].map((text) => JSON.parse(text) as unknown), cases: entries };
}

export const restored = ({ values, cases }: RecordedCases): readonly GeneratedCase[] =>
  cases.map(([request, number, answer]) => ({
    request: { ...request, ...(number !== null && { values: values[number] }) } as OracleRequest,
    answer,
  }));
