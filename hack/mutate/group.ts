/** Tries mutants with the tests of one group. */
import type { Observed } from './messages.ts';
import { Ended, TestProcess } from './test-process.ts';

/** After that many, a process is replaced: it becomes slow, and tests depend on what earlier mutants left behind. */
const MOST_RELOADS = 40;
const MOST_UNCLEAR = 5;
/** Test files that are loaded again for a mutant that the loaded ones cannot judge. */
const MOST_RELOADED = 3;

export interface Verdict {
  /** The test file that noticed the mutant. */
  readonly killer?: string;
}

export class Group {
  readonly #files: readonly string[];
  #tests: readonly (Observed & { readonly file: string; readonly index: number })[] = [];
  readonly #onImport = new Set<number>();
  readonly #healthy = new Map<string, boolean>();
  readonly #process = new TestProcess();
  #sick = 0;
  #reloads = 0;
  #isLoaded = false;

  constructor(files: readonly string[]) {
    this.#files = files;
  }

  /** Runs all tests once, to learn which mutants each of them reaches. */
  async observe(): Promise<{ readonly passed: number; readonly failed: number; readonly cpuMs: number }> {
    const { tests } = await this.#process.ask({ kind: 'load', files: this.#files }, 'loaded');
    const observed = await this.#process.ask({ kind: 'observe' }, 'observed');
    this.#tests = observed.tests.map((each, index) => ({ ...each, index, file: tests[index]?.file ?? '' }));
    observed.onImport.forEach((id) => this.#onImport.add(id));
    this.#isLoaded = true;
    const passed = this.#tests.filter(({ hasPassed }) => hasPassed);
    const cpuMs = Math.round(passed.reduce((sum, each) => sum + each.cpuMs, 0));
    return { passed: passed.length, failed: this.#tests.length - passed.length, cpuMs };
  }

  isOnImport(mutant: number): boolean {
    return this.#onImport.has(mutant);
  }

  /** @param budgetMs processor time of the tests that are run, if none fails */
  async try(mutant: number, order: (file: string) => number, budgetMs: number): Promise<Verdict> {
    const candidates = this.#tests
      .filter(({ hasPassed, mutants }) => hasPassed && mutants.includes(mutant))
      .map((test) => ({ test, rank: order(test.file) + Math.log2(1 + test.cpuMs / 20) }))
      .sort((a, b) => a.rank - b.rank);
    let left = budgetMs;
    const tests = candidates
      .map(({ test }) => test)
      .filter(({ cpuMs, idle }, i) => i === 0 || (left -= cpuMs + idle * 20 + 2) > 0)
      .map(({ index, cpuMs, idle }) => ({ index, cpuMs, idle }));
    if (tests.length === 0) return {};
    try {
      if (!this.#isLoaded) await this.#process.ask({ kind: 'load', files: this.#files }, 'loaded');
      this.#isLoaded = true;
      const { killer, unclear, isHidden } = await this.#process.ask({ kind: 'try', mutant, tests }, 'tried');
      if (killer !== undefined) return { killer: this.#fileOf(killer) };
      this.#sick += unclear.length;
      if (this.#sick >= MOST_UNCLEAR) this.stop();
      if (unclear.length === 0 && !isHidden) return {};
      const files = [...unclear, ...tests.map(({ index }) => index)].map((index) => this.#fileOf(index));
      return await this.reload(mutant, [...new Set(files)].slice(0, MOST_RELOADED));
    } catch (error) {
      if (!(error instanceof Ended)) throw error;
      this.#isLoaded = false;
      return { killer: this.#fileOf(tests[0]?.index ?? 0) };
    }
  }

  #fileOf(test: number): string {
    return this.#tests[test]?.file ?? '';
  }

  /** Tries a mutant in code that runs on import, or that caches hide, in test files that are loaded again. */
  async reload(mutant: number, files: readonly string[]): Promise<Verdict> {
    const healthy: string[] = [];
    for (const file of files) if (await this.#isHealthy(file)) healthy.push(file);
    if (healthy.length === 0) return {};
    try {
      if (++this.#reloads >= MOST_RELOADS) this.stop();
      const { killerFile } = await this.#process.ask({ kind: 'reload', mutant, files: healthy }, 'tried');
      return killerFile === undefined ? {} : { killer: killerFile };
    } catch (error) {
      if (!(error instanceof Ended)) throw error;
      return { killer: healthy[0] ?? '' };
    }
  }

  /** Whether the tests of a file pass when they are loaded again, without a mutant. */
  async #isHealthy(file: string): Promise<boolean> {
    const known = this.#healthy.get(file);
    if (known !== undefined) return known;
    this.#reloads++;
    const order = { kind: 'reload', mutant: 0, files: [file] } as const;
    const passes = await this.#process.ask(order, 'tried').then(
      ({ killerFile }) => killerFile === undefined,
      () => false,
    );
    this.#healthy.set(file, passes);
    return passes;
  }

  stop(): void {
    this.#process.stop();
    this.#isLoaded = false;
    this.#sick = 0;
    this.#reloads = 0;
  }
}
