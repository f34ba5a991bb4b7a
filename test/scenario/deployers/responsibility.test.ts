/** Which items a deployer handles, on API servers. */
import { expect } from 'chai';
import type { TargetSelector } from '../../../deployers/sdk/index.ts';
import { API_VERSION } from '../../../src/api/labels.ts';
import { configMap, manage, manifestConfig } from '../../unit/deployers/bench.ts';
import { World } from './world.ts';

const MANIFEST = 'kubernetes-manifest';
const one = (name: string): object => manifestConfig({ manifests: [manage(configMap(name))] });

describe('the items of a deployer on API servers', function () {
  this.timeout(60_000);
  let world: World;
  before(async () => {
    world = await World.start();
    const metadata = { annotations: { env: 'dev' }, labels: { region: 'eu' } };
    await world.edit(world.host, API_VERSION, 'Target', 'proj/cluster-a', { metadata });
  });
  after(() => world.stop());

  it('DEP-01: one of another type costs no request and is left alone', async () => {
    const mark = world.hostServer.audit?.mark();
    await world.giveItem('foreign', 'example.org/blob', one('foreign'));
    await world.kick('foreign', 'j1');
    const { metadata } = await world.item('foreign');
    await world.giveItem('ours', MANIFEST, one('ours'));
    expect((await world.run('ours', 'j1')).status?.phase).to.equal('Succeeded');
    expect((await world.item('foreign')).metadata.resourceVersion).to.equal(metadata.resourceVersion);
    if (mark === undefined) return; // a real API server does not report who made a request
    const requests = world.hostServer.audit?.since(mark).events ?? [];
    const asked = (name: string): boolean =>
      requests.some(({ userAgent, objectRef }) => userAgent.includes('deployer') && objectRef?.name === name);
    expect([asked('ours'), asked('foreign')]).to.deep.equal([true, false]);
  });

  const rows: readonly (readonly [string, readonly TargetSelector[], boolean])[] = [
    [
      'DEP-02: one of several values',
      [{ annotations: [{ key: 'env', operator: 'in', values: ['dev', 'test'] }] }],
      true,
    ],
    [
      'DEP-03: none of several values',
      [{ annotations: [{ key: 'env', operator: 'in', values: ['prod'] }] }],
      false,
    ],
    ['DEP-04: a name', [{ targets: [{ name: 'cluster-a' }] }], true],
    [
      'DEP-04: a name in another namespace',
      [{ targets: [{ name: 'cluster-a', namespace: 'other' }] }],
      false,
    ],
    [
      'DEP-04: one of two selectors',
      [{ targets: [{ name: 'x' }] }, { labels: [{ key: 'region', operator: '=', values: ['eu'] }] }],
      true,
    ],
    [
      'DEP-04: only one part of a selector',
      [{ targets: [{ name: 'cluster-a' }], labels: [{ key: 'region', operator: '=', values: ['us'] }] }],
      false,
    ],
    ['DEP-04: an annotation that is absent', [{ annotations: [{ key: 'gone', operator: '!' }] }], true],
    [
      'DEP-04: an annotation that should exist',
      [{ annotations: [{ key: 'gone', operator: 'exists' }] }],
      false,
    ],
    ['DEP-04: no selectors', [], true],
  ];
  for (const [i, [title, targetSelector, isOurs]] of rows.entries()) {
    it(`${title}: an item of such a target is ${isOurs ? '' : 'not '}handled, one without a target is`, async () => {
      await world.restart({ config: { targetSelector } });
      const name = `selected-${String(i)}`;
      await world.giveItem(name, MANIFEST, one(name));
      await world.kick(name, 'j1');
      // Two whole jobs have ended after it, so the deployer has seen it.
      await world.giveItem(`${name}-any`, MANIFEST, undefined, { target: false });
      for (const job of ['j1', 'j2'])
        expect((await world.run(`${name}-any`, job)).status?.phase).to.equal('Failed');
      if (isOurs) {
        expect((await world.finished(name, 'j1')).status?.phase).to.equal('Succeeded');
        return;
      }
      const { metadata, status } = await world.item(name);
      expect(metadata.finalizers).to.equal(undefined);
      expect(status).to.not.have.any.keys('phase', 'lastReconcileTime', 'deployer');
      expect(await world.configMap(`app/${name}`)).to.equal(undefined);
    });
  }
});
