/** Runs a program of Node.js for a viewer, with limits, and kills it when it exceeds one or when the viewer leaves. */
import { spawn, type ChildProcess } from 'node:child_process';
import { constants, setPriority } from 'node:os';
import { sleep, systemClock } from '../../../lib/clock.ts';
import { killTree, memoryOfTree } from '../../../lib/process-tree.ts';
import { Refused } from '../access.ts';

interface ProgramRun {
  /** Of node: the program and its arguments. */
  readonly args: readonly string[];
  /** Standard input. Unlike arguments and environment, other processes cannot read it below /proc. */
  readonly input?: string | undefined;
  /** Default: that of this process. */
  readonly env?: NodeJS.ProcessEnv | undefined;
  /** Maximum of standard output. */
  readonly maxBytes: number;
  /** Maximum of the memory of the process and of those that it starts; undefined: no limit. */
  readonly memoryMiB?: number | undefined;
  /** Kills all of them. */
  readonly signal: AbortSignal;
}

const MIB = 2 ** 20;
const MAX_ERROR_BYTES = 8 * 1024;
const MEMORY_CHECK_MS = 100;
/** Node.js itself uses half for its heap in a small container; the rest is for buffers and code. */
const HEAP_SHARE = 0.5;

/** Standard output. @throws Refused with standard error if there is no output, or with the exceeded limit */
export async function outputOf(run: ProgramRun): Promise<Buffer> {
  const { args, input, env, maxBytes, memoryMiB, signal } = run;
  const heap =
    memoryMiB === undefined ? [] : [`--max-old-space-size=${String(Math.ceil(memoryMiB * HEAP_SHARE))}`];
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [...heap, ...args], {
      stdio: ['pipe', 'pipe', 'pipe'],
      ...(env && { env }),
    });
    const kill = (): void => {
      if (child.pid !== undefined && isRunning(child)) killTree(child.pid);
    };
    signal.addEventListener('abort', kill);
    // The console answers other viewers meanwhile.
    if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_LOW);
    const output: Buffer[] = [];
    let bytes = 0;
    let errors = '';
    let isMemoryExceeded = false;
    if (memoryMiB !== undefined)
      void watchMemory(child, memoryMiB * MIB, () => {
        isMemoryExceeded = true;
        kill();
      });
    // A program that ends early closes the pipe.
    child.stdin.on('error', () => undefined).end(input ?? '');
    child.stdout.on('data', (part: Buffer) => {
      bytes += part.length;
      if (bytes > maxBytes) kill();
      else output.push(part);
    });
    child.stderr.on('data', (part: Buffer) => {
      errors = (errors + part.toString()).slice(-MAX_ERROR_BYTES);
    });
    child.on('error', reject);
    child.on('close', () => {
      signal.removeEventListener('abort', kill);
      if (signal.aborted) reject(signal.reason as Error);
      else if (isMemoryExceeded || OUT_OF_HEAP.test(errors))
        reject(new Refused(413, `the plan needs more than ${String(memoryMiB)} MiB of memory`));
      else if (bytes > maxBytes) reject(new Refused(413, 'the plan is too large for the console'));
      else if (bytes > 0) resolve(Buffer.concat(output));
      else reject(new Refused(502, errorIn(errors)));
    });
  });
}

const isRunning = (child: ChildProcess): boolean => child.exitCode === null && child.signalCode === null;

/** What V8 writes before it ends the process. */
const OUT_OF_HEAP = /^FATAL ERROR: .*heap/m;

/** The limit of the heap contains neither buffers nor other processes. */
async function watchMemory(child: ChildProcess, maxBytes: number, onExceeded: () => void): Promise<void> {
  while (child.pid !== undefined && isRunning(child)) {
    if (memoryOfTree(child.pid) > maxBytes) {
      onExceeded();
      return;
    }
    await sleep(systemClock, MEMORY_CHECK_MS);
  }
}

const MARK = 'error: ';

/** The message of the program, without its mark. */
function errorIn(text: string): string {
  const lines = text.trim().split('\n');
  const message = lines.findLast((line) => line.startsWith(MARK))?.slice(MARK.length) ?? lines.at(-1);
  return message || 'the process that computes the plan ended without a result';
}
