/**
 * Runs all static checks: one line per step. A failed step does not stop the others; exit code 1 if a step failed.
 *
 *     hack/check.ts [STEP…]
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { steps } from './check-steps.ts';

const root = join(import.meta.dirname, '..');

interface Outcome {
  readonly isFine: boolean;
  readonly seconds: number;
  readonly output: string;
}

async function run(args: readonly string[]): Promise<Outcome> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  const keep = (chunk: string): void => {
    output += chunk;
  };
  child.stdout.setEncoding('utf8').on('data', keep);
  child.stderr.setEncoding('utf8').on('data', keep);
  const [code] = (await once(child, 'close')) as [number | null];
  return { isFine: code === 0, seconds: (performance.now() - startedAt) / 1000, output };
}

const say = (line: string): void => void process.stdout.write(`${line}\n`);

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !(name in steps));
if (unknown.length > 0) {
  say(`there is no step ${unknown.join(', ')}; the steps are ${Object.keys(steps).join(', ')}`);
  process.exit(2);
}

const waiting = Object.entries(steps).filter(([name]) => wanted.length === 0 || wanted.includes(name));
const total = waiting.length;
const failed: string[] = [];

async function work(): Promise<void> {
  for (let next = waiting.shift(); next; next = waiting.shift()) {
    const [name, args] = next;
    const { isFine, seconds, output } = await run(args);
    if (!isFine) failed.push(name);
    say(`${isFine ? 'ok    ' : 'FAILED'} ${name.padEnd(8)} ${seconds.toFixed(1).padStart(6)} s`);
    if (!isFine) say(output.trimEnd().replace(/^/gm, '       '));
  }
}

await Promise.all(Array.from({ length: Math.min(availableParallelism(), total) }, work));
say(failed.length === 0 ? `all ${String(total)} checks passed` : `failed: ${failed.join(', ')}`);
process.exitCode = failed.length === 0 ? 0 : 1;
