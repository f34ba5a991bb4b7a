/**
 * Finds a real registry for tests, or builds one from its Go module: once, into a cache outside the tree.
 *
 *     npx tsx hack/registry/main.ts    # builds it; takes some minutes
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { isExecutable } from '../executable.ts';

const MODULE = 'github.com/distribution/distribution/v3/cmd/registry';
const VERSION = 'v3.0.0';

/** ESPALIER_TEST_REGISTRY, Debian's docker-registry, or the built program; undefined if there is none. */
export function findRegistry(): string | undefined {
  const given = process.env['ESPALIER_TEST_REGISTRY'];
  const onPath = (process.env['PATH'] ?? '')
    .split(delimiter)
    .map((folder) => join(folder, 'docker-registry'));
  return [...(given ? [given] : []), ...onPath, builtRegistry()].find(isExecutable);
}

function builtRegistry(): string {
  const cache = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache');
  return join(cache, 'espalier', 'registry', VERSION, 'registry');
}

/** @throws Error with the reason */
export function buildRegistry(say: (line: string) => void): string {
  const target = builtRegistry();
  if (isExecutable(target)) return target;
  const parent = join(target, '..');
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(join(parent, '.build-'));
  try {
    say(`building ${MODULE} ${VERSION} into ${target} (some minutes, once)`);
    const env = { ...process.env, CGO_ENABLED: '0', GOWORK: 'off', GOBIN: folder };
    const run = spawnSync('nice', ['go', 'install', `${MODULE}@${VERSION}`], { env, encoding: 'utf8' });
    if (run.status !== 0) {
      throw new Error(
        `go install failed: ${run.error?.message ?? run.stderr.trim().split('\n').slice(-5).join('; ')}`,
      );
    }
    renameSync(join(folder, 'registry'), target);
    return target;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
