/** The process of one container, with its output. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '../..');

export interface Ended {
  readonly exitCode: number;
  readonly output: string;
}

/** By it, hack/mocha-children.ts finds the process if the tests are killed. */
const MARK = 'ESPALIER_TEST_PROCESS';
const withTests = { [MARK]: process.env[MARK] ?? '' };

const SIGNALLED = { SIGTERM: 143, SIGKILL: 137 } as const;

export class ContainerProcess {
  readonly ended: Promise<Ended>;
  readonly #child: ChildProcess;
  readonly #isOurs: boolean;
  #hasOutput = false;

  /** @param say is called with the output so far */
  constructor(
    [program = '', ...args]: readonly string[],
    env: Record<string, string>,
    say: (output: string) => void,
  ) {
    this.#isOurs = program === process.execPath;
    this.#child = spawn(program, args, {
      cwd: ROOT,
      env: { ...env, ...withTests, NODE_OPTIONS: '--conditions=espalier-source' },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    this.ended = this.#end(say);
  }

  async #end(say: (output: string) => void): Promise<Ended> {
    let output = '';
    say(output);
    const note = (chunk: Buffer): void => {
      output += chunk.toString();
      this.#hasOutput = true;
      say(output);
    };
    this.#child.stdout?.on('data', note);
    this.#child.stderr?.on('data', note);
    try {
      const [code, signal] = (await once(this.#child, 'close')) as [number | null, keyof typeof SIGNALLED];
      return { exitCode: code ?? SIGNALLED[signal], output };
    } catch (error) {
      return { exitCode: 128, output: (error as Error).message };
    }
  }

  /**
   * All processes of the container get it, so that shell commands end at once. For programs of ours, it is as in a real
   * container: the first process does not get a signal that it does not handle yet, as before its first output.
   */
  signal(signal: keyof typeof SIGNALLED): void {
    if (signal === 'SIGTERM' && this.#isOurs && !this.#hasOutput) return;
    try {
      if (this.#child.pid !== undefined) process.kill(-this.#child.pid, signal);
    } catch {
      // it has ended by itself
    }
  }
}
