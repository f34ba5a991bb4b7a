/** Starts a process of tests (process.ts), gives it orders, and replaces it when a mutant has ended it. */
import { fork, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import type { Answer, Order } from './messages.ts';
import { root } from './project.ts';

const OPTIONS = [
  '--import=tsx',
  `--import=${join(import.meta.dirname, 'loader.mjs')}`,
  '--conditions=espalier-source',
  '--max-old-space-size=3000',
];

/** The process ended before it answered. */
export class Ended extends Error {}

export class TestProcess {
  #child: ChildProcess | undefined;

  async ask<K extends Answer['kind']>(order: Order, kind: K): Promise<Extract<Answer, { kind: K }>> {
    const child = (this.#child ??= fork(join(import.meta.dirname, 'process.ts'), [], {
      cwd: root,
      execArgv: OPTIONS,
      env: { ...process.env, MUTATE_LOADER: 'on' },
      stdio: ['ignore', 'ignore', process.env['MUTATE_DEBUG'] === undefined ? 'ignore' : 'inherit', 'ipc'],
    }));
    const answer = await new Promise<Answer | { readonly kind: 'broken'; readonly why: string }>(
      (resolve, reject) => {
        const end = (): void => {
          this.#child = undefined;
          reject(new Ended('the process of the tests has ended'));
        };
        child.once('exit', end);
        child.once('message', (message) => {
          child.off('exit', end);
          resolve(message as Answer);
        });
        child.send(order);
      },
    );
    if (answer.kind === 'broken') throw new Error(answer.why);
    if (answer.kind !== kind) throw new Error(`expected the answer ${kind}, got ${answer.kind}`);
    return answer as Extract<Answer, { kind: K }>;
  }

  get isRunning(): boolean {
    return this.#child !== undefined;
  }

  stop(): void {
    this.#child?.removeAllListeners('exit');
    this.#child?.kill('SIGKILL');
    this.#child = undefined;
  }
}
