/** Installs Stryker outside of the tree, runs it on some files, and returns its report. */
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { MutationReport } from './report.ts';

const CACHE = join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'espalier', 'stryker');
const MANIFESTS = ['package.json', 'package-lock.json'];

export class MutationFailed extends Error {}

/** @returns the folder of Stryker's packages. @throws MutationFailed when they cannot be installed */
export function installStryker(root: string): string {
  const packages = join(CACHE, 'node_modules');
  const isCurrent = MANIFESTS.every(
    (name) =>
      existsSync(join(CACHE, name)) &&
      readFileSync(join(CACHE, name), 'utf8') === readFileSync(join(root, 'hack/mutate', name), 'utf8'),
  );
  if (isCurrent && existsSync(join(packages, '.package-lock.json'))) return packages;
  process.stdout.write(`installing Stryker into ${CACHE}, once\n`);
  mkdirSync(CACHE, { recursive: true });
  for (const name of MANIFESTS) copyFileSync(join(root, 'hack/mutate', name), join(CACHE, name));
  const { status, stderr, error } = spawnSync(
    'npm',
    ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--engine-strict=false', '--loglevel', 'error'],
    { cwd: CACHE, encoding: 'utf8', stdio: ['ignore', 'ignore', 'pipe'] },
  );
  if (status === 0) return packages;
  rmSync(CACHE, { recursive: true, force: true });
  throw new MutationFailed(`Stryker cannot be installed: ${error?.message ?? stderr.trim()}`);
}

interface Run {
  readonly root: string;
  /** Node.js 22 or later. */
  readonly node: string;
  /** Folder of Stryker's packages. */
  readonly packages: string;
  /** Product files, relative to the root. */
  readonly mutate: readonly string[];
  readonly testFiles: readonly string[];
  readonly concurrency: number;
}

/** Runs Stryker in a copy of the tree in the temporary folder. @throws MutationFailed when it measures nothing */
export function runStryker(run: Run): MutationReport {
  const work = mkdtempSync(join(tmpdir(), 'espalier-mutate-'));
  try {
    // The copies lie below, and find their packages here. Stryker's symlinkNodeModules misses a node_modules that is a link.
    symlinkSync(join(run.root, 'node_modules'), join(work, 'node_modules'));
    const report = join(work, 'mutation.json');
    const config = join(work, 'stryker.config.json');
    writeFileSync(config, JSON.stringify(configOf(run, work, report)));
    const stryker = join(run.packages, '@stryker-mutator/core/bin/stryker.js');
    const { status, signal } = spawnSync(run.node, [stryker, 'run', config], {
      cwd: run.root,
      stdio: 'inherit',
      env: { ...process.env, NODE_OPTIONS: preload(run.root) },
    });
    if (status !== 0 || !existsSync(report))
      throw new MutationFailed(
        `Stryker ended with ${signal ?? `code ${String(status)}`}; its messages are above`,
      );
    return JSON.parse(readFileSync(report, 'utf8')) as MutationReport;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** For Stryker and each process that it starts. */
const preload = (root: string): string =>
  `--import=${pathToFileURL(join(root, 'hack/mutate/mocha-paths.mjs')).href}`;

function configOf(run: Run, work: string, report: string): object {
  return {
    plugins: [join(run.packages, '@stryker-mutator/mocha-runner/dist/src/index.js')],
    testRunner: 'mocha',
    testRunnerNodeArgs: ['--import', 'tsx', '--conditions=espalier-source'],
    mutate: run.mutate,
    mochaOptions: { spec: run.testFiles },
    coverageAnalysis: 'perTest',
    // A mutant of code that runs once, on import, needs a new process and all tests.
    ignoreStatic: true,
    concurrency: run.concurrency,
    // A survivor must not count as a timeout because the machine is busy.
    timeoutMS: 20_000,
    tempDirName: work,
    symlinkNodeModules: false,
    ignorePatterns: ['dist', 'coverage', '.cache', 'docs/images'],
    reporters: ['json', 'progress-append-only'],
    jsonReporter: { fileName: report },
    allowConsoleColors: false,
    // tsx runs TypeScript unchecked; the configuration needs no rewriting.
    disableTypeChecks: false,
    tsconfigFile: 'none',
  };
}
