/** The built product in processes of its own: `espalier start` of any version on a server. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../../support/ports.ts';
import { cpuMsOf, peakBytesOf, peakBytesWithChildrenOf } from '../cpu.ts';

/** What the code of the controllers did, as far as it can be counted. */
export interface Counts {
  readonly executedBlocks: number;
  readonly allocatedBytes: number;
}

export interface Product {
  /** From its start until `/readyz` succeeds, in milliseconds. */
  readonly readyMs: number;
  /** Processor time until then. */
  readonly readyCpuMs: number;
  /** Rejects when the process ends before `stop`, with the end of its log. */
  readonly failure: Promise<never>;
  /** Processor time so far, with template processes. */
  cpuMs(): number;
  /** Greatest resident memory so far: of the controllers, and with the template processes. */
  peakBytes(): { readonly controllers: number; readonly all: number };
  /** What was counted since the last call; undefined without `isCounted`. */
  counts(): Promise<Counts | undefined>;
  stop(): Promise<void>;
}

const COUNTER = join(import.meta.dirname, 'counter.mjs');
const POLL_MS = 10;
const LOG_END = 2000;

export interface ProductOptions {
  /** Of the checkout that is built. */
  readonly folder: string;
  readonly kubeconfig: string;
  /** Whether its code is counted, which makes it slower. */
  readonly isCounted?: boolean;
}

/** Waits until all caches are filled. Only options that each version knows are used: all controllers and deployers run. */
export async function startProduct({
  folder,
  kubeconfig,
  isCounted = false,
}: ProductOptions): Promise<Product> {
  const own = mkdtempSync(join(tmpdir(), 'espalier-bench-'));
  const [config, logFile] = [join(own, 'kubeconfig'), join(own, 'log')];
  writeFileSync(config, kubeconfig, { mode: 0o600 });
  const port = await freePort();
  const main = join(folder, 'dist/src/cli/main.js');
  const command = [main, 'start', '--kubeconfig', config, '--metrics-address', `127.0.0.1:${port}`];
  const log = openSync(logFile, 'w');
  const startedAt = performance.now();
  const child = spawn(process.execPath, isCounted ? ['--import', COUNTER, ...command] : command, {
    stdio: ['ignore', log, log, ...(isCounted ? (['ipc'] as const) : [])],
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  closeSync(log);
  const pid = child.pid ?? 0;
  const ended = once(child, 'exit');
  let isStopping = false;
  const failure = ended.then(([code]: unknown[]): Promise<never> => {
    if (isStopping) return new Promise(() => undefined);
    const end = readFileSync(logFile, 'utf8').slice(-LOG_END);
    throw new Error(`${main} ended with code ${String(code)}:\n${end}`);
  });
  failure.catch(() => undefined);
  const stop = async (): Promise<void> => {
    isStopping = true;
    child.kill();
    await ended;
    rmSync(own, { recursive: true, force: true });
  };
  try {
    await Promise.race([untilReady(port), failure]);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    readyMs: performance.now() - startedAt,
    readyCpuMs: cpuMsOf(pid),
    failure,
    cpuMs: () => cpuMsOf(pid),
    peakBytes: () => ({ controllers: peakBytesOf(pid), all: peakBytesWithChildrenOf(pid) }),
    async counts() {
      if (!isCounted) return undefined;
      child.send('count');
      const [counts] = (await Promise.race([once(child, 'message'), failure])) as [Counts];
      return counts;
    },
    stop,
  };
}

async function untilReady(port: number): Promise<void> {
  const isReady = (): Promise<boolean> =>
    fetch(`http://127.0.0.1:${port}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  while (!(await isReady())) await pause(POLL_MS);
}
