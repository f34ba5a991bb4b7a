/**
 * Runs test suites and closes with one line, `N passed, N failed`.
 *
 *     hack/run-tests.ts [--envtest] [SUITE…] [-- MOCHA OPTION…]
 *
 * A suite is a folder of test (unit, scenario, conformance, simulation, e2e) or a path. Without one, those that need nothing but
 * Node.js run. With --envtest a real kube-apiserver is started first and handed to the suites in
 * ESPALIER_TEST_KUBECONFIG; exit code 3 when there is none to be had.
 */
import { spawn, type ChildProcess, type StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const root = join(import.meta.dirname, '..');
const ON_REAL_SERVER = ['conformance', 'scenario', 'e2e'];

const args = process.argv.slice(2);
const dashes = args.indexOf('--');
const own = dashes < 0 ? args : args.slice(0, dashes);
const mochaOptions = dashes < 0 ? [] : args.slice(dashes + 1);
const isEnvtest = own.includes('--envtest');
const wanted = own.filter((arg) => arg !== '--envtest');

function fail(message: string, code: number): never {
  process.stderr.write(`${message}\n`);
  process.exit(code);
}

/** The test files of a suite, and nothing that lies beside them; none if it holds no tests (yet). */
function filesOf(suite: string): string[] {
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

/** Suites that run side by side when all are wanted, so that both cores of a small machine are of use. */
const HALVES: readonly (readonly string[])[] = [
  ['unit', 'conformance', 'simulation', 'scenario/cli', 'scenario/deployers'],
  ['scenario'],
];
const SUMMARY = /^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?\n?$/;

async function run(kubeconfig: string | undefined): Promise<number> {
  if (wanted.length === 0 && !isEnvtest) return runHalves();
  const suites = wanted.length > 0 ? wanted : ON_REAL_SERVER;
  const child = start(suites.flatMap(filesOf), kubeconfig, 'inherit');
  const [code] = (await once(child, 'exit')) as [number | null];
  return Math.min(code ?? 1, 1);
}

/** Shows the halves one after the other, and closes with the sum of their summaries. */
async function runHalves(): Promise<number> {
  const sum = [0, 0, 0];
  const runs = HALVES.map((suites, i) => {
    const taken = new Set(HALVES.slice(0, i).flat().flatMap(filesOf));
    const files = suites.flatMap(filesOf).filter((file) => !taken.has(file));
    const child = start(files, undefined, ['inherit', 'pipe', 'inherit']);
    const lines = child.stdout && createInterface({ input: child.stdout });
    const ended = Promise.all([once(child, 'exit'), lines && once(lines, 'close')]);
    return { lines, ended, held: [] as string[] };
  });
  let current = 0;
  const show = (line: string): void => {
    const match = SUMMARY.exec(line);
    if (match) match.slice(1).forEach((text, i) => (sum[i] = (sum[i] ?? 0) + Number(text ?? 0)));
    else process.stdout.write(`${line}\n`);
  };
  for (const [i, { lines, held }] of runs.entries())
    lines?.on('line', (line) => {
      if (i === current) show(line);
      else held.push(line);
    });
  let isWell = true;
  for (const { ended, held } of runs) {
    held.splice(0).forEach(show);
    const [[code]] = (await ended) as [[number | null], unknown];
    isWell &&= code === 0;
    current++;
  }
  const [passed = 0, failed = 0, skipped = 0] = sum;
  const rest = skipped > 0 ? `, ${String(skipped)} skipped` : '';
  process.stdout.write(`\n${String(passed)} passed, ${String(failed)} failed${rest}\n`);
  return isWell ? 0 : 1;
}

function start(files: readonly string[], kubeconfig: string | undefined, stdio: StdioOptions): ChildProcess {
  if (files.length === 0) fail('these suites hold no tests', 2);
  const mocha = join(root, 'node_modules/mocha/bin/mocha.js');
  if (!existsSync(mocha)) fail('the packages are not installed; run: make install', 1);
  return spawn(
    process.execPath,
    [mocha, '--require', './hack/mocha-teardown.mjs', ...mochaOptions, ...files],
    {
      cwd: root,
      stdio,
      env: { ...process.env, ...(kubeconfig !== undefined && { ESPALIER_TEST_KUBECONFIG: kubeconfig }) },
    },
  );
}

async function onRealServer(): Promise<number> {
  const { EnvtestUnavailable } = await import('./envtest/binaries.ts');
  const { startEnvtest } = await import('../test/support/envtest.ts');
  const server = await startEnvtest().catch((error: unknown) => {
    if (error instanceof EnvtestUnavailable) fail(`no tests on a real kube-apiserver: ${error.message}`, 3);
    throw error;
  });
  try {
    return await run(server.kubeconfigFile);
  } finally {
    await server.stop();
  }
}

process.exitCode = isEnvtest ? await onRealServer() : await run(undefined);
