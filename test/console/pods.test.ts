/** Pods of a landscape with their events and logs, in a browser. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { eventKind } from '../../src/cli/tree/events.ts';
import { Pod } from '../../src/runtime/core-kinds.ts';
import type { Obj } from '../../src/runtime/types.ts';
import { SECRET } from '../support/console-stage.ts';
import { openLive, useBrowser, useStage } from './browser.ts';
import { eventually } from '../support/waiting.ts';

describe('pods in a browser', function () {
  this.timeout(60_000);
  const own = useBrowser();
  const running = useStage();

  const open = (path: string): Promise<Page> => openLive(own.browser, running.console.link, path);
  async function podsOf(name: string): Promise<readonly Pod[]> {
    const { client } = running.stage.cluster;
    return eventually(`two pods of ${name} exist`, async () => {
      const found: Pod[] = [];
      for await (const { items } of client.list(Pod, { namespace: 'shop', labels: `app=${name}` }))
        found.push(...items);
      return found.length === 2 && found;
    });
  }
  const stamp = (second: number): string => `2026-01-01T00:00:${String(second).padStart(2, '0')}.000000001Z`;

  it('are one click away from their object in the tree', async () => {
    const page = await open('/landscapes/shop/portal');
    await page.getByRole('treeitem', { name: 'Deployment web' }).click();
    await page.getByRole('link', { name: 'Pods, events and logs' }).click();
    const table = page.getByRole('region', { name: 'Pods of Deployment web' });
    await table.getByRole('cell', { name: 'Running' }).first().waitFor();
    expect(await table.getByRole('row').count()).to.equal(3);
    expect(new URL(page.url()).pathname).to.equal('/landscapes/shop/portal/pods');
    expect(await page.content()).not.to.contain(SECRET);
    await page.context().close();
  });

  it('show what is wrong with them, and their events', async () => {
    const [pod] = await podsOf('worker');
    if (!pod) throw new Error('there is no pod');
    const { name, uid } = pod.metadata;
    await running.stage.cluster.client.send<Obj>({
      verb: 'create',
      kind: eventKind,
      object: {
        apiVersion: 'v1',
        kind: 'Event',
        metadata: { name: 'back-off', namespace: 'shop' },
        involvedObject: { kind: 'Pod', namespace: 'shop', name, uid },
        type: 'Warning',
        reason: 'BackOff',
        message: 'back-off restarting failed container server',
        lastTimestamp: '2026-01-01T00:00:00Z',
        count: 7,
      } as Obj,
    });
    const page = await open('/landscapes/shop/portal/pods');
    await page
      .getByRole('navigation', { name: 'Objects with pods' })
      .getByRole('link', { name: 'worker' })
      .click();
    const table = page.getByRole('region', { name: 'Pods of Deployment worker' });
    await table.getByRole('cell', { name: 'CrashLoopBackOff', exact: true }).first().waitFor();
    await table.getByText('back-off restarting failed container').first().waitFor();
    await page.getByRole('region', { name: 'Events of the pods' }).getByText('(7 times)').waitFor();
    await page.context().close();
  });

  it('have logs with an address, which follow new lines', async () => {
    const [pod] = await podsOf('web');
    const name = pod?.metadata.name ?? '';
    const { logs } = running.stage;
    logs.set(`${name}/server`, [
      `${stamp(1)} listening on 8080`,
      `${stamp(2)} \u001b[32mready\u001b[0m <b>now</b>`,
    ]);
    const page = await open('/landscapes/shop/portal/pods');
    const row = page.getByRole('row', { name });
    await row.getByRole('link', { name: 'server' }).click();
    const log = page.getByRole('region', { name: `Log of ${name} · server` });
    await log.getByText('ready <b>now</b>').waitFor();
    expect(await log.locator('pre').innerText()).to.equal('listening on 8080\nready <b>now</b>');
    expect(new URL(page.url()).searchParams.get('container')).to.equal('server');
    logs.set(`${name}/server`, [...(logs.get(`${name}/server`) ?? []), `${stamp(3)} GET /`]);
    await log.getByText('GET /').waitFor();
    await log.getByRole('checkbox', { name: 'Follow' }).uncheck();
    await page.reload();
    await log.getByText('GET /').waitFor();
    await log.getByRole('link', { name: 'Close the log' }).click();
    await log.waitFor({ state: 'detached' });
    await page.context().close();
  });

  it('have the log before the last restart', async () => {
    const [pod] = await podsOf('worker');
    const name = pod?.metadata.name ?? '';
    running.stage.logs.set(`${name}/server/previous`, [`${stamp(1)} out of memory`]);
    const query = new URLSearchParams({ pod: name, container: 'server', previous: 'true' });
    const page = await open('/landscapes/shop/portal');
    await page.getByRole('treeitem', { name: 'Deployment worker' }).click();
    await page.getByRole('link', { name: 'Pods, events and logs' }).click();
    await page.getByRole('region', { name: 'Pods of Deployment worker' }).waitFor();
    await page.goto(`${page.url()}&${query.toString()}`);
    const log = page.getByRole('region', { name: `Log of ${name} · server` });
    await log.getByText('out of memory').waitFor();
    await log.getByText('before its last restart').waitFor();
    await log.getByRole('link', { name: 'Current log' }).click();
    await log.getByText('The log is empty.').waitFor();
    await page.context().close();
  });

  it('say which right is missing', async () => {
    const page = await open('/landscapes/shop/network/pods');
    await page.getByText('lists a pod').waitFor();
    await page.route('**/pods?*', (route) =>
      route.fulfill({ status: 403, json: { error: 'cannot get deployments: forbidden' } }),
    );
    await page.goto(new URL('/landscapes/shop/portal/pods', running.console.link).href);
    await page.getByText('cannot get deployments: forbidden').waitFor();
    await page.context().close();
  });
});
