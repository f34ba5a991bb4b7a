/**
 * A real cluster of one node on this machine, and the tests that run there.
 *
 *     hack/node/main.ts [--build-only | --serve] [--no-build] [SUITE…] [-- MOCHA OPTION…]
 *
 * Builds programs and images that are missing or have changed, starts the cluster, runs the suites (default: test/node),
 * and removes all but the caches. --serve keeps the cluster until SIGINT or SIGTERM instead of running tests; --no-build
 * does not build missing programs, which takes many minutes. Exit code 3: not possible here, the reason is the last line.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { EnvtestUnavailable, ensureBinaries } from '../envtest/binaries.ts';
import { GoUnavailable } from '../go/build.ts';
import { startCluster } from './cluster.ts';
import { buildImages } from './images.ts';
import { ensurePrograms } from './programs.ts';
import { checkRequirements, NodeUnavailable } from './requirements.ts';
import { files } from './settings.ts';

const OPTIONS = ['--build-only', '--serve', '--no-build'];
const started = Date.now();
const say = (line: string): void =>
  void process.stderr.write(`${String(Math.round((Date.now() - started) / 1000)).padStart(4)} s  ${line}\n`);

async function main(): Promise<number> {
  const args = process.argv.slice(2);
  const has = (option: string): boolean => args.includes(option);
  const rest = args.filter((arg) => !OPTIONS.includes(arg));
  checkRequirements(!has('--no-build'));
  ensureBinaries(say);
  ensurePrograms(say);
  const suites = suitesIn(rest);
  const isOnlyOthers = suites.length > 0 && suites.every((suite) => /\/(?!operator)[^/]*\.ts$/.test(suite));
  buildImages({ withOperator: !isOnlyOthers });
  say('programs and images are built');
  if (has('--build-only')) return 0;

  const interrupted = Promise.race([once(process, 'SIGTERM'), once(process, 'SIGINT')]);
  const machine = await startCluster(say);
  try {
    if (!has('--serve')) return await runTests(rest, interrupted);
    await interrupted;
    return 0;
  } finally {
    await machine.stop();
    say('the cluster is gone');
  }
}

/** The arguments before `--`; none means all suites. */
const suitesIn = (args: readonly string[]): readonly string[] =>
  args.includes('--') ? args.slice(0, args.indexOf('--')) : args;

/** @returns the exit code of the tests; 1 if they were interrupted */
async function runTests(args: readonly string[], interrupted: Promise<unknown>): Promise<number> {
  const suites = suitesIn(args).length === 0 ? ['test/node', ...args] : args;
  const tests = spawn(
    process.execPath,
    ['--import', 'tsx', join(import.meta.dirname, '../run-tests.ts'), ...suites],
    {
      stdio: 'inherit',
      // A group of its own, so that all processes of the tests get the signal.
      detached: true,
      env: { ...process.env, ESPALIER_TEST_NODE: files.kubeconfig },
    },
  );
  const ended = once(tests, 'exit') as Promise<[number | null]>;
  void interrupted.then(() => {
    if (tests.pid !== undefined && tests.exitCode === null) process.kill(-tests.pid, 'SIGTERM');
  });
  const [code] = await ended;
  return code ?? 1;
}

try {
  process.exitCode = await main();
} catch (error) {
  const isUnavailable =
    error instanceof NodeUnavailable || error instanceof GoUnavailable || error instanceof EnvtestUnavailable;
  if (!isUnavailable) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 3;
}
