/** Programs that check something, and run beside the test files. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { brokenBy, resultOf, type Result } from './result.ts';
import { root } from './suites.ts';

/** One ends after this: it hangs. */
const LIMIT_MS = 30 * 60_000;

/** Runs a program in a process group of its own, which is killed as a whole. */
export async function runProgram(
  name: string,
  args: readonly string[],
  signal: AbortSignal,
): Promise<Result> {
  const started = performance.now();
  const child = spawn(process.execPath, args, {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const kill = (): void => {
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null)
      process.kill(-child.pid, 'SIGTERM');
  };
  const limit = setTimeout(kill, LIMIT_MS);
  signal.addEventListener('abort', kill, { once: true });
  let output = '';
  const keep = (chunk: string): void => {
    output += chunk;
  };
  child.stdout.setEncoding('utf8').on('data', keep);
  child.stderr.setEncoding('utf8').on('data', keep);
  try {
    const [code] = (await once(child, 'close')) as [number | null];
    return resultOf(name, code, output, { wallMs: performance.now() - started, cpuMs: 0 });
  } catch (error) {
    return brokenBy(`${name}: ${String(error)}`, output, performance.now() - started);
  } finally {
    clearTimeout(limit);
    signal.removeEventListener('abort', kill);
  }
}
