/** What the console does when the cluster, its server or the user changes something. */
import { expect } from 'chai';
import type { startConsoleStage } from '../support/console-stage.ts';
import { mockItem, root } from '../support/landscape.ts';
import { useBrowser, useStage, visit } from './browser.ts';

type Link = Awaited<ReturnType<Awaited<ReturnType<typeof startConsoleStage>>['serve']>>;

describe('the console during changes', function () {
  this.timeout(60_000);
  const own = useBrowser();
  const running = useStage();
  const at = ({ link }: Link, path: string): string => new URL(path, link).href;

  it('shows new landscapes and new phases without a reload', async () => {
    const { page } = await visit(own.browser, running.console.link);
    await page.getByRole('link', { name: 'network' }).waitFor();
    await page.evaluate('window.isSamePage = true');
    await running.stage.scene.create(root('fresh', { items: [mockItem('server')] }));
    await page.getByRole('row', { name: /fresh.*Succeeded/ }).waitFor();
    await page.getByRole('link', { name: 'fresh' }).click();
    await page.getByRole('treeitem', { name: 'DeployItem server, Succeeded' }).waitFor();
    expect(await page.evaluate('window.isSamePage')).to.equal(true);
    await page.context().close();
  });

  it('starts a job after a confirmation', async () => {
    const { scene } = running.stage;
    await scene.create(root('again', { items: [mockItem('server')] }));
    await scene.until('again is ready', () => scene.installation('again')?.status?.phase === 'Succeeded');
    const before = scene.jobs('again').length;
    const { page } = await visit(own.browser, running.console.link);
    await page.getByRole('link', { name: 'again' }).click();
    await page.getByRole('button', { name: 'Reconcile' }).click();
    const dialog = page.getByRole('dialog', { name: 'Start a new job of shop/again?' });
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(scene.jobs('again')).to.have.length(before);
    await page.getByRole('button', { name: 'Reconcile' }).click();
    await dialog.getByRole('button', { name: 'Reconcile' }).click();
    await page.getByText('Reconcile requested').waitFor();
    await scene.until('another job runs', () => scene.jobs('again').length === before + 1);
    await page.context().close();
  });

  it('suspends the jobs of a landscape, and resumes them', async () => {
    const { scene } = running.stage;
    await scene.create(root('paused', { items: [mockItem('server')] }));
    await scene.until('paused is ready', () => scene.installation('paused')?.status?.phase === 'Succeeded');
    const { page } = await visit(own.browser, running.console.link);
    await page.getByRole('link', { name: 'paused' }).click();
    for (const [title, other, value] of [
      ['Suspend', 'Resume', 'true'],
      ['Resume', 'Suspend', undefined],
    ] as const) {
      await page.getByRole('button', { name: title }).click();
      await page.getByRole('dialog').getByRole('button', { name: title }).click();
      await page.getByRole('button', { name: other }).waitFor();
      const { annotations } = scene.installation('paused')?.metadata ?? {};
      expect(annotations?.['espalier.dev/suspended']).to.equal(value);
    }
    await page.context().close();
  });

  it('deletes only after the preview and the typed name', async () => {
    const { scene } = running.stage;
    await scene.create(root('doomed', { items: [mockItem('server')] }));
    await scene.until('doomed is ready', () => scene.installation('doomed')?.status?.phase === 'Succeeded');
    const { page } = await visit(own.browser, running.console.link);
    await page.getByRole('link', { name: 'doomed' }).click();
    await page.getByRole('button', { name: 'Delete' }).click();
    const dialog = page.getByRole('dialog', { name: 'Delete shop/doomed?' });
    await dialog.getByText('0 objects on targets, and 3 objects of Espalier').waitFor();
    const confirm = dialog.getByRole('button', { name: 'Delete' });
    expect(await confirm.isDisabled()).to.equal(true);
    await dialog.getByRole('textbox').fill('doomed');
    await confirm.click();
    await page.getByText('There is no root installation shop/doomed').waitFor();
    expect(scene.installation('doomed')).to.equal(undefined);
    await page.context().close();
  });

  it('warns before a deletion about landscapes that import', async () => {
    const { page } = await visit(own.browser, running.console.link);
    await page.getByRole('link', { name: 'network' }).click();
    await page.getByRole('button', { name: 'Delete' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Other landscapes import its exports: shop').waitFor();
    await dialog.getByText('2 objects on targets').waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await page.context().close();
  });

  it('disables actions that the user may not request', async () => {
    const { page } = await visit(own.browser, running.console.link);
    await page.route('**/rights', (route) =>
      route.fulfill({ json: { reconcile: true, interrupt: true, delete: false } }),
    );
    await page.getByRole('link', { name: 'network' }).click();
    const button = page.getByRole('button', { name: 'Delete' });
    await page.locator('button[title*="You may not delete installations in namespace shop"]').waitFor();
    expect(await button.isDisabled()).to.equal(true);
    await page.context().close();
  });

  it('reports the refusal of an action in the dialog', async () => {
    const { page } = await visit(own.browser, running.console.link);
    await page.getByRole('link', { name: 'network' }).click();
    await page.route('**/actions', (route) =>
      route.fulfill({ status: 403, json: { error: 'installations are forbidden' } }),
    );
    await page.getByRole('button', { name: 'Reconcile' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Reconcile' }).click();
    await dialog.getByText('installations are forbidden').waitFor();
    await page.context().close();
  });

  it('asks for a link without a session, and accepts it in the same browser', async () => {
    const { page } = await visit(own.browser, at(running.console, '/'));
    await page.getByRole('alert').getByText('There is no session').waitFor();
    const other = await page.context().newPage();
    await other.goto(running.console.link);
    await page.getByRole('link', { name: 'network' }).waitFor();
    await page.context().close();
  });

  it('opens once with the link for the browser', async () => {
    const link = running.console.onceLink();
    const first = await visit(own.browser, link);
    await first.page.getByRole('link', { name: 'network' }).waitFor();
    const second = await visit(own.browser, link);
    await second.page.getByRole('alert').getByText('There is no session').waitFor();
    await first.page.context().close();
    await second.page.context().close();
  });

  it('keeps the last state while the console is stopped, and continues after its restart', async () => {
    const first = await running.stage.serve();
    const { page } = await visit(own.browser, first.link);
    await page.getByRole('link', { name: 'network' }).click();
    await page.getByRole('treeitem', { name: 'ConfigMap zones' }).waitFor();
    await first.close();
    await page.getByRole('alert').getByText('The console does not respond').waitFor();
    expect(await page.getByRole('treeitem', { name: 'ConfigMap zones' }).count()).to.equal(1);
    const second = await running.stage.serve(Number(new URL(first.link).port));
    await page.getByRole('alert').getByText('There is no session').waitFor();
    const other = await page.context().newPage();
    await other.goto(second.link);
    await page.getByRole('status').getByText('live').waitFor();
    expect(await page.getByRole('alert').innerText()).to.equal('');
    await page.context().close();
    await second.close();
  });
});
