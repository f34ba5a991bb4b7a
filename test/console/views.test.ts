/** Every view of the console in a browser, on a cluster with landscapes. */
import { expect } from 'chai';
import { SECRET } from '../support/console-stage.ts';
import { useBrowser, useStage, visit, type Visit } from './browser.ts';

describe('the console in a browser', function () {
  this.timeout(60_000);
  const own = useBrowser();
  const running = useStage();
  const open = async (path = '/', options = {}): Promise<Visit> => {
    const visitor = await visit(own.browser, running.console.link, options);
    await visitor.page.getByRole('status').getByText('live').waitFor();
    if (path !== '/') await visitor.page.goto(new URL(path, running.console.link).href);
    return visitor;
  };
  const close = async ({ page, errors }: Visit): Promise<void> => {
    expect(errors).to.deep.equal([]);
    expect(await page.content()).not.to.contain(SECRET);
    await page.context().close();
  };

  it('removes the token from the address', async () => {
    const visitor = await open();
    expect(visitor.page.url()).to.equal(new URL('/', running.console.link).href);
    await close(visitor);
  });

  it('lists landscapes, failed ones first, with what failed', async () => {
    const visitor = await open();
    const rows = visitor.page.getByRole('row');
    await rows.nth(5).waitFor();
    const texts = await rows.allInnerTexts();
    expect(texts.slice(1).map((text) => /billing|portal|search|network|shop/.exec(text)?.[0])).to.deep.equal([
      'billing',
      'portal',
      'search',
      'network',
      'shop',
    ]);
    expect(texts[1]).to.contain('Failed').and.contain('server: Failed');
    await close(visitor);
  });

  it('keeps search and filters in the address', async () => {
    const visitor = await open();
    const { page } = visitor;
    await page.keyboard.press('/');
    await page.keyboard.type('net');
    await page.getByRole('row', { name: 'billing' }).waitFor({ state: 'detached' });
    expect(new URL(page.url()).search).to.equal('?q=net');
    await page.getByRole('button', { name: 'failed' }).click();
    await page.getByText('No landscape matches').waitFor();
    await page.reload();
    await page.getByText('No landscape matches').waitFor();
    expect(await page.getByRole('searchbox').inputValue()).to.equal('net');
    expect(await page.getByRole('button', { name: 'failed' }).getAttribute('aria-pressed')).to.equal('true');
    await close(visitor);
  });

  it('opens a landscape with the keyboard, and goes back', async () => {
    const visitor = await open();
    const { page } = visitor;
    await page.getByRole('link', { name: 'billing' }).waitFor();
    await page.getByRole('grid').focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByRole('tree').waitFor();
    expect(new URL(page.url()).pathname).to.equal('/landscapes/shop/billing');
    expect(await page.title()).to.equal('shop/billing · Espalier');
    await page.goBack();
    await page.getByRole('grid').waitFor();
    await close(visitor);
  });

  it('shows a tree down to the objects on the target', async () => {
    const visitor = await open('/landscapes/shop/network');
    const { page } = visitor;
    await page.getByRole('treeitem', { name: 'ConfigMap zones' }).click();
    const details = page.getByRole('complementary');
    await details.getByText('from the provider status').waitFor();
    expect(new URL(page.url()).searchParams.get('part')).to.match(/ConfigMap\/shop\/zones$/);
    await page.getByRole('button', { name: 'Close the details' }).click();
    await details.waitFor({ state: 'detached' });
    await close(visitor);
  });

  it('moves through the tree with the keyboard', async () => {
    const visitor = await open('/landscapes/shop/network');
    const { page } = visitor;
    const selected = async (): Promise<string | null> =>
      page.locator('[role=treeitem][aria-selected=true]').getAttribute('aria-label');
    await page.getByRole('tree').focus();
    await page.keyboard.press('Home');
    await page.locator('[role=treeitem][aria-selected=true]').waitFor();
    expect(await selected()).to.contain('Installation network');
    await page.keyboard.press('ArrowLeft');
    await page.getByRole('treeitem', { name: 'ConfigMap zones' }).waitFor({ state: 'detached' });
    expect(await page.getByRole('treeitem').count()).to.equal(1);
    await page.keyboard.press('ArrowRight');
    await page.getByRole('treeitem', { name: 'ConfigMap zones' }).waitFor();
    await page.keyboard.press('End');
    await page.locator('[role=treeitem][aria-selected=true][aria-label*=ConfigMap]').waitFor();
    await close(visitor);
  });

  it('says why a landscape failed, and leads to the cause', async () => {
    const visitor = await open('/landscapes/shop/billing?part=Installation%2Fshop%2Fbilling');
    const { page } = visitor;
    const why = page.getByRole('region', { name: 'Why it is not ready' });
    await why.getByText('An object below failed.').waitFor();
    await why.getByRole('heading', { name: 'Caused by' }).waitFor();
    await why.getByText('espalier installations reconcile billing -n shop').waitFor();
    expect(await why.getByRole('button').allInnerTexts()).to.deep.equal(['DeployItem server, Failed']);
    await why.getByRole('button').click();
    await page.getByRole('complementary', { name: 'Details of server' }).waitFor();
    await close(visitor);
  });

  it('says what a running landscape waits for', async () => {
    const visitor = await open('/landscapes/shop/search?part=Installation%2Fshop%2Fsearch');
    await visitor.page.getByRole('region', { name: 'Why it is not ready' }).getByText('Blocked by').waitFor();
    await close(visitor);
  });

  it('shows only what is not ready on request', async () => {
    const visitor = await open('/landscapes/shop/billing');
    const { page } = visitor;
    await page.getByRole('checkbox').check();
    await page.waitForURL(/only=unready/);
    await page.goto(new URL('/landscapes/shop/network?only=unready', running.console.link).href);
    await page.getByText('Every object is ready.').waitFor();
    await close(visitor);
  });

  it('shows the data flow between landscapes and within one, without values', async () => {
    const visitor = await open('/flow');
    const { page } = visitor;
    await page.getByRole('cell', { name: 'data/network' }).waitFor();
    await page.getByRole('link', { name: 'shop/shop' }).click();
    const tabs = page.getByRole('navigation', { name: 'Views of the landscape' });
    await tabs.getByRole('link', { name: 'Data flow' }).click();
    await page.getByRole('cell', { name: 'data/database-endpoint' }).waitFor();
    expect(await page.locator('svg a.node').count()).to.equal(4);
    await close(visitor);
  });

  it('shows the jobs of a landscape with a timeline', async () => {
    const visitor = await open('/landscapes/shop/shop/jobs');
    const { page } = visitor;
    const timeline = page.getByRole('region', { name: 'Timeline of job 1' });
    await timeline.getByText('database').first().waitFor();
    expect(await timeline.getByRole('listitem').count()).to.equal(15);
    await close(visitor);
  });

  it('shows the events of a landscape, which lead to their objects', async () => {
    const visitor = await open('/landscapes/shop/billing/events');
    const { page } = visitor;
    const region = page.getByRole('region', { name: 'Events' });
    await region.getByRole('link').first().click();
    await page.getByRole('complementary').waitFor();
    await close(visitor);
  });

  it('follows the colour scheme of the system', async () => {
    const colours = new Set<string>();
    for (const colorScheme of ['light', 'dark'] as const) {
      const visitor = await open('/', { colorScheme });
      colours.add(await visitor.page.evaluate('getComputedStyle(document.body).backgroundColor'));
      await close(visitor);
    }
    expect(colours.size).to.equal(2);
  });
});
