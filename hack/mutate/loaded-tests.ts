/** A set of loaded test files, of which some tests can be run again and again. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import Mocha from 'mocha';

const root = join(import.meta.dirname, '../..');

type Tree = Mocha.Suite & { reset(): void };

export class LoadedTests {
  readonly mocha = new Mocha({ timeout: 60_000 });
  readonly all: Mocha.Test[] = [];
  readonly #suites = new Map<Mocha.Suite, { tests: Mocha.Test[]; suites: Mocha.Suite[] }>();

  async load(files: readonly string[], query: string): Promise<void> {
    const { suite } = this.mocha;
    for (const file of files) {
      const path = join(root, file);
      suite.emit('pre-require', globalThis, path, this.mocha);
      await import(`${pathToFileURL(path).href}${query}`);
      suite.emit('post-require', globalThis, path, this.mocha);
    }
    suite.eachTest((test: Mocha.Test) => this.all.push(test));
    const keep = (each: Mocha.Suite): void => {
      this.#suites.set(each, { tests: each.tests, suites: each.suites });
      each.suites.forEach(keep);
    };
    keep(suite);
  }

  /** Runs some tests, in the order of their files. */
  run(tests: readonly Mocha.Test[], listen: (runner: Mocha.Runner) => void): Promise<void> {
    const chosen = new Set(tests);
    const prune = (suite: Mocha.Suite): boolean => {
      const { tests, suites } = this.#suites.get(suite) ?? { tests: [], suites: [] };
      suite.tests = tests.filter((test) => chosen.has(test));
      suite.suites = suites.filter(prune);
      return suite.tests.length + suite.suites.length > 0;
    };
    prune(this.mocha.suite);
    (this.mocha.suite as Tree).reset();
    const runner = new Mocha.Runner(this.mocha.suite, { cleanReferencesAfterRun: false });
    listen(runner);
    return new Promise((resolve) => {
      runner.run(() => {
        runner.dispose();
        resolve();
      });
    });
  }
}
