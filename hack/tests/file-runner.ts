/**
 * A process that runs test files, one after the other, as its parent says: what files import is loaded once. It ends when
 * its parent ends, however that happens.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { relative } from 'node:path';
import { format } from 'node:util';
import Mocha from 'mocha';
import '../mocha-children.ts';
import { closingLine } from '../mocha-failures.ts';
import '../mocha-patience.ts';
import '../mocha-seed.ts';
import type { Result } from './result.ts';
import { root } from './suites.ts';

/** To this process. */
export type Order = { readonly file: string } | 'end';
/** To the parent. */
export type Report = Omit<Result, 'wallMs'>;

/** An open server or watch keeps the process alive: an error in a test. */
const EXIT_MS = 10_000;
const CLOCK_TICK_MS = 10;

const require = createRequire(import.meta.url);
const { loadOptions } = require('mocha/lib/cli/options.cjs') as {
  loadOptions(args: readonly string[]): Mocha.MochaOptions & Record<string, unknown>;
};
// Without `reporter`, which .mocharc.json has for those who run mocha itself.
const { reporter: _reporter, ...options } = loadOptions(process.argv.slice(2));

/** Milliseconds of processor time of this process and of its children that have ended. */
function processorTime(): number {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8');
    const fields = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(11, 15);
    return fields.reduce((sum, ticks) => sum + Number(ticks), 0) * CLOCK_TICK_MS;
  } catch {
    return 0; // not on Linux
  }
}

const { Base, Spec } = Mocha.reporters;

/** Collects what the spec reporter prints. */
class Collected {
  #lines: string[] = [];

  print = (...args: readonly unknown[]): void => void this.#lines.push(format(...args));

  /** @returns everything since the last call */
  take(): string {
    const text = this.#lines.join('\n');
    this.#lines = [];
    return text;
  }
}

const printed = new Collected();
// console.log stays that of tests: only reporters print by this one.
Base.consoleLog = printed.print;

/** What the spec reporter prints, without its summary. */
class Titles extends Spec {
  override epilogue(): void {}
}

async function run(file: string): Promise<Report> {
  const before = processorTime();
  const mocha = new Mocha({ ...options, reporter: Titles });
  mocha.addFile(file);
  await mocha.loadFilesAsync();
  const failures: string[] = [];
  const failed: Mocha.Test[] = [];
  const skipped: Record<string, number> = {};
  let passed = 0;
  await new Promise<void>((resolve) => {
    const runner = mocha.run(() => {
      resolve();
    });
    runner
      .on('pass', () => passed++)
      .on('fail', (test, error) => {
        failed.push(test);
        failures.push(`${test.fullTitle()}: ${closingLine(error)} (${relative(root, file)})`);
      })
      .on('pending', ({ reason = 'no reason given' }: { readonly reason?: string }) => {
        skipped[reason] = (skipped[reason] ?? 0) + 1;
      });
  });
  mocha.dispose();
  const output = printed.take();
  if (failed.length > 0) Base.list(failed);
  return { passed, failures, skipped, output, details: printed.take(), cpuMs: processorTime() - before };
}

/** @returns the report of a file that cannot be loaded */
const unloadable = (file: string, error: unknown): Report => ({
  passed: 0,
  failures: [`${relative(root, file)} cannot be loaded: ${String(error).replaceAll('\n', ' ')}`],
  skipped: {},
  output: '',
  details: error instanceof Error ? (error.stack ?? error.message) : String(error),
  cpuMs: 0,
});

function end(): void {
  process.disconnect();
  setTimeout(() => {
    const busy = [...new Set(process.getActiveResourcesInfo())].join(', ');
    process.stderr.write(`the tests have ended, but the process is kept alive by: ${busy}\n`);
    process.exit(1);
  }, EXIT_MS).unref();
}

// Mocha ignores rejections that nothing handles, and counts exceptions as failures of the running test. A test that expects
// one listens itself.
process.on('unhandledRejection', (reason) => {
  if (process.listenerCount('unhandledRejection') === 1) throw reason;
});
const onParentGone = (): void => process.exit(1);
process.on('disconnect', onParentGone);
process.on('message', (order: Order) => {
  if (order === 'end') {
    process.off('disconnect', onParentGone);
    end();
    return;
  }
  void run(order.file)
    .catch((error: unknown) => unloadable(order.file, error))
    .then((report) => process.send?.(report));
});
