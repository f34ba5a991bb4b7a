import { expect } from 'chai';
import { syncObjectController } from '../../../controllers/syncobject/index.ts';
import { executionKind } from '../../../src/api/kinds/execution.ts';
import { installationKind } from '../../../src/api/kinds/installation.ts';
import { syncObjectKind } from '../../../src/api/kinds/syncobject.ts';
import { lockName } from '../../../src/landscape/upstream-locks.ts';
import type { Kind } from '../../../src/runtime/types.ts';
import { execution, installation } from '../../support/given.ts';
import { stage, type Stage } from './support/stage.ts';

type Locked = 'Installation' | 'Execution';

describe('the sync object controller', () => {
  let on: Stage;
  beforeEach(() => {
    on = stage((ports) => syncObjectController(ports));
  });
  afterEach(() => on.end());

  const kinds: Readonly<Record<Locked, Kind>> = {
    Installation: installationKind,
    Execution: executionKind,
  };
  const put = (kind: Locked, name = 'web') =>
    kind === 'Installation'
      ? on.client.put(installationKind, installation(name))
      : on.client.put(executionKind, execution(name));
  /** The lock of an object, or of one that has the uid. */
  const lock = (kind: string, uid: string, name = 'web', as = kind as Locked) =>
    on.client.put(syncObjectKind, {
      metadata: { name: lockName(as, uid), namespace: 'demo' },
      spec: { podName: '', kind, name, lastUpdateTime: '2026-01-01T00:00:00Z', prefix: 'x' },
    });

  for (const kind of ['Installation', 'Execution'] as const) {
    it(`removes the lock of an ${kind} if that is gone, and no other lock`, async () => {
      const gone = lock(kind, put(kind).metadata.uid ?? '');
      lock(kind, put(kind, 'other').metadata.uid ?? '', 'other');
      await on.start();
      expect(on.client.changes).to.deep.equal([]);
      on.client.edit(kinds[kind], 'demo/web', { metadata: { finalizers: null, labels: { a: 'b' } } });
      await on.settle();
      on.client.remove(kinds[kind], 'demo/web');
      await on.settle();
      expect(on.client.changes).to.deep.equal([`delete SyncObject demo/${gone.metadata.name}`]);
    });

    it(`removes the lock of an ${kind} that was deleted while the controller did not run`, async () => {
      const { metadata } = lock(kind, 'uid-of-old');
      await on.start();
      expect(on.client.changes).to.deep.equal([`delete SyncObject demo/${metadata.name}`]);
    });

    it(`removes the lock of an ${kind} whose name another object has now`, async () => {
      put(kind);
      lock(kind, 'uid-of-old');
      await on.start();
      expect(on.client.changes).to.have.length(1);
    });
  }

  it('distinguishes an Installation from an Execution of the same name', async () => {
    put('Execution');
    lock('Installation', 'uid-of-old');
    lock('Execution', put('Execution', 'other').metadata.uid ?? '', 'other');
    await on.start();
    expect(on.client.changes).to.deep.equal(['delete SyncObject demo/installations-uid-of-old']);
  });

  it('asks the server before it removes a lock, but not if the cache has the object', async () => {
    lock('Installation', put('Installation').metadata.uid ?? '');
    lock('Execution', put('Execution').metadata.uid ?? '');
    lock('Execution', 'uid-of-old', 'other');
    await on.start();
    const asked = on.client.requests.filter(({ verb }) => verb === 'get').map(({ kind, key }) => [kind, key]);
    expect(asked).to.deep.equal([['Execution', 'demo/other']]);
  });

  it('reconciles a lock when it is created, when it changes and when its object is deleted, and never else', async () => {
    const { metadata } = lock('Installation', put('Installation').metadata.uid ?? '');
    const key = `demo/${metadata.name}`;
    await on.start();
    await on.clock.advance(10_000);
    expect(on.runs.splice(0)).to.deep.equal([key]);
    on.client.edit(installationKind, 'demo/web', { metadata: { finalizers: null } });
    await on.settle();
    expect(on.runs).to.deep.equal([]);
    on.client.edit(syncObjectKind, key, { metadata: { labels: { a: 'b' } } });
    await on.settle();
    expect(on.runs.splice(0)).to.deep.equal([key]);
    on.client.remove(installationKind, 'demo/web');
    await on.clock.advance(10_000);
    expect(on.runs).to.deep.equal([key]);
  });

  it('leaves locks of other kinds alone', async () => {
    lock('Target', 'uid-of-old', 'web', 'Installation');
    await on.start();
    expect(on.client.requests).to.deep.equal([]);
    await on.clock.advance(10_000);
    expect(on.runs, 'no run failed').to.have.length(1);
  });

  it('deletes only the version of the lock that it has read', async () => {
    const { metadata } = lock('Installation', 'uid-of-old');
    await on.start();
    expect(on.client.deleted).to.deep.equal([metadata.uid]);
  });
});
