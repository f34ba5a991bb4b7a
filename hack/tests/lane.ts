/** A process that runs test files, one at a time; see file-runner.ts. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Order, Report } from './file-runner.ts';
import { brokenBy, type Result } from './result.ts';
import { root } from './suites.ts';

export interface LaneOptions {
  readonly node: string;
  readonly mochaOptions: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** No file takes longer, even on a busy machine: a test waits forever without giving mocha a chance to notice. */
const FILE_LIMIT_MS = 20 * 60_000;
/** Of the output that tests print themselves, the end is kept. */
const MAX_OUTPUT = 100_000;

export class Lane {
  readonly #child: ChildProcess;
  readonly #exit: Promise<string>;
  #noise = '';
  #files = 0;
  #hasEnded = false;

  constructor({ node, mochaOptions, env }: LaneOptions) {
    this.#child = spawn(
      node,
      [
        '--import',
        'tsx',
        '--conditions=espalier-source',
        join(import.meta.dirname, 'file-runner.ts'),
        ...mochaOptions,
      ],
      { cwd: root, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] },
    );
    const keep = (chunk: string): void => {
      this.#noise = (this.#noise + chunk).slice(-MAX_OUTPUT);
    };
    this.#child.stdout?.setEncoding('utf8').on('data', keep);
    this.#child.stderr?.setEncoding('utf8').on('data', keep);
    this.#exit = once(this.#child, 'close').then(([code, signal]) => {
      this.#hasEnded = true;
      return signal === null ? `exit code ${String(code)}` : String(signal);
    });
  }

  /** How many files it has run. */
  get files(): number {
    return this.#files;
  }

  /** Whether it can run another file. */
  get isAlive(): boolean {
    return !this.#hasEnded;
  }

  async run(file: string): Promise<Result> {
    this.#files++;
    const started = performance.now();
    const wallMs = (): number => performance.now() - started;
    const life = new AbortController();
    const limit = setTimeout(() => this.#child.kill('SIGKILL'), FILE_LIMIT_MS);
    try {
      const reported = once(this.#child, 'message', { signal: life.signal }) as Promise<[Report]>;
      this.#child.send({ file } satisfies Order);
      const answer = await Promise.race([reported, this.#exit]);
      if (typeof answer === 'string') {
        reported.catch(() => {});
        return brokenBy(`${file}: its process ended with ${answer}`, this.#takeNoise(), wallMs());
      }
      const [report] = answer;
      const noise = this.#takeNoise();
      return {
        ...report,
        output: report.output + noise,
        details: report.details + noise,
        wallMs: wallMs(),
      };
    } finally {
      clearTimeout(limit);
      life.abort();
    }
  }

  #takeNoise(): string {
    const noise = this.#noise;
    this.#noise = '';
    return noise;
  }

  /** @returns undefined, or why it did not end as it should */
  async end(): Promise<string | undefined> {
    if (this.#hasEnded) return undefined;
    this.#child.send('end' satisfies Order);
    const how = await this.#exit;
    return how === 'exit code 0' ? undefined : `a process of tests ended with ${how}: ${this.#noise.trim()}`;
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }
}
