/**
 * Measures the console with 5,000 landscapes in one namespace, in Chromium: time until the first rows, from a change to
 * the screen, long tasks of the page, bytes, and processor time of server and page.
 *
 *     make build && node --import tsx hack/console-speed.ts [NUMBER]
 */
import { performance } from 'node:perf_hooks';
import type { Browser, CDPSession, Page } from 'playwright-core';
import { readAssets } from '../src/cli/console/assets.ts';
import { createSessions } from '../src/cli/console/guard.ts';
import { loopbackAccess } from '../src/cli/console/loopback.ts';
import { modelOf } from '../src/cli/console/model.ts';
import { createServer, listen } from '../src/cli/console/server.ts';
import { sleep, systemClock } from '../src/lib/clock.ts';
import type { Client } from '../src/runtime/types.ts';
import { startChromium, WITHOUT_CHROMIUM } from '../test/support/chromium.ts';
import { collected, execution, installation, item } from '../test/unit/cli/given.ts';

interface TraceEvent {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  /** Microseconds of processor time. */
  readonly tdur?: number;
  readonly args?: { readonly data?: { readonly url?: string } };
}

const isOfConsole = (args: TraceEvent['args']): boolean => args?.data?.url?.endsWith('/console.js') === true;

const COUNT = Number(process.argv[2] ?? 5_000);
const CHANGES = 20;

const nameOf = (i: number): string => `landscape-${String(i).padStart(4, '0')}`;
/** A root, its execution and one deploy item. */
const landscape = (i: number, phase: string) => [
  installation(nameOf(i), { phase, started: '2026-01-01T00:00:00Z' }),
  execution(nameOf(i), { phase }),
  item(`${nameOf(i)}-item`, { execution: nameOf(i), template: 'server', phase }),
];

const objects = Array.from({ length: COUNT }, (_, i) => landscape(i, i % 50 === 0 ? 'Failed' : 'Succeeded'));
let current = collected(...objects.flat());
const model = modelOf(
  () => current,
  () => '',
);
const sessions = createSessions();
let port = 0;
const access = loopbackAccess({
  model,
  client: { raw: () => Promise.resolve({}) } as unknown as Client,
  clock: systemClock,
  sessions,
  about: { version: '0', server: 'https://10.0.0.1', namespaces: ['proj'], user: '' },
  port: () => port,
});
const server = createServer({ access, assets: readAssets() });
port = await listen(server, { port: 0 });

const browser = await chromium();

async function chromium(): Promise<Browser> {
  const started = await startChromium();
  if (!started) throw new Error(WITHOUT_CHROMIUM);
  return started;
}

const context = await browser.newContext();
const page = await context.newPage();
const devtools = await context.newCDPSession(page);
// Processor time instead of wall time, as other programs may use the processors.
await devtools.send('Performance.enable', { timeDomain: 'threadTicks' });
await devtools.send('Network.enable');
let bytes = 0;
// The encoded length of a stream is reported with a later part of it. Nothing is compressed.
devtools.on('Network.dataReceived', ({ dataLength }) => {
  bytes += dataLength;
});
await page.addInitScript(`
  globalThis.longTasks = [];
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) longTasks.push(duration);
  }).observe({ type: 'longtask', buffered: true });
`);
/** Sets \`seen\` to the time at which the text is on the screen. */
const watchFor = (text: string): string => `
  globalThis.seen = new Promise((resolve) => {
    const look = () => {
      if (document.querySelector('.virtual')?.textContent.includes('${text}')) resolve(Date.now());
      else requestAnimationFrame(look);
    };
    look();
  });
  undefined`;

/** Milliseconds of processor time of the page so far. */
async function pageCpuMs(session: CDPSession): Promise<number> {
  const { metrics } = await session.send('Performance.getMetrics');
  return (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0) * 1000;
}
/** Milliseconds of processor time of this process, which serves and plays the cluster. */
const ownCpuMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};
const longTasks = (on: Page): Promise<number[]> => on.evaluate('longTasks.splice(0)');
const rounded = (values: readonly number[]): string =>
  values.map((value) => Math.round(value)).join(', ') || 'none';
const print = (what: string, value: string): void => {
  process.stdout.write(`${what.padEnd(34)} ${value}\n`);
};

const cpu = { own: ownCpuMs(), page: await pageCpuMs(devtools) };
const spent = async (): Promise<string> => {
  const now = { own: ownCpuMs(), page: await pageCpuMs(devtools) };
  const text = `server ${Math.round(now.own - cpu.own)} ms, page ${Math.round(now.page - cpu.page)} ms`;
  Object.assign(cpu, now);
  return text;
};

const startedAt = performance.now();
await page.goto(`http://127.0.0.1:${String(port)}/#token=${sessions.token}`);
await page.locator('.virtual .row').first().waitFor();
print('landscapes', String(COUNT));
print('rows after', `${Math.round(performance.now() - startedAt)} ms`);
print('  processor time', await spent());
print('  long tasks (ms)', rounded(await longTasks(page)));
print('  kB received', String(Math.round(bytes / 1000)));
print('  rows in the page', String(await page.locator('.virtual .row').count()));

bytes = 0;
const latencies: number[] = [];
await page.locator('input[type=search]').fill(nameOf(7));
await page.locator('.virtual .row').nth(1).waitFor({ state: 'detached' });
for (let i = 0; i < CHANGES; i++) {
  await sleep(systemClock, 400);
  const phase = i % 2 === 0 ? 'Progressing' : 'Completing';
  await page.evaluate(watchFor(phase));
  objects[7] = landscape(7, phase);
  current = collected(...objects.flat());
  const at = Date.now();
  model.changed();
  latencies.push((await page.evaluate<number>('seen')) - at);
}
latencies.sort((a, b) => a - b);
print(
  `${CHANGES} single changes, to the screen`,
  `median ${latencies[CHANGES / 2] ?? 0} ms, max ${latencies.at(-1) ?? 0} ms`,
);
print('  processor time', await spent());
print('  long tasks (ms)', rounded(await longTasks(page)));
print('  kB received', (bytes / 1000).toFixed(1));

bytes = 0;
await page.locator('input[type=search]').fill('');
for (let round = 0; round < 5; round++) {
  for (let i = 0; i < COUNT; i++) objects[i] = landscape(i, round % 2 === 0 ? 'Progressing' : 'Succeeded');
  current = collected(...objects.flat());
  model.changed();
  await sleep(systemClock, 2_000);
}
print('5 changes of all', '');
print('  processor time', await spent());
print('  long tasks (ms)', rounded(await longTasks(page)));
print('  kB received', String(Math.round(bytes / 1000)));

for (const word of ['l', 'la', 'landscape-4', 'landscape-49', '']) {
  await page.locator('input[type=search]').fill(word);
  await sleep(systemClock, 200);
}
await page.locator('.grid').focus();
for (const key of ['End', 'PageUp', 'PageUp', 'Home']) await page.keyboard.press(key);
await sleep(systemClock, 500);
print('search and keys', '');
print('  processor time', await spent());
print('  long tasks (ms)', rounded(await longTasks(page)));

await context.close();

/** Processor time of the longest tasks of a page while it opens: the duration also contains the time of other programs. */
async function longestTasks(): Promise<number[]> {
  const traced = await (await browser.newContext()).newPage();
  const categories = ['devtools.timeline', 'disabled-by-default-devtools.timeline', 'v8'];
  await browser.startTracing(traced, { categories });
  await traced.goto(`http://127.0.0.1:${String(port)}/#token=${sessions.token}`);
  await traced.locator('.virtual .row').first().waitFor();
  await sleep(systemClock, 1_000);
  const { traceEvents: events } = JSON.parse((await browser.stopTracing()).toString()) as {
    readonly traceEvents: readonly TraceEvent[];
  };
  await traced.context().close();
  const script = events.find(({ name, args }) => name === 'v8.compileModule' && isOfConsole(args));
  return events
    .filter(({ name, pid, tid }) => name === 'RunTask' && pid === script?.pid && tid === script.tid)
    .map(({ tdur = 0 }) => tdur / 1000)
    .sort((a, b) => b - a);
}
print('longest tasks of new pages', 'processor time (ms)');
for (let i = 0; i < 5; i++) print('', rounded((await longestTasks()).slice(0, 4)));

await browser.close();
await server.close();
