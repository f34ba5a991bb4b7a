/** A program that a test starts, and the lines that it prints. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Subject } from '../conformance/apiserver/subject.ts';
import { inTime } from '../support/waiting.ts';

export class Program {
  readonly lines: string[] = [];
  readonly #child: ChildProcess;
  readonly #listeners = new Set<() => void>();
  #errors = '';

  constructor(path: string, args: readonly string[], env: Readonly<Record<string, string>>) {
    const child = spawn(path, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...env },
    });
    this.#child = child;
    createInterface({ input: child.stdout }).on('line', (line) => {
      this.lines.push(line);
      for (const listener of this.#listeners) listener();
    });
    child.stderr.on('data', (chunk: Buffer) => (this.#errors += chunk.toString()));
  }

  /** @throws Error with all output if the line does not appear */
  async until(what: string, isSo: (lines: readonly string[]) => boolean): Promise<void> {
    let check = (): void => undefined;
    const appeared = new Promise<void>((resolve) => {
      check = () => {
        if (isSo(this.lines)) resolve();
      };
    });
    this.#listeners.add(check);
    check();
    const why = (): string => `; printed: ${this.lines.join(' | ')} ${this.#errors}`;
    await inTime(what, appeared, { why }).finally(() => this.#listeners.delete(check));
  }

  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await ended;
  }
}

/** A file with the kubeconfig of a subject. */
export class KubeconfigFile {
  readonly #folder = mkdtempSync(join(tmpdir(), 'espalier-clients-'));
  readonly path = join(this.#folder, 'kubeconfig');

  constructor(subject: Subject) {
    const external = process.env['ESPALIER_TEST_KUBECONFIG'];
    writeFileSync(this.path, external ? readFileSync(external) : subject.server.kubeconfig, { mode: 0o600 });
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true });
  }
}
