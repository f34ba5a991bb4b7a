/** Which recordings must show no difference, and which of them ask for something that is not there. Pure. */

/** As in test/conformance/wire/gating.json. */
export interface Gating {
  /** What the names of gating scenarios begin with. */
  readonly gates: readonly string[];
  /** Scenarios that are held to their recording only where something is there. */
  readonly needs: readonly Need[];
}

interface Need {
  /** Name with `*` for anything. */
  readonly scenario: string;
  readonly needs: string;
  /** What is missing without it, for people. */
  readonly reason: string;
}

/** Matches the names that a pattern with `*` stands for; alternatives in parentheses work as in regular expressions. */
export const matches = (pattern: string, name: string): boolean =>
  new RegExp(`^${pattern.replaceAll('*', '.*')}$`).test(name);

/** What lacks for a scenario to be held to its recording. @param there what this run has */
export const lacking = (name: string, { needs }: Gating, there: ReadonlySet<string>): Need | undefined =>
  needs.find((need) => matches(need.scenario, name) && !there.has(need.needs));

interface Judgement {
  /** Scenarios that differ and must not. */
  readonly broken: readonly string[];
  /** A line for each scenario that differs and is not held to its recording here. */
  readonly excepted: readonly string[];
}

/** @param failed names of the scenarios with hard differences */
export function judge(failed: readonly string[], gating: Gating, there: ReadonlySet<string>): Judgement {
  const held = failed.filter((name) => gating.gates.some((prefix) => name.startsWith(prefix)));
  const why = new Map(held.map((name) => [name, lacking(name, gating, there)]));
  return {
    broken: held.filter((name) => !why.get(name)),
    excepted: held.flatMap((name) => {
      const need = why.get(name);
      return need ? [`${name}: not held to its recording without ${need.needs}: ${need.reason}`] : [];
    }),
  };
}
