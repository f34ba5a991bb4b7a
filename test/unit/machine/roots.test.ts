import { setMaxListeners } from 'node:events';
import { expect } from 'chai';
import { executionKind } from '../../../src/api/kinds/execution.ts';
import { deployItemKind } from '../../../src/api/kinds/deployitem.ts';
import { installationKind } from '../../../src/api/kinds/installation.ts';
import { syncObjectKind } from '../../../src/api/kinds/syncobject.ts';
import { API_VERSION, labels } from '../../../src/api/labels.ts';
import { systemRng } from '../../../src/lib/rng.ts';
import { createRoots } from '../../../src/machine/roots.ts';
import { createWorld } from '../../../src/machine/world.ts';
import { silentLogger } from '../../../src/observability/log.ts';
import { createCaches } from '../../../src/runtime/cache.ts';
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

  it('is found over any number of generations, and costs no request', async () => {
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

  it('is the object itself when nobody owns it; locks and target syncs go by their namespace', async () => {
    const { placeOf } = await roots();
    expect(placeOf(put(executionKind as Kind<never>, 'alone'), never)).to.equal('ns/alone');
    expect(placeOf(put(deployItemKind as Kind<never>, 'item'), never)).to.equal('ns/item');
    expect(placeOf(put(syncObjectKind as Kind<never>, 'lock'), never)).to.equal('ns');
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

  it('is not told while an owner exists that the cache does not know, and is brought up when it comes', async () => {
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

  it('does not mistake a namesake for the owner', async () => {
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

  it('is not guessed when the server cannot be asked', async () => {
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

  it('brings up everything below what goes', async () => {
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
