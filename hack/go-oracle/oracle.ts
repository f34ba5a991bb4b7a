/** Go itself, to be asked: built once per run, answers one line per request. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { OracleRequest } from './made-of.ts';

export interface Answer {
  readonly output?: string;
  readonly error?: string;
}

export class GoMissing extends Error {}

/**
 * Builds the oracle and hands it to the work.
 * @throws GoMissing saying why it cannot be built
 */
export async function withOracle<T>(work: (binary: string) => T | Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'go-oracle-'));
  try {
    const binary = join(folder, 'oracle');
    const built = spawnSync('go', ['build', '-o', binary, '.'], {
      cwd: import.meta.dirname,
      encoding: 'utf8',
    });
    if (built.error) throw new GoMissing('Go is needed to compare with it, and is not there');
    if (built.status !== 0) {
      throw new GoMissing(
        `Go cannot build the oracle: ${built.stderr.trim().split('\n').slice(-3).join('; ')}`,
      );
    }
    return await work(binary);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** All answers, in the order of the requests. */
export function askGo(binary: string, requests: readonly OracleRequest[]): readonly Answer[] {
  const input = requests.map((request) => `${JSON.stringify(request)}\n`).join('');
  const env = { ...process.env, TZ: 'UTC' };
  const { stdout } = spawnSync(binary, { input, maxBuffer: 2 ** 30, env, timeout: 60_000 });
  const lines = stdout.toString('utf8').trimEnd().split('\n');
  if (lines.length !== requests.length)
    throw new Error(
      `Go gave up, or needs more than a minute, at ${JSON.stringify(requests[lines.length - 1])}`,
    );
  return lines.map((line) => JSON.parse(line) as Answer);
}
