/** The changes that the next job would make, in a browser; the real command makes the plans. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { ConfigMap } from '../../src/runtime/core-kinds.ts';
import { openLive, useBrowser, useStage } from './browser.ts';

describe('planned changes in a browser', function () {
  this.timeout(120_000);
  const PATIENCE = { timeout: 60_000 };
  const own = useBrowser();
  const running = useStage();

  const open = (path: string): Promise<Page> => openLive(own.browser, running.console.link, path);

  it('are none for a landscape as its last job left it, and the live objects that differ otherwise', async () => {
    const page = await open('/landscapes/shop/network');
    await page
      .getByRole('navigation', { name: 'Views of the landscape' })
      .getByRole('link', { name: 'Changes' })
      .click();
    await page.getByText('The next job would change nothing').waitFor(PATIENCE);
    await page.getByText('nothing to change, 2 objects unchanged').waitFor();
    const { client } = running.stage.cluster;
    await client.send({
      verb: 'merge',
      kind: ConfigMap,
      key: 'shop/zones',
      body: { data: { extra: 'by hand' } },
    });
    await client.send({ verb: 'delete', kind: ConfigMap, key: 'shop/routes' });
    await page.getByRole('button', { name: 'Plan again' }).click();
    const differing = page.getByRole('region', { name: 'Live objects differ' });
    await differing.getByText('data.extra').waitFor(PATIENCE);
    expect(await differing.locator('del').allInnerTexts()).to.deep.equal(['"by hand"']);
    await differing.getByText('ConfigMap shop/routes').waitFor();
    await page.getByText('1 to create, 1 to change').waitFor();
    await page.context().close();
  });

  it('show unchanged objects on request, with an address', async () => {
    const page = await open('/landscapes/shop/portal/changes');
    await page.getByRole('checkbox', { name: 'Also unchanged objects' }).check();
    const unchanged = page.getByRole('region', { name: 'Unchanged' });
    await unchanged.getByText('Deployment shop/web').waitFor(PATIENCE);
    expect(new URL(page.url()).search).to.equal('?show=all');
    await page.context().close();
  });

  it('show what a job will not correct, because it skips unchanged deploy items', async () => {
    const page = await open('/landscapes/shop/network');
    const object = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      name: 'zones',
      namespace: 'shop',
      change: 'change',
    };
    const drift = { objects: [{ ...object, fields: [{ path: 'data.extra', before: 'by hand' }] }] };
    const item = {
      path: 'network/zones',
      type: 't',
      state: 'idle',
      isKnown: true,
      objects: [],
      notes: [],
      drift,
    };
    const summary = { create: 0, change: 0, delete: 0, unchanged: 0, kept: 0, unknown: 0, problems: 0 };
    await page.route('**/changes', (route) =>
      route.fulfill({ json: { items: [item], problems: [], summary } }),
    );
    await page.getByRole('link', { name: 'Changes' }).click();
    const skipped = page.getByRole('region', { name: 'the next job will not correct them' });
    await skipped.getByText('updateOnChangeOnly is set').waitFor();
    await skipped.getByText('differs').waitFor();
    await skipped.getByText('data.extra').waitFor();
    await page.getByText('nothing to change, 1 differs and stays').waitFor();
    await page.context().close();
  });

  it('say why there are none', async () => {
    const page = await open('/landscapes/shop/network');
    await page.route('**/changes', (route) =>
      route.fulfill({ status: 501, json: { error: 'this console does not compute plans' } }),
    );
    await page.getByRole('link', { name: 'Changes' }).click();
    await page.getByRole('alert').getByText('this console does not compute plans').waitFor();
    await page.context().close();
  });
});
