import { expect } from 'chai';
import { mockDeployer } from '../../../../deployers/mock/index.ts';
import { Bench, LS, mockConfig } from '../bench.ts';

const type = `${LS}/mock`;
const FINALIZERS = ['finalizer.landscaper.gardener.cloud'];

async function played(config: object, options: object = {}): Promise<Bench> {
  const bench = new Bench(mockDeployer());
  bench.giveItem(mockConfig(config), { type, target: null, finalizers: FINALIZERS, ...options });
  await bench.kick('j1');
  return bench;
}

describe('the mock deployer', () => {
  const ends = [
    ['an empty configuration', {}, 'Succeeded'],
    ['phase Failed', { phase: 'Failed' }, 'Failed'],
    ['a final initial phase', { initialPhase: 'Succeeded' }, 'Succeeded'],
    ['a phase next to an initial phase', { initialPhase: 'Progressing', phase: 'Succeeded' }, 'Succeeded'],
  ] as const;
  for (const [title, config, phase] of ends) {
    it(`DEP-81: ends in ${phase} with ${title}`, async () => {
      const status = (await played(config)).status();
      expect(status.phase).to.equal(phase);
      expect(status.jobIDFinished).to.equal('j1');
      expect(status.lastError).to.equal(undefined);
    });
  }

  it('DEP-81: stays in the initial phase until the configuration is changed, also beyond the timeout', async () => {
    const bench = await played({ initialPhase: 'Progressing' }, { timeout: '5s' });
    await bench.pass(10 * 60_000);
    expect(bench.status().phase).to.equal('Progressing');
    expect(bench.status().jobIDFinished).to.equal(undefined);
    bench.configure(mockConfig({ phase: 'Succeeded' }));
    await bench.rest();
    expect(bench.status().phase).to.equal('Succeeded');
    expect(bench.status().jobIDFinished).to.equal('j1');
  });

  it('DEP-81: ends a waiting item at its timeout if configured', async () => {
    const bench = new Bench(mockDeployer({ endsOnTimeout: true }));
    bench.giveItem(mockConfig({ initialPhase: 'Progressing' }), { type, target: null, timeout: '5s' });
    await bench.kick('j1');
    await bench.pass(4000);
    expect(bench.status().phase).to.equal('Progressing');
    await bench.pass(1100);
    expect(bench.status().phase).to.equal('Failed');
    expect(bench.status().lastError?.message).to.equal(
      'timeout at: "mock deployer: wait"\nthe job has reached its timeout of 5s',
    );
  });

  it('writes an unknown phase unchanged and stays there', async () => {
    const bench = await played({ phase: 'Odd' });
    expect(bench.status().phase).to.equal('Odd');
    expect(bench.status().jobIDFinished).to.equal(undefined);
  });

  it('DEP-82: exports, reports a provider status and its validation', async () => {
    const providerStatus = { apiVersion: 't/v1', kind: 'S', ok: true };
    const bench = await played({ export: { k: { a: 1 } }, providerStatus });
    const { exportRef, conditions, ...status } = bench.status();
    expect(exportRef?.name).to.match(/^mock-export-/);
    expect(exportRef?.namespace).to.equal('proj');
    const secret = bench.host.find('Secret', `proj/${exportRef?.name ?? ''}`);
    expect(Buffer.from((secret?.['data'] as { config: string }).config, 'base64').toString()).to.equal(
      '{"k":{"a":1}}',
    );
    expect(secret?.metadata.generateName).to.equal('mock-export-');
    const uid = bench.item().metadata.uid;
    expect(secret?.metadata.ownerReferences).to.deep.equal([
      { apiVersion: `${LS}/v1alpha1`, kind: 'DeployItem', name: 'web', uid },
    ]);
    expect(status.providerStatus).to.deep.equal(providerStatus);
    expect(conditions?.map(({ type: t, status: s, reason }) => [t, s, reason])).to.deep.equal([
      ['DeployItemValidation', 'True', 'SuccessfullValidation'],
      ['Ready', 'True', 'Succeeded'],
    ]);
  });

  for (const [title, config] of [
    ['an export that is not a map', mockConfig({ export: 5 })],
    ['a field of another type', mockConfig({ phase: 5 })],
    ['another kind', { ...mockConfig(), kind: 'Other' }],
  ] as const) {
    it(`DEP-82: fails at once with ${title}`, async () => {
      const bench = new Bench(mockDeployer());
      bench.giveItem(config, { type, target: null });
      await bench.kick('j1');
      expect(bench.status().phase).to.equal('Failed');
      expect(bench.status().lastError?.codes).to.deep.equal(['ERR_CONFIGURATION_PROBLEM']);
      expect(bench.status().conditions?.[0]?.reason).to.equal('FailedUnmarshal');
    });
  }

  it('does a whole job in one write to the item', async () => {
    const bench = new Bench(mockDeployer());
    bench.giveItem(mockConfig(), { type, target: null, finalizers: FINALIZERS });
    bench.host.takeRequests();
    await bench.kick('j1');
    expect(bench.host.takeRequests()).to.deep.equal(['merge/status DeployItem proj/web']);
  });

  it('writes a changed export into the same secret', async () => {
    const bench = await played({ export: { a: 1 } });
    const secrets = bench.host.names('Secret');
    bench.configure(mockConfig({ export: { a: 2 } }));
    bench.host.takeRequests();
    await bench.kick('j2');
    expect(bench.host.takeRequests()).to.deep.equal([
      `get Secret ${secrets[0] ?? ''}`,
      `merge Secret ${secrets[0] ?? ''}`,
      'merge/status DeployItem proj/web',
    ]);
    expect(bench.host.names('Secret')).to.deep.equal(secrets);
  });

  it('recreates an export secret that a user deleted', async () => {
    const bench = await played({ export: { a: 1 } });
    const [secret = ''] = bench.host.names('Secret');
    bench.host.drop('Secret', secret);
    await bench.kick('j2');
    expect(bench.host.names('Secret')).to.deep.equal([secret]);
  });

  it('DEP-82: deletes its export secret, also if it is already gone', async () => {
    for (const isQuicker of [false, true]) {
      const bench = await played({ export: { a: 1 } });
      const [secret = ''] = bench.host.names('Secret');
      expect(secret).to.match(/^proj.mock-export-/);
      await bench.delete();
      if (isQuicker) bench.host.drop('Secret', secret);
      await bench.kick('j2');
      expect(bench.isGone()).to.equal(true);
      expect(bench.host.names('Secret')).to.deep.equal([]);
    }
  });

  it('does not change a secret of a user with the name of its export', async () => {
    const bench = await played({ export: { a: 1 } });
    const [secret = ''] = bench.host.names('Secret');
    const { ownerReferences: _, ...metadata } = bench.host.find('Secret', secret)?.metadata ?? { name: '' };
    bench.host.drop('Secret', secret);
    bench.host.put({ apiVersion: 'v1', kind: 'Secret', metadata, data: { mine: 'eA==' } });
    await bench.delete();
    await bench.kick('j2');
    expect(bench.isGone()).to.equal(true);
    expect(bench.host.names('Secret')).to.deep.equal([secret]);
  });

  it('removes a deleted item with its next job, in two writes', async () => {
    const bench = await played({});
    await bench.delete();
    await bench.pass(60_000);
    expect(bench.isGone()).to.equal(false);
    bench.host.takeRequests();
    await bench.kick('j2');
    expect(bench.isGone()).to.equal(true);
    expect(bench.host.takeRequests()).to.deep.equal([
      'merge/status DeployItem proj/web',
      'merge DeployItem proj/web',
    ]);
    expect(bench.history.at(-1)?.phase).to.equal('InitDelete');
  });
});
