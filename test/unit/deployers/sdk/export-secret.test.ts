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
