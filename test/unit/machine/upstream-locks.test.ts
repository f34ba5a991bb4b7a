import { expect } from 'chai';
import { deployItemKind } from '../../../src/api/kinds/deployitem.ts';
import { executionKind } from '../../../src/api/kinds/execution.ts';
import { installationKind } from '../../../src/api/kinds/installation.ts';
import type { SyncObject } from '../../../src/api/kinds/syncobject.ts';
import { lockName, podLookup, respectUpstreamLocks } from '../../../src/landscape/upstream-locks.ts';
import { silentLogger } from '../../../src/observability/log.ts';
import type { ControllerSpec } from '../../../src/runtime/controller/controller.ts';
import { apiErrorFrom } from '../../../src/runtime/errors.ts';
import { watchSource, type SourceHost } from '../../../src/runtime/sources/sources.ts';
import type {
  Cache,
  Client,
  Context,
  Key,
  Kind,
  Obj,
  Query,
  Subscriber,
} from '../../../src/runtime/types.ts';
import { FakeClock } from '../../support/clock.ts';
import { execution, installation, item } from '../../support/given.ts';

const lock = (kind: string, uid: string, podName: string): SyncObject =>
  ({
    metadata: { name: `${kind.toLowerCase()}s-${uid}`, namespace: 'demo' },
    spec: { kind, name: 'web', podName },
  }) as unknown as SyncObject;

/** The locks of a namespace, and their listeners. */
function locksOf(...objects: readonly SyncObject[]) {
  const subscribers: Subscriber<SyncObject>[] = [];
  const cache = {
    isSynced: true,
    get: (key: Key) => objects.find(({ metadata }) => key === `demo/${metadata.name}`),
    subscribe: (subscriber: Subscriber<SyncObject>) => subscribers.push(subscriber),
  } as unknown as Cache<SyncObject>;
  return { cache, subscribers };
}

const DONE = { write: 'none' } as const;

function controllerOf(kind: Kind): ControllerSpec<Obj> {
  const other = watchSource({ name: 'other', cache: {} as never, toPrimary: () => [] });
  return { name: 'x', kind, sources: [other], reconciler: { reconcile: () => Promise.resolve(DONE) } };
}

const ctx = { log: silentLogger } as Context<Obj>;
const holders =
  (...names: readonly string[]) =>
  (name: string): Promise<boolean> =>
    Promise.resolve(names.includes(name));

const kinds = { Installation: installationKind, Execution: executionKind, DeployItem: deployItemKind };

describe('an object that a replica of upstream may hold', () => {
  const web = installation('web');
  const plan = execution('web');
  const rows: readonly (readonly [string, Obj, readonly SyncObject[], object])[] = [
    ['is reconciled without a lock', web, [], DONE],
    ['is left alone while the pod of its lock exists', web, [lock('Installation', 'uid-web', 'alive')], { write: 'none', requeueAfterMs: 60_000 }],
    ['is left alone as an execution, too', plan, [lock('Execution', 'uid-web', 'alive')], { write: 'none', requeueAfterMs: 60_000 }],
    ['is reconciled if the pod is gone', web, [lock('Installation', 'uid-web', 'dead')], DONE],
    ['is reconciled if its lock has no holder', web, [lock('Installation', 'uid-web', '')], DONE],
    ['is reconciled if the lock is of another object', web, [lock('Installation', 'uid-b', 'alive'), lock('Execution', 'uid-web', 'alive')], DONE],
    ['is reconciled if it is a deploy item, for which there are no locks', item('plan', 'a'), [lock('Execution', 'uid-plan-a-x', 'alive')], DONE],
  ]; // prettier-ignore
  for (const [title, object, locks, answer] of rows) {
    it(title, async () => {
      const spec = controllerOf(kinds[object.kind as keyof typeof kinds]);
      const locked = respectUpstreamLocks(spec, () => locksOf(...locks).cache, holders('alive', ''));
      expect(await locked.reconciler.reconcile(object, ctx)).to.deep.equal(answer);
    });
  }

  it('is reconciled again when its lock changes, in addition to the other triggers of its controller', () => {
    const { cache, subscribers } = locksOf();
    const { sources = [] } = respectUpstreamLocks(
      controllerOf(installationKind as unknown as Kind),
      () => cache,
      holders(),
    );
    expect(sources.map(({ name }) => name)).to.deep.equal(['other', 'locks']);
    const woken: string[] = [];
    const host = {
      controller: 'x',
      guard: (_: string, run: () => unknown) => run(),
      emit: (key: Key) => woken.push(key),
      ignored: () => woken.push('nothing'),
    } as unknown as SourceHost;
    sources[1]?.attach(host);
    for (const obj of [lock('Installation', 'uid-web', 'a'), lock('Execution', 'uid-web', 'a')])
      subscribers[0]?.on({ type: 'add', initial: false, obj });
    expect(woken).to.deep.equal(['demo/web', 'nothing']);
  });

  it('has a lock named as upstream does', () => {
    expect(lockName('Installation', 'u')).to.equal('installations-u');
    expect(lockName('Execution', 'u')).to.equal('executions-u');
  });
});

describe('whether a pod exists', () => {
  const self = { name: 'me', namespace: 'system' };

  /** An API server with these pods; a number is the code with which it refuses. */
  function clusterWith(pods: readonly string[] | number) {
    const asked: string[] = [];
    const answer = (what: string): readonly string[] => {
      asked.push(what);
      if (typeof pods === 'number') throw apiErrorFrom(pods, {}, { verb: 'get', kind: 'Pod' });
      return pods;
    };
    const client = {
      get: async (_: Kind, key: Key) => {
        await Promise.resolve();
        if (!answer(key).includes(key)) throw apiErrorFrom(404, {}, { verb: 'get', kind: 'Pod' });
      },
      async *list(_: Kind, { fields = '' }: Query) {
        yield await Promise.resolve({ items: [] });
        yield { items: answer(fields).filter((key) => fields === `metadata.name=${key.split('/')[1]}`) };
      },
    } as unknown as Client;
    return { client, asked };
  }
  const clock = new FakeClock();

  const rows: readonly (readonly [string, string, readonly string[] | number, boolean | number, readonly string[]])[] = [
    ['is true if it does', 'a', ['system/a'], true, ['system/a']],
    ['is false if it does not', 'a', [], false, ['system/a']],
    ['is false for one of another namespace', 'a', ['other/a'], false, ['system/a']],
    ['is true if the server forbids the request', 'a', 403, true, ['system/a']],
    ['is unknown if the server fails', 'a', 500, 500, ['system/a']],
    ['is false for an earlier pod of our own name', 'me', ['system/me'], false, []],
    ['is true for a replica that does not know its pod', 'nopodname', [], true, []],
  ]; // prettier-ignore
  for (const [title, name, pods, answer, requests] of rows) {
    it(title, async () => {
      const { client, asked } = clusterWith(pods);
      const podExists = podLookup({ client, clock, self });
      const found = await podExists(name).catch((error: unknown) => (error as { status: number }).status);
      expect(found).to.equal(answer);
      expect(asked).to.deep.equal(requests);
    });
  }

  it('includes the pods of all namespaces if we do not know our own', async () => {
    const { client, asked } = clusterWith(['other/a']);
    const podExists = podLookup({ client, clock });
    expect(await podExists('a')).to.equal(true);
    expect(await podExists('b')).to.equal(false);
    expect(asked).to.deep.equal(['metadata.name=a', 'metadata.name=b']);
  });

  it('is requested once a minute for each pod', async () => {
    const { client, asked } = clusterWith(['system/a']);
    const moving = new FakeClock();
    const podExists = podLookup({ client, clock: moving, self });
    for (const ms of [0, 59_999, 1]) {
      await moving.advance(ms);
      expect(await podExists('a')).to.equal(true);
      expect(await podExists('b')).to.equal(false);
    }
    expect(asked).to.deep.equal(['system/a', 'system/b', 'system/a', 'system/b']);
  });
});
