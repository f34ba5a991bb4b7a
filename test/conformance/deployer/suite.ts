/** The protocol that every deployer has to follow, whatever it deploys; a function of the deployer. */
import { expect } from 'chai';
import type { DeployerPlugin } from '../../../deployers/sdk/index.ts';
import { Bench, type BenchOptions, type ItemOptions } from '../../unit/deployers/bench.ts';
import { FakeCluster } from '../../unit/deployers/fake-cluster.ts';

export interface Subject {
  readonly name: string;
  /** @param host the cluster of the items */
  plugin(host: FakeCluster): DeployerPlugin;
  /** Acts as the components that the deployer relies on. */
  prepare?(bench: Bench): void;
  readonly needsTarget: boolean;
  /** Writes a secret even if nothing is exported. */
  readonly alwaysExports?: boolean;
  /** Whether the item controls the secret with its exports. */
  readonly controlsExports?: boolean;
  /** Writes to the host for a job, besides exports; default 2. */
  readonly writes?: number;
  /** Ends at once, without exports. */
  readonly succeeds: object;
  /** Ends at once and exports `{"k":"v"}`. */
  readonly exports: object;
  /** Waits until `finish` is configured. */
  readonly waits: object;
  readonly finish: object;
  /** Is invalid. */
  readonly invalid: object;
}

const FINALIZER = 'finalizer.landscaper.gardener.cloud';

export function deployerConformance(subject: Subject): void {
  const { type, name: deployer } = subject.plugin(new FakeCluster());
  const bench = (config: object, item: ItemOptions = {}, options: BenchOptions = {}): Bench => {
    const b = new Bench((host) => subject.plugin(host), options);
    subject.prepare?.(b);
    b.givenTarget();
    b.giveItem(config, { type, ...(!subject.needsTarget && { target: null }), ...item });
    return b;
  };

  describe(`${subject.name} keeps the deployer contract`, () => {
    it('does nothing without a job', async () => {
      const b = bench(subject.succeeds);
      await b.pass(60_000);
      expect(b.item().status).to.equal(undefined);
      expect(b.item().metadata.finalizers).to.equal(undefined);
    });

    it('ignores items of other types', async () => {
      const b = bench(subject.succeeds, { type: 'example.org/other' });
      await b.kick('j1');
      expect(b.status().phase).to.equal(undefined);
    });

    it('ends a job with phase, job id and time in one write', async () => {
      const b = bench(subject.succeeds);
      await b.kick('j1');
      const [first] = b.history.filter(({ phase }) => phase === 'Succeeded');
      expect(first).to.deep.include({
        phase: 'Succeeded',
        jobID: 'j1',
        jobIDFinished: 'j1',
        observedGeneration: 1,
      });
      expect(first?.transitionTimes).to.have.all.keys('triggerTime', 'initTime', 'finishedTime');
      expect(first?.deployer).to.deep.include({ identity: 'bench', name: deployer });
      expect(first?.lastReconcileTime).to.equal('2026-01-01T00:00:00Z');
    });

    it('keeps a finalizer on the item', async () => {
      const b = bench(subject.succeeds);
      await b.kick('j1');
      expect(b.item().metadata.finalizers).to.deep.equal([FINALIZER]);
    });

    it('writes little for a job without waits, besides exports', async () => {
      const b = bench(subject.succeeds, { finalizers: [FINALIZER] });
      b.host.takeRequests();
      await b.kick('j1');
      const writes = b.host.takeRequests().filter((r) => !/^(get|list) /.test(r));
      expect(writes.length).to.be.within(1, (subject.writes ?? 2) + (subject.alwaysExports ? 1 : 0));
    });

    it('writes nothing after the end', async () => {
      const b = bench(subject.succeeds);
      await b.kick('j1');
      b.host.takeRequests();
      b.target.takeRequests();
      await b.pass(3_600_000);
      expect([...b.host.takeRequests(), ...b.target.takeRequests()]).to.deep.equal([]);
    });

    it('does not act on a changed spec or a deletion before the next job', async () => {
      const b = bench(subject.succeeds);
      await b.kick('j1');
      const before = b.status();
      b.configure(subject.exports);
      await b.delete();
      await b.pass(60_000);
      expect(b.status()).to.deep.equal(before);
      await b.kick('j2');
      await b.pass(5000);
      expect(b.isGone()).to.equal(true);
    });

    it('ends the next job, too, with new times', async () => {
      const b = bench(subject.succeeds);
      await b.kick('j1');
      await b.pass(10_000);
      await b.kick('j2');
      expect(b.status().jobIDFinished).to.equal('j2');
      expect(b.status().transitionTimes?.initTime).to.equal('2026-01-01T00:00:10Z');
      expect(b.status().lastReconcileTime).to.equal('2026-01-01T00:00:10Z');
    });

    it('exports before the job ends, into a secret of the item', async () => {
      const b = bench(subject.exports);
      await b.kick('j1');
      const { exportRef, phase } = b.status();
      expect(phase).to.equal('Succeeded');
      const secret = b.host.find('Secret', `proj/${exportRef?.name ?? ''}`);
      const { config = '' } = (secret?.['data'] ?? {}) as { config?: string };
      expect(JSON.parse(Buffer.from(config, 'base64').toString())).to.deep.equal({ k: 'v' });
      expect(
        secret?.metadata.ownerReferences?.map(({ name, controller }) => [name, controller]),
      ).to.deep.equal([['web', subject.controlsExports ? true : undefined]]);
      const ends = b.history.filter((s) => s.phase === 'Succeeded');
      expect(ends.every((s) => s.exportRef !== undefined)).to.equal(true);
    });

    it('fails instead of exporting into a secret of a user, which stays when the item is deleted', async () => {
      const b = bench(subject.exports);
      await b.kick('j1');
      const key = `proj/${b.status().exportRef?.name ?? ''}`;
      const { ownerReferences: _, ...metadata } = b.host.find('Secret', key)?.metadata ?? { name: '' };
      b.host.drop('Secret', key);
      b.host.put({ apiVersion: 'v1', kind: 'Secret', metadata, data: { mine: 'eA==' } });
      await b.kick('j2');
      expect(b.status()).to.include({ phase: 'Failed', jobIDFinished: 'j2' });
      expect(b.status().lastError?.message).to.contain(`secret ${key} exists and does not belong to`);
      await b.delete();
      await b.kick('j3');
      await b.pass(60_000);
      expect(b.isGone()).to.equal(true);
      expect(b.host.find('Secret', key)?.['data']).to.deep.equal({ mine: 'eA==' });
    });

    it('waits without blocking and continues when the configuration changes', async () => {
      const b = bench(subject.waits);
      await b.kick('j1');
      await b.pass(20_000);
      expect(b.status().phase).to.equal('Progressing');
      expect(b.status().lastReconcileTime).to.equal('2026-01-01T00:00:00Z');
      b.configure(subject.finish);
      await b.rest();
      expect(b.status().phase).to.equal('Succeeded');
      expect(b.status().lastError).to.equal(undefined);
    });

    it('does not change an interrupted item', async () => {
      const b = bench(subject.waits);
      await b.kick('j1');
      b.host.edit('DeployItem', 'proj/web', { status: { phase: 'Failed', jobIDFinished: 'j1' } });
      const written = b.item();
      await b.pass(600_000);
      expect(b.item()).to.deep.equal(written);
    });

    it('fails at once for an invalid configuration', async () => {
      const b = bench(subject.invalid);
      await b.kick('j1');
      expect(b.status()).to.deep.include({ phase: 'Failed', jobIDFinished: 'j1' });
      expect(b.status().lastError?.codes).to.deep.equal(['ERR_CONFIGURATION_PROBLEM']);
      expect(b.status().firstError).to.deep.equal(b.status().lastError);
      b.configure(subject.succeeds);
      await b.kick('j2');
      expect(b.status().phase).to.equal('Succeeded');
      expect(b.status().firstError).to.equal(undefined);
      expect(b.status().lastErrors).to.equal(undefined);
    });

    it('starts a job of the item itself on test-reconcile', async () => {
      const b = bench(subject.succeeds, {
        annotations: { 'landscaper.gardener.cloud/operation': 'test-reconcile' },
      });
      await b.rest();
      expect(b.status().phase).to.equal('Succeeded');
      expect(b.status().jobID).to.be.a('string').and.equal(b.status().jobIDFinished);
    });

    it('tolerates an item that is deleted while it works', async () => {
      const b = bench(subject.waits);
      await b.kick('j1');
      b.host.drop('DeployItem', 'proj/web');
      await b.pass(60_000);
      expect(b.isGone()).to.equal(true);
      expect(b.events).to.deep.equal([]);
    });

    for (const failure of ['merge/status', 'merge', 'create']) {
      it(`succeeds even if the first three "${failure}" requests to the host fail`, async () => {
        const b = bench(subject.exports);
        let left = 3;
        b.host.fail = (verb) => {
          if (verb === failure && left-- > 0) throw new Error('no answer');
        };
        await b.kick('j1');
        await b.pass(20_000);
        expect(b.status().phase).to.equal('Succeeded');
        expect(b.status().jobIDFinished).to.equal('j1');
      });
    }
  });
}
