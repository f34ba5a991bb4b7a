/**
 * A process that holds test files and the code with all mutants, and runs tests with one mutant after the other. A test
 * that fails is run again without the mutant: if it fails too, the mutant is not the reason.
 */
import { join, relative } from 'node:path';
import type Mocha from 'mocha';
import { LoadedTests } from './loaded-tests.ts';
import type { Answer, Observed, Order } from './messages.ts';
import { hitsOfActive, mutateReads, takeSeen, watchMainThread, withMutant } from './switches.ts';

const root = join(import.meta.dirname, '../..');
const TICK_MS = 100;
/** A test hangs when its process idles for so many ticks more than usual, or works so much longer. */
const IDLE_TICKS = 30;
const CPU_MS = 5000;
type Limits = ReadonlyMap<Mocha.Test, { readonly cpuMs: number; readonly idle: number }>;
let group = new LoadedTests();
let copies = 0;
/** The runnable that is running, with what it has used so far. */
let current: { runnable: Mocha.Runnable; cpu: NodeJS.CpuUsage; idle: number; limit: Limit } | undefined;
interface Limit {
  readonly cpuMs: number;
  readonly idle: number;
}

const cpuMsSince = (before: NodeJS.CpuUsage): number => {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
};

function startTicks(beat: () => void): void {
  let last = process.cpuUsage();
  setInterval(() => {
    beat();
    const isIdle = cpuMsSince(last) < TICK_MS / 20;
    last = process.cpuUsage();
    if (!current) return;
    if (isIdle) current.idle++;
    const { limit, idle, cpu, runnable } = current;
    if (idle > limit.idle || cpuMsSince(cpu) > limit.cpuMs) runnable.timeout(1);
  }, TICK_MS);
}

/** @returns the first test or hook that fails */
async function firstFailure(
  tests: LoadedTests,
  chosen: readonly Mocha.Test[],
  limits: Limits,
  onTestEnd: (hasReachedMutant: boolean) => void = () => undefined,
): Promise<Mocha.Test | undefined> {
  let failed: Mocha.Runnable | undefined;
  let hits = hitsOfActive();
  const timeouts = new Map<Mocha.Runnable, number>();
  await tests.run(chosen, (runner) => {
    const begin = (runnable: Mocha.Runnable): void => {
      timeouts.set(runnable, runnable.timeout());
      const usual = limits.get(runnable as Mocha.Test) ?? { cpuMs: 1000, idle: 10 };
      const limit = { cpuMs: usual.cpuMs * 10 + CPU_MS, idle: usual.idle * 4 + IDLE_TICKS };
      current = { runnable, cpu: process.cpuUsage(), idle: 0, limit };
    };
    runner.on('test', begin);
    runner.on('hook', begin);
    runner.on('test end', () => {
      onTestEnd(hitsOfActive() > hits);
      hits = hitsOfActive();
    });
    runner.on('fail', (runnable) => {
      failed ??= runnable;
      runner.abort();
    });
  });
  current = undefined;
  for (const [runnable, ms] of timeouts) runnable.timeout(ms);
  if (!failed) return undefined;
  // A hook fails in place of the tests that it prepares.
  const isBelow = (test: Mocha.Test): boolean => {
    for (let suite = test.parent; suite; suite = suite.parent) if (suite === failed?.parent) return true;
    return false;
  };
  return chosen.find((test) => test === failed) ?? chosen.find(isBelow) ?? chosen[0];
}

async function observe(): Promise<Answer> {
  const onImport = takeSeen();
  const observed = new Map<Mocha.Test, Omit<Observed, 'mutants'> & { mutants: Set<number> }>();
  const inHooks = new Map<Mocha.Suite, number[]>();
  await group.run(group.all, (runner) => {
    const limit = { cpuMs: Infinity, idle: Infinity };
    runner.on('test', (runnable) => (current = { runnable, cpu: process.cpuUsage(), idle: 0, limit }));
    runner.on('hook end', (hook) => {
      if (hook.parent && hook.title.startsWith('"before all"'))
        inHooks.set(hook.parent, [...(inHooks.get(hook.parent) ?? []), ...takeSeen()]);
    });
    runner.on('test end', (test) => {
      const cpuMs = current ? cpuMsSince(current.cpu) : 0;
      const hasPassed = test.state === 'passed';
      observed.set(test, { hasPassed, cpuMs, idle: current?.idle ?? 0, mutants: new Set(takeSeen()) });
    });
  });
  current = undefined;
  const tests = group.all.map((test): Observed => {
    const own = observed.get(test) ?? { hasPassed: false, cpuMs: 0, idle: 0, mutants: new Set<number>() };
    for (let suite = test.parent; suite; suite = suite.parent)
      for (const id of inHooks.get(suite) ?? []) own.mutants.add(id);
    return { ...own, mutants: [...own.mutants] };
  });
  return { kind: 'observed', tests, onImport };
}

async function tryMutant({ mutant, tests }: Extract<Order, { kind: 'try' }>): Promise<Answer> {
  const limits = new Map(
    tests.flatMap(({ index, ...limit }) => {
      const test = group.all[index];
      return test ? [[test, limit] as const] : [];
    }),
  );
  const unclear: number[] = [];
  let reached = 0;
  // The most likely ones alone first: mocha keeps the order of the files.
  const waiting = [...limits.keys()];
  while (waiting.length > 0) {
    const some = waiting.splice(0, 8);
    for (;;) {
      const count = (isReached: boolean): void => void (reached += Number(isReached));
      const failed = await withMutant(mutant, () => firstFailure(group, some, limits, count));
      if (!failed) break;
      const index = group.all.indexOf(failed);
      if (!(await firstFailure(group, [failed], limits)))
        return { kind: 'tried', killer: index, unclear, isHidden: false };
      unclear.push(index);
      some.splice(some.indexOf(failed), 1);
    }
  }
  return { kind: 'tried', unclear, isHidden: reached < limits.size / 2 };
}

async function reload({ mutant, files }: Extract<Order, { kind: 'reload' }>): Promise<Answer> {
  const tests = new LoadedTests();
  let file = files[0] ?? '';
  const failed = await withMutant(mutant, async () => {
    try {
      copies++;
      for (file of files) await tests.load([file], `?copy=${String(copies)}`);
    } catch {
      return file;
    }
    const test = await firstFailure(tests, tests.all, new Map());
    return test && relative(root, (test.file ?? file).split('?')[0] ?? '');
  });
  return { kind: 'tried', ...(failed !== undefined && { killerFile: failed }), unclear: [], isHidden: false };
}

async function carryOut(order: Order): Promise<Answer> {
  switch (order.kind) {
    case 'load':
      group = new LoadedTests();
      await group.load(order.files, '');
      return {
        kind: 'loaded',
        tests: group.all.map((test) => ({ file: relative(root, test.file ?? ''), title: test.fullTitle() })),
      };
    case 'observe':
      return observe();
    case 'try':
      return tryMutant(order);
    case 'reload':
      return reload(order);
  }
}

process.on('unhandledRejection', (reason) => {
  throw reason;
});
// Between the runs, what a mutant has left behind may fail.
process.on('uncaughtException', () => undefined);
mutateReads();
startTicks(watchMainThread());
process.on('disconnect', () => process.exit(0));
process.on('message', (order: Order) => {
  void carryOut(order)
    .catch((error: unknown) => ({ kind: 'broken', why: String((error as Error).stack ?? error) }))
    .then((answer) => process.send?.(answer));
});
