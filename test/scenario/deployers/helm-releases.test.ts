/** Charts as releases on API servers, installed by this product and by the real helm. */
import { gunzipSync, gzipSync } from 'node:zlib';
import { expect } from 'chai';
import type { DeployItem } from '../../../deployers/sdk/kinds.ts';
import { c1, c2, c3, c4, configMapOf, NO_HELM, raw, realHelm } from '../../support/helm-charts.ts';
import { skip } from '../../support/skip.ts';
import { helmConfig } from '../../unit/deployers/bench.ts';
import { LS, World, type Json } from './world.ts';

const helm = (fields: object): object => helmConfig({ helmDeployment: true, ...fields });

const engines = [
  { name: 'the helm deployer with releases', usesProgram: false },
  { name: 'the helm deployer with releases of the helm program', usesProgram: true },
];

for (const { name: title, usesProgram } of engines)
  describe(title, () => {
    let world: World;
    before(async function () {
      this.timeout(30_000);
      const program = usesProgram ? realHelm() : undefined;
      if (usesProgram && program === undefined) skip(this, NO_HELM);
      world = await World.start(program);
    });
    after(() => world?.stop());

    const give = (name: string, fields: object, more = {}): Promise<void> =>
      world.giveItem(name, 'helm', helm({ name, ...fields }), more);
    const record = (name: string, revision: number): Promise<Json | undefined> =>
      world.find(world.target, 'v1', 'Secret', `app/sh.helm.release.v1.${name}.v${String(revision)}`);
    const states = async (name: string): Promise<string[]> => {
      const found: string[] = [];
      for (let n = 1; n < 6; n++) found.push((await record(name, n))?.metadata.labels?.['status'] ?? '-');
      return found
        .join(' ')
        .replace(/( -)+$/, '')
        .split(' ');
    };
    const decoded = (secret: Json | undefined): Record<string, unknown> => {
      const { release = '' } = (secret?.['data'] ?? {}) as { release?: string };
      const packed = Buffer.from(Buffer.from(release, 'base64').toString(), 'base64');
      return JSON.parse(gunzipSync(packed).toString()) as Record<string, unknown>;
    };
    const remove = async (name: string, job: string): Promise<void> => {
      await world.remove(name);
      await world.kick(name, job);
      await world.gone(name);
    };
    const phase = (item: DeployItem): string | undefined => item.status?.phase;

    it('DEP-55: install, upgrade and uninstall leave the same records as helm', async () => {
      const fields = (msg: string): object => ({
        ...raw(c1()),
        namespace: 'shop',
        createNamespace: true,
        values: { msg },
      });
      await give('real', fields('yo'));
      expect(phase(await world.run('real', 'j1'))).to.equal('Succeeded');
      const at = (n: number): Promise<Json | undefined> =>
        world.find(world.target, 'v1', 'Secret', `shop/sh.helm.release.v1.real.v${String(n)}`);
      expect((await at(1))?.metadata.labels).to.include({ status: 'deployed', owner: 'helm' });
      expect(decoded(await at(1))).to.nested.include({ name: 'real', 'config.msg': 'yo' });
      await world.configure('real', helm({ name: 'real', ...fields('hey') }));
      expect(phase(await world.run('real', 'j2'))).to.equal('Succeeded');
      expect((await at(1))?.metadata.labels?.['status']).to.equal('superseded');
      expect((await at(2))?.metadata.labels?.['status']).to.equal('deployed');
      expect((await world.configMap('shop/real-cm'))?.['data']).to.deep.equal({ msg: 'hey' });
      await remove('real', 'j3');
      expect([await at(1), await at(2), await world.configMap('shop/real-cm')]).to.deep.equal(
        Array(3).fill(undefined),
      );
      expect(await world.find(world.target, 'v1', 'Namespace', 'shop')).not.to.equal(undefined);
    });

    it('a job without changes creates no revision; drift and new values create one each', async () => {
      await give('calm', { ...raw(c1()), values: { msg: 'a' } });
      await world.run('calm', 'j1');
      expect(phase(await world.run('calm', 'j2'))).to.equal('Succeeded');
      expect(await states('calm')).to.deep.equal(['deployed']);
      await world.edit(world.target, 'v1', 'ConfigMap', 'app/calm-cm', { data: { extra: 'kept' } });
      await world.run('calm', 'j3');
      expect(await states('calm')).to.deep.equal(['deployed']);
      await world.edit(world.target, 'v1', 'ConfigMap', 'app/calm-cm', { data: { msg: 'by hand' } });
      await world.run('calm', 'j4');
      expect(await states('calm')).to.deep.equal(['superseded', 'deployed']);
      expect((await world.configMap('app/calm-cm'))?.['data']).to.deep.equal({ msg: 'a', extra: 'kept' });
      await world.configure('calm', helm({ name: 'calm', ...raw(c1()), values: { msg: 'b' } }));
      await world.run('calm', 'j5');
      expect(await states('calm')).to.deep.equal(['superseded', 'superseded', 'deployed']);
    });

    it('objects in a list are checked for drift, too', async () => {
      await give('listed', { ...raw(c2()), readinessChecks: { disableDefault: true } });
      await world.run('listed', 'j1');
      await world.run('listed', 'j2');
      expect(await states('listed')).to.deep.equal(['deployed']);
      await world.edit(world.target, 'apps/v1', 'Deployment', 'app/one', { spec: { replicas: 5 } });
      await world.run('listed', 'j3');
      expect(await states('listed')).to.deep.equal(['superseded', 'deployed']);
      const repaired = await world.find(world.target, 'apps/v1', 'Deployment', 'app/one');
      expect(repaired).to.have.nested.property('spec.replicas', 1);
      await remove('listed', 'j4');
    });

    it('DEP-56: values are exported from a release', async () => {
      const exports = { exports: [{ key: 'a.b', jsonPath: '.Values.msg' }] };
      await give('ex', { ...raw(c1()), exports, values: { msg: 'yo' } });
      await world.run('ex', 'j1');
      const secret = await world.find(world.host, 'v1', 'Secret', 'proj/ex-export');
      const { config = '' } = (secret?.['data'] ?? {}) as { config?: string };
      expect(Buffer.from(config, 'base64').toString()).to.equal('{"a":{"b":"yo"}}');
    });

    it('DEP-57: objects in a list are waited for, although the status does not list them', async () => {
      await give('lists', raw(c2()));
      await world.kick('lists', 'j1');
      expect(await world.problem('lists')).to.contain('observed generation outdated');
      const counts = { replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1 };
      const status = { observedGeneration: 1, ...counts };
      for (const name of ['one', 'two', 'three'])
        await world.edit(world.target, 'apps/v1', 'Deployment', `app/${name}`, { status }, 'status');
      const item = await world.finished('lists', 'j1');
      expect(phase(item)).to.equal('Succeeded');
      expect(item.status?.providerStatus).not.to.have.property('managedResources');
    });

    it('DEP-58: a subchart whose condition is false is left out', async () => {
      await give('cond', { ...raw(c3()), values: { sub: { enabled: false } } });
      expect(phase(await world.run('cond', 'j1'))).to.equal('Succeeded');
      expect(await world.configMap('app/sub-cm')).to.equal(undefined);
    });

    it('DEP-59: values that violate the schema end the job and are not shown; skipping the check helps', async () => {
      await give('schema', { ...raw(c4()), values: { port: 'secret-port' } });
      const item = await world.run('schema', 'j1');
      expect(phase(item)).to.equal('Failed');
      expect(item.status?.lastError).to.deep.include({
        operation: 'RealHelmDeployer.Deploy',
        reason: 'installRelease',
      });
      expect(item.status?.lastError?.codes).to.deep.equal(['ERR_CONFIGURATION_PROBLEM']);
      expect(item.status?.lastError?.message).to.contain("'/port': must be integer");
      expect(JSON.stringify(item.status)).not.to.contain('secret-port');
      await world.configure('schema', helm({ name: 'schema', ...raw(c4()), values: { port: 80 } }));
      expect(phase(await world.run('schema', 'j2'))).to.equal('Succeeded');
      const helmDeploymentConfig = { install: { skipSchemaValidation: true } };
      await give('lax', { ...raw(c4()), values: { port: 'http' }, helmDeploymentConfig });
      expect(phase(await world.run('lax', 'j1'))).to.equal('Succeeded');
    });

    for (const status of ['pending-install', 'pending-upgrade', 'pending-rollback']) {
      it(`DEP-60: a release that was left ${status} is repaired`, async () => {
        const name = status;
        await give(name, { ...raw(c1()), values: { msg: '1' } });
        await world.run(name, 'j1');
        await world.edit(world.target, 'v1', 'Secret', `app/sh.helm.release.v1.${name}.v1`, {
          metadata: { labels: { status } },
          data: { release: withStatus(await record(name, 1), status) },
        });
        await world.configure(name, helm({ name, ...raw(c1()), values: { msg: '2' } }));
        const item = await world.run(name, 'j2');
        expect(phase(item)).to.equal('Succeeded');
        expect((await world.configMap(`app/${name}-cm`))?.['data']).to.deep.equal({ msg: '2' });
        expect(await states(name)).not.to.include(status);
      });
    }

    const withStatus = (secret: Json | undefined, status: string): string => {
      const release = decoded(secret);
      return Buffer.from(
        Buffer.from(
          JSON.stringify({ ...release, info: { ...(release['info'] as object), status } }),
        ).toString('base64'),
      ).toString('base64');
    };

    it('a renamed release is uninstalled under its old name', async () => {
      await give('old', raw(c1()));
      await world.run('old', 'j1');
      await world.configure('old', helm({ ...raw(c1()), name: 'new' }));
      expect(phase(await world.run('old', 'j2'))).to.equal('Succeeded');
      expect(await record('old', 1)).to.equal(undefined);
      expect(await world.configMap('app/old-cm')).to.equal(undefined);
      expect(await world.configMap('app/new-cm')).not.to.equal(undefined);
    });

    const withoutRelease = (name: string, values = {}): object =>
      helm({ name, ...raw(c1()), values, helmDeployment: false });
    const isThere = async (name: string): Promise<boolean> =>
      (await world.configMap(`app/${name}-cm`)) !== undefined;

    it('objects of a chart become a release, and vice versa', async () => {
      const more = c1({ 'templates/more.yaml': configMapOf('{{ .Release.Name }}-more') });
      await world.giveItem('turns', 'helm', helm({ name: 'turns', ...raw(more), helmDeployment: false }));
      await world.run('turns', 'j1');
      await world.configure('turns', helm({ name: 'turns', ...raw(c1()), values: { msg: '2' } }));
      expect(phase(await world.run('turns', 'j2'))).to.equal('Succeeded');
      expect(await states('turns')).to.deep.equal(['deployed']);
      expect((await world.configMap('app/turns-cm'))?.['data']).to.deep.equal({ msg: '2' });
      expect(await world.configMap('app/turns-more')).to.equal(undefined);
      await world.configure('turns', withoutRelease('turns', { msg: '3' }));
      expect(phase(await world.run('turns', 'j3'))).to.equal('Succeeded');
      expect(await record('turns', 1)).to.equal(undefined);
      expect((await world.configMap('app/turns-cm'))?.['data']).to.deep.equal({ msg: '3' });
      expect((await world.item('turns')).status?.providerStatus).not.to.have.property('release');
      await remove('turns', 'j4');
      expect(await isThere('turns')).to.equal(false);
    });

    it('a release or objects are deleted with the item even if the mode has changed since', async () => {
      await give('was', raw(c1()));
      await world.run('was', 'j1');
      await world.configure('was', withoutRelease('was'));
      await remove('was', 'j2');
      expect([await isThere('was'), await record('was', 1)]).to.deep.equal([false, undefined]);
      await world.giveItem('would', 'helm', withoutRelease('would'));
      await world.run('would', 'j1');
      await world.configure('would', helm({ name: 'would', ...raw(c1()) }));
      await remove('would', 'j2');
      expect(await isThere('would')).to.equal(false);
    });

    it('a job that ended before it ran helm does not confuse the next one', async () => {
      await give('firm', { ...raw(c4()), values: { port: 80 } });
      await world.run('firm', 'j1');
      await world.configure('firm', helm({ name: 'firm', ...raw(c4()), values: { port: 'no' } }));
      expect(phase(await world.run('firm', 'j2'))).to.equal('Failed');
      await world.configure('firm', helm({ name: 'firm', ...raw(c4()), values: { port: 80 } }));
      expect(phase(await world.run('firm', 'j3'))).to.equal('Succeeded');
      expect(await states('firm')).to.deep.equal(['deployed']);
    });

    it('DEP-68: a release is uninstalled even if the status is lost', async () => {
      await give('lost', raw(c1()));
      await world.run('lost', 'j1');
      await world.edit(
        world.host,
        `${LS}/v1alpha1`,
        'DeployItem',
        'proj/lost',
        { status: { providerStatus: null } },
        'status',
      );
      await remove('lost', 'j2');
      expect(await world.configMap('app/lost-cm')).to.equal(undefined);
      expect(await record('lost', 1)).to.equal(undefined);
    });

    for (const [status, revisions] of [
      ['uninstalling', ['deployed']],
      ['uninstalled', ['superseded', 'deployed']],
    ] as const) {
      it(`a release whose end is ${status} in helm's records is recreated`, async () => {
        const name = `again-${status}`;
        await give(name, { ...raw(c1()), values: { msg: 'a' } });
        await world.run(name, 'j1');
        const { target } = world;
        const secret = await record(name, 1);
        const place = `app/sh.helm.release.v1.${name}.v1`;
        const { info, ...rest } = decoded(secret) as { info: object };
        const document = JSON.stringify({ ...rest, info: { ...info, status } });
        const release = Buffer.from(gzipSync(document).toString('base64')).toString('base64');
        await world.edit(target, 'v1', 'Secret', place, {
          metadata: { labels: { status } },
          data: { release },
        });
        await world.configure(name, helm({ name, ...raw(c1()), values: { msg: 'b' } }));
        expect(phase(await world.run(name, 'j2'))).to.equal('Succeeded');
        expect(await states(name)).to.deep.equal(revisions);
        expect((await world.configMap(`app/${name}-cm`))?.['data']).to.deep.equal({ msg: 'b' });
      });
    }

    it('DEP-70: a check that never holds ends the job when its timeout is over', async () => {
      const resourceSelector = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'slow-cm', namespace: 'app' }];
      const requirements = [{ jsonPath: '.data.ready', operator: 'exists' }];
      const readinessChecks = { custom: [{ name: 'never', resourceSelector, requirements }] };
      await give('slow', { ...raw(c1()), readinessChecks }, { timeout: '4s' });
      const { status } = await world.run('slow', 'j1');
      expect(status?.phase).to.equal('Failed');
      expect(status?.lastError?.codes).to.include('ERR_TIMEOUT');
    });

    it('a rejection by the server is reported with its message, and the next job succeeds when the cause is fixed', async () => {
      const bad = c1({ 'templates/x.yaml': configMapOf('bad_name') });
      await give('refused', raw(bad));
      const item = await world.run('refused', 'j1');
      // The program is tried three times, and upgrades the release that it has failed to install.
      expect(item.status?.lastError?.message)
        .to.match(/^unable to (install|upgrade) helm chart release/)
        .and.contain('bad_name');
      await world.configure('refused', helm({ name: 'refused', ...raw(c1()) }));
      expect(phase(await world.run('refused', 'j2'))).to.equal('Succeeded');
    });

    it('an interrupted job ends its action, and the next one repairs the release', async () => {
      const job = configMapOf('waits', '').replace('ConfigMap', 'Pod').replace('v1\n', 'v1\n');
      const hook = `${job}  annotations: {helm.sh/hook: pre-install}\nspec: {containers: [{name: m, image: none}]}\n`;
      await give('cut', raw(c1({ 'templates/hook.yaml': hook })));
      await world.kick('cut', 'j1');
      await world.until('the hook runs', () => world.find(world.target, 'v1', 'Pod', 'app/waits'));
      const status = { phase: 'Failed', jobIDFinished: 'j1' };
      await world.edit(world.host, `${LS}/v1alpha1`, 'DeployItem', 'proj/cut', { status }, 'status');
      await world.until('helm has ended', async () => {
        const state = (await record('cut', 1))?.metadata.labels?.['status'];
        return state === 'failed' || state === undefined ? true : undefined;
      });
      expect(phase(await world.item('cut'))).to.equal('Failed');
      await world.configure('cut', helm({ name: 'cut', ...raw(c1()) }));
      expect(phase(await world.run('cut', 'j2'))).to.equal('Succeeded');
    });
  }).timeout(60_000);

describe('the helm deployer with a helm program that is missing', () => {
  let world: World;
  before(async function () {
    this.timeout(30_000);
    world = await World.start('/nowhere/helm');
  });
  after(() => world.stop());

  it('says what to install, and ends the job', async () => {
    await world.giveItem('none', 'helm', helm(raw(c1())));
    const { status } = await world.run('none', 'j1');
    expect(status?.phase).to.equal('Failed');
    expect(status?.lastError?.message).to.contain('install Helm 3').and.contain('/nowhere/helm');
  });
}).timeout(30_000);
