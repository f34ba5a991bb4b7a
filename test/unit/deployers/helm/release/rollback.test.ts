/** Rolling releases back: the order of the writes, and what a failure leaves behind. */
import { expect } from 'chai';
import { chartOf, claim, config, hook, job, ReleaseBench, START } from './release-bench.ts';

describe('an action on a release', () => {
  let bench: ReleaseBench;
  beforeEach(() => {
    bench = new ReleaseBench();
  });

  describe('to roll back', () => {
    beforeEach(async () => {
      await bench.install(chartOf([config('a', {}, { rev: '1' }), claim('data')]));
      await bench.upgrade(chartOf([config('a', {}, { rev: '2' }), config('b')]));
      bench.takeChanges();
    });

    it('stores a new revision, undoes the changes, and supersedes before it records success', async () => {
      expect(await bench.rollBack(1)).to.equal('');
      const changes = bench.takeChanges();
      expect(changes).to.include.members(['~ConfigMap a', '-ConfigMap b', '+PersistentVolumeClaim data']);
      expect([changes[0], ...changes.slice(-2)]).to.deep.equal([
        'v3 pending-rollback',
        'v2 superseded',
        'v3 deployed',
      ]);
    });

    it('supersedes all revisions that are recorded as deployed', async () => {
      const manifest = [config('a'), config('b')];
      bench.giveRecord(3, 'deployed', { manifest });
      bench.giveRecord(4, 'failed', { manifest });
      await bench.rollBack(1);
      expect(bench.statuses()).to.deep.equal([
        'v1 superseded',
        'v2 superseded',
        'v3 superseded',
        'v4 failed',
        'v5 deployed',
      ]);
    });

    it('does not wait for the objects unless it shall', async () => {
      expect(await bench.rollBack(1)).to.equal('');
      expect(bench.clock.now()).to.equal(0);
      expect(await bench.rollBack(1, { waits: true })).to.equal(
        'release web failed: context deadline exceeded',
      );
      expect(bench.statuses().slice(-2)).to.deep.equal(['v3 deployed', 'v4 failed']);
    });

    it('and to upgrade keep the time of the first installation', async () => {
      await bench.clock.advance(3_600_000);
      await bench.upgrade(chartOf([config('a')]));
      await bench.rollBack(3);
      for (const version of [1, 2, 3, 4])
        expect((await bench.infoOf(version)).first_deployed, String(version)).to.equal(START);
      expect((await bench.infoOf(4)).last_deployed).to.equal('2026-01-01T01:00:00Z');
    });

    it('to a revision that does not exist changes nothing', async () => {
      expect(await bench.rollBack(9)).to.equal('release has no 9 version');
      expect(bench.takeChanges()).to.deep.equal([]);
    });

    it('that the server refuses is recorded as failed, and the current revision as superseded', async () => {
      bench.refuse('strategic ConfigMap a');
      expect(await bench.rollBack(1)).to.contain('cannot patch "a"');
      expect(bench.statuses()).to.deep.equal(['v1 superseded', 'v2 superseded', 'v3 failed']);
      expect(bench.cluster.names('PersistentVolumeClaim')).to.have.length(1);
    });

    it('that fails deletes what it created if it shall clean up, and names what it could not delete', async () => {
      bench.refuse('strategic ConfigMap a');
      await bench.rollBack(1, { cleansUp: true });
      expect(bench.cluster.names('PersistentVolumeClaim')).to.deep.equal([]);
      bench.refuse('strategic ConfigMap a', 'delete PersistentVolumeClaim data');
      expect(await bench.rollBack(1, { cleansUp: true })).to.contain(
        'unable to cleanup resources: no delete',
      );
    });

    it('runs its hooks around the changes', async () => {
      const other = new ReleaseBench();
      const hooks = [job('pre', hook('pre-rollback')), job('post', hook('post-rollback'))];
      await other.install(chartOf([config('a'), ...hooks]));
      await other.upgrade(chartOf([config('b')]));
      other.takeChanges();
      await other.rollBack(1);
      expect(other.takeChanges().filter((change) => change.startsWith('+'))).to.deep.equal([
        '+Job pre',
        '+ConfigMap a',
        '+Job post',
      ]);
    });
  });
});
