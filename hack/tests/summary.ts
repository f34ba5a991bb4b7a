/** Prints the result of each item, and sums up. */
import type { Result } from './result.ts';
import type { Work } from './queue.ts';

interface Sum {
  items: number;
  passed: number;
  failed: number;
  skipped: number;
  cpuMs: number;
}

const seconds = (ms: number): string => (ms / 1000).toFixed(1);
const sumOf = (counts: Iterable<number>): number => [...counts].reduce((all, each) => all + each, 0);

export class Summary {
  readonly #suites = new Map<string, Sum>();
  readonly #failures: string[] = [];
  readonly #skipped = new Map<string, number>();
  readonly #total: number;
  readonly #say: (line: string) => void;
  readonly #showsTitles: boolean;
  #ended = 0;

  /** @param options.showsTitles prints everything, with the title of each test */
  constructor(options: {
    readonly total: number;
    readonly say: (line: string) => void;
    readonly showsTitles: boolean;
  }) {
    this.#total = options.total;
    this.#say = options.say;
    this.#showsTitles = options.showsTitles;
  }

  readonly add = (item: Work, result: Result): void => {
    this.#ended++;
    const skipped = sumOf(Object.values(result.skipped));
    const sum = this.#suites.get(item.suite) ?? { items: 0, passed: 0, failed: 0, skipped: 0, cpuMs: 0 };
    this.#suites.set(item.suite, {
      items: sum.items + 1,
      passed: sum.passed + result.passed,
      failed: sum.failed + result.failures.length,
      skipped: sum.skipped + skipped,
      cpuMs: sum.cpuMs + result.cpuMs,
    });
    this.#failures.push(...result.failures);
    for (const [why, count] of Object.entries(result.skipped))
      this.#skipped.set(why, (this.#skipped.get(why) ?? 0) + count);

    const hasFailed = result.failures.length > 0;
    if (this.#showsTitles && result.output !== '') this.#say(result.output);
    const counts = [
      `${String(result.passed)} passed`,
      ...(hasFailed ? [`${String(result.failures.length)} failed`] : []),
      ...(skipped > 0 ? [`${String(skipped)} skipped`] : []),
    ];
    const progress = `${String(this.#ended).padStart(String(this.#total).length)}/${String(this.#total)}`;
    const verdict = hasFailed ? 'FAILED' : 'ok    ';
    const time = `${seconds(result.wallMs)} s (processor ${seconds(result.cpuMs)} s)`;
    this.#say(`${progress} ${verdict} ${item.name}: ${counts.join(', ')}, ${time}`);
    if (hasFailed) this.#say(result.details.replace(/^(?=.)/gm, '    '));
  };

  /** A failure of no particular item. */
  fail(message: string): void {
    this.#failures.push(message);
  }

  /** Prints the sums, by suite if there are several. @returns whether everything passed */
  close(): boolean {
    const sums = [...this.#suites].sort(([a], [b]) => (a < b ? -1 : 1));
    if (sums.length > 1) {
      this.#say('');
      const width = Math.max(...sums.map(([name]) => name.length));
      for (const [name, { items, passed, failed, skipped, cpuMs }] of sums) {
        const counts = `${String(passed)} passed, ${String(failed)} failed, ${String(skipped)} skipped`;
        this.#say(
          `${name.padEnd(width)} ${String(items).padStart(4)} files ${seconds(cpuMs).padStart(7)} s of processor time  ${counts}`,
        );
      }
    }
    this.#say('');
    for (const line of this.#failures) this.#say(`failed: ${line}`);
    for (const [why, count] of this.#skipped) this.#say(`skipped: ${String(count)}: ${why}`);
    const passed = sumOf(sums.map(([, each]) => each.passed));
    const skipped = sumOf(sums.map(([, each]) => each.skipped));
    const rest = skipped > 0 ? `, ${String(skipped)} skipped` : '';
    this.#say(`${String(passed)} passed, ${String(this.#failures.length)} failed${rest}`);
    return this.#failures.length === 0;
  }
}
