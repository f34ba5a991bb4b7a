/**
 * Runs test suites and closes with one line, `N passed, N failed`.
 *
 *     hack/run-tests.ts [OPTION…] [SUITE…] [-- MOCHA OPTION…]
 *
 * A suite is a folder of test (unit, scenario, conformance, console …), a path, or a list: `slow`, `long`, `node-lts`.
 * Without one, all suites run that need only Node.js, except for the slow and long ones.
 *
 *   --kubectl       the tests that call kubectl
 *   --envtest       on a real kube-apiserver; without suites, all tests that use it
 *   --rest          everything that runs without --rest only if it is named, and the programs that check something
 *   --only=NAME     of --rest, only the suites and programs whose name begins so; several: slow,traces
 *   --turn=N/M      of what --rest runs on a real kube-apiserver or alone, every Mth file or program, from the Nth on: 1/2 or 2/2
 *   --node=FILE     a program of Node.js for the tests that depend on its version (of --rest)
 *   --minutes=N     items that have not started after that time are skipped
 *   --titles        prints the title of each test; the default for up to three files
 *   --keep-weights  writes how long the longest files took to hack/tests/weights.json
 *
 * ESPALIER_TEST_SEED is the seed of property tests: the same in each run, but a new one, which is printed, for --rest and `long`.
 *
 * Several processes run the files; the slowest files of the last run start first. Exit code 3 if kubectl or the server is
 * not available.
 */
import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { Lanes, type Environment } from './tests/lanes.ts';
import { programs } from './tests/programs.ts';
import { idleProcessors, runQueue, type Work } from './tests/queue.ts';
import { Summary } from './tests/summary.ts';
import {
  defaultFiles,
  filesOf,
  filesOnRealServer,
  SEPARATE,
  UnknownSuite,
  WITH_KUBECTL,
} from './tests/suites.ts';
import { keepWeights, readWeights } from './tests/weights.ts';

const FEW_FILES = 3;
/** Several files run at a time, so tests wait longer before they fail. */
const PATIENCE = '4';

function fail(message: string, code: number): never {
  process.stderr.write(`${message}\n`);
  process.exit(code);
}

const dashes = process.argv.indexOf('--');
const mochaOptions = dashes < 0 ? [] : process.argv.slice(dashes + 1);
const { values, positionals } = parseArgs({
  args: process.argv.slice(2, dashes < 0 ? undefined : dashes),
  allowPositionals: true,
  options: {
    kubectl: { type: 'boolean', default: false },
    envtest: { type: 'boolean', default: false },
    rest: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
    turn: { type: 'string', default: '1/1' },
    node: { type: 'string' },
    minutes: { type: 'string', default: '100000' },
    titles: { type: 'boolean', default: false },
    'keep-weights': { type: 'boolean', default: false },
  },
});

const lanes = new Lanes({ mochaOptions, nodeLts: values.node });
const interrupted = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    interrupted.abort();
    void lanes.close().finally(() => process.exit(1));
  });

/** Suites whose tests measure processor time or memory, or how long other tenants wait. */
const ALONE = /^test\/(attacks|large)\//;

const suiteOf = (file: string): string => file.split('/').slice(1, 2).join('') || file;

const fileWork =
  (environment: Environment, suite?: string) =>
  (file: string): Work => ({
    name: environment === 'embedded' ? file : `${file} (${environment})`,
    suite: suite ?? (environment === 'embedded' ? suiteOf(file) : environment),
    isAlone: ALONE.test(file),
    run: () => lanes.run(file, environment),
  });

/** Of what runs on a real kube-apiserver, or alone, the part that --turn chooses; and everything else. */
function ofTurn(all: readonly Work[]): readonly Work[] {
  const [, turn = '', turns = ''] = /^([1-9])\/([1-9])$/.exec(values.turn) ?? [];
  if (turn === '' || turn > turns) fail(`--turn must be a part such as 1/2, not "${values.turn}"`, 2);
  const inTurns = all.filter(({ name, isAlone }) => isAlone || name.includes('kube-apiserver'));
  const left = new Set(inTurns.filter((_, i) => i % Number(turns) !== Number(turn) - 1));
  if (left.size > 0)
    process.stdout.write(`${String(left.size)} files and programs that take turns have another one\n`);
  return all.filter((item) => !left.has(item));
}

/** All that `make test` leaves out. */
function rest(): readonly Work[] {
  const hasNode = values.node !== undefined;
  const separate = SEPARATE.filter((suite) => suite !== 'node' && suite !== 'e2e');
  const all = [
    ...filesOf('slow').map(fileWork('embedded', 'slow')),
    ...filesOf('long').map(fileWork('embedded', 'long')),
    ...[...separate, WITH_KUBECTL].flatMap(filesOf).map(fileWork('embedded')),
    ...(hasNode ? filesOf('node-lts').map(fileWork('node-lts')) : []),
    ...filesOnRealServer().map(fileWork('kube-apiserver')),
    ...programs(interrupted.signal),
  ];
  const only = values.only.split(',');
  return ofTurn(all).filter(({ name, suite }) =>
    only.some((start) => name.startsWith(start) || suite.startsWith(start)),
  );
}

async function chosen(): Promise<readonly Work[]> {
  if (values.rest) return rest();
  if (values.kubectl && spawnSync('kubectl', ['version', '--client']).status !== 0)
    fail('no tests with kubectl: there is no working kubectl on the PATH; install version 1.30 or later', 3);
  const named = positionals.length > 0 ? positionals : values.kubectl ? [WITH_KUBECTL] : [];
  const files = [...new Set(named.flatMap(filesOf))];
  if (!values.envtest) return (named.length > 0 ? files : defaultFiles()).map(fileWork('embedded'));

  const { ensureBinaries, EnvtestUnavailable } = await import('./envtest/binaries.ts');
  try {
    ensureBinaries((line) => void process.stderr.write(`${line}\n`));
  } catch (error) {
    if (!(error instanceof EnvtestUnavailable)) throw error;
    fail(`no tests on a real kube-apiserver: ${error.message}`, 3);
  }
  return (named.length > 0 ? files : filesOnRealServer()).map(fileWork('kube-apiserver'));
}

const work = await chosen().catch((error: unknown) => {
  if (error instanceof UnknownSuite) fail(error.message, 2);
  throw error;
});
if (work.length === 0) fail('these suites hold no tests', 2);
if (work.length > 1) process.env['ESPALIER_TEST_PATIENCE'] ??= PATIENCE;

// The long suites try other values in each run.
const isFresh = values.rest || positionals.includes('long');
if (isFresh) process.env['ESPALIER_TEST_SEED'] ??= String(randomInt(2 ** 31));

const started = performance.now();
const minutes = Number(values.minutes);
const summary = new Summary({
  total: work.length,
  say: (line) => void process.stdout.write(`${line}\n`),
  showsTitles: values.titles || work.length <= FEW_FILES,
});
if (isFresh) process.stdout.write(`seed of property tests: ${process.env['ESPALIER_TEST_SEED'] ?? ''}\n`);
const measured: Record<string, number> = {};
await runQueue(work, {
  weights: readWeights(),
  cores: availableParallelism(),
  idle: idleProcessors(),
  closed: () =>
    performance.now() - started > minutes * 60_000
      ? `the run has taken ${String(minutes)} minutes`
      : undefined,
  onEnd(item, result) {
    if (result.passed > 0) measured[item.name] = Math.round(result.wallMs);
    summary.add(item, result);
  },
});
await lanes.close();
for (const complaint of lanes.complaints) summary.fail(complaint);
keepWeights(measured, { commit: values['keep-weights'] });
process.exitCode = summary.close() ? 0 : 1;
