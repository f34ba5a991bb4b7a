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
  /** The module that it runs; see `child-channel.ts` for its side. */
  readonly entry: URL;
  /** Limit of its heap. */
  readonly memoryMiB: number;
  /** JSON that it is given at its start. */
  readonly argument?: unknown;
}

/** How a program ended without being asked to. */
export interface ChildEnd {
  /** It needed more memory than its limit. */
  readonly isMemory: boolean;
  readonly cause: Error;
}

interface ChildProgramHooks {
  onMessage(message: unknown): void;
  /** Called once, when it has ended for whatever reason. */
  onEnd(end: ChildEnd): void;
}

/** Maximum length of the kept output; enough for V8's message about the heap. */
const MAX_COMPLAINT = 4096;
/** Stack of the main thread in KiB: more than by default, less than the 8 MiB that systems give. */
const STACK_KIB = 3800;

export class ChildProgram {
  readonly #child: ChildProcess;
  #complaint = '';
  #hasEnded = false;

  constructor({ entry, memoryMiB, argument }: ChildProgramOptions, hooks: ChildProgramHooks) {
    const settings: ForkOptions = {
      execArgv: [
        `--max-old-space-size=${String(memoryMiB)}`,
        `--stack-size=${String(STACK_KIB)}`,
        ...loaderOf(entry),
      ],
      // Nothing of the process is handed down but the time zone: no environment, no input, no output.
      env: process.env['TZ'] === undefined ? {} : { TZ: process.env['TZ'] },
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      serialization: 'advanced',
    };
    this.#child = fork(entry, argument === undefined ? [] : [JSON.stringify(argument)], settings);
    const end = (cause: Error): void => {
      if (this.#hasEnded) return;
      this.#hasEnded = true;
      hooks.onEnd({ isMemory: this.#complaint.includes('out of memory'), cause });
    };
    this.#child.stderr?.on('data', (text: Buffer) => {
      this.#complaint = (this.#complaint + text.toString()).slice(-MAX_COMPLAINT);
    });
    this.#child.on('message', (message) => {
      hooks.onMessage(message);
    });
    this.#child.on('error', (error) => {
      // Otherwise something could not be sent to it, because it is about to end.
      if (this.#child.pid === undefined) end(error);
    });
    this.#child.on('close', (code, signal) => {
      const why = signal === null ? `exit code ${String(code)}` : `signal ${signal}`;
      end(new Error(`the process ended with ${why}: ${this.#complaint.trim()}`));
    });
    this.release();
  }

  /** @throws when the message cannot be cloned */
  send(message: object): void {
    // Whatever does not reach it, it ends without.
    this.#child.send(message, () => undefined);
  }

  /** Its parent lives at least as long as it. */
  hold(): void {
    this.#child.ref();
    this.#child.channel?.ref();
  }

  /** Its parent may end, which ends it. */
  release(): void {
    this.#child.unref();
    this.#child.channel?.unref();
    (this.#child.stderr as Socket | null)?.unref();
  }

  /** Ends it at once. */
  async stop(): Promise<void> {
    if (this.#hasEnded) return;
    this.hold();
    this.#child.kill('SIGKILL');
    await once(this.#child, 'close');
  }
}

/**
 * The module that a program runs, beside the module that starts it.
 * @param base `import.meta.url` of the latter
 * @param name of the file, without its ending
 */
export const programBeside = (base: string, name: string): URL =>
  new URL(`${name}${base.endsWith('.ts') ? '.ts' : '.js'}`, base);

/** Sources, as tests run them, need a loader. */
function loaderOf(entry: URL): readonly string[] {
  if (!entry.pathname.endsWith('.ts')) return [];
  return ['--import', pathToFileURL(createRequire(entry).resolve('tsx')).href];
}
