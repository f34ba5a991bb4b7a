/** Builds Go packages with the go command, for tools and for peers in tests. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';

/** A program cannot be built on this machine; the message says why. */
export class GoUnavailable extends Error {
  override readonly name = 'GoUnavailable';
}

interface GoBuild {
  /** The folder of the go.mod. */
  readonly folder: string;
  /** "." for the package in `folder`. */
  readonly goPackage: string;
  readonly flags?: readonly string[];
  /** Linker flags besides -s -w. */
  readonly ldflags?: readonly string[];
}

export function hasGo(): boolean {
  return spawnSync('go', ['version'], { stdio: 'ignore' }).status === 0;
}

/** Where a built program is kept, outside the tree, so that a clean checkout does not build it again. */
export function programCache(...path: readonly string[]): string {
  const cache = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache');
  return join(cache, 'espalier', ...path);
}

/**
 * The go command downloads as many modules at a time as it uses processors, and a download consists of waiting: with
 * two processors the modules of Kubernetes take minutes instead of seconds.
 */
const DOWNLOADS = '24';

/**
 * Builds next to the target and renames, so that two processes can build at the same time.
 * @throws GoUnavailable
 */
export function buildGo(target: string, { folder, goPackage, flags = [], ldflags = [] }: GoBuild): void {
  const parent = dirname(target);
  mkdirSync(parent, { recursive: true });
  const output = mkdtempSync(join(parent, '.build-'));
  try {
    go(['list', ...flags, '-deps', '-f', '{{.ImportPath}}', goPackage], folder, { GOMAXPROCS: DOWNLOADS });
    const binary = join(output, 'binary');
    const link = ['-s', '-w', ...ldflags].join(' ');
    go(['build', ...flags, '-trimpath', '-ldflags', link, '-o', binary, goPackage], folder);
    renameSync(binary, target);
  } finally {
    rmSync(output, { recursive: true, force: true });
  }
}

/**
 * Runs the go command behind other work. @returns its standard output
 * @throws GoUnavailable with the end of its standard error
 */
export function go(args: readonly string[], cwd?: string, variables: NodeJS.ProcessEnv = {}): string {
  const env = { ...process.env, CGO_ENABLED: '0', GOWORK: 'off', ...variables };
  const run = spawnSync('nice', ['go', ...args], { cwd, env, encoding: 'utf8', maxBuffer: 64 << 20 });
  if (run.status === 0) return run.stdout;
  const reason = run.error?.message ?? run.stderr.trim().split('\n').slice(-5).join('; ');
  throw new GoUnavailable(`go ${args[0]} failed: ${reason}`);
}
