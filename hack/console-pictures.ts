/**
 * Takes the pictures of docs/console.md: starts a cluster with landscapes and the console, and opens it in Chromium.
 *
 *     make build && node --import tsx hack/console-pictures.ts
 */
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { deployItemKind, type DeployItem } from '../src/api/kinds/deployitem.ts';
import { readAssets } from '../src/cli/console/assets.ts';
import { tokenAccess } from '../src/cli/console/in-cluster/token-access.ts';
import { createServer, listen } from '../src/cli/console/server.ts';
import { sleep, systemClock, timestamp } from '../src/lib/clock.ts';
import { ConfigMap, Pod } from '../src/runtime/core-kinds.ts';
import type { Client } from '../src/runtime/types.ts';
import { silentLogger } from '../src/observability/log.ts';
import { startChromium, WITHOUT_CHROMIUM } from '../test/support/chromium.ts';
import { startConsoleStage, type ConsoleStage } from '../test/support/console-stage.ts';
import { child, fakeItem, root } from '../test/support/landscape.ts';

const FOLDER = join(import.meta.dirname, '..', 'docs/images');
const VIEWPORT = { width: 1180, height: 560 };

interface Picture {
  readonly file: string;
  readonly path: string;
  readonly colorScheme: 'light' | 'dark';
  /** Text that the page shows when it is complete. */
  readonly until?: string;
}

const pictures: readonly Picture[] = [
  { file: 'console-list.png', path: '/', colorScheme: 'light' },
  {
    file: 'console-why.png',
    path: '/landscapes/shop/billing?part=Installation%2Fshop%2Fbilling',
    colorScheme: 'light',
  },
  {
    file: 'console-changes.png',
    path: '/landscapes/shop/network/changes',
    colorScheme: 'light',
    until: 'Live objects differ',
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

const ofNetwork = (name: string): { readonly kind: typeof ConfigMap; readonly key: string } => ({
  kind: ConfigMap,
  key: `shop/${name}`,
});

/** Changes objects on the target by hand, for the view of changes. */
async function interfere({ cluster: { client } }: ConsoleStage): Promise<void> {
  const body = { data: { resolver: '10.0.0.53', ttl: '60' } };
  await client.send({ verb: 'merge', ...ofNetwork('zones'), body });
  await client.send({ verb: 'delete', ...ofNetwork('routes') });
}

/** The picture of pods, with a log of one of them. */
async function podsPicture({ cluster: { client }, logs }: ConsoleStage): Promise<Picture> {
  let pod = '';
  for await (const { items } of client.list(Pod, { namespace: 'shop', labels: 'app=worker' }))
    pod = items[0]?.metadata.name ?? pod;
  const lines = [
    'starting worker 1.4',
    'reading queue settings from /etc/worker/settings.yaml',
    'connecting to queue.shop.svc:5672',
    'error: connect ECONNREFUSED 10.0.12.7:5672',
    'giving up after 5 attempts',
  ];
  logs.set(
    `${pod}/server`,
    lines.map((line, i) => `2026-01-01T00:00:0${String(i)}Z ${line}`),
  );
  const part = 'apps/v1/Deployment/shop/worker';
  const id = await idOfItem(client);
  const query = new URLSearchParams({ part: `DeployItem/shop/${id}/${part}`, pod, container: 'server' });
  return {
    file: 'console-pods.png',
    path: `/landscapes/shop/portal/pods?${query.toString()}`,
    colorScheme: 'light',
    until: 'giving up after',
  };
}

/** The name of the deploy item with the pods. */
async function idOfItem(client: Client): Promise<string> {
  for await (const { items } of client.list<DeployItem>(deployItemKind, { namespace: 'shop' })) {
    const found = items.find(({ metadata }) => metadata.name.startsWith('portal-'));
    if (found) return found.metadata.name;
  }
  throw new Error('there is no deploy item of portal');
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
await interfere(stage);
const console = await stage.serve();
for (const { file, path, colorScheme, until } of [...pictures, await podsPicture(stage)]) {
  const context = await browser.newContext({ viewport: VIEWPORT, colorScheme });
  const page = await context.newPage();
  await page.goto(console.link);
  await settled(page);
  await page.goto(new URL(path, console.link).href);
  if (until !== undefined) await page.getByText(until).first().waitFor({ timeout: 60_000 });
  await settled(page);
  await page.screenshot({ path: join(FOLDER, file) });
  await context.close();
}
await console.close();
await stage.stop();
await takeLogin(browser);
await browser.close();
