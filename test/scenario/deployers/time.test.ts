/** The timeout of a job, on API servers. */
import { expect } from 'chai';
import { failAt, standardTimeouts } from '../../../deployers/sdk/timeout.ts';
import { API_VERSION } from '../../../src/api/labels.ts';
import { systemClock as clock, timestamp } from '../../../src/lib/clock.ts';
import { chartCheckpoints, manifestCheckpoints } from '../../support/deployer-tables.ts';
import { c1, raw } from '../../support/helm-charts.ts';
import { configMap, helmConfig, manage, manifestConfig } from '../../unit/deployers/bench.ts';
import { World } from './world.ts';

const MANIFEST = 'kubernetes-manifest';
const ref = (name: string): object => ({ apiVersion: 'v1', kind: 'ConfigMap', name, namespace: 'app' });
const check = (name: string, jsonPath: string): object => ({
  readinessChecks: {
    custom: [{ name: 'c', resourceSelector: [ref(name)], requirements: [{ jsonPath, operator: 'exists' }] }],
  },
});

describe('the timeout of a job on API servers', function () {
  this.timeout(60_000);
  let world: World;
  /** The place where the deployer checks the time left and the timeout ends the job; empty if it ends elsewhere. */
  let over = '';
  before(async () => {
    world = await World.start(undefined, {
      timeouts: {
        check: (checkpoint, remaining) =>
          (over === '' ? standardTimeouts : failAt(over)).check(checkpoint, remaining),
      },
    });
  });
  afterEach(() => {
    over = '';
  });
  after(() => world.stop());

  const one = (name: string, more: object = {}): object =>
    manifestConfig({ manifests: [manage(configMap(name))], ...more });
  const exporting = (name: string): object => ({
    exports: { exports: [{ key: 'db.host', jsonPath: '.data.host', fromResource: ref(name) }] },
  });

  describe('passes', () => {
    const timeout = '8s';
    /** The time at which the job of the late item began. */
    let begun: string | undefined;
    before(async () => {
      const late = manifestConfig({ manifests: [manage(configMap('late', {}, { namespace: 'late' }))] });
      await world.giveItem('late', MANIFEST, late, { timeout });
      await world.giveItem('unready', MANIFEST, one('unready', check('unready', '.data.up')), { timeout });
      await world.giveItem('silent', MANIFEST, one('silent', exporting('silent')), { timeout });
      for (const name of ['late', 'unready', 'silent']) await world.kick(name, 'j1');
      await world.problem('late');
      begun = (await world.item('late')).status?.transitionTimes?.initTime ?? undefined;
    });

    it('DEP-53: keeps the problem that led to it', async () => {
      const { status } = await world.finished('late', 'j1');
      expect(status?.phase).to.equal('Failed');
      expect(status?.lastError?.codes).to.deep.equal(['ERR_TIMEOUT']);
      const [first, second] = status?.lastError?.message.split('\n') ?? [];
      expect(first).to.equal('timeout at: "manifest deployer: start reconcile"');
      expect(second).to.match(/^the job has reached its timeout of .*; last problem: .*late/);
    });

    it('DEP-52: counts over all attempts', async () => {
      const { status } = await world.finished('late', 'j1');
      const { initTime, finishedTime } = status?.transitionTimes ?? {};
      expect(begun).to.be.a('string');
      expect(initTime).to.equal(begun);
      expect(Date.parse(finishedTime ?? '') - Date.parse(initTime ?? '')).to.be.at.least(7000);
    });

    it('DEP-40: ends the job if a check never holds, and names the object and the reason', async () => {
      const { status } = await world.finished('unready', 'j1');
      expect(status?.phase).to.equal('Failed');
      expect(status?.lastError?.codes).to.include('ERR_TIMEOUT');
      expect(status?.lastError?.message)
        .to.contain('deployer: during readiness check - resource app/unready of type ConfigMap')
        .and.contain('field with JSON path .data.up does not exist');
    });

    it('DEP-42: ends the job if an export is never available', async () => {
      const { status } = await world.finished('silent', 'j1');
      expect(status?.phase).to.equal('Failed');
      expect(status?.lastError?.codes).to.deep.equal(['ERR_TIMEOUT']);
      expect(status?.lastError?.message).to.contain('timeout at: "deployer: during export - key: db.host"');
      expect(await world.exported('silent')).to.equal(undefined);
    });
  });

  for (const [timeout, agoMs, phase] of [
    ['1m', 30_000, 'Succeeded'],
    ['1m', 120_000, 'Failed'],
    ['none', 3_600_000, 'Succeeded'],
  ] as const) {
    it(`DEP-52: of ${timeout}, begun ${String(agoMs / 1000)} seconds ago, ${phase === 'Failed' ? 'has passed' : 'has not passed'}`, async () => {
      const name = `begun-${String(agoMs / 1000)}`;
      await world.giveItem(name, MANIFEST, one(name), { timeout });
      const now = timestamp(clock);
      const initTime = timestamp({ ...clock, wall: () => clock.wall() - agoMs });
      const status = {
        observedGeneration: 1,
        jobID: 'j1',
        jobIDGenerationTime: now,
        phase: 'Init',
        transitionTimes: { triggerTime: initTime, initTime },
      };
      await world.edit(world.host, API_VERSION, 'DeployItem', `proj/${name}`, { status }, 'status');
      const ended = (await world.finished(name, 'j1')).status;
      expect(ended?.phase, ended?.lastError?.message).to.equal(phase);
      expect(ended?.transitionTimes?.initTime).to.equal(initTime);
      if (phase === 'Succeeded') return;
      expect(ended?.lastError?.codes).to.deep.equal(['ERR_TIMEOUT']);
      expect(ended?.lastError?.message).to.match(
        /^timeout at: "manifest deployer: start reconcile"\nthe job has reached its timeout of /,
      );
    });
  }

  /** The item at the end of a job that has timed out at a given check. */
  async function ends(name: string, job: string, checkpoint: string, phase: string): Promise<void> {
    over = checkpoint;
    const { status } = await world.run(name, job);
    expect(status?.phase, status?.lastError?.message).to.equal(phase);
    expect(status?.lastError?.codes).to.deep.equal(['ERR_TIMEOUT']);
    expect(status?.lastError?.message).to.contain(checkpoint);
  }
  async function succeeded(name: string, job: string): Promise<void> {
    const { status } = await world.run(name, job);
    expect(status?.phase, status?.lastError?.message).to.equal('Succeeded');
  }

  for (const [i, checkpoint] of manifestCheckpoints.entries()) {
    it(`DEP-51: can pass at "${checkpoint}"`, async () => {
      const name = `over-${String(i)}`;
      await world.giveItem(name, MANIFEST, one(name, { ...exporting(name), ...check(name, '.data.a') }));
      await ends(name, 'j1', checkpoint, 'Failed');
    });
  }

  for (const [i, checkpoint] of ['manifest deployer: start delete', 'deployer: delete resources'].entries()) {
    it(`DEP-51: of a deletion can pass at "${checkpoint}", and the next job continues`, async () => {
      const name = `gone-${String(i)}`;
      await world.giveItem(name, MANIFEST, one(name));
      await succeeded(name, 'j1');
      await world.remove(name);
      await ends(name, 'j2', checkpoint, 'DeleteFailed');
      expect(await world.configMap(`app/${name}`)).to.not.equal(undefined);
      over = '';
      await world.kick(name, 'j3');
      await world.gone(name);
      expect(await world.configMap(`app/${name}`)).to.equal(undefined);
    });
  }

  const chart = (name: string, helmDeployment: boolean, msg = 'hi'): object =>
    helmConfig({ ...raw(c1()), name, helmDeployment, values: { msg } });
  for (const [i, checkpoint] of chartCheckpoints.entries()) {
    it(`DEP-69: of a chart can pass at "${checkpoint}"`, async () => {
      const name = `chart-${String(i)}`;
      await world.giveItem(name, 'helm', chart(name, false));
      await ends(name, 'j1', `helm deployer: ${checkpoint}`, 'Failed');
    });
  }

  it('DEP-69: of a release can pass before it is installed, upgraded and deleted', async () => {
    const release = (n: number) =>
      world.find(world.target, 'v1', 'Secret', `app/sh.helm.release.v1.timed.v${String(n)}`);
    await world.giveItem('timed', 'helm', chart('timed', true));
    await ends('timed', 'j1', 'helm deployer: before installing release', 'Failed');
    expect(await release(1)).to.equal(undefined);
    over = '';
    await succeeded('timed', 'j2');
    await world.configure('timed', chart('timed', true, 'hey'));
    await ends('timed', 'j3', 'helm deployer: before upgrading release', 'Failed');
    expect(await release(2)).to.equal(undefined);
    over = '';
    await succeeded('timed', 'j4');
    expect(await release(2)).to.not.equal(undefined);
    await world.remove('timed');
    for (const [job, checkpoint] of [
      ['j5', 'start delete'],
      ['j6', 'start deleting'],
      ['j7', 'before deleting release'],
    ] as const) {
      await ends('timed', job, `helm deployer: ${checkpoint}`, 'DeleteFailed');
      expect(await release(2)).to.not.equal(undefined);
    }
    over = '';
    await world.kick('timed', 'j8');
    await world.gone('timed');
    expect(await release(2)).to.equal(undefined);
  });
});
