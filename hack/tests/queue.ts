/** Runs items until all have ended, as many at a time as keep the processors busy. */
import { cpus } from 'node:os';
import { inOrder, mayStart, type Item, type Weights } from './schedule.ts';
import type { Result } from './result.ts';

export interface Work extends Item {
  run(): Promise<Result>;
}

interface QueueOptions {
  readonly weights: Weights;
  readonly cores: number;
  /** How many processors were idle since the last call. */
  readonly idle: () => number;
  /** Items that have not started yet do not start any more: why; undefined while they may. */
  readonly closed: () => string | undefined;
  readonly onEnd: (item: Work, result: Result) => void;
}

/** How often the queue looks for idle processors. */
const LOOK_MS = 500;

/** @returns how many processors were idle, on average, since the last call */
export function idleProcessors(): () => number {
  const totals = (): { readonly idle: number; readonly all: number } => {
    const times = cpus().map((each) => each.times);
    const idle = times.reduce((sum, each) => sum + each.idle, 0);
    const all = times.reduce((sum, { user, nice, sys, irq }) => sum + user + nice + sys + irq, idle);
    return { idle, all };
  };
  let last = totals();
  return () => {
    const now = totals();
    const share = now.all === last.all ? 0 : (now.idle - last.idle) / (now.all - last.all);
    last = now;
    return share * cpus().length;
  };
}

const notStarted = (why: string): Result => ({
  passed: 0,
  failures: [],
  skipped: { [`not started: ${why}`]: 1 },
  output: '',
  details: '',
  wallMs: 0,
  cpuMs: 0,
});

export async function runQueue(items: readonly Work[], options: QueueOptions): Promise<void> {
  const waiting = [...inOrder(items, options.weights)];
  const running = new Set<Promise<void>>();

  const start = (item: Work): void => {
    const why = options.closed();
    const ended = (why === undefined ? item.run() : Promise.resolve(notStarted(why))).then((result) => {
      running.delete(ended);
      options.onEnd(item, result);
    });
    running.add(ended);
  };
  const startOne = (idle: number): boolean => {
    const [next] = waiting;
    if (!next) return false;
    const load = { running: running.size, idle, cores: options.cores };
    if (next.isAlone ? running.size > 0 : !mayStart(load)) return false;
    waiting.shift();
    start(next);
    return true;
  };

  while (waiting.length > 0 || running.size > 0) {
    // What has just started does not show in the figure, so a gap is filled by one item at a time.
    startOne(options.idle());
    while (startOne(0));
    let timer: NodeJS.Timeout | undefined;
    const look = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, LOOK_MS);
    });
    await Promise.race([look, ...running]);
    clearTimeout(timer);
  }
}
