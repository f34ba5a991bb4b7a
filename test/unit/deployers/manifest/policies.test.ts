import { expect } from 'chai';
import { manifestDeployer } from '../../../../deployers/manifest/index.ts';
import { MANIFEST_LABEL, NAMESPACE_LABEL } from '../../../../deployers/objects/manifests/label.ts';
import { TransportError } from '../../../../src/runtime/errors.ts';
import { policyRows } from '../../../support/deployer-tables.ts';
import { Bench, configMap, manage, manifestConfig } from '../bench.ts';

interface Entry {
  readonly resource: { readonly name: string };
}

function bench(): Bench {
  const b = new Bench(manifestDeployer());
  b.givenTarget();
  return b;
}

const listed = (b: Bench): string[] =>
  ((b.status().providerStatus?.['managedResources'] ?? []) as Entry[]).map(({ resource }) => resource.name);

const p = (policy: string, mode: string): object =>
  manifestConfig({ manifests: [{ policy, manifest: configMap('p', { mode }) }] });
const modeOf = (b: Bench): unknown =>
  (b.target.find('ConfigMap', 'app/p')?.['data'] as { mode?: string } | undefined)?.mode;

describe('policies of manifests', () => {
  for (const row of policyRows) {
    it(`DEP-26: ${row.policy}: creation and change`, async () => {
      const b = bench();
      b.giveItem(p(row.policy, 'slow'));
      await b.kick('j1');
      expect(modeOf(b)).to.equal(row.made ? 'slow' : undefined);
      b.configure(p(row.policy, 'fast'));
      await b.kick('j2');
      expect(modeOf(b)).to.equal(row.made ? (row.updated ? 'fast' : 'slow') : undefined);
    });

    it(`DEP-26: ${row.policy}: an object that another client created`, async () => {
      const b = bench();
      b.target.put(configMap('p', { mode: 'foreign' }));
      b.giveItem(p(row.policy, 'slow'));
      await b.kick('j1');
      expect(b.status().phase).to.equal('Succeeded');
      expect(modeOf(b)).to.equal(row.foreign[0] ? 'slow' : 'foreign');
      expect(listed(b)).to.deep.equal(row.foreign[1] ? ['p'] : []);
      const isWarned = b.events.some((e) => e.startsWith('Warning ForeignObject'));
      expect(isWarned).to.equal(row.policy === 'immutable');
    });

    it(`DEP-26: ${row.policy}: deletion after the label was changed`, async () => {
      const b = bench();
      b.giveItem(p(row.policy, 'slow'));
      await b.kick('j1');
      if (row.made)
        b.target.edit('ConfigMap', 'app/p', { metadata: { labels: { [MANIFEST_LABEL]: 'other' } } });
      await b.delete();
      await b.kick('j2');
      expect(b.isGone()).to.equal(true);
      expect(b.target.names('ConfigMap')).to.have.length(row.made && !row.deletedUnlabelled ? 1 : 0);
    });

    it(`DEP-26: ${row.policy}: removal from the list`, async () => {
      const b = bench();
      b.giveItem(p(row.policy, 'slow'));
      await b.kick('j1');
      b.configure(manifestConfig({ manifests: [] }));
      await b.kick('j2');
      expect(b.status().phase).to.equal('Succeeded');
      expect(listed(b)).to.deep.equal([]);
      expect(b.target.names('ConfigMap')).to.have.length(row.made && !row.deletedWhenUnlisted ? 1 : 0);
    });
  }

  it('an unknown policy ends the job before anything is created', async () => {
    const b = bench();
    b.giveItem(p('mine', 'slow'));
    await b.kick('j1');
    expect(b.status().phase).to.equal('Failed');
    expect(b.status().lastError?.message).to.contain('manifests[0].policy: "mine" is not a policy');
  });

  it('DEP-27: an object that becomes ignored is released, not deleted', async () => {
    const b = bench();
    b.giveItem(p('manage', 'slow'));
    await b.kick('j1');
    b.configure(p('ignore', 'fast'));
    await b.kick('j2');
    expect(modeOf(b)).to.equal('slow');
    expect(listed(b)).to.deep.equal([]);
    expect(b.events.at(-1)).to.match(/^Normal Released: ConfigMap app\/p/);
    await b.delete();
    await b.kick('j3');
    expect(b.target.names('ConfigMap')).to.deep.equal(['app/p']);
  });

  const cm = (name: string): object => manage(configMap(name));

  it('DEP-28: an object that leaves the list is deleted', async () => {
    const b = bench();
    b.giveItem(manifestConfig({ manifests: [cm('one'), cm('two')] }));
    await b.kick('j1');
    b.configure(manifestConfig({ manifests: [cm('one')] }));
    await b.kick('j2');
    expect(b.target.names('ConfigMap')).to.deep.equal(['app/one']);
    expect(listed(b)).to.deep.equal(['one']);
  });

  it('DEP-29: an orphan is remembered while the apply fails', async () => {
    const b = bench();
    b.giveItem(manifestConfig({ manifests: [cm('one'), cm('two')] }));
    await b.kick('j1');
    b.configure(
      manifestConfig({ manifests: [cm('one'), manage(configMap('three', {}, { namespace: 'nope' }))] }),
    );
    await b.kick('j2');
    await b.pass(10_000);
    expect(b.target.names('ConfigMap')).to.include('app/two');
    expect(listed(b)).to.include('two');
    b.target.put({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'nope' } });
    await b.pass(5000);
    expect(b.status().phase).to.equal('Succeeded');
    expect(b.target.names('ConfigMap')).to.have.members(['app/one', 'nope/three']);
    expect(listed(b)).to.have.members(['one', 'three']);
  });

  it('DEP-30: an orphan is recorded before it is deleted', async () => {
    const b = bench();
    b.giveItem(
      manifestConfig({
        manifests: [cm('one'), manage(configMap('two'), { annotateBeforeDelete: { confirm: 'yes' } })],
      }),
    );
    await b.kick('j1');
    b.configure(manifestConfig({ manifests: [cm('one')] }));
    const seen: string[] = [];
    b.target.onChange = (_kind, key, _before, after) => {
      seen.push(`${key} ${after ? (after.metadata.annotations?.['confirm'] ?? '-') : 'gone'}`);
    };
    await b.kick('j2');
    expect(seen).to.deep.equal(['app/two yes', 'app/two gone']);
  });

  it('an orphan that is not deleted at once is waited for, and listed until it is gone', async () => {
    const b = bench();
    b.giveItem(
      manifestConfig({ manifests: [cm('one'), manage(configMap('two', {}, { finalizers: ['test/hold'] }))] }),
    );
    await b.kick('j1');
    b.configure(manifestConfig({ manifests: [cm('one')] }));
    await b.kick('j2');
    expect(b.status().phase).to.equal('Progressing');
    expect(b.status().lastError?.message).to.contain('ConfigMap app/two');
    expect(listed(b)).to.deep.equal(['one', 'two']);
    b.target.edit('ConfigMap', 'app/two', { metadata: { finalizers: null } });
    await b.pass(5000);
    expect(b.status().phase).to.equal('Succeeded');
    expect(listed(b)).to.deep.equal(['one']);
  });

  describe('ensure', () => {
    it('creates a missing object, without a label, and never changes it again', async () => {
      const b = bench();
      b.giveItem(p('ensure', 'slow'));
      await b.kick('j1');
      expect(modeOf(b)).to.equal('slow');
      expect(b.target.find('ConfigMap', 'app/p')?.metadata.labels).to.equal(undefined);
      expect(listed(b)).to.deep.equal([]);
      b.configure(p('ensure', 'fast'));
      await b.kick('j2');
      expect(modeOf(b)).to.equal('slow');
      await b.delete();
      await b.kick('j3');
      expect(b.isGone()).to.equal(true);
      expect(modeOf(b)).to.equal('slow');
    });

    it('releases an object that was managed', async () => {
      const b = bench();
      b.giveItem(p('manage', 'slow'));
      await b.kick('j1');
      b.configure(p('ensure', 'fast'));
      await b.kick('j2');
      expect([b.status().phase, modeOf(b), listed(b)]).to.deep.equal(['Succeeded', 'slow', []]);
      expect(b.events.join()).to.contain('Released');
    });

    it('does not record an object whose creation got no response', async () => {
      const b = bench();
      b.target.lost = () => {
        throw new TransportError({ message: 'socket hang up', safeToRepeat: false });
      };
      b.giveItem(p('ensure', 'slow'));
      await b.kick('j1');
      b.target.lost = () => undefined;
      expect(listed(b)).to.deep.equal([]);
      await b.pass(6000);
      expect([b.status().phase, modeOf(b), listed(b)]).to.deep.equal(['Succeeded', 'slow', []]);
    });
  });

  it('an object of an item of the same name in another namespace is not ours', async () => {
    const b = bench();
    const labels = { [MANIFEST_LABEL]: 'web', [NAMESPACE_LABEL]: 'elsewhere' };
    b.target.put(configMap('p', { mode: 'theirs' }, { labels }));
    b.giveItem(p('fallback', 'ours'));
    await b.kick('j1');
    expect([b.status().phase, modeOf(b), listed(b)]).to.deep.equal(['Succeeded', 'theirs', []]);
  });
});
