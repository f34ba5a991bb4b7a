/** Uninstalling releases: the order of deletions, what stays, and what a failure leaves behind. */
import { expect } from 'chai';
import { chartOf, config, hook, job, NAMESPACE, ReleaseBench } from './release-bench.ts';

const KEEP = 'helm.sh/resource-policy';
const object = (apiVersion: string, kind: string, name: string): object => ({
  apiVersion,
  kind,
  metadata: { name },
});

describe('to uninstall a release', () => {
  let bench: ReleaseBench;
  beforeEach(() => {
    bench = new ReleaseBench();
  });

  const installed = async (...objects: readonly object[]): Promise<void> => {
    expect(await bench.install(chartOf(objects))).to.equal('');
    bench.takeChanges();
  };
  const deleted = (): string[] => bench.takeChanges().filter((change) => change.startsWith('-'));

  it('runs its hooks around the deletion of the objects, and deletes the records last', async () => {
    await installed(job('pre', hook('pre-delete')), job('post', hook('post-delete')), config('c'));
    expect(await bench.uninstall()).to.equal('');
    expect(bench.takeChanges()).to.deep.equal([
      'v1 uninstalling',
      '+Job pre',
      'v1 uninstalling',
      '-ConfigMap c',
      'v1 uninstalling',
      '+Job post',
      '-v1',
    ]);
  });

  it('deletes services before workloads, workloads before configuration, and unknown kinds last', async () => {
    bench.cluster.put({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'things.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Namespaced',
        names: { kind: 'Thing', plural: 'things' },
        versions: [{ name: 'v1' }],
      },
    });
    await installed(
      object('v1', 'ConfigMap', 'c'),
      object('example.com/v1', 'Thing', 't'),
      object('apps/v1', 'Deployment', 'd'),
      object('v1', 'ServiceAccount', 'a'),
      object('v1', 'Service', 's'),
    );
    await bench.uninstall();
    expect(deleted()).to.deep.equal([
      '-Service s',
      '-Deployment d',
      '-ConfigMap c',
      '-ServiceAccount a',
      '-Thing t',
      '-v1',
    ]);
  });

  it('leaves the deletion of dependents to the cluster', async () => {
    await installed(config('c'));
    await bench.uninstall();
    const deletions = bench.sent.filter(({ verb, kind }) => verb === 'delete' && kind.kind === 'ConfigMap');
    expect(deletions).to.have.length(1);
    expect(deletions[0]).to.include({ propagation: 'Background' });
  });

  it('keeps objects with a policy in the record, whatever it says', async () => {
    await installed(config('a', { [KEEP]: 'keep' }), config('b', { [KEEP]: 'other' }), config('c'));
    await bench.uninstall();
    expect(deleted()).to.deep.equal(['-ConfigMap c', '-v1']);
  });

  it('deletes all records, or keeps them, with the last one as uninstalled and no other as deployed', async () => {
    await installed(config('c'));
    bench.giveRecord(2, 'deployed', { manifest: [config('c')] });
    bench.giveRecord(3, 'failed', { manifest: [config('c')] });
    bench.giveRecord(4, 'failed', { manifest: [config('c')] });
    expect(await bench.uninstall({ keepsHistory: true })).to.equal('');
    expect(bench.statuses()).to.deep.equal(['v1 superseded', 'v2 superseded', 'v3 failed', 'v4 uninstalled']);
    expect(await bench.uninstall({ keepsHistory: true })).to.equal(
      'the release named "web" is already deleted',
    );
    expect(await bench.uninstall()).to.equal('');
    expect(bench.statuses()).to.deep.equal([]);
  });

  it('does not turn its own record from uninstalled into superseded', async () => {
    await installed(config('c'));
    await bench.uninstall({ keepsHistory: true });
    expect(bench.takeChanges().slice(-1)).to.deep.equal(['v1 uninstalled']);
  });

  it('that does not exist says so', async () => {
    expect(await bench.uninstall()).to.equal('uninstall: Release not loaded: web: release: not found');
  });

  it('deletes the other objects when one cannot be deleted, and keeps the record for the next attempt', async () => {
    await installed(config('a'), config('b'), job('post', hook('post-delete')));
    bench.refuse('delete ConfigMap a');
    expect(await bench.uninstall()).to.equal('failed to delete release: web: no delete');
    expect(bench.statuses()).to.deep.equal(['v1 uninstalling']);
    expect(deleted()).to.deep.equal(['-ConfigMap b']);
    bench.refuse();
    expect(await bench.uninstall()).to.equal('');
    expect(bench.cluster.names('ConfigMap')).to.deep.equal([]);
  });

  it('stops before the objects if a hook fails before them', async () => {
    bench.ends['pre'] = 'fails';
    await installed(config('a'), job('pre', hook('pre-delete')));
    expect(await bench.uninstall()).to.contain('job pre failed');
    expect(bench.cluster.names('ConfigMap')).to.deep.equal([`${NAMESPACE}/a`]);
  });

  it('deletes what an interrupted attempt left of its hooks', async () => {
    bench.ends['pre'] = 'stays';
    await installed(config('a'), job('pre', hook('pre-delete', 'hook-succeeded')));
    const action = bench.uninstall();
    await bench.clock.advance(2_500);
    bench.abort.abort(new Error('stop'));
    expect(await action).to.equal('stop');
    expect(bench.cluster.names('Job')).to.have.length(1);
    const next = new AbortController();
    Object.assign(bench.target, { signal: next.signal });
    bench.ends['pre'] = 'succeeds';
    expect(await bench.uninstall()).to.equal('');
    expect(bench.cluster.names('Job')).to.deep.equal([]);
  });

  describe('whose objects do not disappear', () => {
    beforeEach(async () => {
      await installed(config('a'), job('post', hook('post-delete')));
      bench.cluster.edit('ConfigMap', `${NAMESPACE}/a`, { metadata: { finalizers: ['example.com/never'] } });
    });

    it('is done, unless it shall wait', async () => {
      expect(await bench.uninstall()).to.equal('');
      expect(bench.clock.now()).to.be.below(2_000);
    });

    it('runs its hooks and deletes its records after the timeout, and reports it', async () => {
      expect(await bench.uninstall({ waits: true, timeoutMs: 5_000 })).to.equal(
        'uninstallation completed with 1 error(s): context deadline exceeded',
      );
      expect(bench.clock.now()).to.be.within(5_000, 7_000);
      expect(bench.takeChanges().slice(-2)).to.deep.equal(['+Job post', '-v1']);
    });
  });

  it('reports a hook that fails after the objects, and deletes the records', async () => {
    bench.ends['post'] = 'fails';
    await installed(config('a'), job('post', hook('post-delete')));
    expect(await bench.uninstall())
      .to.contain('uninstallation completed with 1 error(s)')
      .and.contain('job post');
    expect(bench.statuses()).to.deep.equal([]);
  });

  it('counts objects that do not exist any more as deleted', async () => {
    await installed(config('a'), config('b'));
    bench.cluster.drop('ConfigMap', `${NAMESPACE}/a`);
    expect(await bench.uninstall({ waits: true })).to.equal('');
  });
});
