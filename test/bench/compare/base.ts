/** Builds the product of another commit, in a folder that is kept for the next time. */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../../..');
/** Exists when everything before has succeeded. */
const BUILT = '.espalier-bench-built';

export interface Base {
  readonly folder: string;
  /** Its abbreviated hash. */
  readonly commit: string;
}

/** @throws Error if there is no such commit, or if it cannot be built */
export function buildBase(name: string, say: (line: string) => void): Base {
  const hash = output('git', ['rev-parse', '--verify', '--quiet', `${name}^{commit}`], `no commit ${name}`);
  const commit = hash.slice(0, 8);
  const folder = join(cacheFolder(), commit);
  if (existsSync(join(folder, BUILT))) return { folder, commit };
  say(`writing commit ${commit} to ${folder}`);
  mkdirSync(folder, { recursive: true });
  const tree = spawnSync('git', ['archive', '--format=tar', hash], { cwd: ROOT, maxBuffer: 2 ** 30 });
  run('tar', ['--extract', '--directory', folder], { cwd: ROOT, input: tree.stdout });
  const lock = 'package-lock.json';
  if (readFileSync(join(folder, lock)).equals(readFileSync(join(ROOT, lock)))) {
    say('its packages are those of this checkout');
    cpSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'), {
      recursive: true,
      verbatimSymlinks: true,
    });
  } else {
    say('installing its packages');
    run('npm', ['ci', '--no-audit', '--no-fund'], { cwd: folder });
  }
  say('building it');
  run('npm', ['run', '--silent', 'build'], { cwd: folder });
  writeFileSync(join(folder, BUILT), '');
  return { folder, commit };
}

const cacheFolder = (): string =>
  join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'espalier', 'bench');

interface Where {
  readonly cwd: string;
  readonly input?: Buffer;
}

function run(command: string, args: readonly string[], { cwd, input }: Where): void {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, input, encoding: 'utf8' });
  if (status !== 0)
    throw new Error(`${command} ${args.join(' ')} failed in ${cwd}:\n${stdout}${stderr}`, { cause: error });
}

function output(command: string, args: readonly string[], otherwise: string): string {
  const { status, stdout } = spawnSync(command, args, { cwd: ROOT, encoding: 'utf8' });
  if (status !== 0) throw new Error(otherwise);
  return stdout.trim();
}
