/** What assistive technology finds: roles and names in the accessibility tree, the order of the focus, live regions. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { openLive, useBrowser, useStage } from './browser.ts';

/** Roles that mean nothing without a name. */
const NAMED = new Set([
  'button',
  'link',
  'searchbox',
  'textbox',
  'combobox',
  'checkbox',
  'grid',
  'tree',
  'treeitem',
  'table',
  'region',
  'navigation',
  'complementary',
  'dialog',
  'columnheader',
]);

interface AxNode {
  readonly ignored: boolean;
  readonly role?: { readonly value?: unknown };
  readonly name?: { readonly value?: unknown };
}

async function treeOf(page: Page): Promise<readonly { readonly role: string; readonly name: string }[]> {
  const devtools = await page.context().newCDPSession(page);
  const { nodes } = (await devtools.send('Accessibility.getFullAXTree')) as { nodes: readonly AxNode[] };
  await devtools.detach();
  const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
  return nodes
    .filter(({ ignored }) => !ignored)
    .map(({ role, name }) => ({ role: textOf(role?.value), name: textOf(name?.value).trim() }));
}

describe('the console for assistive technology', function () {
  this.timeout(60_000);
  const own = useBrowser();
  const running = useStage();

  async function open(path: string): Promise<Page> {
    const page = await openLive(own.browser, running.console.link, path);
    await page.getByRole('status').getByText('live').waitFor();
    return page;
  }

  /** Each view with what it has to contain besides the frame. */
  const views: readonly (readonly [path: string, ...parts: (readonly [role: string, name: string])[]])[] = [
    ['/', ['heading', 'Landscapes'], ['grid', 'Landscapes'], ['columnheader', 'State']],
    [
      '/landscapes/shop/billing?part=Installation%2Fshop%2Fbilling',
      ['tree', 'Objects of the landscape'],
      ['complementary', 'Details of billing'],
      ['region', 'Why it is not ready'],
      ['button', 'Close the details'],
    ],
    ['/flow', ['heading', 'Data flow between landscapes'], ['table', 'Data flow']],
    ['/landscapes/shop/shop/jobs', ['table', 'Jobs, the latest first'], ['region', 'Timeline of job 1']],
    [
      '/landscapes/shop/portal/pods',
      ['navigation', 'Objects with pods'],
      ['region', 'Pods of Deployment web'],
      ['table', 'Pods of Deployment web, those with problems first'],
    ],
    ['/landscapes/shop/network/changes', ['button', 'Plan again'], ['checkbox', 'Also unchanged objects']],
    ['/landscapes/shop/billing/events', ['region', 'Events'], ['table', 'Events, the latest first']],
  ];
  for (const [path, ...parts] of views)
    it(`has roles and names: ${path}`, async () => {
      const page = await open(path);
      for (const [role, name] of parts)
        await page
          .getByRole(role as 'heading', { name, exact: true })
          .first()
          .waitFor({ state: 'attached' });
      const nodes = await treeOf(page);
      const frame = ['banner', 'navigation', 'main', 'status'];
      expect(nodes.map(({ role }) => role)).to.include.members(frame);
      expect(nodes.filter(({ role, name }) => NAMED.has(role) && name === '')).to.deep.equal([]);
      expect(nodes.filter(({ role }) => role === 'main')).to.have.length(1);
      expect(nodes.filter(({ role }) => role === 'heading').length).to.be.at.least(1);
      await page.context().close();
    });

  it('moves the focus from the navigation to the search, the filters and the rows', async () => {
    const page = await open('/');
    await page.getByRole('link', { name: 'network' }).waitFor();
    await page.evaluate('document.body.focus()');
    const names: string[] = [];
    for (let i = 0; i < 12; i++) {
      await page.keyboard.press('Tab');
      names.push(
        await page.evaluate(
          `(({ tagName, ariaLabel, textContent, labels }) =>
            (ariaLabel ?? (tagName === 'BODY' ? '' : labels?.[0]?.textContent ?? textContent)).trim())(document.activeElement)`,
        ),
      );
    }
    const order = ['Espalier', 'Landscapes', 'Data flow'];
    expect(names.slice(0, 3)).to.deep.equal(order);
    const rows = names.lastIndexOf('Landscapes');
    const chip = names.findIndex((name) => name.startsWith('failed') || name.startsWith('✖'));
    expect(rows, names.join(' | ')).to.be.above(chip).and.above(3);
    await page.context().close();
  });

  it('keeps the focus within a dialog, and returns it', async () => {
    const page = await open('/landscapes/shop/network');
    const button = page.getByRole('button', { name: 'Reconcile' });
    await button.click();
    const dialog = page.getByRole('dialog', { name: 'Start a new job of shop/network?' });
    await dialog.waitFor();
    for (let i = 0; i < 4; i++) {
      await page.keyboard.press('Tab');
      const isOutside = await page.evaluate(
        `document.activeElement !== document.body && !document.activeElement.closest('dialog')`,
      );
      expect(isOutside).to.equal(false);
    }
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await page.context().close();
  });

  it('announces the connection, the number of rows, and problems', async () => {
    const page = await open('/');
    await page.getByText('5 landscapes').waitFor();
    expect(await page.locator('[role=status], [role=alert], [aria-live=polite]').count()).to.equal(3);
    await page.context().close();
  });
});
