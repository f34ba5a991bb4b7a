import { expect } from 'chai';
import { Stale, Store } from '../../../src/apiserver/store/storage.ts';
import type { KubeObject } from '../../../src/apiserver/types.ts';
import { FakeClock } from '../../support/clock.ts';

describe('the store', () => {
  let clock: FakeClock;
  let store: Store;
  const R = '/configmaps';

  beforeEach(() => {
    clock = new FakeClock();
    store = new Store({ events: 10, seconds: 300 }, () => clock.now());
  });

  const object = (name: string, more: object = {}): KubeObject => ({
    kind: 'ConfigMap',
    apiVersion: 'v1',
    metadata: { name, uid: `uid-${name}`, ...more },
  });
  const put = (key: string, more: object = {}): number =>
    store.commit(R, key, undefined, object(key.slice(key.indexOf('/') + 1), more)).rev;
  const keysAt = (rev?: number, prefix = ''): string[] =>
    store
      .resource(R)
      .list(prefix, '', rev)
      .map((entry) => entry.key);

  it('counts every commit, of any resource, including deletions', () => {
    expect(put('ns/a')).to.equal(1);
    expect(store.commit('/secrets', 'ns/s', undefined, object('s')).rev).to.equal(2);
    expect(store.commit(R, 'ns/a', undefined, undefined).rev).to.equal(3);
    expect(store.rev).to.equal(3);
  });

  it('writes the revision into the object', () => {
    put('ns/a');
    expect(store.get(R, 'ns/a')?.obj.metadata.resourceVersion).to.equal('1');
  });

  it('rejects a commit that expects another state', () => {
    put('ns/a');
    expect(() => store.commit(R, 'ns/a', 0, object('a'))).to.throw(Stale);
    expect(() => store.commit(R, 'ns/b', 1, object('b'))).to.throw(Stale);
    store.commit(R, 'ns/a', 1, object('a'));
    expect(store.rev).to.equal(2);
  });

  it('lists by key, below a prefix, after a key', () => {
    for (const key of ['b/x', 'a/z', 'a/y', 'ab/q']) put(key);
    expect(keysAt()).to.deep.equal(['a/y', 'a/z', 'ab/q', 'b/x']);
    expect(keysAt(undefined, 'a/')).to.deep.equal(['a/y', 'a/z']);
    expect(
      store
        .resource(R)
        .list('a/', 'a/y')
        .map((e) => e.key),
    ).to.deep.equal(['a/z']);
  });

  it('lists a past revision by undoing later changes', () => {
    put('ns/a');
    const then = put('ns/b', { labels: { x: 'old' } });
    put('ns/b', { labels: { x: 'new' } });
    put('ns/c');
    store.commit(R, 'ns/a', undefined, undefined);
    expect(keysAt(then)).to.deep.equal(['ns/a', 'ns/b']);
    const [, b] = store.resource(R).list('', '', then);
    expect(b?.obj.metadata.labels).to.deep.equal({ x: 'old' });
    expect(keysAt()).to.deep.equal(['ns/b', 'ns/c']);
  });

  it('compacts the past when it is old and large enough', async () => {
    for (let i = 0; i < 20; i++) put(`ns/${i}`);
    expect(store.resource(R).compactedBefore).to.equal(0);
    await clock.advance(301_000);
    put('ns/late');
    expect(store.resource(R).compactedBefore).to.equal(11);
    expect(store.resource(R).changesAfter(11)).to.have.length(10);
  });

  it('compacts even the recent past if it is too large', () => {
    for (let i = 0; i < 60; i++) put(`ns/${i}`);
    expect(store.resource(R).compactedBefore).to.equal(10);
  });

  it('finds dependents by owner', () => {
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: 'uid-o' };
    put('ns/a', { ownerReferences: [owner] });
    expect(store.byOwner('uid-o')).to.deep.equal([{ resource: R, key: 'ns/a' }]);
    put('ns/a');
    expect(store.byOwner('uid-o')).to.deep.equal([]);
  });
});
