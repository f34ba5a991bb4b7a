/** What the processes that run cases receive and answer. */
import type { CaseResult } from '../case.ts';

/** Runs one case of a file. */
export interface CaseRequest {
  readonly file: string;
  readonly index: number;
  readonly realMs: number;
  readonly update: boolean;
  readonly coverage: boolean;
}

export type CaseAnswer = { readonly result: CaseResult } | { readonly bug: string };
