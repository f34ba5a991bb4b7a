/** Hooks of releases: their order, what deletes their objects, and what a failure leaves behind. */
import { expect } from 'chai';
import { podsIn } from '../../../../../deployers/helm/release/cluster.ts';
import { discardInterrupted } from '../../../../../deployers/helm/release/interrupted.ts';
import { recordsOf } from '../../../../../deployers/helm/releases.ts';
import { apiErrorFrom } from '../../../../../src/runtime/errors.ts';
import { chartOf, config, crd, hook, job, NAMESPACE, ReleaseBench, START } from './release-bench.ts';

const refusal = (kind: string): Error =>
  apiErrorFrom(403, { reason: 'Forbidden', message: 'no' }, { verb: 'delete', kind });

describe('the hooks of a release', () => {
  let bench: ReleaseBench;
  beforeEach(() => {
    bench = new ReleaseBench();
  });

  /** Changes of the objects; those of records are left out. */
  const objects = (): string[] => bench.takeChanges().filter((change) => /^[-+~][A-Z]/.test(change));

  it('run by weight, then by name, and those that succeeded are deleted in the reverse order', async () => {
    const gone = (name: string, weight: number) => job(name, hook('pre-install', 'hook-succeeded', weight));
    expect(await bench.install(chartOf([gone('z', 1), gone('b', 2), gone('a', 2), gone('y', -3)]))).to.equal(
      '',
    );
    expect(objects()).to.deep.equal([
      '+Job y',
      '+Job z',
      '+Job a',
      '+Job b',
      '-Job b',
      '-Job a',
      '-Job z',
      '-Job y',
    ]);
  });

  it('of other events do not run', async () => {
    await bench.install(chartOf([job('a', hook('post-install')), job('b', hook('pre-upgrade'))]));
    expect(objects()).to.deep.equal(['+Job a']);
  });

  it('without a policy are deleted before they run again, and not before', async () => {
    const chart = chartOf([job('a', hook('pre-install,pre-upgrade'))]);
    await bench.install(chart);
    expect(objects()).to.deep.equal(['+Job a']);
    await bench.upgrade(chart);
    expect(objects()).to.deep.equal(['-Job a', '+Job a']);
  });

  it('of a kind that the cluster does not have fail the action, which names their file', async () => {
    const metadata = { name: 'a', annotations: hook('pre-install', 'before-hook-creation') };
    expect(await bench.install(chartOf([{ apiVersion: 'example.com/v1', kind: 'Nothing', metadata }])))
      .to.contain('unable to build kubernetes object for deleting hook small/templates/00.yaml')
      .and.contain('Nothing');
  });

  it('with another policy are not deleted before they run', async () => {
    const chart = chartOf([job('a', hook('pre-install,pre-upgrade', 'hook-failed'))]);
    await bench.install(chart);
    expect(await bench.upgrade(chart)).to.contain('already exists');
  });

  it('that are CustomResourceDefinitions are never deleted, since all their objects would be', async () => {
    const policies = 'before-hook-creation,hook-succeeded,hook-failed';
    await bench.install(chartOf([crd('Thing', hook('pre-install', policies))]));
    expect(objects().filter((change) => change.startsWith('-'))).to.deep.equal([]);
    const failing = chartOf([crd('Thing', hook('pre-upgrade', policies))]);
    expect(await bench.upgrade(failing)).to.contain('already exists');
    expect(bench.cluster.names('CustomResourceDefinition')).to.deep.equal(['things.example.com']);
  });

  it('are recorded as running before their objects are created', async () => {
    await bench.install(chartOf([job('a', hook('pre-install'))]));
    const changes = bench.takeChanges();
    expect(changes.slice(0, 3)).to.deep.equal(['v1 pending-install', 'v1 pending-install', '+Job a']);
  });

  describe('that fail', () => {
    const failing = (kind: 'Job' | 'Pod'): Promise<string> => {
      bench.ends['bad'] = 'fails';
      const metadata = { name: 'bad', annotations: hook('pre-install', 'hook-failed') };
      const object =
        kind === 'Job'
          ? { ...job('bad'), metadata, spec: { selector: { matchLabels: { job: 'bad' } } } }
          : { apiVersion: 'v1', kind: 'Pod', metadata, spec: {} };
      return bench.install(chartOf([object]));
    };
    const ended = (name: string) => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace: NAMESPACE, labels: { job: 'bad' } },
      status: { containerStatuses: [{ name: 'm', state: { terminated: { exitCode: 3, reason: 'Error' } } }] },
    });
    const said = (name: string): string =>
      `pod ${name}: container m: Error, last exit code 3; its last lines:\nno such table [...]`;

    it('show the last lines of the pod of a job, masked, although their policy deletes it', async () => {
      bench.cluster.put(ended('bad-x'));
      bench.cluster.logs.set(`${NAMESPACE}/bad-x`, 'no such table s3cret');
      expect(await failing('Job')).to.contain('job bad failed: BackoffLimitExceeded');
      expect(podsIn(bench.failure)).to.deep.equal([said('bad-x')]);
      expect(bench.cluster.names('Job')).to.deep.equal([]);
    });

    it('show those of a pod', async () => {
      bench.endsWith['bad'] = ended('bad').status;
      bench.cluster.logs.set(`${NAMESPACE}/bad`, 'no such table s3cret');
      await failing('Pod');
      expect(podsIn(bench.failure)).to.deep.equal([said('bad')]);
    });

    it('do not write them into the record, which is that of helm', async () => {
      bench.cluster.put(ended('bad-x'));
      bench.cluster.logs.set(`${NAMESPACE}/bad-x`, 'no such table');
      await failing('Job');
      expect((await bench.infoOf(1)).description)
        .to.contain('job bad failed')
        .and.not.contain('no such table');
    });

    it('show nothing if their pods say nothing', async () => {
      await failing('Job');
      expect(podsIn(bench.failure)).to.deep.equal([]);
    });
  });

  it('that are not done in time show why their pods do not start, and no lines', async () => {
    bench.ends['bad'] = 'stays';
    const waiting = { reason: 'ImagePullBackOff', message: 'no such image' };
    bench.cluster.put({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'bad-x', namespace: NAMESPACE, labels: { job: 'bad' } },
      status: { containerStatuses: [{ name: 'm', state: { waiting } }] },
    });
    bench.cluster.logs.set(`${NAMESPACE}/bad-x`, 'secret');
    const selector = { matchLabels: { job: 'bad' } };
    await bench.install(chartOf([{ ...job('bad', hook('pre-install')), spec: { selector } }]));
    expect(podsIn(bench.failure)).to.deep.equal(['pod bad-x: container m: ImagePullBackOff: no such image']);
  });

  it('that fail are deleted by their policy, then those that succeeded by theirs, in their order', async () => {
    bench.ends['bad'] = 'fails';
    const chart = chartOf([
      job('one', hook('pre-install', 'hook-succeeded', 1)),
      job('two', hook('pre-install', 'hook-succeeded', 2)),
      job('three', hook('pre-install', 'hook-failed', 2)),
      job('bad', hook('pre-install', 'hook-failed', 3)),
      job('never', hook('pre-install', '', 4)),
      config('c'),
    ]);
    expect(await bench.install(chart))
      .to.contain('failed pre-install')
      .and.contain('job bad failed: Backoff');
    expect(objects()).to.deep.equal([
      '+Job one',
      '+Job three',
      '+Job two',
      '+Job bad',
      '-Job bad',
      '-Job one',
      '-Job two',
    ]);
    expect(bench.statuses()).to.deep.equal(['v1 failed']);
  });

  it('that fail are recorded with the time of their end, those before them as succeeded', async () => {
    bench.ends['bad'] = 'fails';
    await bench.install(
      chartOf([job('one', hook('pre-install', '', 1)), job('bad', hook('pre-install', '', 2))]),
    );
    const phases = bench.hookRunsOf(1).map(({ phase }) => phase);
    expect(phases.sort()).to.deep.equal(['Failed', 'Succeeded']);
    expect(bench.hookRunsOf(1).every(({ completed_at }) => completed_at !== '')).to.equal(true);
  });

  describe('that are interrupted', () => {
    const interrupt = async (action: Promise<string>, reason: Error): Promise<void> => {
      await bench.clock.advance(3_000);
      bench.abort.abort(reason);
      expect(await action).to.equal(reason.message);
      expect(bench.failure).to.equal(reason);
      expect(bench.statuses()).to.deep.equal(['v1 failed']);
    };

    it('while they run are not recorded as failed, because they go on', async () => {
      bench.ends['slow'] = 'stays';
      await interrupt(bench.install(chartOf([job('slow', hook('pre-install'))])), new Error('stop'));
      expect(bench.hookRunsOf(1)).to.have.length(1);
      expect(bench.hookRunsOf(1)[0]).to.include({ phase: 'Running', completed_at: '' });
    });

    it('while a failed one is deleted end with the interruption, and without a warning', async () => {
      bench.ends['bad'] = 'fails';
      bench.cluster.onChange = (kind, key, before) => {
        if (kind === 'Job' && !before)
          bench.cluster.edit('Job', key, { metadata: { finalizers: ['example.com/never'] } });
      };
      await interrupt(
        bench.install(chartOf([job('bad', hook('pre-install', 'hook-failed'))])),
        new Error('stop'),
      );
      expect(bench.warnings).to.deep.equal([]);
    });
  });

  it('that fail without a policy stay', async () => {
    bench.ends['bad'] = 'fails';
    await bench.install(chartOf([job('bad', hook('pre-install', 'hook-succeeded'))]));
    expect(objects()).to.deep.equal(['+Job bad']);
  });

  it('that fail and cannot be deleted are reported with the failure, and the others are deleted', async () => {
    bench.ends['bad'] = 'fails';
    bench.cluster.fail = (verb, what) => {
      if (verb === 'delete' && what.endsWith('/bad')) throw refusal('Job');
    };
    const chart = chartOf([
      job('one', hook('pre-install', 'hook-succeeded', 1)),
      job('bad', hook('pre-install', 'hook-failed', 3)),
    ]);
    expect(await bench.install(chart)).to.contain('job bad failed: Backoff');
    expect(bench.warnings).to.deep.equal(['hook that failed cannot be deleted']);
    expect(objects()).to.deep.equal(['+Job one', '+Job bad', '-Job one']);
  });

  it('whose objects cannot be created are not cleaned up', async () => {
    bench.cluster.put({
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name: 'bad', namespace: NAMESPACE },
    });
    bench.takeChanges();
    const chart = chartOf([
      job('one', hook('pre-install', 'hook-succeeded', 1)),
      job('bad', hook('pre-install', 'hook-failed,hook-succeeded', 2)),
    ]);
    expect(await bench.install(chart)).to.contain('warning: Hook pre-install small/templates/01.yaml failed');
    expect(objects()).to.deep.equal(['+Job one']);
  });

  it('are waited for no longer than the timeout', async () => {
    bench.ends['slow'] = 'stays';
    const chart = chartOf([job('slow', hook('pre-install'))]);
    const message = await bench.install(chart, { timeoutMs: 9_000 });
    expect(message).to.contain('timed out waiting for the condition');
    expect(bench.clock.now()).to.be.within(9_000, 12_000);
  });

  it('run after objects that are deleted before them have disappeared', async () => {
    const finalizers = ['example.com/slow'];
    const left = {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name: 'a', namespace: NAMESPACE, finalizers },
    };
    bench.cluster.put(left);
    const action = bench.install(chartOf([job('a', hook('pre-install'))]));
    await bench.clock.advance(5_000);
    bench.cluster.edit('Job', `${NAMESPACE}/a`, { metadata: { finalizers: [] } });
    expect(await action).to.equal('');
  });

  it('that delete nothing in time fail the action', async () => {
    const finalizers = ['example.com/never'];
    bench.cluster.put({
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name: 'a', namespace: NAMESPACE, finalizers },
    });
    expect(await bench.install(chartOf([job('a', hook('pre-install'))]))).to.contain('deadline exceeded');
  });

  it('that were deleted while they ran count as completed', async () => {
    bench.ends['a'] = 'stays';
    const action = bench.install(chartOf([job('a', hook('pre-install'))]));
    await bench.clock.advance(3_000);
    bench.cluster.drop('Job', `${NAMESPACE}/a`);
    expect(await action).to.equal('');
  });
});

describe('the hooks of an interrupted action', () => {
  const at = (seconds: number): string => new Date(Date.parse(START) + 1000 * seconds).toISOString();
  const hookOf = (name: string, policies: readonly string[], started: string): object => ({
    name,
    kind: 'Job',
    path: 'p',
    events: ['pre-upgrade'],
    weight: 0,
    delete_policies: policies,
    last_run: { started_at: started },
    manifest: JSON.stringify(job(name)),
  });

  it('are deleted if they started in it and are not deleted before they run, and the record after them', async () => {
    const bench = new ReleaseBench();
    const names = ['ours', 'same', 'earlier', 'next-time', 'never-ran'];
    for (const name of names)
      bench.cluster.put({ apiVersion: 'batch/v1', kind: 'Job', metadata: { name, namespace: NAMESPACE } });
    bench.giveRecord(2, 'pending-upgrade', {
      hooks: [
        hookOf('ours', ['hook-succeeded'], at(5)),
        hookOf('same', ['hook-failed'], at(0)),
        hookOf('earlier', ['hook-succeeded'], at(-5)),
        hookOf('next-time', ['before-hook-creation'], at(5)),
        hookOf('never-ran', ['hook-succeeded'], ''),
      ],
    });
    bench.takeChanges();
    const [record] = await recordsOf(bench.cluster, bench.target, bench.target.signal);
    expect(await bench.run(discardInterrupted(record!, bench.target))).to.equal('');
    expect(bench.takeChanges()).to.deep.equal(['-Job ours', '-Job same', '-v2']);
  });

  it('do not keep a damaged record', async () => {
    const bench = new ReleaseBench();
    bench.giveRecord(2, 'pending-upgrade', { release: 'e30=' });
    const [record] = await recordsOf(bench.cluster, bench.target, bench.target.signal);
    await bench.run(discardInterrupted(record!, bench.target));
    expect(bench.takeChanges()).to.deep.equal(['-v2']);
  });
});
