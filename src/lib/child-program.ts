/**
 * Runs one of our programs in a separate process, for work whose size a tenant decides. A thread would not be enough:
 * if a single value does not fit into the heap of a thread, V8 ends the whole process.
 */
import { fork, type ChildProcess, type ForkOptions } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import { pathToFileURL } from 'node:url';

interface ChildProgramOptions {
  /** The module that the child runs; `child-channel.ts` is its side of the channel. */
  readonly entry: URL;
  /** Heap limit. */
  readonly memoryMiB: number;
  /** JSON argument. */
  readonly argument?: unknown;
}

/** Why a program ended by itself. */
export interface ChildEnd {
  /** It exceeded its memory limit. */
  readonly isMemory: boolean;
  readonly cause: Error;
}

interface ChildProgramHooks {
  onMessage(message: unknown): void;
  /** Called once when it has ended, for any reason. */
  onEnd(end: ChildEnd): void;
}

/** Maximum length of the kept output; enough for V8's message about the heap. */
const MAX_STDERR = 4096;
/** Stack of the main thread in KiB: more than the default, less than the usual limit of 8 MiB. */
const STACK_KIB = 3800;

export class ChildProgram {
  readonly #child: ChildProcess;
  #stderr = '';
  #hasEnded = false;

  constructor({ entry, memoryMiB, argument }: ChildProgramOptions, hooks: ChildProgramHooks) {
    const settings: ForkOptions = {
      execArgv: [
        `--max-old-space-size=${String(memoryMiB)}`,
        `--stack-size=${String(STACK_KIB)}`,
        ...loaderOf(entry),
      ],
      // The child inherits only the time zone: no environment, no input, no output.
      env: process.env['TZ'] === undefined ? {} : { TZ: process.env['TZ'] },
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      serialization: 'advanced',
    };
    this.#child = fork(entry, argument === undefined ? [] : [JSON.stringify(argument)], settings);
    const end = (cause: Error): void => {
      if (this.#hasEnded) return;
      this.#hasEnded = true;
      hooks.onEnd({ isMemory: this.#stderr.includes('out of memory'), cause });
    };
    this.#child.stderr?.on('data', (text: Buffer) => {
      this.#stderr = (this.#stderr + text.toString()).slice(-MAX_STDERR);
    });
    this.#child.on('message', (message) => {
      hooks.onMessage(message);
    });
    this.#child.on('error', (error) => {
      // Sending fails because the child is about to end.
      if (this.#child.pid === undefined) end(error);
    });
    this.#child.on('close', (code, signal) => {
      const why = signal === null ? `exit code ${String(code)}` : `signal ${signal}`;
      end(new Error(`the process ended with ${why}: ${this.#stderr.trim()}`));
    });
    this.release();
  }

  /** @throws when the message cannot be cloned */
  send(message: object): void {
    // A message that does not arrive is not needed, because the child has ended.
    this.#child.send(message, () => undefined);
  }

  /** While it works, the child keeps its parent alive. */
  hold(): void {
    this.#child.ref();
    this.#child.channel?.ref();
  }

  /** An idle child does not keep its parent alive, and ends with it. */
  release(): void {
    this.#child.unref();
    this.#child.channel?.unref();
    (this.#child.stderr as Socket | null)?.unref();
  }

  /** Kills it. */
  async stop(): Promise<void> {
    if (this.#hasEnded) return;
    this.hold();
    this.#child.kill('SIGKILL');
    await once(this.#child, 'close');
  }
}

/**
 * The module of a child program in the folder of the module that starts it.
 * @param base `import.meta.url` of the latter
 * @param name of the file, without its extension
 */
export const programBeside = (base: string, name: string): URL =>
  new URL(`${name}${base.endsWith('.ts') ? '.ts' : '.js'}`, base);

/** Arguments of Node.js for a program: TypeScript sources, as in tests, need a loader. */
export function loaderOf(entry: URL): readonly string[] {
  if (!entry.pathname.endsWith('.ts')) return [];
  return ['--import', pathToFileURL(createRequire(entry).resolve('tsx')).href];
}
