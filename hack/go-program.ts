/** Builds programs from Go modules into a cache outside the tree. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** A program cannot be built on this machine; the message says why. */
export class GoUnavailable extends Error {
  override readonly name = 'GoUnavailable';
}

export interface GoProgram {
  /** Go package of the program; "." for the package of `source`. */
  readonly goPackage: string;
  /** Required module and its version with leading v; undefined if the source needs only the standard library. */
  readonly module?: { readonly name: string; readonly version: string };
  /** "replace" lines of the go.mod. */
  readonly replacements?: readonly string[];
  /** Linker flags besides -s -w. */
  readonly ldflags?: readonly string[];
  /** Text of a main.go, for a program that no module contains as it is needed. */
  readonly source?: string;
}

export function hasGo(): boolean {
  return spawnSync('go', ['version'], { stdio: 'ignore' }).status === 0;
}

/**
 * A program of k8s.io/kubernetes. Its go.mod refers to staging modules by local paths that the module does not contain:
 * each needs a replacement.
 * @param version without leading v
 * @throws GoUnavailable if the module cannot be downloaded
 */
export function kubernetesProgram(name: string, version: string): GoProgram {
  const module = { name: 'k8s.io/kubernetes', version: `v${version}` };
  const answer = go(['mod', 'download', '-json', `${module.name}@${module.version}`]);
  const goMod = readFileSync((JSON.parse(answer) as { GoMod: string }).GoMod, 'utf8');
  const staging = version.replace(/^1\./, '0.');
  const [major, minor] = version.split('.');
  return {
    goPackage: `${module.name}/cmd/${name}`,
    module,
    replacements: [...goMod.matchAll(/^\s*(k8s\.io\/[\w.-]+)\s+=>\s+\.\/staging\//gm)].map(
      ([, each]) => `replace ${each} => ${each} v${staging}`,
    ),
    ldflags: Object.entries({ gitVersion: module.version, gitMajor: major, gitMinor: minor }).map(
      ([key, value]) => `-X k8s.io/component-base/version.${key}=${value}`,
    ),
  };
}

/**
 * Builds a program next to `target` and renames it, so that two processes can build at the same time.
 * @throws GoUnavailable
 */
export function buildGoProgram(target: string, program: GoProgram): void {
  mkdirSync(dirname(target), { recursive: true });
  const folder = mkdtempSync(join(dirname(target), '.build-'));
  try {
    const { module, replacements = [], ldflags = [], source } = program;
    const lines = ['module built', ...(module ? [`require ${module.name} ${module.version}`] : [])];
    writeFileSync(join(folder, 'go.mod'), `${[...lines, ...replacements].join('\n')}\n`);
    if (source !== undefined) writeFileSync(join(folder, 'main.go'), source);
    const binary = join(folder, 'binary');
    const flags = ['-mod=mod', '-trimpath', '-ldflags', ['-s', '-w', ...ldflags].join(' '), '-o', binary];
    go(['build', ...flags, program.goPackage], folder);
    renameSync(binary, target);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function go(args: readonly string[], cwd?: string): string {
  const env = { ...process.env, CGO_ENABLED: '0', GOWORK: 'off' };
  const run = spawnSync('nice', ['go', ...args], { cwd, env, encoding: 'utf8', maxBuffer: 64 << 20 });
  if (run.status === 0) return run.stdout;
  const reason = run.error?.message ?? run.stderr.trim().split('\n').slice(-5).join('; ');
  throw new GoUnavailable(`go ${args[0]} failed: ${reason}`);
}
