/** The start and the end of jobs of items, on API servers. */
import { expect } from 'chai';
import { ACTIVE_ANNOTATION } from '../../../deployers/sdk/continuous.ts';
import { MANIFEST_LABEL } from '../../../deployers/objects/manifests/label.ts';
import { API_VERSION } from '../../../src/api/labels.ts';
import { configMapKind } from '../../../src/landscape/world.ts';
import { c1, raw } from '../../support/helm-charts.ts';
import { configMap, helmConfig, manage, manifestConfig, mockConfig } from '../../unit/deployers/bench.ts';
import { LS, World } from './world.ts';

const MANIFEST = 'kubernetes-manifest';
const FINALIZER = 'finalizer.landscaper.gardener.cloud';
const one = (name: string, a = 'b', more: object = {}): object =>
  manifestConfig({ manifests: [manage(configMap(name, { a }))], ...more });

describe('jobs of deployers on API servers', function () {
  this.timeout(60_000);
  let world: World;
  before(async () => {
    world = await World.start();
  });
  after(() => world.stop());

  const data = async (name: string): Promise<unknown> => (await world.configMap(`app/${name}`))?.['data'];
  const succeeded = async (name: string, job: string): Promise<void> => {
    const { status } = await world.run(name, job);
    expect(status?.phase, status?.lastError?.message).to.equal('Succeeded');
  };
  const annotate = (name: string, annotations: object): Promise<void> =>
    world.edit(world.host, API_VERSION, 'DeployItem', `proj/${name}`, { metadata: { annotations } });

  it('DEP-06: a changed spec alone starts nothing', async () => {
    await world.giveItem('changed', MANIFEST, one('changed'));
    await succeeded('changed', 'j1');
    await world.configure('changed', one('changed', 'new'));
    const { metadata } = await world.item('changed');
    await world.giveItem('meanwhile', MANIFEST, one('meanwhile'));
    await succeeded('meanwhile', 'j1');
    expect((await world.item('changed')).metadata.resourceVersion).to.equal(metadata.resourceVersion);
    expect(await data('changed')).to.deep.equal({ a: 'b' });
    await succeeded('changed', 'j2');
    expect(await data('changed')).to.deep.equal({ a: 'new' });
  });

  it('DEP-07: a missing configuration ends the job', async () => {
    await world.giveItem('bare', MANIFEST, undefined);
    const { status } = await world.run('bare', 'j1');
    expect(status?.phase).to.equal('Failed');
    expect(status?.lastError).to.deep.include({
      reason: 'ProviderConfigurationMissing',
      message: 'provider configuration missing',
      codes: ['ERR_CONFIGURATION_PROBLEM'],
    });
  });

  it('DEP-08: a missing target ends the job; an item that is deleted stays', async () => {
    await world.giveItem('lost', MANIFEST, one('lost'), { target: 'nowhere' });
    const { metadata, status } = await world.run('lost', 'j1');
    expect(metadata.finalizers).to.equal(undefined);
    expect(status?.phase).to.equal('Failed');
    const why = {
      reason: 'NoTargetFound',
      message:
        'setting deploy item to failed due to missing target: target proj/nowhere does not exist; create it, or correct the reference to it, and start another job of the root installation',
    };
    expect(status?.lastError).to.deep.include(why);
    const finalizers = [FINALIZER];
    await world.edit(world.host, API_VERSION, 'DeployItem', 'proj/lost', { metadata: { finalizers } });
    await world.remove('lost');
    const deleted = await world.run('lost', 'j2');
    expect(deleted.status?.phase).to.equal('DeleteFailed');
    expect(deleted.status?.lastError).to.include({ reason: why.reason });
    expect(deleted.status?.lastError?.message)
      .to.contain('target proj/nowhere does not exist')
      .and.contain('delete-without-uninstall=true');
    expect(deleted.metadata.finalizers).to.deep.equal([FINALIZER]);
  });

  it('DEP-11: updateOnChangeOnly ends a job at once if the item has not changed', async () => {
    await world.giveItem('onchange', MANIFEST, one('onchange'), { updateOnChangeOnly: true });
    await succeeded('onchange', 'j1');
    await world.target.send({ verb: 'delete', kind: configMapKind, key: 'app/onchange' });
    await succeeded('onchange', 'j2');
    expect(await data('onchange')).to.equal(undefined);
    await world.configure('onchange', one('onchange', 'c'));
    await succeeded('onchange', 'j3');
    expect(await data('onchange')).to.deep.equal({ a: 'c' });
  });

  it('DEP-12: test-reconcile gives an item a job of its own', async () => {
    await world.giveItem('tested', MANIFEST, one('tested'));
    await succeeded('tested', 'j1');
    await annotate('tested', { [`${LS}/operation`]: 'test-reconcile' });
    const { metadata, status } = await world.until('a job of its own has ended', async () => {
      const item = await world.item('tested');
      const { jobID, jobIDFinished } = item.status ?? {};
      return jobID !== 'j1' && jobID === jobIDFinished ? item : undefined;
    });
    expect(status?.jobID).to.match(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(status?.phase).to.equal('Succeeded');
    expect(metadata.annotations).to.not.have.property(`${LS}/operation`);
  });

  for (const [value, stays] of [
    ['true', true],
    ['yes', false],
  ] as const) {
    it(`DEP-14: delete-without-uninstall: "${value}" ${stays ? 'leaves the objects' : 'is ignored'}`, async () => {
      const name = `left-${value}`;
      const annotations = { [`${LS}/delete-without-uninstall`]: value };
      await world.giveItem(name, MANIFEST, one(name), { annotations });
      await succeeded(name, 'j1');
      await world.remove(name);
      await world.kick(name, 'j2');
      await world.gone(name);
      expect(await data(name)).to.deep.equal(stays ? { a: 'b' } : undefined);
    });
  }

  const schedules: readonly (readonly [object, boolean])[] = [
    [{}, true],
    [{ every: '1h' }, true],
    [{ cron: '0 */6 * * *' }, true],
    [{ every: '1h', cron: '* * * * *' }, false],
    [{ every: '-1s' }, false],
    [{ cron: '61 * * * *' }, false],
  ];
  for (const [i, [continuousReconcile, isFine]] of schedules.entries()) {
    it(`DEP-17: ${JSON.stringify(continuousReconcile)} is ${isFine ? 'accepted' : 'rejected'}`, async () => {
      const name = `schedule-${String(i)}`;
      await world.giveItem(name, MANIFEST, one(name, 'b', { continuousReconcile }));
      const { status } = await world.run(name, 'j1');
      expect(status?.phase).to.equal(isFine ? 'Succeeded' : 'Failed');
      expect(status?.lastError?.codes).to.deep.equal(isFine ? undefined : ['ERR_CONFIGURATION_PROBLEM']);
      expect(await data(name)).to.deep.equal(isFine ? { a: 'b' } : undefined);
    });
  }

  it('DEP-18: drift is repaired by a separate job when it is due, unless that is suspended', async () => {
    const continuousReconcile = { every: '2s' };
    for (const [name, annotations] of [
      ['suspended', { [ACTIVE_ANNOTATION]: 'false' }],
      ['drifts', {}],
    ] as const) {
      await world.giveItem(name, MANIFEST, one(name, 'b', { continuousReconcile }), { annotations });
      await world.run(name, 'j1');
    }
    const before = (await world.item('drifts')).status;
    const drift = { data: { a: 'drift' } };
    await world.edit(world.target, 'v1', 'ConfigMap', 'app/suspended', drift);
    for (let times = 0; times < 2; times++) {
      await world.edit(world.target, 'v1', 'ConfigMap', 'app/drifts', drift);
      await world.until('the drift is repaired', async () => {
        return ((await data('drifts')) as { a: string }).a === 'b' || undefined;
      });
    }
    const after = await world.until('the job of its own has ended', async () => {
      const { status } = await world.item('drifts');
      return status?.jobID === status?.jobIDFinished ? status : undefined;
    });
    expect(after).to.include({ phase: 'Succeeded' });
    expect(after.jobID).to.not.equal('j1');
    const msOf = (time: string | undefined): number => Date.parse(time ?? '');
    expect(msOf(after.lastReconcileTime) - msOf(before?.lastReconcileTime)).to.be.at.least(4000);
    expect((await world.item('suspended')).status?.jobID).to.equal('j1');
    expect(await data('suspended')).to.deep.equal({ a: 'drift' });
  });

  it('DEP-38: an item with a long name marks its objects with a hash and recognizes them', async () => {
    const name = 'x'.repeat(80);
    const manifests = [{ policy: 'fallback', manifest: configMap('of-long') }];
    await world.giveItem(name, MANIFEST, manifestConfig({ manifests }));
    await succeeded(name, 'j1');
    const label = (await world.configMap('app/of-long'))?.metadata.labels?.[MANIFEST_LABEL];
    expect(label).to.match(/^x{54}-[0-9a-f]{8}$/);
    await world.remove(name);
    await world.kick(name, 'j2');
    await world.gone(name);
    expect(await data('of-long')).to.equal(undefined);
  });

  it('DEP-61: an option that helm does not have ends the job before anything is created', async () => {
    const helmDeploymentConfig = { install: { atomicc: true } };
    await world.giveItem(
      'odd',
      'helm',
      helmConfig({ ...raw(c1()), name: 'odd', helmDeployment: true, helmDeploymentConfig }),
    );
    const { status } = await world.run('odd', 'j1');
    expect(status?.phase).to.equal('Failed');
    expect(status?.lastError?.codes).to.deep.equal(['ERR_CONFIGURATION_PROBLEM']);
    expect(status?.lastError?.message).to.contain('atomicc');
    expect(await data('odd-cm')).to.equal(undefined);
  });

  it('DEP-82: a mock item exports, shows its configured provider status, and deletes its secret', async () => {
    const providerStatus = { apiVersion: 't/v1', kind: 'S', ok: true };
    const config = mockConfig({ export: { k: { a: 1 } }, providerStatus });
    await world.giveItem('mock', 'mock', config, { target: false });
    const { status } = await world.run('mock', 'j1');
    expect(status?.providerStatus).to.deep.equal(providerStatus);
    expect(status?.conditions?.[0]).to.include({
      type: 'DeployItemValidation',
      status: 'True',
      reason: 'SuccessfullValidation',
    });
    const { name = '' } = status?.exportRef ?? {};
    expect(name).to.match(/^mock-export-/);
    expect(await world.exported('mock')).to.deep.equal({ k: { a: 1 } });
    await world.remove('mock');
    await world.kick('mock', 'j2');
    await world.gone('mock');
    expect(await world.find(world.host, 'v1', 'Secret', `proj/${name}`)).to.equal(undefined);
  });

  it('DEP-82: a mock item whose export is not a map fails at once', async () => {
    await world.giveItem('mocked', 'mock', mockConfig({ export: 5 }), { target: false });
    const { status } = await world.run('mocked', 'j1');
    expect(status?.phase).to.equal('Failed');
    expect(status?.lastError?.codes).to.deep.equal(['ERR_CONFIGURATION_PROBLEM']);
  });
});
