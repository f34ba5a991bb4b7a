/**
 * Intended differences between Espalier and the recordings. Pure.
 *
 * A rule contains the reason for a kind of difference. The written values are in a separate list, so that a rule
 * cannot hide a difference that was never reviewed.
 */
import { isDeepStrictEqual } from 'node:util';
import { matches } from '../trace-gates.ts';
import { settledStates, type Difference } from './compare.ts';

/** An entry of test/conformance/wire/deviations.json. */
export interface Rule {
  /** Name with `*` as a wildcard; alternatives in parentheses. */
  readonly scenario: string;
  /** Regular expression for the object, for example `^Installation/web$`. */
  readonly object: string;
  /** Regular expression for the path. */
  readonly path: string;
  /** Refers to the ADR. */
  readonly reason: string;
  /** Why the value differs in each run and is not compared with the list. */
  readonly varies?: string;
}

/**
 * test/conformance/wire/differences.json: the values written here, by scenario, object and path; null for no value.
 */
export type Expected = Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, unknown>>>>>>;

interface Verdict {
  readonly rule?: Rule;
  /** Why the difference is an error; absent if it is expected. */
  readonly problem?: string;
}

export const ruleFor = (
  rules: readonly Rule[],
  scenario: string,
  { object, path }: Difference,
): Rule | undefined =>
  rules.find(
    (rule) =>
      matches(rule.scenario, scenario) &&
      new RegExp(rule.object).test(object) &&
      new RegExp(rule.path).test(path),
  );

/** @param expected of all scenarios */
export function evaluateDifference(
  scenario: string,
  difference: Difference,
  rules: readonly Rule[],
  expected: Expected,
): Verdict {
  const rule = ruleFor(rules, scenario, difference);
  if (!rule) return { problem: 'no rule explains it' };
  if (rule.varies !== undefined) return { rule };
  const paths = expected[scenario]?.[difference.object];
  if (!paths || !Object.hasOwn(paths, difference.path))
    return { rule, problem: 'not in the list of differences' };
  return isAsExpected(difference, paths[difference.path])
    ? { rule }
    : { rule, problem: `the list of differences has ${JSON.stringify(paths[difference.path])}` };
}

const texts = (value: unknown): readonly string[] => (Array.isArray(value) ? value.map(String) : []);

function isAsExpected({ path, counted: here }: Difference, expected: unknown): boolean {
  if (path === 'milestones')
    return isDeepStrictEqual(settledStates(texts(expected)), settledStates(texts(here)));
  return isDeepStrictEqual(written(here), expected);
}

/** A value in the format of the list: without messages and times. */
export function written(value: unknown): unknown {
  if (value === undefined) return null;
  if (Array.isArray(value)) return value.map(written);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(
    ([key]) => !/^(message|last(Update|Transition)Time)$/.test(key),
  );
  return Object.fromEntries(entries.map(([key, inner]) => [key, written(inner)]));
}

/** Errors in the rules themselves. */
export function errorsIn(rules: readonly Rule[]): readonly string[] {
  return rules.flatMap((rule) => {
    const name = `${rule.scenario} ${rule.object} ${rule.path}`;
    return [
      ...(rule.object === '' && rule.path !== '^end$' ? [`${name}: matches every object`] : []),
      ...(rule.path === '' ? [`${name}: matches every path`] : []),
      ...(/\bADR \d/.test(rule.reason) ? [] : [`${name}: the reason refers to no ADR`]),
    ];
  });
}
