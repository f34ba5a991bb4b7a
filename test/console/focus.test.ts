/** Where the focus is after links, dialogs and changes, for keyboards and screen readers. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { openLive, useBrowser, useStage } from './browser.ts';

describe('the focus in the console', function () {
  this.timeout(60_000);
  const own = useBrowser();
  const running = useStage();
  const open = (path: string): Promise<Page> => openLive(own.browser, running.console.link, path);
  const focused = (page: Page, selector: string, text: string) =>
    page.locator(`${selector}:focus`).getByText(text).waitFor();

  it('goes to the heading of another view, which has a title of its own', async () => {
    const page = await open('/');
    await page.getByRole('link', { name: 'billing' }).click();
    await focused(page, 'h1', 'shop/billing');
    expect(await page.title()).to.equal('shop/billing · Espalier');
    await page.getByRole('link', { name: 'Jobs' }).click();
    await page.getByRole('region', { name: 'Timeline of job 1' }).waitFor();
    expect(await page.title()).to.equal('Jobs · shop/billing · Espalier');
    await page.getByRole('navigation', { name: 'Views', exact: true }).getByText('Data flow').click();
    await focused(page, 'h1', 'Data flow between landscapes');
    expect(await page.title()).to.equal('Data flow · Espalier');
    await page.context().close();
  });

  it('goes from the tree to the details and back', async () => {
    const page = await open('/landscapes/shop/billing');
    await page.getByRole('tree').focus();
    await page.keyboard.press('Home');
    await page.getByRole('complementary', { name: 'Details of billing' }).waitFor();
    await page.keyboard.press('Enter');
    await focused(page, 'h2', 'billing');
    await page.getByRole('button', { name: 'DeployItem server' }).press('Enter');
    await focused(page, 'h2', 'server');
    await page.keyboard.press('Escape');
    await page.getByRole('complementary').waitFor({ state: 'detached' });
    await focused(page, '[role=tree]', 'server');
    await page.context().close();
  });

  it('returns to the button of an action, even if it is another one now', async () => {
    const page = await open('/landscapes/shop/network');
    for (const [action, next] of [
      ['Suspend', 'Resume'],
      ['Resume', 'Suspend'],
    ] as const) {
      await page.getByRole('button', { name: action }).click();
      await page.getByRole('dialog').getByRole('button', { name: action }).click();
      await focused(page, 'button', next);
    }
    await page.context().close();
  });

  it('reaches actions that are not possible, which say why', async () => {
    const page = await open('/landscapes/shop/network');
    const button = page.getByRole('button', { name: 'Interrupt', description: 'No job is running' });
    await button.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('group', { name: 'Actions' }).getByText('No job is running').waitFor();
    expect(await page.getByRole('dialog').count()).to.equal(0);
    await page.context().close();
  });

  it('does not reach a deletion before the preview is shown', async () => {
    const page = await open('/landscapes/shop/network');
    await page.route('**/deletion', (route) =>
      route.fulfill({ status: 503, json: { error: 'the server is busy' } }),
    );
    await page.getByRole('button', { name: 'Delete' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('the server is busy').waitFor();
    await dialog.getByRole('textbox').fill('network');
    expect(await dialog.getByRole('button', { name: 'Delete' }).isDisabled()).to.equal(true);
    await page.context().close();
  });
});
