/** The result of a scenario, and its output. */
import { readFileSync, writeFileSync } from 'node:fs';
import { compare, type Difference, type Recording } from './compare.ts';
import { evaluateDifference, ruleFor, written, type Expected, type Rule } from './deviations.ts';

interface Problem extends Difference {
  readonly problem: string;
}

export interface Outcome {
  readonly name: string;
  readonly title: string;
  readonly differences: readonly Difference[];
  readonly problems: readonly Problem[];
  /** Rules that explain a difference of the scenario. */
  readonly used: readonly Rule[];
  /** Why it intentionally does not end as in upstream. */
  readonly deviation?: string;
}

/** @param expected known differences of all scenarios */
export function outcomeOf(
  name: string,
  upstream: Recording,
  here: Recording,
  rules: readonly Rule[],
  expected: Expected,
): Outcome {
  const differences = compare(upstream, here);
  const judged = differences.map((difference) => ({
    difference,
    ...evaluateDifference(name, difference, rules, expected),
  }));
  const end = judged.find(({ difference }) => difference.path === 'end');
  return {
    name,
    title: upstream.title,
    differences,
    problems: judged.flatMap(({ difference, problem }) =>
      problem === undefined ? [] : [{ ...difference, problem }],
    ),
    used: judged.flatMap(({ rule }) => (rule ? [rule] : [])),
    ...(end?.rule && end.problem === undefined && { deviation: end.rule.reason }),
  };
}

/** @returns a line for each rule that no outcome uses */
export const unusedRules = (rules: readonly Rule[], outcomes: readonly Outcome[]): readonly string[] => {
  const used = new Set(outcomes.flatMap((outcome) => outcome.used));
  return rules
    .filter((rule) => rule.varies === undefined && !used.has(rule))
    .map(({ scenario, object, path, reason }) => `${scenario} ${object} ${path} (${reason})`);
};

/** @returns a line for each entry of the list that no longer occurs */
export const obsoleteDifferences = (expected: Expected, outcomes: readonly Outcome[]): readonly string[] =>
  outcomes.flatMap(({ name, differences }) => {
    const seen = new Set(differences.map(({ object, path }) => `${object} ${path}`));
    return Object.entries(expected[name] ?? {})
      .flatMap(([object, paths]) => Object.keys(paths).map((path) => `${object} ${path}`))
      .filter((place) => !seen.has(place))
      .map((place) => `${name} ${place}`);
  });

// ---------------------------------------------------------------- output

const LONGEST = 300;

function short(value: unknown): string {
  const text = JSON.stringify(value) ?? '(absent)';
  return text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text;
}

export const showProblems = (name: string, problems: readonly Problem[]): string =>
  [
    `✗ ${name}`,
    ...problems.map(
      ({ object, path, upstream, here, problem }) =>
        `    ${object} ${path}: upstream ${short(upstream)}, here ${short(here)}; ${problem}`,
    ),
  ].join('\n');

export function showOutcome({ name, problems, deviation }: Outcome): string {
  if (problems.length > 0) return showProblems(name, problems);
  return deviation === undefined ? `✓ ${name}` : `~ ${name}: ends differently, ${deviation}`;
}

// ---------------------------------------------------------------- the list

/** Adds the explained differences of these scenarios to the list; other entries stay. */
export function approve(
  file: string,
  outcomes: readonly Outcome[],
  rules: readonly Rule[],
  expected: Expected,
): void {
  const mine = outcomes.map(({ name, differences }) => [name, listed(name, differences, rules)] as const);
  const known: Expected = { ...expected, ...Object.fromEntries(mine) };
  const kept = Object.entries(known).filter(([, objects]) => Object.keys(objects).length > 0);
  kept.sort(([a], [b]) => (a < b ? -1 : 1));
  const text = `${JSON.stringify(Object.fromEntries(kept), null, 1)}\n`;
  if (readFileSync(file, 'utf8') !== text) writeFileSync(file, text);
}

function listed(
  name: string,
  differences: readonly Difference[],
  rules: readonly Rule[],
): Record<string, Record<string, unknown>> {
  const objects: Record<string, Record<string, unknown>> = {};
  for (const difference of differences) {
    const rule = ruleFor(rules, name, difference);
    if (!rule || rule.varies !== undefined) continue;
    (objects[difference.object] ??= {})[difference.path] = written(difference.counted);
  }
  return objects;
}
