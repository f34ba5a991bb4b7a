/** The records of a release: how many are kept, what each change stores, and which of them an action starts from. */
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { apiErrorFrom } from '../../../../../src/runtime/errors.ts';
import { chartOf, config, crd, NAMESPACE, ReleaseBench } from './release-bench.ts';

const chart = chartOf([config('c')]);

describe('the records of a release', () => {
  let bench: ReleaseBench;
  beforeEach(() => {
    bench = new ReleaseBench();
  });

  const give = (from: number, to: number, status: (version: number) => string): void => {
    for (let version = from; version <= to; version++)
      bench.giveRecord(version, status(version), { manifest: [config('c')] });
    bench.takeChanges();
  };
  const deleted = (): string[] => bench.takeChanges().filter((change) => change.startsWith('-v'));
  const labelsOf = (version: number): Readonly<Record<string, string>> =>
    bench.cluster.find('Secret', `${NAMESPACE}/sh.helm.release.v1.web.v${String(version)}`)?.metadata
      .labels ?? {};

  it('are at most ten: an upgrade deletes the oldest before it stores its own', async () => {
    give(1, 11, (version) => (version === 11 ? 'deployed' : 'superseded'));
    await bench.upgrade(chart);
    expect(bench.takeChanges().slice(0, 3)).to.deep.equal(['-v1', '-v2', 'v12 pending-upgrade']);
    expect(bench.statuses()).to.have.length(10);
  });

  it('must fit into a Secret: otherwise nothing is created, and the message says what to do', async () => {
    const noise = (bytes: number) => ({ 'files/noise': randomBytes(bytes).toString('base64') });
    const action = async (bytes: number): Promise<string> => {
      const other = new ReleaseBench();
      const files = { ...noise(bytes), 'crds/a.yaml': JSON.stringify(crd('Thing')) };
      const message = await other.install(chartOf([config('c')], files));
      expect(other.takeChanges().length > 0).to.equal(message === '');
      return message;
    };
    expect(await action(400_000)).to.equal('');
    expect(await action(800_000)).to.match(
      /^the record of the release has \d+ bytes, but a Secret can contain only 1 MiB: .*remove files.*helmDeployment: false/,
    );
    await bench.install(chart);
    bench.takeChanges();
    expect(await bench.upgrade(chartOf([config('c')], noise(800_000)))).to.contain('only 1 MiB');
    expect(bench.takeChanges()).to.deep.equal([]);
  });

  it('are not deleted while there is room', async () => {
    give(1, 9, (version) => (version === 9 ? 'deployed' : 'superseded'));
    await bench.upgrade(chart);
    expect(deleted()).to.deep.equal([]);
  });

  it('include the deployed one, however old it is', async () => {
    give(1, 11, (version) => (version === 1 ? 'deployed' : 'failed'));
    await bench.upgrade(chart);
    expect(deleted()).to.deep.equal(['-v2', '-v3']);
  });

  it('include the last deployed one, when several are', async () => {
    give(1, 10, (version) => (version <= 2 ? 'deployed' : 'failed'));
    await bench.upgrade(chart);
    expect(deleted()).to.deep.equal(['-v1']);
  });

  it('are deleted by a roll-back that prunes, and by no other', async () => {
    give(1, 10, (version) => (version === 10 ? 'deployed' : 'superseded'));
    await bench.rollBack(5);
    expect(deleted()).to.deep.equal([]);
    await bench.rollBack(5, { prunes: true });
    expect(deleted()).to.deep.equal(['-v1', '-v2']);
  });

  it('that another process deletes meanwhile count as deleted; other refusals end the action', async () => {
    give(1, 10, (version) => (version === 10 ? 'deployed' : 'superseded'));
    let status = 404;
    bench.cluster.fail = (verb, what) => {
      if (verb === 'delete' && what.endsWith('.v1'))
        throw apiErrorFrom(
          status,
          { reason: status === 404 ? 'NotFound' : 'Forbidden' },
          { verb, kind: 'Secret' },
        );
    };
    expect(await bench.upgrade(chart)).to.equal('');
    status = 403;
    expect(await bench.upgrade(chart)).to.not.equal('');
    expect(bench.statuses()).to.not.include('v12 pending-upgrade');
  });

  it('that cannot be read do not count', async () => {
    bench.giveRecord(5, 'deployed', { release: 'e30=' });
    expect(await bench.install(chart)).to.equal('');
    bench.giveRecord(1, 'superseded', { manifest: [config('c')] });
    bench.giveRecord(2, 'deployed', { manifest: [config('c')] });
    expect(await bench.upgrade(chart)).to.equal('');
    expect(bench.statuses().sort()).to.deep.equal([
      'v1 superseded',
      'v2 superseded',
      'v3 deployed',
      'v5 deployed',
    ]);
  });

  it('keep the labels of users, and have the time of their creation or of their last change', async () => {
    bench.giveRecord(1, 'deployed', { labels: { team: 'a', createdAt: '1', modifiedAt: '2' } });
    await bench.clock.advance(1_500);
    bench.cluster.lost = (verb) => {
      if (verb === 'create') bench.cluster.lost = () => undefined;
      else return;
      const { modifiedAt, ...created } = labelsOf(2);
      expect(modifiedAt).to.equal(undefined);
      expect(created).to.deep.equal({
        team: 'a',
        createdAt: '1767225601',
        name: 'web',
        owner: 'helm',
        status: 'pending-upgrade',
        version: '2',
      });
    };
    await bench.upgrade(chart);
    expect(labelsOf(2)).to.deep.equal({
      team: 'a',
      modifiedAt: '1767225601',
      name: 'web',
      owner: 'helm',
      status: 'deployed',
      version: '2',
    });
  });

  it('are secrets of the type that helm reads', async () => {
    await bench.install(chart);
    const created = bench.sent.find((write) => write.verb === 'create' && write.kind.kind === 'Secret');
    expect(created).to.deep.nested.include({
      'object.apiVersion': 'v1',
      'object.kind': 'Secret',
      'object.type': 'helm.sh/release.v1',
    });
  });

  it('that exist already refuse the action, as helm does', async () => {
    give(1, 1, () => 'deployed');
    bench.cluster.fail = (verb) => {
      if (verb === 'create') bench.giveRecord(2, 'pending-upgrade');
    };
    expect(await bench.upgrade(chart)).to.equal('release: already exists');
  });

  it('that the server refuses end the action before it changes an object', async () => {
    bench.cluster.fail = (verb, what) => {
      if (verb === 'create' && what.startsWith('Secret'))
        throw apiErrorFrom(403, { reason: 'Forbidden', message: 'quota' }, { verb, kind: 'Secret' });
    };
    expect(await bench.install(chart)).to.equal('create: failed to create: quota');
    expect(bench.takeChanges()).to.deep.equal([]);
  });
});
