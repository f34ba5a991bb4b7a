/** Builds the Go clients, once for each state of their sources, into a cache outside the tree. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { isExecutable } from '../executable.ts';

const SOURCES = ['main.go', 'go.mod', 'go.sum'];

/** The clients cannot be built on this machine; the message says what is missing. */
export class GoClientsUnavailable extends Error {
  override readonly name = 'GoClientsUnavailable';
}

function target(): string {
  const hash = createHash('sha256');
  for (const name of SOURCES) hash.update(readFileSync(join(import.meta.dirname, name)));
  const cache = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache');
  return join(cache, 'espalier', 'go-clients', hash.digest('hex').slice(0, 16), 'go-clients');
}

/** The built program; undefined if it has to be built. */
export const findGoClients = (): string | undefined => [target()].find(isExecutable);

/** @throws GoClientsUnavailable */
export function ensureGoClients(say: (line: string) => void): string {
  const path = target();
  if (isExecutable(path)) return path;
  if (spawnSync('go', ['version'], { stdio: 'ignore' }).status !== 0)
    throw new GoClientsUnavailable('go is not on the PATH, which is needed to build the clients in Go');
  say(`building clients in Go into ${path} (some minutes, once)`);
  const parent = dirname(path);
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(join(parent, '.build-'));
  try {
    const output = join(folder, 'go-clients');
    const run = spawnSync('nice', ['go', 'build', '-trimpath', '-o', output, '.'], {
      cwd: import.meta.dirname,
      env: { ...process.env, CGO_ENABLED: '0', GOWORK: 'off' },
      encoding: 'utf8',
    });
    if (run.status !== 0) {
      const reason = run.error?.message ?? run.stderr.trim().split('\n').slice(-5).join('; ');
      throw new GoClientsUnavailable(`clients in Go cannot be built: ${reason}`);
    }
    renameSync(output, path);
    return path;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
