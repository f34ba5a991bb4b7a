/** Runs malicious code in a worker, and checks that this process continues. */
import { workerRunners, type WorkerRunners } from '../../../../src/blueprint/workers/runner.ts';
import { systemClock } from '../../../../src/lib/clock.ts';
import type { TemplateRunner } from '../../../../src/blueprint/work.ts';
import { blueprint } from '../../dataflow/given.ts';

const TIMEOUT_MS = 2_000;
/** Limits count processor time, which passes more slowly on a machine that is busy. */
export const WITHIN_MS = 50_000;
const TICK_MS = 10;

/** The result, the duration, and the longest delay of timers in this thread meanwhile. */
export interface Ending {
  readonly value?: unknown;
  readonly error?: Error;
  readonly tookMs: number;
  readonly stalledMs: number;
}

export async function watched(work: () => Promise<unknown>): Promise<Ending> {
  const start = performance.now();
  let last = start;
  let stalledMs = 0;
  const timer = setInterval(() => {
    const now = performance.now();
    stalledMs = Math.max(stalledMs, now - last - TICK_MS);
    last = now;
  }, TICK_MS);
  const ended = (how: { value?: unknown; error?: Error }): Ending => {
    const now = performance.now();
    return { ...how, tookMs: now - start, stalledMs: Math.max(stalledMs, now - last - TICK_MS) };
  };
  try {
    return ended({ value: await work() });
  } catch (error) {
    return ended({ error: error as Error });
  } finally {
    clearInterval(timer);
  }
}

/** A runner for the tests of the describe block that calls this, with its worker started. */
export function useRunner(): { readonly runner: TemplateRunner } {
  let runners: WorkerRunners | undefined;
  before(async function () {
    this.timeout(30_000);
    runners = workerRunners({ clock: systemClock, limits: { timeoutMs: TIMEOUT_MS } });
    const execution = { type: 'GoTemplate', template: 'a: 1' };
    await runners.of('bad').render({ execution, values: {}, blueprint: blueprint() });
  });
  after(() => runners?.close());
  return {
    get runner() {
      if (!runners) throw new Error('the worker runs only within tests');
      return runners.of('bad');
    },
  };
}
