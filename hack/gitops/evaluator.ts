/** Builds the evaluator of CEL expressions once for each state of its sources, into a cache outside the tree. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { isExecutable } from '../executable.ts';

function target(): string {
  const hash = createHash('sha256');
  for (const name of ['main.go', 'go.mod', 'go.sum'])
    hash.update(readFileSync(join(import.meta.dirname, name)));
  const cache = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache');
  return join(cache, 'espalier', 'cel', hash.digest('hex').slice(0, 16), 'health');
}

/** The built program; undefined if it has to be built. */
export const findCelEvaluator = (): string | undefined => [target()].find(isExecutable);

/** @returns its path. @throws Error with the reason if it cannot be built */
export function ensureCelEvaluator(): string {
  const path = target();
  if (isExecutable(path)) return path;
  mkdirSync(dirname(path), { recursive: true });
  const { status, error, stderr } = spawnSync('go', ['build', '-trimpath', '-o', path, '.'], {
    cwd: import.meta.dirname,
    env: { ...process.env, CGO_ENABLED: '0', GOWORK: 'off' },
    encoding: 'utf8',
  });
  if (status === 0) return path;
  throw new Error(`cel-go cannot be built: ${error?.message ?? stderr.trim().split('\n').at(-1) ?? ''}`);
}
