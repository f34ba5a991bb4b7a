/** What `espalier apply --prune` deletes, in which order, and what it leaves alone. */
import { expect } from 'chai';
import { labels } from '../../../../src/api/labels.ts';
import {
  confirmDeletion,
  deleteObsolete,
  obsoleteObjects,
} from '../../../../src/cli/commands/apply/prune.ts';
import type { PlannedObject } from '../../../../src/cli/commands/apply/resolve.ts';
import type { Terminal } from '../../../../src/cli/terminal/terminal.ts';
import { secretKind } from '../../../../src/cli/commands/install/kinds.ts';
import { apiErrorFrom } from '../../../../src/runtime/errors.ts';
import type { Kind, Obj } from '../../../../src/runtime/types.ts';
import { FakeClock } from '../../../support/clock.ts';
import { FakeCluster, type Any } from '../../deployers/fake-cluster.ts';

const SET = { labels: { [labels.set]: 'shop' } };
const GROUP = 'landscaper.gardener.cloud/v1alpha1';

const make = (kind: string, name: string, metadata: object = {}, namespace = 'app'): Any => ({
  apiVersion: kind === 'ConfigMap' || kind === 'Secret' ? 'v1' : GROUP,
  kind,
  metadata: { name, namespace, ...SET, ...metadata },
});

describe('pruning a set', () => {
  let cluster: FakeCluster;
  let clock: FakeClock;
  let reported: string[];
  beforeEach(() => {
    cluster = new FakeCluster('app', 'other');
    clock = new FakeClock();
    reported = [];
  });

  const planned = (kind: Kind, name: string, namespace = 'app'): PlannedObject => {
    const object = { apiVersion: 'v1', kind: kind.kind, metadata: { name, namespace } } as Obj;
    return {
      document: { file: 'f', position: 1, object },
      kind,
      key: `${namespace}/${name}`,
      object,
      isDeferred: false,
    };
  };
  const obsolete = (files: readonly PlannedObject[] = [], namespaces = ['app']) =>
    obsoleteObjects(cluster, files, 'shop', namespaces);
  const titles = async (files: readonly PlannedObject[] = [], namespaces = ['app']): Promise<string[]> =>
    (await obsolete(files, namespaces)).map(({ title }) => title);
  const remove = async (found: Awaited<ReturnType<typeof obsolete>>, timeoutMs = 60_000): Promise<string> => {
    let ended: string | undefined;
    void deleteObsolete(found, {
      client: cluster,
      clock,
      timeoutMs,
      report: (title) => void reported.push(title),
    }).then(
      () => (ended = ''),
      (error: unknown) => (ended = (error as Error).message),
    );
    for (let i = 0; i < 500 && ended === undefined; i++) await clock.advance(500);
    return ended ?? 'it does not end';
  };

  const kept: readonly (readonly [title: string, object: Any, files: readonly PlannedObject[]])[] = [
    ['of another set', make('ConfigMap', 'a', { labels: { [labels.set]: 'other' } }), []],
    ['without a set', make('ConfigMap', 'a', { labels: {} }), []],
    ['in the files', make('Secret', 'a'), [planned(secretKind, 'a')]],
    ['in a namespace that is not meant', make('ConfigMap', 'a', {}, 'other'), []],
    [
      'that a controller owns',
      make('Installation', 'a', { ownerReferences: [{ uid: 'u', controller: true }] }),
      [],
    ],
    [
      'that is being deleted already',
      make('Installation', 'a', { finalizers: ['x'], deletionTimestamp: '2026-01-01T00:00:00Z' }),
      [],
    ],
    ['that is cluster-scoped', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'a', ...SET } }, []],
  ];
  for (const [title, object, files] of kept)
    it(`leaves alone an object ${title}`, async () => {
      cluster.put(object);
      expect(await titles(files)).to.deep.equal([]);
    });

  const found: readonly (readonly [title: string, object: Any, files: readonly PlannedObject[]])[] = [
    ['that the files do not contain', make('ConfigMap', 'a'), []],
    ['of which the files contain another kind', make('ConfigMap', 'a'), [planned(secretKind, 'a')]],
    [
      'of which the files contain one in another namespace',
      make('Secret', 'a'),
      [planned(secretKind, 'a', 'other')],
    ],
    [
      'with an owner that does not control it',
      make('ConfigMap', 'a', { ownerReferences: [{ uid: 'u' }] }),
      [],
    ],
  ];
  for (const [title, object, files] of found)
    it(`includes an object ${title}`, async () => {
      cluster.put(object);
      expect(await titles(files)).to.have.length(1);
    });

  it('searches all kinds of a landscape, in each namespace', async () => {
    for (const kind of ['Target', 'Context', 'ConfigMap', 'Secret', 'Installation', 'DataObject'])
      for (const namespace of ['app', 'other']) cluster.put(make(kind, 'a', {}, namespace));
    expect(await titles([], ['app', 'other'])).to.have.length(12);
  });

  it('lists what others need after what needs it', async () => {
    for (const kind of ['Context', 'Secret', 'Installation']) cluster.put(make(kind, 'a'));
    expect((await titles()).map((title) => title.split('/')[0])).to.deep.equal([
      'installation',
      'context',
      'secret',
    ]);
  });

  it('also searches the kinds in the files, but never for cluster-scoped objects', async () => {
    const job: Kind = { group: 'batch', version: 'v1', kind: 'Job', plural: 'jobs', namespaced: true };
    const namespace: Kind = {
      group: '',
      version: 'v1',
      kind: 'Namespace',
      plural: 'namespaces',
      namespaced: false,
    };
    cluster.put({ ...make('Job', 'a'), apiVersion: 'batch/v1' });
    cluster.put({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'a', ...SET } });
    cluster.takeRequests();
    expect(await titles([planned(job, 'b'), planned(namespace, 'b')])).to.deep.equal(['job/a']);
    // A server lists cluster-scoped objects whatever the namespace of the request.
    const requests = cluster.takeRequests();
    expect(requests).to.include('list Job app');
    expect(requests.filter((request) => request.includes('Namespace'))).to.deep.equal([]);
  });

  it('deletes installations first, and nothing that they may need before they are gone', async () => {
    cluster.put(make('Target', 't'));
    cluster.put(make('Installation', 'a', { finalizers: ['x'] }));
    clock.at(5_000, () => cluster.edit('Installation', 'app/a', { metadata: { finalizers: null } }));
    clock.at(4_000, () => expect(reported).to.deep.equal(['installation/a']));
    expect(await remove(await obsolete())).to.equal('');
    expect(reported).to.deep.equal(['installation/a', 'target/t']);
    expect(cluster.names('Target')).to.deep.equal([]);
  });

  it('keeps what they may need when they are not gone in time', async () => {
    cluster.put(make('Target', 't'));
    cluster.put(make('Installation', 'a', { finalizers: ['x'] }));
    expect(await remove(await obsolete(), 10_000)).to.contain('installation/a was not deleted within 10s');
    expect(clock.now()).to.be.within(10_000, 12_000);
    expect(cluster.names('Target')).to.deep.equal(['app/t']);
  });

  it('does not wait for an installation that was created again, nor if there is nothing else', async () => {
    cluster.put(make('Target', 't'));
    cluster.put(make('Installation', 'a'));
    const objects = await obsolete();
    cluster.lost = (verb, what) => {
      if (verb === 'delete' && what.startsWith('Installation')) cluster.put(make('Installation', 'a'));
    };
    expect(await remove(objects)).to.equal('');
    expect(cluster.names('Target')).to.deep.equal([]);
    cluster.put(make('Installation', 'stays', { finalizers: ['x'] }));
    const only = (await obsolete()).filter(({ title }) => title === 'installation/stays');
    const started = clock.now();
    expect(await remove(only)).to.equal('');
    expect(clock.now() - started).to.be.at.most(1_000);
  });

  it('deletes only the object that it found, not one that was created since', async () => {
    cluster.put(make('ConfigMap', 'a'));
    const objects = await obsolete();
    cluster.drop('ConfigMap', 'app/a');
    cluster.put(make('ConfigMap', 'a'));
    expect(await remove(objects)).to.contain('UID');
    expect(cluster.names('ConfigMap')).to.deep.equal(['app/a']);
  });

  it('counts an object as deleted that is gone already, and stops at a refusal', async () => {
    cluster.put(make('ConfigMap', 'a'));
    const objects = await obsolete();
    cluster.drop('ConfigMap', 'app/a');
    expect(await remove(objects)).to.equal('');
    expect(reported).to.deep.equal(['configmap/a']);
    cluster.put(make('ConfigMap', 'b'));
    cluster.fail = (verb) => {
      if (verb === 'delete') throw apiErrorFrom(403, { message: 'no' }, { verb, kind: 'ConfigMap' });
    };
    expect(await remove(await obsolete())).to.contain('no');
    expect(reported).to.have.length(1);
  });

  it('needs the name of the set as a confirmation', async () => {
    cluster.put(make('ConfigMap', 'a'));
    const objects = await obsolete();
    const answers: readonly (readonly [string | undefined, string])[] = [
      ['shop', ''],
      [' shop\n', ''],
      ['yes', 'not confirmed, nothing was changed'],
      ['', 'not confirmed, nothing was changed'],
      [undefined, 'cannot ask for confirmation without a terminal'],
    ];
    for (const [answer, message] of answers) {
      const terminal = { warn: () => undefined, ask: () => Promise.resolve(answer) } as unknown as Terminal;
      const result = await confirmDeletion(objects, 'shop', terminal).then(
        () => '',
        (error: unknown) => (error as Error).message,
      );
      if (message === '') expect(result).to.equal('');
      else expect(result).to.contain(message);
    }
  });
});
