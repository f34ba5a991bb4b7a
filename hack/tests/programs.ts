/** The programs that check something beside the test files, as work for the queue. */
import { randomInt } from 'node:crypto';
import { steps } from '../check-steps.ts';
import type { Work } from './queue.ts';
import { runProgram } from './program.ts';

const script = (path: string, ...args: readonly string[]): readonly string[] => [
  '--import',
  'tsx',
  path,
  ...args,
];

interface Program {
  readonly suite: string;
  readonly args: readonly string[];
  readonly isAlone?: boolean;
}

/** Seeds of the simulation: those of every run find a fault again, the others are new in each run. */
const SEEDS_AT_A_TIME = 250;
const newSeed = (): number => randomInt(1000, 2 ** 31);
/** Finds a difference again that an earlier run has found; other seeds are new in each run. */
const ORACLE_SEED = '1546692572';

const simulate = (from: number): Program => ({
  suite: 'simulate',
  args: script('test/simulation/main.ts', '--from', String(from), '--seeds', String(SEEDS_AT_A_TIME)),
});

const table: Readonly<Record<string, Program>> = {
  ...Object.fromEntries(
    Object.keys(steps).map((step) => [
      `check ${step}`,
      { suite: 'check', args: script('hack/check.ts', step) },
    ]),
  ),
  traces: { suite: 'traces', args: script('hack/traces.ts') },
  'traces on kube-apiserver': { suite: 'traces', args: script('hack/traces.ts', '--envtest') },
  charts: { suite: 'helm', args: script('hack/helm/compare.ts') },
  'oracle of a fixed seed': {
    suite: 'oracle',
    args: script('hack/go-oracle/compare.ts', '--seed', ORACLE_SEED),
  },
  'oracle of a new seed': { suite: 'oracle', args: script('hack/go-oracle/compare.ts', '--report') },
  'simulate fixed seeds': simulate(1),
  'simulate new seeds': simulate(newSeed()),
  // It counts writes, bytes and executed code, so other work beside it does not change the figures.
  guard: {
    suite: 'guard',
    args: ['--import', 'tsx', '--import', './test/bench/compiled.mjs', 'test/bench/main.ts', 'guard'],
  },
  'node lifecycle': {
    suite: 'node',
    args: script('hack/node/main.ts', '--no-build', 'test/node/lifecycle.test.ts'),
    isAlone: true,
  },
  'node webhooks': {
    suite: 'node',
    args: script('hack/node/main.ts', '--no-build', 'test/node/webhooks.test.ts'),
    isAlone: true,
  },
};

/** @param signal ends those that are running */
export const programs = (signal: AbortSignal): readonly Work[] =>
  Object.entries(table).map(([name, { suite, args, isAlone = false }]) => ({
    name,
    suite,
    isAlone,
    run: () => runProgram(name, args, signal),
  }));
