/** Upgrading releases: the order of the writes, what a failure leaves behind, and how it is undone. */
import { expect } from 'chai';
import { apiErrorFrom } from '../../../../../src/runtime/errors.ts';
import type { Obj, Write } from '../../../../../src/runtime/types.ts';
import type { Any } from '../../fake-cluster.ts';
import { chartOf, claim, config, crd, hook, job, NAMESPACE, ReleaseBench } from './release-bench.ts';

const KEEP = { 'helm.sh/resource-policy': 'keep' };

describe('an action on a release', () => {
  let bench: ReleaseBench;
  beforeEach(() => {
    bench = new ReleaseBench();
  });

  describe('to upgrade', () => {
    it('stores the record, changes objects, and records the old revision as superseded before the new one as deployed', async () => {
      await bench.install(chartOf([config('a'), config('gone'), config('kept', KEEP)]));
      bench.takeChanges();
      const hooks = [job('pre', hook('pre-upgrade')), job('post', hook('post-upgrade'))];
      expect(await bench.upgrade(chartOf([config('a', {}, { x: 'y' }), config('b'), ...hooks]))).to.equal('');
      const changes = bench.takeChanges().filter((change) => change !== 'v2 pending-upgrade');
      expect(changes).to.deep.equal([
        '+Job pre',
        '~ConfigMap a',
        '+ConfigMap b',
        '-ConfigMap gone',
        '+Job post',
        'v1 superseded',
        'v2 deployed',
      ]);
    });

    const states: readonly (readonly [string, readonly string[], string])[] = [
      ['nothing', [], '"web" has no deployed releases'],
      [
        'a pending revision',
        ['deployed', 'pending-upgrade'],
        'another operation (install/upgrade/rollback) is in progress',
      ],
      ['an uninstalled release', ['uninstalled'], '"web" has no deployed releases'],
      ['a failed installation', ['failed'], ''],
      ['a failed upgrade after a deployed revision', ['deployed', 'failed'], ''],
      ['a superseded revision alone', ['superseded'], ''],
    ];
    for (const [title, statuses, message] of states)
      it(`${message ? 'refuses' : 'starts from'} ${title}`, async () => {
        for (const [i, status] of statuses.entries()) bench.giveRecord(i + 1, status);
        expect(await bench.upgrade(chartOf([config('c')]))).to.equal(message);
        if (message) expect(bench.takeChanges()).to.deep.equal([]);
      });

    it('deletes an object that left the chart, though one of another kind has its name', async () => {
      const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'a' } };
      await bench.install(chartOf([config('a'), account]));
      bench.takeChanges();
      expect(await bench.upgrade(chartOf([config('a')]))).to.equal('');
      expect(bench.takeChanges()).to.include('-ServiceAccount a').and.not.include('-ConfigMap a');
    });

    it('keeps an object with items that is not a list, and one without items whose kind ends as that of a list', async () => {
      bench.cluster.put(crd('BlackList') as never);
      const black = { apiVersion: 'example.com/v1', kind: 'BlackList', metadata: { name: 'b' } };
      expect(await bench.install(chartOf([{ ...config('menu'), items: ['soup'] }, black]))).to.equal('');
      expect(bench.takeChanges()).to.include.members(['+ConfigMap menu', '+BlackList b']);
    });

    it('tells the templates what it is', async () => {
      const template =
        'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n' +
        'data: {is: "{{ if .Release.IsInstall }}install{{ end }}{{ if .Release.IsUpgrade }}upgrade{{ end }}"}\n';
      const chart = chartOf([], { 'templates/c.yaml': template });
      await bench.install(chart);
      expect(bench.dataOf('c')).to.deep.equal({ is: 'install' });
      await bench.upgrade(chart);
      expect(bench.dataOf('c')).to.deep.equal({ is: 'upgrade' });
    });

    it('waits for jobs if it shall', async () => {
      await bench.install(chartOf([config('a')]));
      bench.ends['j'] = 'stays';
      const next = chartOf([config('a'), { ...job('j'), spec: { completions: 1 } }]);
      expect(await bench.upgrade(next, { waits: true, waitsForJobs: true })).to.contain('deadline exceeded');
      expect(await bench.upgrade(next, { waits: true })).to.equal('');
    });

    it('after a failure compares with the revision that is deployed, and supersedes that', async () => {
      await bench.install(chartOf([config('a')]));
      bench.refuse('create ConfigMap b');
      await bench.upgrade(chartOf([config('b')]));
      bench.refuse();
      expect(await bench.upgrade(chartOf([config('c')]))).to.equal('');
      expect(bench.cluster.names('ConfigMap')).to.deep.equal([`${NAMESPACE}/c`]);
      expect(bench.statuses()).to.deep.equal(['v1 superseded', 'v2 failed', 'v3 deployed']);
    });

    it('that fails leaves the old revision deployed, and deletes nothing that left the chart', async () => {
      await bench.install(chartOf([config('a'), config('gone')]));
      bench.refuse('strategic ConfigMap a');
      const message = await bench.upgrade(chartOf([config('a', {}, { x: 'y' }), config('b')]));
      expect(message).to.equal('cannot patch "a" with kind ConfigMap: no strategic');
      expect(bench.statuses()).to.deep.equal(['v1 deployed', 'v2 failed']);
      expect(bench.cluster.names('ConfigMap')).to.include.members([`${NAMESPACE}/gone`, `${NAMESPACE}/b`]);
    });

    it('changes the other objects when some are refused, and names all of those', async () => {
      await bench.install(chartOf([config('a'), config('b'), config('c')]));
      bench.refuse('strategic ConfigMap a', 'strategic ConfigMap b');
      const more = (name: string) => config(name, {}, { x: 'y' });
      expect(await bench.upgrade(chartOf([more('a'), more('b'), more('c')]))).to.equal(
        'cannot patch "a" with kind ConfigMap: no strategic && cannot patch "b" with kind ConfigMap: no strategic',
      );
      expect(bench.dataOf('c')).to.deep.equal({ x: 'y' });
    });

    it('deletes what it created if it fails and shall clean up, and nothing else', async () => {
      await bench.install(chartOf([config('a')]));
      const next = chartOf([config('a', {}, { x: 'y' }), config('new'), claim('data')]);
      expect(await bench.upgrade(next, { waits: true })).to.contain('deadline exceeded');
      expect(bench.cluster.names('ConfigMap')).to.have.length(2);
      const other = new ReleaseBench();
      await other.install(chartOf([config('a')]));
      expect(await other.upgrade(next, { waits: true, cleansUp: true })).to.contain('deadline exceeded');
      expect(other.cluster.names('ConfigMap')).to.deep.equal([`${NAMESPACE}/a`]);
      expect(other.cluster.names('PersistentVolumeClaim')).to.deep.equal([]);
    });

    it('deletes also the object whose creation failed, since the server may have created it', async () => {
      await bench.install(chartOf([config('a')]));
      bench.cluster.lost = (verb, what) => {
        if (verb === 'create' && what.endsWith('/new')) throw new Error('the connection broke');
      };
      expect(await bench.upgrade(chartOf([config('new')]), { cleansUp: true })).to.contain(
        'connection broke',
      );
      expect(bench.cluster.names('ConfigMap')).to.deep.equal([`${NAMESPACE}/a`]);
    });

    it('names what it could not clean up', async () => {
      await bench.install(chartOf([config('a')]));
      bench.refuse('delete ConfigMap new');
      const message = await bench.upgrade(chartOf([config('new'), claim('data')]), {
        waits: true,
        cleansUp: true,
      });
      expect(message)
        .to.contain('original upgrade error: context deadline exceeded')
        .and.contain('no delete');
    });

    it('that is atomic and fails rolls back to the last revision that succeeded, waits for it, and prunes nothing', async () => {
      for (let version = 1; version <= 10; version++)
        bench.giveRecord(version, version === 9 ? 'deployed' : version === 10 ? 'failed' : 'superseded', {
          manifest: [config('old')],
        });
      await bench.upgrade(chartOf([config('a'), claim('data')]), { waits: true, isAtomic: true });
      expect(bench.dataOf('old')).to.deep.equal({ a: 'b' });
      expect(bench.statuses(), 'one revision more than a history has').to.have.length(11);
      expect(bench.statuses().slice(-4)).to.deep.equal([
        'v9 superseded',
        'v10 failed',
        'v11 failed',
        'v12 deployed',
      ]);
    });

    it('that is atomic rolls back to the last superseded revision if none is deployed', async () => {
      for (const [i, status] of ['superseded', 'superseded', 'failed'].entries())
        bench.giveRecord(i + 1, status, { manifest: [config('c', {}, { version: String(i + 1) })] });
      bench.refuse('create ConfigMap a');
      await bench.upgrade(chartOf([config('a')]), { isAtomic: true });
      expect(bench.dataOf('c')).to.deep.equal({ version: '2' });
    });

    it('takes over objects of others that the chart gains if it shall', async () => {
      await bench.install(chartOf([config('a')]));
      bench.place('b', {}, { theirs: '1' });
      expect(await bench.upgrade(chartOf([config('a'), config('b')]), { takesOwnership: true })).to.equal('');
      expect(bench.dataOf('b')).to.deep.equal({ a: 'b', theirs: '1' });
    });

    it('that is atomic waits for the objects of the roll-back', async () => {
      bench.giveRecord(1, 'deployed', { manifest: [claim('data')] });
      bench.refuse('create ConfigMap a');
      const message = await bench.upgrade(chartOf([config('a')]), { isAtomic: true });
      expect(message).to.contain('an error occurred while rolling back').and.contain('deadline exceeded');
    });

    it('that is atomic without a revision that succeeded says so', async () => {
      bench.giveRecord(1, 'failed');
      bench.refuse('create ConfigMap a');
      expect(await bench.upgrade(chartOf([config('a')]), { isAtomic: true })).to.contain(
        'unable to find a previously successful release when attempting to rollback. original upgrade error: ',
      );
    });

    it('that cannot be undone names both errors', async () => {
      await bench.install(chartOf([config('a')]));
      bench.refuse('create ConfigMap b', 'create Secret sh.helm.release.v1.web.v3');
      expect(await bench.upgrade(chartOf([config('b')]), { isAtomic: true })).to.match(
        /an error occurred while rolling back the release\. original upgrade error: .*no create.*failed to create/s,
      );
    });

    it('that fails and cannot record it keeps its error', async () => {
      await bench.install(chartOf([config('a')]));
      bench.refuse('create ConfigMap b', 'replace Secret sh.helm.release.v1.web.v2');
      expect(await bench.upgrade(chartOf([config('b')]))).to.contain('no create');
      expect(bench.warnings).to.deep.equal(['failure of the release cannot be recorded']);
    });

    it('that is interrupted while it waits ends with the interruption, and is not undone', async () => {
      await bench.install(chartOf([config('a')]));
      const action = bench.upgrade(chartOf([config('a'), claim('data')]), {
        waits: true,
        isAtomic: true,
        cleansUp: true,
      });
      await bench.clock.advance(3_000);
      const reason = new Error('stop');
      bench.abort.abort(reason);
      expect(await action).to.equal('stop');
      expect(bench.failure).to.equal(reason);
      expect(bench.statuses()).to.deep.equal(['v1 deployed', 'v2 failed']);
      expect(bench.cluster.names('PersistentVolumeClaim')).to.have.length(1);
    });

    it('that is atomic and cleans up keeps what a roll-back restored that fails in turn', async () => {
      await bench.install(chartOf([config('a', {}, { rev: '1' }), config('restored')]));
      let patches = 0;
      bench.cluster.fail = (verb, what) => {
        if (verb === 'strategic' && what.endsWith('/a') && ++patches > 1)
          throw apiErrorFrom(403, { reason: 'Forbidden', message: 'no patch' }, { verb, kind: 'ConfigMap' });
      };
      const next = chartOf([config('a', {}, { rev: '2' }), claim('data')]);
      const message = await bench.upgrade(next, { waits: true, isAtomic: true, cleansUp: true });
      expect(message).to.contain('an error occurred while rolling back').and.contain('no patch');
      expect(bench.cluster.names('PersistentVolumeClaim'), 'of the upgrade').to.deep.equal([]);
      expect(bench.cluster.names('ConfigMap')).to.include(`${NAMESPACE}/restored`);
    });

    it('does not fail because an object that left the chart cannot be deleted', async () => {
      await bench.install(chartOf([config('a'), config('gone')]));
      bench.refuse('delete ConfigMap gone');
      expect(await bench.upgrade(chartOf([config('a')]))).to.equal('');
      expect(bench.warnings).to.deep.equal(['object that left the chart cannot be deleted']);
    });

    it('keeps an object that left the chart if its policy on the cluster says so, whatever the record says', async () => {
      await bench.install(chartOf([config('one'), config('two', KEEP)]));
      bench.cluster.edit('ConfigMap', `${NAMESPACE}/one`, { metadata: { annotations: KEEP } });
      bench.cluster.edit('ConfigMap', `${NAMESPACE}/two`, {
        metadata: { annotations: { 'helm.sh/resource-policy': null } },
      });
      await bench.upgrade(chartOf([config('a')]));
      expect(bench.cluster.names('ConfigMap').sort()).to.deep.equal([`${NAMESPACE}/a`, `${NAMESPACE}/one`]);
    });

    it('refuses objects of others that the chart gains, not those of the chart', async () => {
      await bench.install(chartOf([config('a')]));
      bench.cluster.edit('ConfigMap', `${NAMESPACE}/a`, { metadata: { labels: null, annotations: null } });
      bench.place('b', {});
      expect(await bench.upgrade(chartOf([config('a'), config('b')]))).to.contain(
        '"b" in namespace "app" exists',
      );
      expect(await bench.upgrade(chartOf([config('a')]))).to.equal('');
    });

    it('refuses an object of others whose API version changes in the chart, as one that the chart gains', async () => {
      bench.cluster.put(crd('Thing') as Any);
      const { kindOf } = bench.cluster;
      bench.cluster.kindOf = (apiVersion, name) =>
        kindOf.call(bench.cluster, apiVersion.replace('example.com/v2', 'example.com/v1'), name);
      const thing = (version: string) =>
        chartOf([{ apiVersion: `example.com/${version}`, kind: 'Thing', metadata: { name: 't' } }]);
      await bench.install(thing('v1'));
      expect(await bench.upgrade(thing('v2')), 'its own').to.equal('');
      const disown = () => bench.cluster.edit('Thing', `${NAMESPACE}/t`, { metadata: { labels: null } });
      disown();
      expect(await bench.upgrade(thing('v2')), 'the same version').to.equal('');
      disown();
      expect(await bench.upgrade(thing('v1'))).to.contain('Thing "t" in namespace "app" exists');
    });

    it('replaces objects with the version on the cluster if it is forced, and patches them otherwise', async () => {
      await bench.install(chartOf([config('a')]));
      bench.cluster.edit('ConfigMap', `${NAMESPACE}/a`, { data: { theirs: '1' } });
      await bench.upgrade(chartOf([config('a', {}, { x: 'y' })]));
      expect(bench.dataOf('a')).to.deep.equal({ theirs: '1', x: 'y' });
      const sent: unknown[] = [];
      const send = bench.cluster.send.bind(bench.cluster);
      bench.cluster.send = (write) => {
        if (write.verb === 'replace' && write.kind.kind === 'ConfigMap')
          sent.push((write.object as { metadata: { resourceVersion?: string } }).metadata.resourceVersion);
        return send(write);
      };
      const version = bench.cluster.find('ConfigMap', `${NAMESPACE}/a`)?.metadata.resourceVersion;
      await bench.upgrade(chartOf([config('a', {}, { x: 'z' })]), { force: true });
      expect(bench.dataOf('a')).to.deep.equal({ x: 'z' });
      expect(sent).to.deep.equal([version]);
    });

    it('sends nothing for an object without changes', async () => {
      await bench.install(chartOf([config('a')]));
      bench.cluster.takeRequests();
      await bench.upgrade(chartOf([config('a')]));
      expect(
        bench.cluster
          .takeRequests()
          .filter((request) => /^(strategic|merge|replace) ConfigMap/.test(request)),
      ).to.deep.equal([]);
    });
  });
});

describe('an object that is not as the chart has it after it was patched', () => {
  const outcomes: readonly (readonly [title: string, changes: number, patches: number, warnings: number])[] =
    [
      ['is not patched again if it is as wanted', 0, 1, 0],
      ['is repaired once', 1, 2, 0],
      ['is reported if the repair does not last', 2, 2, 1],
    ];
  for (const [title, changes, patches, warnings] of outcomes)
    it(title, async () => {
      const bench = new ReleaseBench();
      await bench.install(chartOf([config('c', {}, { a: '1' })]));
      let left = changes;
      const send = bench.cluster.send.bind(bench.cluster);
      bench.cluster.send = async <T extends Obj>(write: Write<T>): Promise<T> => {
        const result = await send(write);
        if (write.verb !== 'strategic' || left-- <= 0) return result;
        return { ...result, data: { a: 'changed by a webhook' } };
      };
      bench.sent.length = 0;
      expect(await bench.upgrade(chartOf([config('c', {}, { a: '2' })]))).to.equal('');
      expect(bench.sent.filter(({ verb }) => verb === 'strategic')).to.have.length(patches);
      expect(bench.warnings).to.deep.equal(
        Array.from({ length: warnings }, () => 'patched object differs from the chart'),
      );
    });
});
