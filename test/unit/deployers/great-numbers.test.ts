/**
 * Items with very many objects. Separate from the other tests, because these take seconds and `make mutate` runs
 * those often.
 */
import { expect } from 'chai';
import { manifestDeployer } from '../../../deployers/manifest/index.ts';
import { Bench, configMap, manage, manifestConfig } from './bench.ts';

describe('large numbers of manifests', () => {
  const many = (count: number, data: Record<string, string> = {}): object =>
    manifestConfig({
      manifests: Array.from({ length: count }, (_, i) =>
        manage(configMap(`cm-${String(i).padStart(4, '0')}`, data)),
      ),
    });

  it('a thousand objects are created, changed and deleted', async function () {
    this.timeout(60_000);
    const b = new Bench(manifestDeployer());
    b.givenTarget();
    b.giveItem(many(1000));
    await b.kick('j1');
    for (let i = 0; i < 200 && b.status().jobIDFinished !== 'j1'; i++) await b.rest();
    expect(b.status().phase).to.equal('Succeeded');
    expect(b.status().providerStatus?.['managedResources']).to.have.length(1000);
    b.configure(many(10, { a: 'c' }));
    await b.kick('j2');
    for (let i = 0; i < 200 && b.status().jobIDFinished !== 'j2'; i++) await b.rest();
    expect(b.target.names('ConfigMap').length).to.equal(10);
    await b.delete();
    await b.kick('j3');
    expect(b.isGone()).to.equal(true);
  });
});
