/**
 * Runs test suites and closes with one line, `N passed, N failed`.
 *
 *     hack/run-tests.ts [--envtest [--lane=N] | --kubectl] [SUITE…] [-- MOCHA OPTION…]
 *
 * A suite is a folder of test (unit, scenario, conformance, simulation, e2e), a path, `slow` or `long`. Without one,
 * all suites run that need only Node.js, except for the slow and long ones. With --envtest, a real kube-apiserver is
 * started first and passed to the suites in ESPALIER_TEST_KUBECONFIG, by default to all that use it, slow and long ones
 * included, in two lanes side by side, or only in lane 1 or 2; with --kubectl, the suites that call kubectl run. Exit
 * code 3 if the server or kubectl is not available.
 */
import { spawn, spawnSync, type ChildProcess, type StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { usesRealServer } from './real-server-tests.ts';

const root = join(import.meta.dirname, '..');
const HOOKS = ['./hack/mocha-teardown.mjs', './hack/mocha-patience.ts'].flatMap((file) => [
  '--require',
  file,
]);
const WITH_KUBECTL = 'test/conformance/kubectl';

const args = process.argv.slice(2);
const dashes = args.indexOf('--');
const own = dashes < 0 ? args : args.slice(0, dashes);
const mochaOptions = dashes < 0 ? [] : args.slice(dashes + 1);
const isEnvtest = own.includes('--envtest');
const isKubectl = own.includes('--kubectl');
const lane = own.find((arg) => arg.startsWith('--lane='))?.slice('--lane='.length);
const unknown = own.find((arg) => arg.startsWith('--') && !/^--(envtest|kubectl|lane=.*)$/.test(arg));
const named = own.filter((arg) => !arg.startsWith('--'));
const wanted = isKubectl && named.length === 0 ? [WITH_KUBECTL] : named;

function fail(message: string, code: number): never {
  process.stderr.write(`${message}\n`);
  process.exit(code);
}

if (unknown !== undefined) fail(`unknown option ${unknown}; options of mocha follow --`, 2);

/**
 * Files and folders that take minutes and concern few changes: they run only if requested, as `long` or one by one.
 */
const LONG: readonly string[] = [
  'conformance/apiserver/informer.test.ts',
  'scenario/core/duplicate-items.test.ts',
  'scenario/core/fleet.test.ts',
  'scenario/core/hand-over.test.ts',
  'scenario/deployers/container-conformance.test.ts',
  'scenario/deployers/container-runs.test.ts',
  'scenario/deployers/release-waits.test.ts',
  'scenario/cli/operators.test.ts',
  'scenario/cli/package.test.ts',
  'scenario/cli/plan-charts.test.ts',
  'scenario/install/namespaces.test.ts',
  'scenario/install/rights.test.ts',
  'scenario/journal/records.test.ts',
  'simulation',
  'unit/blueprint/workers-charts.test.ts',
  'unit/templating/hostile',
];

/** Files that take some ten seconds each, mostly because they start processes: they run only if requested, as `slow`. */
const SLOW: readonly string[] = [
  'conformance/apiserver/durable.test.ts',
  'scenario/cli/apply.test.ts',
  'scenario/cli/blueprints.test.ts',
  'scenario/cli/console-plans.test.ts',
  'scenario/cli/deployers.test.ts',
  'scenario/cli/deployitems.test.ts',
  'scenario/cli/doctor-fix.test.ts',
  'scenario/cli/landscape-tests.test.ts',
  'scenario/cli/operators.test.ts',
  'scenario/cli/plan-skipped.test.ts',
  'scenario/cli/plan.test.ts',
  'scenario/cli/servers.test.ts',
  'scenario/cli/tutorial.test.ts',
  'scenario/components/registry.test.ts',
  'scenario/core/watches.test.ts',
  'scenario/deployers/conformance.test.ts',
  'scenario/deployers/container.test.ts',
  'scenario/deployers/helm-releases.test.ts',
  'scenario/deployers/landscapes.test.ts',
  'scenario/deployers/release-stories.test.ts',
  'scenario/deployers/time.test.ts',
  'scenario/install/commands.test.ts',
  'scenario/install/values.test.ts',
  'scenario/observability/traces.test.ts',
  'scenario/operators/conversion-simulation.test.ts',
  'scenario/operators/database.test.ts',
  'scenario/operators/run-operator.test.ts',
  'scenario/operators/sharing-simulation.test.ts',
  'scenario/operators/sharing.test.ts',
  'scenario/operators/simulation.test.ts',
  'scenario/targetsync/faults.test.ts',
  'scenario/webhooks/server.test.ts',
  'unit/blueprint/workers-components.test.ts',
  'unit/blueprint/workers.test.ts',
  'unit/cli/install/chart.test.ts',
  'unit/cli/install/retries.test.ts',
  'unit/deployers/great-numbers.test.ts',
  'unit/deployers/helm/repository-process.test.ts',
  'unit/deployers/killed.test.ts',
  'unit/runtime/fleet/fleet.test.ts',
  'unit/templating/helm/chart.test.ts',
  'unit/templating/worker/pool.test.ts',
];

const LISTS: Readonly<Record<string, readonly string[]>> = { long: LONG, slow: SLOW };

/** The test files of a suite; empty if it contains no tests (yet). */
function filesOf(suite: string): string[] {
  const list = LISTS[suite];
  if (list) return list.flatMap(filesOf);
  const path = [join('test', suite), suite].find((each) => existsSync(join(root, each)));
  if (path === undefined)
    fail(`there is no test suite ${suite}; test has ${readdirSync(join(root, 'test')).join(', ')}`, 2);
  if (path.endsWith('.ts')) return [path];
  return readdirSync(join(root, path), { recursive: true })
    .map(String)
    .filter((file) => file.endsWith('.test.ts'))
    .sort()
    .map((file) => join(path, file));
}

/** Groups of suites that run in parallel if all are requested, to use both cores of a small machine. */
const PARALLEL_GROUPS: readonly (readonly string[])[] = [
  ['unit', 'conformance', 'scenario/components', 'scenario/operators'],
  ['scenario/deployers', 'scenario/cli'],
  ['scenario'],
];
const SKIPPED = /^skipped: (\d+): (.*)$/;
const SUMMARY = /^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?\n?$/;

/**
 * Parts that run on a real server, each on a new one: the objects of thousands of tests would slow it down. The lists
 * run at the same time, because most tests wait.
 */
const LANES_ON_REAL_SERVER: readonly (readonly (readonly string[])[])[] = [
  [['conformance', 'scenario/cli', 'scenario/deployers']],
  [['scenario/core'], ['scenario', 'e2e']],
];

/** The files of each part that are not in an earlier part. */
const partsOf = (parts: readonly (readonly string[])[]): string[][] =>
  parts.map((suites, i) => {
    const taken = new Set(parts.slice(0, i).flat().flatMap(filesOf));
    return suites.flatMap(filesOf).filter((file) => !taken.has(file));
  });

async function run(kubeconfig: string | undefined): Promise<number> {
  const child = start(wanted.flatMap(filesOf), kubeconfig, 'inherit');
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
  reportSignal(signal);
  return Math.min(code ?? 1, 1);
}

/** Prints the output of the parts, and merges their summaries and reasons of skipped tests. */
class Summary {
  readonly #skipped = new Map<string, number>();
  readonly #sum = [0, 0, 0];
  #hasPassed = true;

  readonly show = (line: string): void => {
    const match = SUMMARY.exec(line);
    const [, count, reason] = SKIPPED.exec(line) ?? [];
    if (reason !== undefined) this.#skipped.set(reason, (this.#skipped.get(reason) ?? 0) + Number(count));
    else if (match)
      match.slice(1).forEach((text, i) => (this.#sum[i] = (this.#sum[i] ?? 0) + Number(text ?? 0)));
    else process.stdout.write(`${line}\n`);
  };

  ended(code: number | null): void {
    this.#hasPassed &&= code === 0;
  }

  /** @returns the exit code of all parts */
  close(): number {
    const [passed = 0, failed = 0, skipped = 0] = this.#sum;
    const rest = skipped > 0 ? `, ${String(skipped)} skipped` : '';
    // A part without a summary counts as failed.
    const failures = this.#hasPassed || failed > 0 ? failed : 1;
    for (const [why, count] of this.#skipped) process.stdout.write(`skipped: ${String(count)}: ${why}\n`);
    process.stdout.write(`\n${String(passed)} passed, ${String(failures)} failed${rest}\n`);
    return this.#hasPassed ? 0 : 1;
  }
}

/** Starts a part and passes its lines to `onLine`. @returns its exit code, after the last line */
async function runPart(
  files: readonly string[],
  kubeconfig: string | undefined,
  onLine: (line: string) => void,
): Promise<number | null> {
  const child = start(files, kubeconfig, ['inherit', 'pipe', 'inherit']);
  const lines = child.stdout && createInterface({ input: child.stdout });
  lines?.on('line', onLine);
  const [[code, signal]] = (await Promise.all([once(child, 'exit'), lines && once(lines, 'close')])) as [
    [number | null, string | null],
    unknown,
  ];
  reportSignal(signal);
  return code;
}

/** A process that was killed or ran out of memory prints no summary, so it is reported as a failure. */
function reportSignal(signal: string | null): void {
  if (signal !== null) process.stdout.write(`failed: the process of the tests ended with ${signal}\n`);
}

type Run = (onLine: (line: string) => void) => Promise<number | null>;

/** Starts all at the same time, and shows their lines one after the other. @returns the exit code of all */
async function sideBySide(runs: readonly Run[]): Promise<number> {
  const tally = new Summary();
  let current = 0;
  const started = runs.map((run, i) => {
    const held: string[] = [];
    const code = run((line) => {
      if (i === current) tally.show(line);
      else held.push(line);
    });
    return { code, held };
  });
  for (const { code, held } of started) {
    held.splice(0).forEach(tally.show);
    tally.ended(await code);
    current++;
  }
  return tally.close();
}

function runParallelGroups(): Promise<number> {
  const separate = new Set(Object.keys(LISTS).flatMap(filesOf));
  const chosen = partsOf(PARALLEL_GROUPS).map((files) =>
    files.filter((file) => !file.startsWith(WITH_KUBECTL) && !separate.has(file)),
  );
  return sideBySide(chosen.map((files) => (onLine) => runPart(files, undefined, onLine)));
}

function start(files: readonly string[], kubeconfig: string | undefined, stdio: StdioOptions): ChildProcess {
  if (files.length === 0) fail('these suites hold no tests', 2);
  const mocha = join(root, 'node_modules/mocha/bin/mocha.js');
  if (!existsSync(mocha)) fail('the packages are not installed; run: make install', 1);
  return spawn(process.execPath, [mocha, ...HOOKS, ...mochaOptions, ...files], {
    cwd: root,
    stdio,
    env: { ...process.env, ...(kubeconfig !== undefined && { ESPALIER_TEST_KUBECONFIG: kubeconfig }) },
  });
}

async function onRealServer(): Promise<number> {
  const { EnvtestUnavailable } = await import('./envtest/binaries.ts');
  const { startEnvtest } = await import('../test/support/envtest.ts');
  const withServer = async <T>(use: (kubeconfig: string) => Promise<T>): Promise<T> => {
    const server = await startEnvtest().catch((error: unknown) => {
      if (error instanceof EnvtestUnavailable) fail(`no tests on a real kube-apiserver: ${error.message}`, 3);
      throw error;
    });
    try {
      return await use(server.kubeconfigFile);
    } finally {
      await server.stop();
    }
  };
  if (wanted.length > 0) return withServer(run);
  const parts = partsOf(LANES_ON_REAL_SERVER.flat());
  const lanes = LANES_ON_REAL_SERVER.map((suites) => suites.map(() => parts.shift() ?? []));
  const chosen = lanes.filter((_, i) => lane === undefined || lane === String(i + 1));
  if (chosen.length === 0) fail(`there is no lane ${String(lane)}; there are 1 and 2`, 2);
  return sideBySide(
    chosen.map((parts) => async (onLine) => {
      let worst: number | null = 0;
      for (const files of parts) {
        const code = await withServer((kubeconfig) =>
          runPart(files.filter(usesRealServer), kubeconfig, onLine),
        );
        if (code !== 0) worst = code;
      }
      return worst;
    }),
  );
}

if (isKubectl && spawnSync('kubectl', ['version', '--client']).status !== 0)
  fail('no tests with kubectl: there is no working kubectl on the PATH; install version 1.30 or later', 3);
process.exitCode = isEnvtest
  ? await onRealServer()
  : await (wanted.length > 0 ? run(undefined) : runParallelGroups());
