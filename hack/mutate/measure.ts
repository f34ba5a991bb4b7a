/**
 * Tries all mutants: first with the group of tests that is nearest to the file, then, if they survive, with other groups
 * that reach them, as long as their share of processor time lasts.
 */
import { Group, type Verdict } from './group.ts';
import { Nearness } from './nearness.ts';
import { testGroups } from './project.ts';
import type { Sampled } from './prepare.ts';

export type { Verdict };

/** Processor time of tests that one mutant may use, in its nearest group and in each of some others. */
const HOME_MS = 1000;
const OTHER_MS = 1000;
/** Results are stored after so many mutants. */
const STEP = 50;
const MOST_OTHERS = 4;
/** Test files that are loaded again for a mutant in code that runs on import. */
const MOST_RELOADED = 6;

interface Options {
  readonly processes: number;
  /** Leaves the other groups out. */
  readonly isNearOnly: boolean;
}

interface Listener {
  say(text: string): void;
  /** Called after each group. */
  keep(verdicts: ReadonlyMap<number, Verdict>): void;
}

export async function measure(
  sampled: readonly Sampled[],
  { processes, isNearOnly }: Options,
  listener: Listener,
): Promise<void> {
  const measurement = new Measurement(listener);
  const groupsOf = measurement.plan(sampled);
  const rounds = isNearOnly ? 1 : 1 + MOST_OTHERS;
  for (let round = 0; round < rounds; round++) {
    const tasks = measurement.groupNames.map((name) => {
      const own = sampled.filter((each) => measurement.isAlive(each) && groupsOf(each)[round] === name);
      return [name, own] as const;
    });
    const waiting = tasks.filter(([, own]) => own.length > 0).sort(([, a], [, b]) => b.length - a.length);
    const work = async (): Promise<void> => {
      for (let task = waiting.shift(); task; task = waiting.shift())
        await measurement.run(...task, round === 0 ? HOME_MS : OTHER_MS);
    };
    await Promise.all(Array.from({ length: processes }, work));
  }
}

class Measurement {
  readonly #tests = testGroups();
  readonly #nearness = new Nearness(this.#tests);
  readonly #verdicts = new Map<number, Verdict>();
  readonly #groups = new Map<string, Group>();
  readonly #listener: Listener;

  constructor(listener: Listener) {
    this.#listener = listener;
  }

  get groupNames(): readonly string[] {
    return [...this.#tests.keys()];
  }

  readonly isAlive = ({ id }: Sampled): boolean => this.#verdicts.get(id)?.killer === undefined;

  /** @returns the groups that a mutant is tried with, in order; a mutant that no test imports survives at once */
  plan(sampled: readonly Sampled[]): (mutant: Sampled) => readonly string[] {
    const files = new Set(sampled.map(({ file }) => file));
    const plans = new Map([...files].map((file) => [file, this.#nearness.groupsOf(file)]));
    const groupsOf = ({ file }: Sampled): readonly string[] => plans.get(file) ?? [];
    for (const each of sampled) if (groupsOf(each).length === 0) this.#verdicts.set(each.id, {});
    return groupsOf;
  }

  /** Tries mutants with the tests of a group. */
  async run(name: string, mutants: readonly Sampled[], budgetMs: number): Promise<void> {
    const begun = performance.now();
    const group = await this.#groupOf(name);
    for (const [i, each] of mutants.entries()) {
      this.#verdicts.set(each.id, await this.#try(name, group, each, budgetMs));
      if (i % STEP === STEP - 1) this.#listener.keep(this.#verdicts);
    }
    group.stop();
    const killed = mutants.filter((each) => !this.isAlive(each)).length;
    const seconds = Math.round((performance.now() - begun) / 1000);
    this.#listener.say(
      `${name}: ${String(killed)} of ${String(mutants.length)} noticed in ${String(seconds)} s`,
    );
    this.#listener.keep(this.#verdicts);
  }

  async #groupOf(name: string): Promise<Group> {
    const known = this.#groups.get(name);
    if (known) return known;
    const group = new Group(this.#tests.get(name) ?? []);
    this.#groups.set(name, group);
    const { passed, failed, cpuMs } = await group.observe();
    this.#listener.say(
      `${name}: ${String(passed)} tests pass, ${String(failed)} do not, ${String(cpuMs)} ms`,
    );
    return group;
  }

  async #try(name: string, group: Group, { id, file, mutant }: Sampled, budgetMs: number): Promise<Verdict> {
    const verdict = await group.try(id, (test) => this.#nearness.of(file, test), budgetMs);
    if (verdict.killer !== undefined || !(mutant.isStatic || group.isOnImport(id))) return verdict;
    return group.reload(id, this.#nearness.testsOf(file, this.#tests.get(name) ?? [], MOST_RELOADED));
  }
}
