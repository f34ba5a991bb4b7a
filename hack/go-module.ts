/** Builds the program of a folder with a go.mod, once for each state of its sources, into a cache outside the tree. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { isExecutable } from './executable.ts';

/** The program cannot be built on this machine; the message says what is missing. */
export class GoModuleUnavailable extends Error {
  override readonly name = 'GoModuleUnavailable';
}

export interface GoModule {
  /** Of the program, and of its folder in the cache. */
  readonly name: string;
  readonly folder: string;
}

function target({ name, folder }: GoModule): string {
  const hash = createHash('sha256');
  for (const file of readdirSync(folder).sort()) {
    if (/\.go$|^go\.(mod|sum)$/.test(file)) hash.update(readFileSync(join(folder, file)));
  }
  const cache = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache');
  return join(cache, 'espalier', name, hash.digest('hex').slice(0, 16), name);
}

/** The built program; undefined if it has to be built. */
export const findGoModule = (module: GoModule): string | undefined => [target(module)].find(isExecutable);

/** @throws GoModuleUnavailable */
export function ensureGoModule(module: GoModule, say: (line: string) => void): string {
  const path = target(module);
  if (isExecutable(path)) return path;
  if (spawnSync('go', ['version'], { stdio: 'ignore' }).status !== 0)
    throw new GoModuleUnavailable(`go is not on the PATH, which is needed to build ${module.name}`);
  say(`building ${module.name} into ${path} (some minutes, once)`);
  const parent = dirname(path);
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(join(parent, '.build-'));
  try {
    const output = join(folder, module.name);
    const run = spawnSync('nice', ['go', 'build', '-trimpath', '-o', output, '.'], {
      cwd: module.folder,
      env: { ...process.env, CGO_ENABLED: '0', GOWORK: 'off' },
      encoding: 'utf8',
    });
    if (run.status !== 0) {
      const reason = run.error?.message ?? run.stderr.trim().split('\n').slice(-5).join('; ');
      throw new GoModuleUnavailable(`${module.name} cannot be built: ${reason}`);
    }
    renameSync(output, path);
    return path;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
