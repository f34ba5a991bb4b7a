/** The result of a test file or a program. */

export interface Result {
  readonly passed: number;
  /** A line for each failure. */
  readonly failures: readonly string[];
  /** How many tests were skipped, by reason. */
  readonly skipped: Readonly<Record<string, number>>;
  /** Everything it printed, with the title of each test. */
  readonly output: string;
  /** What to show of a failed one: messages, stacks and differences. */
  readonly details: string;
  readonly wallMs: number;
  /** Processor time, including that of its child processes that have ended; 0 where the system does not say. */
  readonly cpuMs: number;
}

/** @returns the result of something that ended without one */
export const brokenBy = (why: string, output: string, wallMs: number): Result => ({
  passed: 0,
  failures: [why],
  skipped: {},
  output,
  details: output,
  wallMs,
  cpuMs: 0,
});

const SUMMARY = /^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$/gm;

/** What a program does that cannot run on this machine. Make hides the code of a recipe behind its own. */
const UNAVAILABLE = 3;

/** @returns the result of a program that ended with `code`, from what it printed */
export function resultOf(
  name: string,
  code: number | null,
  output: string,
  time: Pick<Result, 'wallMs' | 'cpuMs'>,
): Result {
  const lines = output.trimEnd().split('\n');
  const base = { output, details: output, ...time };
  if (code === UNAVAILABLE) {
    const why = lines.findLast((line) => line.trim() !== '' && !line.startsWith('make')) ?? 'no reason given';
    return { ...base, passed: 0, failures: [], skipped: { [why]: 1 } };
  }
  const sums = [...output.matchAll(SUMMARY)].map((match) =>
    match.slice(1, 4).map((text) => Number(text ?? 0)),
  );
  const sum = (i: number): number => sums.reduce((all, each) => all + (each[i] ?? 0), 0);
  const passed = sums.length > 0 ? sum(0) : Number(code === 0);
  const named = lines
    .filter((line) => /^(failed: |FAILED +[a-z0-9]+ |seed \d+ failed)/.test(line))
    .map((line) => line.replace(/^failed: /, ''));
  const count = Math.max(sum(1), code === 0 ? 0 : 1);
  const rest = Array.from(
    { length: Math.max(0, count - named.length) },
    () => `${name}: ${code === null ? 'it was killed' : (lines.at(-1) ?? '')}`,
  );
  return {
    ...base,
    passed,
    failures: count === 0 ? [] : [...named, ...rest].slice(0, count),
    skipped: sum(2) > 0 ? { 'as the program said': sum(2) } : {},
  };
}
