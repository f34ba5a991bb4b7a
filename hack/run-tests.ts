/**
 * Runs test suites and closes with one line, `N passed, N failed`.
 *
 *     hack/run-tests.ts [--envtest] [SUITE…] [-- MOCHA OPTION…]
 *
 * A suite is a folder of test (unit, scenario, conformance, simulation, e2e) or a path. Without one, those that need nothing but
 * Node.js run. With --envtest a real kube-apiserver is started first and handed to the suites in
 * ESPALIER_TEST_KUBECONFIG; exit code 3 when there is none to be had.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const DEFAULT_SUITES = ['unit', 'scenario', 'conformance', 'simulation'];
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

async function run(kubeconfig: string | undefined): Promise<number> {
  const suites = wanted.length > 0 ? wanted : isEnvtest ? ON_REAL_SERVER : DEFAULT_SUITES;
  const files = suites.flatMap(filesOf);
  if (files.length === 0) fail('these suites hold no tests', 2);
  const mocha = join(root, 'node_modules/mocha/bin/mocha.js');
  if (!existsSync(mocha)) fail('the packages are not installed; run: make install', 1);
  const child = spawn(
    process.execPath,
    [mocha, '--require', './hack/mocha-teardown.mjs', ...mochaOptions, ...files],
    {
      cwd: root,
      stdio: 'inherit',
      env: { ...process.env, ...(kubeconfig !== undefined && { ESPALIER_TEST_KUBECONFIG: kubeconfig }) },
    },
  );
  const [code] = (await once(child, 'exit')) as [number | null];
  return Math.min(code ?? 1, 1);
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
