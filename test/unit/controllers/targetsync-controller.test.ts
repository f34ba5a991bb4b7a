/** The events that trigger a target sync. */
import { expect } from 'chai';
import { targetSyncController, type TargetSyncPorts } from '../../../controllers/targetsync/index.ts';
import type { Target } from '../../../src/api/kinds/target.ts';
import { TARGET_SYNC_OK, labels } from '../../../src/api/labels.ts';
import { targetSyncKind, type TargetSync } from '../../../src/api/kinds/targetsync.ts';
import { admits, type Predicate } from '../../../src/runtime/sources/filters.ts';
import type { SourceHost } from '../../../src/runtime/sources/sources.ts';
import type { Cache, Change, Key, Subscriber } from '../../../src/runtime/types.ts';
import { NOW } from '../../support/given.ts';

const sync = (name: string, meta: object = {}): TargetSync =>
  ({ metadata: { name, namespace: 'demo', uid: `uid-${name}`, generation: 1, ...meta } }) as TargetSync;

const first = sync('first');
const deleting = sync('first', { deletionTimestamp: NOW });

function controllerWith(more: Partial<TargetSyncPorts> = {}) {
  let subscriber: Subscriber<TargetSync> | undefined;
  const targetSyncs = {
    isSynced: true,
    list: (namespace: string) => (namespace === 'demo' ? [first, sync('second'), sync('third')] : []),
    subscribe: (one: Subscriber<TargetSync>) => (subscriber = one),
  } as unknown as Cache<TargetSync>;
  let targetSubscriber: Subscriber<Target> | undefined;
  const targets = {
    name: 'targets',
    isSynced: true,
    subscribe: (one: Subscriber<Target>) => (targetSubscriber = one),
  } as unknown as Cache<Target>;
  const spec = targetSyncController({ ...more, world: { targetSyncs, targets } } as TargetSyncPorts);
  return { spec, subscriber: () => subscriber, targetSubscriber: () => targetSubscriber };
}

function listener() {
  const woken: Key[] = [];
  const host = {
    controller: 'targetsync',
    ownEvents: 'filter',
    guard: (_: string, run: () => unknown) => run(),
    emit: (key: Key) => woken.push(key),
    ignored: () => undefined,
  } as unknown as SourceHost<TargetSync>;
  return { host, woken };
}

const target = (meta: object): Target =>
  ({
    metadata: { name: 't', namespace: 'demo', ...meta },
    spec: { type: 'x', secretRef: { name: 't' } },
  }) as Target;
const synced = target({ labels: { [labels.targetSync]: TARGET_SYNC_OK } });

describe('the controller of target syncs', () => {
  it('manages finalizers by itself, and retries after failures', () => {
    expect(controllerWith().spec).to.deep.include({
      name: 'targetsync',
      kind: targetSyncKind,
      finalizer: { handledBy: 'reconciler' },
      generation: 'off',
      retry: 'growing',
    });
  });

  it('has as many workers as configured', () => {
    expect(controllerWith({ workers: 3 }).spec).to.include({ maxConcurrent: 3 });
    expect(controllerWith().spec).not.to.have.property('maxConcurrent');
  });

  const update = (obj: TargetSync, old = first): Change<TargetSync> => ({
    type: 'update',
    old,
    obj,
    relisted: false,
  });
  const own: readonly (readonly [string, Change<TargetSync>, boolean])[] = [
    ['a new spec', update(sync('first', { generation: 2 })), true],
    ['a new annotation', update(sync('first', { annotations: { a: 'b' } })), true],
    ['a new label', update(sync('first', { labels: { a: 'b' } })), true],
    ['its deletion', update(deleting), true],
    ['a new status', update(sync('first', { resourceVersion: '2' })), false],
  ];
  for (const [what, change, isWoken] of own) {
    it(`reconciles a target sync ${isWoken ? 'after' : 'no earlier for'} ${what}`, () => {
      const { filter } = controllerWith().spec;
      expect(admits(filter as Predicate<TargetSync>, change)).to.equal(isWoken);
    });
  }

  const others: readonly (readonly [string, Change<TargetSync>, readonly Key[]])[] = [
    ['is created, which stops them', { type: 'add', obj: first, initial: false }, ['demo/second', 'demo/third']],
    ['is gone, which lets them continue', { type: 'delete', obj: first, finalStateUnknown: false }, ['demo/second', 'demo/third']],
    ['is deleted, which lets them continue', update(deleting), ['demo/second', 'demo/third']],
    ['has been under deletion for a while', update(deleting, deleting), []],
    ['changes otherwise', update(sync('first', { generation: 2 })), []],
  ]; // prettier-ignore
  for (const [what, change, keys] of others) {
    it(`reconciles ${keys.length ? 'the others of a namespace' : 'no other'} if one ${what}`, () => {
      const { spec, subscriber } = controllerWith();
      const { host, woken } = listener();
      spec.sources?.[0]?.attach(host);
      subscriber()?.on(change);
      expect(woken).to.deep.equal(keys);
      expect(subscriber()).to.have.property('ownEvents', 'deliver');
    });
  }

  const deleted = (obj: Target): Change<Target> => ({ type: 'delete', obj, finalStateUnknown: false });
  const ofTargets: readonly (readonly [string, Change<Target>, readonly Key[]])[] = [
    ['is deleted', deleted(synced), ['demo/first', 'demo/second', 'demo/third']],
    ['of a user is deleted', deleted(target({})), []],
    ['is created', { type: 'add', obj: synced, initial: false }, []],
    ['changes', { type: 'update', old: synced, obj: synced, relisted: false }, []],
  ];
  for (const [what, change, keys] of ofTargets) {
    it(`reconciles ${keys.length ? 'the target syncs of a namespace' : 'none'} if a target ${what}`, () => {
      const { spec, targetSubscriber } = controllerWith();
      const { host, woken } = listener();
      spec.sources?.[1]?.attach(host);
      targetSubscriber()?.on(change);
      expect(woken).to.deep.equal(keys);
    });
  }
});
