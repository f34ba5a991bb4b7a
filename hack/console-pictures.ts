/**
 * Takes the pictures of docs/console.md: starts a cluster with landscapes and the console, and opens it in Chromium.
 *
 *     make build && node --import tsx hack/console-pictures.ts
 */
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { readAssets } from '../src/cli/console/assets.ts';
import { tokenAccess } from '../src/cli/console/in-cluster/token-access.ts';
import { createServer, listen } from '../src/cli/console/server.ts';
import { sleep, systemClock, timestamp } from '../src/lib/clock.ts';
import { silentLogger } from '../src/observability/log.ts';
import { startChromium, WITHOUT_CHROMIUM } from '../test/support/chromium.ts';
import { startConsoleStage, type ConsoleStage } from '../test/support/console-stage.ts';
import { child, fakeItem, root } from '../test/support/landscape.ts';

const FOLDER = join(import.meta.dirname, '..', 'docs/images');
const VIEWPORT = { width: 1180, height: 560 };

const pictures: readonly {
  readonly file: string;
  readonly path: string;
  readonly colorScheme: 'light' | 'dark';
}[] = [
  { file: 'console-list.png', path: '/', colorScheme: 'light' },
  {
    file: 'console-why.png',
    path: '/landscapes/shop/billing?part=Installation%2Fshop%2Fbilling',
    colorScheme: 'light',
  },
  { file: 'console-flow.png', path: '/landscapes/shop/shop/flow', colorScheme: 'light' },
  { file: 'console-jobs.png', path: '/landscapes/shop/orders/jobs', colorScheme: 'dark' },
];

/** A landscape whose parts take some seconds, for the timeline. */
async function rollOut({ scene }: ConsoleStage): Promise<void> {
  const part = (name: string, takes: Record<string, string>, gives: Record<string, string>): object =>
    child(name, { takes, gives, items: [fakeItem('server')] });
  await scene.create(
    root('orders', {
      children: [
        part('database', {}, { out: 'database' }),
        part('queue', {}, { out: 'queue' }),
        part('backend', { a: 'database', b: 'queue' }, { out: 'backend' }),
        part('frontend', { a: 'backend' }, {}),
      ],
    }),
  );
  const finish = async (name: string, seconds: number): Promise<void> => {
    const sub = await scene.until(`${name} exists`, () => scene.child('orders', name));
    await scene.waiting(sub.metadata.name, 'server');
    await sleep(systemClock, seconds * 1000);
    const transitionTimes = { finishedTime: timestamp(systemClock) };
    await scene.answer(sub.metadata.name, 'server', 'Succeeded', { transitionTimes });
  };
  await Promise.all([finish('database', 5), finish('queue', 3)]);
  await finish('backend', 4);
  await finish('frontend', 3);
  await scene.until('orders is ready', () => scene.installation('orders')?.status?.phase === 'Succeeded');
}

async function settled(page: Page): Promise<void> {
  await page.getByRole('status').getByText('live').waitFor();
  await sleep(systemClock, 1500);
}

/** The login of a console in the cluster, which needs no cluster. */
async function takeLogin(on: Browser): Promise<void> {
  const access = tokenAccess({
    source: {
      collected: () => ({ installations: [], executions: [], deployItems: [] }),
      namespaces: () => [],
      problem: () => '',
      onChange: () => () => undefined,
    },
    clientOf: () => Promise.reject(new Error('there is no cluster')),
    clock: systemClock,
    log: silentLogger,
    about: { version: '', server: '' },
    rules: { allowedHosts: [], trustsForwardedHeaders: false },
  });
  const server = createServer({ access, assets: readAssets() });
  const port = await listen(server, { port: 0 });
  const context = await on.newContext({ viewport: { ...VIEWPORT, height: 420 } });
  const page = await context.newPage();
  await page.goto(`http://127.0.0.1:${String(port)}/`);
  await page.getByRole('heading', { name: 'Log in' }).waitFor();
  await page.screenshot({ path: join(FOLDER, 'console-login.png') });
  await context.close();
  await server.close();
}

const browser = await startChromium();
if (!browser) throw new Error(WITHOUT_CHROMIUM);
const stage = await startConsoleStage();
await rollOut(stage);
const console = await stage.serve();
for (const { file, path, colorScheme } of pictures) {
  const context = await browser.newContext({ viewport: VIEWPORT, colorScheme });
  const page = await context.newPage();
  await page.goto(console.link);
  await settled(page);
  await page.goto(new URL(path, console.link).href);
  await settled(page);
  await page.screenshot({ path: join(FOLDER, file) });
  await context.close();
}
await console.close();
await stage.stop();
await takeLogin(browser);
await browser.close();
