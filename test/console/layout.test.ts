/** The console on small screens, with large text, and on paper. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { contextKind } from '../../src/api/kinds/context.ts';
import { API_VERSION } from '../../src/api/labels.ts';
import { namespaceObject } from '../../src/cli/objects.ts';
import { namespaceKind } from '../../src/landscape/world.ts';
import type { Obj } from '../../src/runtime/types.ts';
import { mockItem, root } from '../support/landscape.ts';
import { Scene } from '../support/scene.ts';
import { useBrowser, useStage, visit } from './browser.ts';

const LONG = 'namespace-of-team-checkout-with-a-name-as-long-as-it-may-be';

describe('the layout of the console', function () {
  this.timeout(90_000);
  const own = useBrowser();
  const running = useStage();

  before(async () => {
    const { cluster } = running.stage;
    await cluster.client.send<Obj>({ verb: 'create', kind: namespaceKind, object: namespaceObject(LONG) });
    const metadata = { name: 'default', namespace: LONG };
    const context = { apiVersion: API_VERSION, kind: 'Context', metadata };
    await cluster.client.send({ verb: 'create', kind: contextKind, object: context });
    const scene = new Scene(cluster, LONG);
    await scene.create(root('long', { items: Array.from({ length: 40 }, (_, i) => mockItem(`item-${i}`)) }));
    await scene.finished('long', 'Succeeded');
  });

  const opened = async (): Promise<Page> => {
    const { page } = await visit(own.browser, running.console.link);
    await page.getByRole('status').getByText('live').waitFor();
    return page;
  };
  const goTo = async (page: Page, path: string): Promise<void> => {
    await page.goto(new URL(path, running.console.link).href);
    await page.getByRole('status').getByText('live').waitFor();
    await page
      .getByText(/^Loading |^Planning/)
      .first()
      .waitFor({ state: 'detached' });
  };

  const paths = [
    '/',
    '/flow',
    '/landscapes/shop/billing?part=Installation%2Fshop%2Fbilling',
    `/landscapes/${LONG}/long/jobs`,
    '/landscapes/shop/billing/events',
    '/landscapes/shop/portal/pods',
    '/landscapes/shop/network/changes?show=all',
  ];
  /** The last one is a window of 1280 x 1024 pixels with text of four times the size. */
  const screens = [
    { width: 1280, height: 720 },
    { width: 375, height: 800 },
    { width: 320, height: 256 },
  ];

  it('fits on narrow and low screens', async () => {
    const page = await opened();
    for (const path of paths) {
      await goTo(page, path);
      for (const screen of screens) {
        await page.setViewportSize(screen);
        const size = await page.evaluate<readonly [number, number]>(
          `[document.documentElement.scrollWidth, document.documentElement.scrollHeight]`,
        );
        const where = `${path} on ${screen.width} x ${screen.height}`;
        expect(size[0], where).to.be.at.most(screen.width);
        expect(size[1], where).to.be.at.most(screen.height);
      }
    }
    await page.context().close();
  });

  it('keeps lists and details high enough on low screens', async () => {
    const page = await opened();
    await page.setViewportSize({ width: 640, height: 400 });
    const box = async (selector: string) =>
      (await page.locator(selector).first().boundingBox()) ?? { y: 0, height: 0 };
    const height = async (selector: string): Promise<number> => (await box(selector)).height;
    await page.getByRole('link', { name: 'billing' }).waitFor();
    expect(await height('.virtual')).to.be.at.least(150);
    await goTo(page, '/landscapes/shop/billing?part=Installation%2Fshop%2Fbilling');
    await page.getByRole('complementary').waitFor();
    expect(await height('.virtual')).to.be.at.least(150);
    expect(await height('.details')).to.be.at.least(200);
    const list = await box('.virtual');
    expect((await box('.details')).y).to.be.at.least(list.y + list.height);
    await page.context().close();
  });

  it('shows namespaces and messages on narrow screens, without overlaps', async () => {
    const page = await opened();
    await page.setViewportSize({ width: 375, height: 800 });
    const row = page.getByRole('row', { name: /billing/ });
    await row.getByText('server: Failed').waitFor();
    await row.locator('.place').getByText('shop').waitFor();
    const [first, second] = await page.locator('.virtual .row').evaluateAll((rows) =>
      rows.map((one) => {
        const { top, bottom } = (
          one as unknown as { getBoundingClientRect(): DOMRectLike }
        ).getBoundingClientRect();
        return { top, bottom };
      }),
    );
    expect(second?.top).to.be.at.least(first?.bottom ?? Infinity);
    await page.context().close();
  });

  it('wraps long words of messages', async () => {
    const page = await opened();
    const events = [
      { part: '', object: 'Pod', type: 'Warning', reason: 'Failed', message: 'x'.repeat(900), count: 1 },
    ];
    await page.route('**/api/landscapes/**/events', (route) =>
      route.fulfill({ json: { events, isComplete: true } }),
    );
    await goTo(page, '/landscapes/shop/billing/events');
    const table = page.getByRole('region', { name: 'Events' });
    await table.getByText('xxx').waitFor();
    const [inner, outer] = await table.evaluate((element) => {
      const { scrollWidth, clientWidth } = element as unknown as Record<
        'scrollWidth' | 'clientWidth',
        number
      >;
      return [scrollWidth, clientWidth];
    });
    expect(inner).to.equal(outer);
    await page.context().close();
  });

  it('opens a landscape from anywhere in its row', async () => {
    const page = await opened();
    await page
      .getByRole('row', { name: /billing/ })
      .getByText('server: Failed')
      .click();
    await page.getByRole('tree').waitFor();
    await page.context().close();
  });

  it('has all rows on paper, in dark letters', async () => {
    const page = await opened();
    await goTo(page, `/landscapes/${LONG}/long`);
    await page.getByRole('treeitem').first().waitFor();
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    await page.evaluate(`dispatchEvent(new Event('beforeprint'))`);
    await page.getByRole('treeitem', { name: /item-39/ }).waitFor();
    const colour = await page.evaluate<string>('getComputedStyle(document.body).color');
    expect(colour).to.equal('rgb(34, 38, 42)');
    const height = await page.evaluate<number>('document.documentElement.scrollHeight');
    expect(height).to.be.above(42 * 30);
    await page.context().close();
  });
});

interface DOMRectLike {
  readonly top: number;
  readonly bottom: number;
}
