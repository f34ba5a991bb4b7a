/**
 * Simulates many seeds, some of them with several replicas as well, or replays one, and ends with one line, `N
 * passed, N failed`.
 *
 * test/simulation/main.ts [--seeds N] [--from N] [--replicas N] | --seed N [--replicas N] [--verbose]
 */
import { parseArgs } from 'node:util';
import { runSeed, type Outcome } from './engine/run.ts';
import { Violation } from '../../src/testing/violation.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '200' },
    from: { type: 'string', default: '1' },
    seed: { type: 'string' },
    replicas: { type: 'string' },
    verbose: { type: 'boolean', default: false },
  },
});

const LAST_STEPS = 40;
const PROGRESS_EVERY = 100;
/** More failures than this provide no more information. */
const MAX_FAILURES = 10;

const number = (text: string, what: string): number => {
  if (/^\d+$/.test(text)) return Number(text);
  console.error(`error: ${what} has to be a whole number, not "${text}"`);
  process.exit(2);
};

function report({ seed, failure, steps, lastSteps }: Outcome, replicas: number | undefined): void {
  const law = failure instanceof Violation ? failure.law : 'the simulation itself works';
  console.log(`\nseed ${seed} failed after ${steps} steps`);
  console.log(`  broken: ${law}`);
  const text = failure instanceof Violation ? failure.message : (failure?.stack ?? '');
  for (const line of text.split('\n')) console.log(`          ${line}`);
  console.log(`  the last ${LAST_STEPS} steps:`);
  for (const line of lastSteps(LAST_STEPS)) console.log(`  ${line}`);
  const args = replicas === undefined ? '' : ` ARGS='--replicas ${replicas}'`;
  console.log(`  replay: make simulate SEED=${seed}${args}
`);
}

/** Every tenth seed also runs with two or three replicas. */
const runsOf = (seed: number): readonly (number | undefined)[] =>
  seed % 10 === 0 ? [undefined, 2 + ((seed / 10) % 2)] : [undefined];

async function main(): Promise<void> {
  const isReplay = values.seed !== undefined;
  const first = isReplay ? number(values.seed ?? '', 'the seed') : number(values.from, 'the first seed');
  const count = isReplay ? 1 : number(values.seeds, 'the number of seeds');
  const asked = values.replicas === undefined ? undefined : number(values.replicas, 'the number of replicas');
  const runs = isReplay || asked !== undefined ? () => [asked] : runsOf;
  const started = performance.now();
  let passed = 0;
  let failed = 0;
  let steps = 0;
  for (let seed = first; seed < first + count && failed < MAX_FAILURES; seed++) {
    for (const replicas of runs(seed)) {
      const outcome = await runSeed(seed, {
        ...(replicas !== undefined && { replicas }),
        ...(values.verbose && { onLine: (line: string) => console.log(line) }),
      });
      steps += outcome.steps;
      if (outcome.failure) {
        failed++;
        report(outcome, replicas);
      } else passed++;
    }
    if ((seed - first + 1) % PROGRESS_EVERY === 0) {
      const seconds = ((performance.now() - started) / 1000).toFixed(0);
      console.log(`${seed - first + 1} of ${count} seeds, ${steps} steps, ${failed} failed, ${seconds} s`);
    }
  }
  if (failed >= MAX_FAILURES) console.log(`ended after ${MAX_FAILURES} failures`);
  console.log(`${passed} passed, ${failed} failed`);
  process.exitCode = failed > 0 ? 1 : 0;
}

await main();
