/** The console with 5,000 landscapes in one namespace, and with hostile names and messages. */
import { expect } from 'chai';
import { readAssets } from '../../src/cli/console/assets.ts';
import { createSessions } from '../../src/cli/console/guard.ts';
import { loopbackAccess } from '../../src/cli/console/loopback.ts';
import { modelOf } from '../../src/cli/console/model.ts';
import { createServer, listen } from '../../src/cli/console/server.ts';
import { systemClock } from '../../src/lib/clock.ts';
import type { Client } from '../../src/runtime/types.ts';
import { collected, installation } from '../unit/cli/given.ts';
import { useBrowser, visit } from './browser.ts';

const COUNT = 5_000;
const HOSTILE = '<img src=x onerror="document.title=1"><script>document.title=2</script>';

const nameOf = (i: number): string => `landscape-${String(i).padStart(4, '0')}`;

describe('the console with 5,000 landscapes', function () {
  this.timeout(60_000);
  const own = useBrowser();
  let objects = collected(
    ...Array.from({ length: COUNT }, (_, i) => installation(nameOf(i), { phase: 'Succeeded' })),
  );
  const model = modelOf(
    () => objects,
    () => '',
  );
  const sessions = createSessions();
  let port = 0;
  let server: ReturnType<typeof createServer> | undefined;
  before(async () => {
    const access = loopbackAccess({
      model,
      client: { raw: () => Promise.resolve({}) } as unknown as Client,
      clock: systemClock,
      sessions,
      about: { version: '1.0.0', server: 'https://10.0.0.1', namespaces: ['proj'], user: '' },
      port: () => port,
    });
    server = createServer({ access, assets: readAssets() });
    port = await listen(server, { port: 0 });
  });
  after(() => server?.close());
  const change = (i: number, state: Parameters<typeof installation>[1]): void => {
    const installations = objects.installations.map((each) =>
      each.metadata.name === nameOf(i) ? installation(nameOf(i), state) : each,
    );
    objects = { ...objects, installations };
    model.changed();
  };
  const open = () => visit(own.browser, `http://127.0.0.1:${String(port)}/#token=${sessions.token}`);

  it('draws only the rows in view, and reaches the last one', async () => {
    const { page } = await open();
    await page.getByText('5,000 landscapes').waitFor();
    expect(await page.getByRole('row').count()).to.be.below(60);
    await page.getByRole('grid').focus();
    await page.keyboard.press('End');
    await page.getByRole('link', { name: nameOf(COUNT - 1) }).waitFor();
    expect(await page.getByRole('row').count()).to.be.below(60);
    await page.context().close();
  });

  it('stays where the user scrolled to when other rows change', async () => {
    const { page } = await open();
    await page.getByRole('grid').focus();
    await page.keyboard.press('ArrowDown');
    await page.locator('.virtual').evaluate((list: { scrollTop: number }) => {
      list.scrollTop = 60_000;
    });
    await page.getByRole('link', { name: nameOf(2_000) }).waitFor();
    change(42, { phase: 'Failed' });
    await page.getByRole('button', { name: 'failed 1' }).waitFor();
    await page.getByRole('link', { name: nameOf(2_000) }).waitFor();
    await page.context().close();
  });

  it('returns to the row and the place from where the user left', async () => {
    const { page } = await open();
    await page.getByRole('grid').focus();
    await page.keyboard.press('End');
    await page.keyboard.press('PageUp');
    const row = page.locator('[role=row][aria-selected=true]');
    const name = await row.getByRole('link').innerText();
    await page.keyboard.press('Enter');
    await page.getByRole('tree').waitFor();
    await page.goBack();
    await row.getByText(name).waitFor();
    await page.locator('[role=grid]:focus').waitFor();
    await page.context().close();
  });

  it('writes the address no more often than browsers allow', async () => {
    const { page } = await open();
    await page.getByRole('searchbox').waitFor();
    const count = await page.evaluate<number>(`(async () => {
      const replace = history.replaceState.bind(history);
      let calls = 0;
      history.replaceState = (...args) => (calls++, replace(...args));
      const search = document.querySelector('[type=search]');
      for (let i = 0; i < 150; i++) {
        search.value = 'word' + i;
        search.dispatchEvent(new Event('input', { bubbles: true }));
        await new Promise(requestAnimationFrame);
      }
      return calls;
    })()`);
    expect(count).to.be.below(60);
    await page.waitForURL(/q=word149$/);
    await page.context().close();
  });

  it('finds one of them, and shows its change', async () => {
    const { page } = await open();
    await page.getByRole('searchbox').fill('4711');
    await page.getByText('1 landscape', { exact: true }).waitFor();
    change(4711, { phase: 'Failed', error: HOSTILE });
    await page.getByRole('row', { name: /landscape-4711.*Failed/ }).waitFor();
    await page.context().close();
  });

  it('shows markup in messages as it is', async () => {
    const { page, errors } = await open();
    await page.getByRole('link', { name: nameOf(4711) }).click();
    await page.getByRole('treeitem').click();
    await page.getByRole('region', { name: 'Why it is not ready' }).getByText(HOSTILE).waitFor();
    expect(await page.title()).to.equal(`proj/${nameOf(4711)} · Espalier`);
    expect(errors).to.deep.equal([]);
    await page.context().close();
  });
});
