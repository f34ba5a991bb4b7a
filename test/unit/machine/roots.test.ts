import { setMaxListeners } from 'node:events';
import { expect } from 'chai';
import { executionKind } from '../../../src/api/kinds/execution.ts';
import { deployItemKind } from '../../../src/api/kinds/deployitem.ts';
import { installationKind } from '../../../src/api/kinds/installation.ts';
import { syncObjectKind } from '../../../src/api/kinds/syncobject.ts';
import { targetSyncKind } from '../../../src/api/kinds/targetsync.ts';
import { API_VERSION, labels } from '../../../src/api/labels.ts';
import { systemRng } from '../../../src/lib/rng.ts';
import { createRoots } from '../../../src/landscape/roots.ts';
import { createWorld } from '../../../src/landscape/world.ts';
import { silentLogger } from '../../../src/observability/log.ts';
import { createCaches } from '../../../src/runtime/cache/cache.ts';
import { apiErrorFrom } from '../../../src/runtime/errors.ts';
import type { Kind, Obj, View } from '../../../src/runtime/types.ts';
import { FakeClock, settle } from '../../support/clock.ts';
import { FakeCluster } from '../runtime/support/fake-cluster.ts';

describe('the root of an object', () => {
  let cluster: FakeCluster;
  let life: AbortController;
  beforeEach(() => {
    cluster = new FakeCluster();
    life = new AbortController();
    setMaxListeners(0, life.signal);
  });
  afterEach(() => {
    life.abort(new Error('over'));
  });

  const put = (kind: Kind<never>, name: string, owner?: Obj, of: Record<string, string> = {}): Obj =>
    cluster.put<Obj>(kind, {
      metadata: {
        name,
        namespace: 'ns',
        labels: of,
        ...(owner && {
          ownerReferences: [
            {
              apiVersion: API_VERSION,
              kind: owner.kind,
              name: owner.metadata.name,
              uid: owner.metadata.uid ?? '',
              controller: true,
            },
          ],
        }),
      },
    });
  const roots = async () => {
    const clock = new FakeClock();
    const caches = createCaches({ client: cluster, clock, rng: systemRng, log: silentLogger });
    const world = createWorld(caches);
    const made = createRoots(world, cluster);
    const started = caches.start(life.signal);
    await settle();
    await started;
    return made;
  };
  const never = new AbortController().signal;

  it('is found over any number of generations, without a request', async () => {
    const root = put(installationKind as Kind<never>, 'root');
    const child = put(installationKind as Kind<never>, 'child', root);
    const execution = put(executionKind as Kind<never>, 'child', child);
    const item = put(deployItemKind as Kind<never>, 'child-item', execution);
    const { placeOf, guess } = await roots();
    cluster.requests.length = 0;
    for (const object of [root, child, execution, item]) {
      expect(placeOf(object, never)).to.equal('ns/root');
      expect(guess(object)).to.equal('ns/root');
    }
    expect(cluster.requests).to.deep.equal([]);
  });

  it('is the object itself if it has no owner; for locks and target syncs it is the namespace', async () => {
    const { placeOf } = await roots();
    expect(placeOf(put(executionKind as Kind<never>, 'alone'), never)).to.equal('ns/alone');
    expect(placeOf(put(deployItemKind as Kind<never>, 'item'), never)).to.equal('ns/item');
    expect(placeOf(put(syncObjectKind as Kind<never>, 'lock'), never)).to.equal('ns');
    expect(placeOf(put(targetSyncKind as Kind<never>, 'sync'), never)).to.equal('ns');
  });

  it('is found by label for a deploy item without owner', async () => {
    const root = put(installationKind as Kind<never>, 'root');
    const execution = put(executionKind as Kind<never>, 'exec', root);
    const item = put(deployItemKind as Kind<never>, 'item', undefined, {
      [labels.executionManagedBy]: 'exec',
    });
    const { placeOf } = await roots();
    expect(placeOf(item, never)).to.equal('ns/root');
    expect(execution.metadata.name).to.equal('exec');
  });

  it('is not found by the label of anything but a deploy item', async () => {
    put(executionKind as Kind<never>, 'exec', put(installationKind as Kind<never>, 'root'));
    const of = { [labels.executionManagedBy]: 'exec' };
    const { placeOf } = await roots();
    expect(placeOf(put(executionKind as Kind<never>, 'other', undefined, of), never)).to.equal('ns/other');
  });

  it('is not found by owners of other kinds, or of other groups', async () => {
    const { placeOf } = await roots();
    const foreign = (apiVersion: string, kind: string): Obj =>
      cluster.put<Obj>(installationKind, {
        metadata: {
          name: `of-${apiVersion.replace('/', '-')}-${kind}`,
          namespace: 'ns',
          ownerReferences: [{ apiVersion, kind, name: 'root', uid: 'uid-root' }],
        },
      });
    for (const [apiVersion, kind] of [
      ['example.org/v1', 'Installation'],
      ['example.org/v1', 'Execution'],
      [API_VERSION, 'Target'],
      ['v1', 'ConfigMap'],
    ] as const) {
      const object = foreign(apiVersion, kind);
      expect(placeOf(object, never)).to.equal(`ns/${object.metadata.name}`);
    }
  });

  it('is not searched forever if owners are cyclic', async () => {
    const a = cluster.put<Obj>(installationKind, { metadata: { name: 'a', namespace: 'ns' } });
    const b = put(installationKind as Kind<never>, 'b', a);
    const ownerReferences = [
      {
        apiVersion: API_VERSION,
        kind: 'Installation',
        name: 'b',
        uid: b.metadata.uid ?? '',
        controller: true,
      },
    ];
    cluster.edit(installationKind, 'ns/a', { metadata: { ownerReferences } });
    const { placeOf } = await roots();
    expect(placeOf(b, never)).to.be.oneOf(['ns/a', 'ns/b']);
  });

  it('is the name of the execution that a deploy item names by label, if that is gone', async () => {
    const item = put(deployItemKind as Kind<never>, 'item', undefined, {
      [labels.executionManagedBy]: 'exec',
    });
    const { placeOf } = await roots();
    cluster.requests.length = 0;
    expect(await placeOf(item, never)).to.equal('ns/exec');
    expect(await placeOf(item, never)).to.equal('ns/exec');
    expect(cluster.requests, 'the name may come back').to.have.length(2);
  });

  it('is unknown while the execution that a deploy item names by label is missing from the cache', async () => {
    const item = put(deployItemKind as Kind<never>, 'item', undefined, {
      [labels.executionManagedBy]: 'exec',
    });
    const { placeOf } = await roots();
    const get = cluster.get.bind(cluster);
    cluster.get = async (kind, key, signal) =>
      kind.kind === 'Execution'
        ? ({ metadata: { name: 'exec', uid: 'x' } } as never)
        : get(kind, key, signal);
    expect(await placeOf(item, never)).to.equal(undefined);
  });

  it('is known if the owner has reached the cache during the request to the server', async () => {
    const execution = put(executionKind as Kind<never>, 'child', {
      apiVersion: API_VERSION,
      kind: 'Installation',
      metadata: { name: 'root', uid: 'uid-1' },
    });
    const { placeOf } = await roots();
    const get = cluster.get.bind(cluster);
    cluster.get = async (kind, key, signal) => {
      const uid = execution.metadata.ownerReferences?.[0]?.uid ?? '';
      const root = put(installationKind as Kind<never>, 'root');
      Object.assign(execution.metadata.ownerReferences?.[0] ?? {}, { uid: root.metadata.uid });
      await settle();
      expect(uid).to.equal('uid-1');
      return get(kind, key, signal);
    };
    expect(await placeOf(execution, never)).to.equal('ns/root');
  });

  it('is unknown while an owner exists that is not in the cache, and reconciled when it arrives', async () => {
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const watch = cluster.watch.bind(cluster);
    // The watch of installations lags; the others do not.
    cluster.watch = async function* (kind, query, signal) {
      for await (const frame of watch(kind, query, signal)) {
        if (kind.kind === 'Installation') await held;
        yield frame;
      }
    };
    const root = put(installationKind as Kind<never>, 'root');
    const { placeOf, guess, onMoved } = await roots();
    const moved: string[] = [];
    onMoved((kind, object) => moved.push(`${kind.kind} ${object.metadata.name}`));
    const child = put(installationKind as Kind<never>, 'child', root);
    const execution = put(executionKind as Kind<never>, 'child', child);
    await settle();
    expect(guess(execution)).to.equal(undefined);
    expect(await placeOf(execution, never)).to.equal(undefined);
    expect(moved).to.deep.equal([]);
    release();
    await settle();
    expect(placeOf(execution, never)).to.equal('ns/root');
    expect(moved).to.deep.equal(['Execution child']);
  });

  it('is the name of the owner that is gone, and the server is asked once', async () => {
    const gone = {
      apiVersion: API_VERSION,
      kind: 'Installation',
      metadata: { name: 'root', uid: 'uid-gone' },
    };
    const execution = put(executionKind as Kind<never>, 'child', gone);
    const { placeOf, guess } = await roots();
    cluster.requests.length = 0;
    expect(await placeOf(execution, never)).to.equal('ns/root');
    expect(placeOf(execution, never)).to.equal('ns/root');
    expect(guess(execution)).to.equal('ns/root');
    expect(cluster.requests).to.have.length(1);
  });

  it('does not mistake an object of the same name for the owner', async () => {
    const top = put(installationKind as Kind<never>, 'top');
    put(installationKind as Kind<never>, 'child', top);
    const gone = {
      apiVersion: API_VERSION,
      kind: 'Installation',
      metadata: { name: 'child', uid: 'uid-gone' },
    };
    const execution = put(executionKind as Kind<never>, 'child', gone);
    const { placeOf } = await roots();
    expect(await placeOf(execution, never)).to.equal('ns/child');
  });

  it('is not guessed if the server cannot be asked', async () => {
    const gone = {
      apiVersion: API_VERSION,
      kind: 'Installation',
      metadata: { name: 'root', uid: 'uid-gone' },
    };
    const execution = put(executionKind as Kind<never>, 'child', gone);
    const { placeOf } = await roots();
    cluster.fault = () => apiErrorFrom(503, {}, { verb: 'get', kind: 'Installation' });
    const error = await Promise.resolve(placeOf(execution, never)).catch((reason: unknown) => reason);
    expect(error).to.have.property('status', 503);
  });

  it('triggers nothing below existing objects', async () => {
    const root = put(installationKind as Kind<never>, 'root');
    put(installationKind as Kind<never>, 'child', root);
    const clock = new FakeClock();
    const caches = createCaches({ client: cluster, clock, rng: systemRng, log: silentLogger });
    const moved: string[] = [];
    createRoots(createWorld(caches), cluster).onMoved((_, { metadata }) => moved.push(metadata.name));
    const started = caches.start(life.signal);
    await settle();
    await started;
    cluster.edit(installationKind, 'ns/root', { metadata: { labels: { a: 'b' } } });
    await settle();
    expect(moved).to.deep.equal([]);
  });

  it('triggers everything below a deleted object', async () => {
    const root = put(installationKind as Kind<never>, 'root');
    const child = put(installationKind as Kind<never>, 'child', root);
    const execution = put(executionKind as Kind<never>, 'child', child);
    put(deployItemKind as Kind<never>, 'item', execution, { [labels.executionManagedBy]: 'child' });
    const { onMoved } = await roots();
    const moved: string[] = [];
    const end = onMoved((kind: Kind<never>, object: View<Obj>) =>
      moved.push(`${kind.kind} ${object.metadata.name}`),
    );
    cluster.remove(installationKind, 'ns/root');
    await settle();
    expect(moved).to.deep.equal(['Installation child', 'Execution child', 'DeployItem item']);
    end();
    cluster.remove(installationKind, 'ns/child');
    await settle();
    expect(moved).to.have.length(3);
  });
});
