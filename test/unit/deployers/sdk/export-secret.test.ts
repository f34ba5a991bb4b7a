import { expect } from 'chai';
import { mockDeployer } from '../../../../deployers/mock/index.ts';
import { Forbidden } from '../../../../src/runtime/errors.ts';
import { Bench, LS, mockConfig } from '../bench.ts';

const refusal = new Forbidden('secrets are not wanted here', {
  status: 403,
  reason: 'Forbidden',
  ref: { verb: 'create', kind: 'Secret' },
});

async function refused(): Promise<Bench> {
  const bench = new Bench(mockDeployer());
  bench.giveItem(mockConfig({ export: { a: 1 } }), { type: `${LS}/mock`, target: null });
  bench.host.fail = (verb, what) => {
    if (verb === 'create' && what.startsWith('Secret')) throw refusal;
  };
  await bench.kick('j1');
  return bench;
}

describe('an export secret that cannot be written', () => {
  it('is shown at the item and tried again after a while', async () => {
    const bench = await refused();
    expect(bench.status().lastError?.message).to.contain('secrets are not wanted here');
    expect(bench.status().jobIDFinished).to.equal(undefined);
    bench.host.fail = () => undefined;
    await bench.pass(10_000);
    expect(bench.status().phase).to.equal('Succeeded');
    expect(bench.status().lastError).to.equal(undefined);
  });

  it('does not keep an item that is deleted meanwhile', async () => {
    const bench = await refused();
    await bench.delete();
    await bench.pass(10_000);
    expect(bench.isGone()).to.equal(true);
  });
});

describe('exports that are taken out of a configuration', () => {
  async function exported(): Promise<{ bench: Bench; secret: string }> {
    const bench = new Bench(mockDeployer());
    bench.giveItem(mockConfig({ export: { a: 1 } }), { type: `${LS}/mock`, target: null });
    await bench.kick('j1');
    return { bench, secret: `proj/${bench.status().exportRef?.name ?? ''}` };
  }

  it('take their secret along, and the status no longer names it', async () => {
    const { bench, secret } = await exported();
    expect(bench.host.find('Secret', secret)).to.not.equal(undefined);
    bench.configure(mockConfig({ export: null }));
    await bench.kick('j2');
    expect(bench.status()).to.include({ phase: 'Succeeded', jobIDFinished: 'j2' });
    expect(bench.status().exportRef).to.equal(undefined);
    expect(bench.host.find('Secret', secret)).to.equal(undefined);
  });

  it('stay while the job that takes them out has not succeeded', async () => {
    const { bench, secret } = await exported();
    bench.configure(mockConfig({ phase: 'Failed' }));
    await bench.kick('j2');
    expect(bench.status().phase).to.equal('Failed');
    expect(bench.status().exportRef?.name).to.equal(secret.split('/')[1]);
    expect(bench.host.find('Secret', secret)).to.not.equal(undefined);
  });

  it("leave a secret alone that is not the item's, whatever the status says", async () => {
    const { bench, secret } = await exported();
    const { ownerReferences: _, ...metadata } = bench.host.find('Secret', secret)?.metadata ?? { name: '' };
    bench.host.drop('Secret', secret);
    bench.host.put({ apiVersion: 'v1', kind: 'Secret', metadata, data: { mine: 'eA==' } });
    bench.configure(mockConfig({ export: null }));
    await bench.kick('j2');
    expect(bench.status().phase).to.equal('Succeeded');
    expect(bench.status().exportRef).to.equal(undefined);
    expect(bench.host.find('Secret', secret)).to.not.equal(undefined);
  });

  it('do not fail the job when their secret is gone already', async () => {
    const { bench, secret } = await exported();
    bench.host.drop('Secret', secret);
    bench.configure(mockConfig({ export: null }));
    await bench.kick('j2');
    expect(bench.status().phase).to.equal('Succeeded');
    expect(bench.status().exportRef).to.equal(undefined);
  });
});
