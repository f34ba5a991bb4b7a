/** Which recordings must show no difference, and which of them need something that is not available. Pure. */

/** In the format of test/conformance/wire/gating.json. */
export interface Gating {
  /** Prefixes of the names of gating scenarios. */
  readonly gates: readonly string[];
  /** Scenarios that must match their recording only if something is available. */
  readonly needs: readonly Need[];
}

interface Need {
  /** Name with `*` as a wildcard. */
  readonly scenario: string;
  readonly needs: string;
  /** Why the scenario needs it, as a message. */
  readonly reason: string;
}

/** Whether the name matches a pattern with `*`; alternatives in parentheses work as in regular expressions. */
export const matches = (pattern: string, name: string): boolean =>
  new RegExp(`^${pattern.replaceAll('*', '.*')}$`).test(name);

/** What a scenario needs and is not available. @param there what is available in this run */
export const missingNeed = (name: string, { needs }: Gating, there: ReadonlySet<string>): Need | undefined =>
  needs.find((need) => matches(need.scenario, name) && !there.has(need.needs));

interface Judgement {
  /** Scenarios that differ and must not. */
  readonly broken: readonly string[];
  /** A line for each scenario that differs but need not match its recording here. */
  readonly exempt: readonly string[];
}

/** @param failed names of the scenarios with hard differences */
export function evaluate(failed: readonly string[], gating: Gating, there: ReadonlySet<string>): Judgement {
  const held = failed.filter((name) => gating.gates.some((prefix) => name.startsWith(prefix)));
  const why = new Map(held.map((name) => [name, missingNeed(name, gating, there)]));
  return {
    broken: held.filter((name) => !why.get(name)),
    exempt: held.flatMap((name) => {
      const need = why.get(name);
      return need ? [`${name}: may differ from its recording without ${need.needs}: ${need.reason}`] : [];
    }),
  };
}
