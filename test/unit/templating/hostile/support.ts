/** Runs malicious code in a worker, and checks that this process continues. */
import { workerRunners, type WorkerRunners } from '../../../../src/blueprint/workers/runner.ts';
import { systemClock } from '../../../../src/lib/clock.ts';
import type { TemplateRunner } from '../../../../src/blueprint/work.ts';
import { blueprint } from '../../dataflow/given.ts';
import { eventually, inTime } from '../../../support/waiting.ts';

const TIMEOUT_MS = 2_000;
const TICK_MS = 10;

/** The result, and the longest processor time of this process between two turns of its event loop meanwhile. */
export interface Ending {
  readonly value?: unknown;
  readonly error?: Error;
  readonly stalledMs: number;
}

/** Limits count processor time, which passes more slowly on a machine that is busy. */
export async function watched(work: () => Promise<unknown>): Promise<Ending> {
  let last = process.cpuUsage();
  let stalledMs = 0;
  let isOver = false;
  const turn = (): void => {
    const { user, system } = process.cpuUsage(last);
    last = process.cpuUsage();
    stalledMs = Math.max(stalledMs, (user + system) / 1000);
  };
  const turning = eventually(
    'the work ends',
    () => {
      turn();
      return isOver;
    },
    { everyMs: TICK_MS },
  );
  const how = await inTime(
    'the work ends',
    work().then(
      (value) => ({ value }),
      (error: unknown) => ({ error: error as Error }),
    ),
  );
  isOver = true;
  turn();
  await turning;
  return { ...how, stalledMs };
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
