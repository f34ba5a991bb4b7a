/** Builds programs from published Go modules into a cache outside the tree. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildGo, go } from './build.ts';

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

/** @throws GoUnavailable */
export function buildGoProgram(target: string, program: GoProgram): void {
  const { module, replacements = [], ldflags = [], source, goPackage } = program;
  const folder = mkdtempSync(join(tmpdir(), 'go-program-'));
  try {
    // Without a go line, modules that the program does not need would be looked up, too.
    const lines = [
      'module built',
      'go 1.21',
      ...(module ? [`require ${module.name} ${module.version}`] : []),
    ];
    writeFileSync(join(folder, 'go.mod'), `${[...lines, ...replacements].join('\n')}\n`);
    if (source !== undefined) writeFileSync(join(folder, 'main.go'), source);
    buildGo(target, { folder, goPackage, ldflags, flags: ['-mod=mod'] });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
