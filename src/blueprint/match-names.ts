/**
 * Filters names by an expression of a TargetSync: an RE2 that matches anywhere in the name; `*` alone matches all
 * names. Compiling counted repetitions takes time and memory without limit, so only plain expressions are compiled in
 * the thread of the controllers.
 */
import { RE2JS } from 're2js';

export interface NamesJob {
  readonly expression: string;
  readonly names: readonly string[];
}

/** For each name whether it matches; undefined if the expression is invalid. */
export type NameMatches = readonly boolean[] | undefined;

export interface NameMatcher {
  /** @throws NamesNotMatched if it takes too long or needs too much memory */
  matchNames(job: NamesJob): Promise<NameMatches>;
}

/** The matching was stopped; the message is a sentence about the expression. */
export class NamesNotMatched extends Error {
  override readonly name = 'NamesNotMatched';
}

/** @returns undefined if the expression is invalid */
export function nameFilter(expression: string): ((name: string) => boolean) | undefined {
  if (expression === '*') return () => true;
  let compiled: RE2JS;
  try {
    compiled = RE2JS.compile(expression);
  } catch {
    return undefined;
  }
  return (name) => compiled.matcher(name).find();
}

export function matchNames({ expression, names }: NamesJob): boolean[] | undefined {
  const filter = nameFilter(expression);
  return filter && names.map(filter);
}

/** Without counted repetitions and classes of Unicode, whose programs are much longer than they are. */
const PLAIN = /^(?:[^{\\]|\\[.\-dwsDWS]){0,200}$/;
/** Steps of the expression multiplied by characters of the names: a few ms. */
const MAX_STEPS_HERE = 1_000_000;

/** Whether the names may be matched in the thread of the controllers. */
export function isQuick({ expression, names }: NamesJob): boolean {
  const characters = names.reduce((sum, name) => sum + name.length, 0);
  return expression === '*' || (PLAIN.test(expression) && expression.length * characters <= MAX_STEPS_HERE);
}

/** Matches in this thread. */
export const namesHere: NameMatcher = {
  matchNames: (job) => new Promise((resolve) => resolve(matchNames(job))),
};
