import { expect } from 'chai';
import { ResponseTooLarge } from '../../../src/runtime/errors.ts';
import { settle } from '../../support/clock.ts';
import { statusError, thing } from '../../support/scripted-api.ts';
import { harness } from './harness.ts';

const spec = (obj: unknown): unknown => (obj as { spec?: unknown } | undefined)?.spec;

describe('own writes and their echoes', () => {
  it('RUN-40: a second reconcile reads what the first has written while the watch is still behind', async () => {
    const { api, cache, clock, start } = harness();
    api.put(thing('a', { spec: { x: 1 } }));
    await start();
    api.isHeld = true;

    const ticket = cache.begin('ns/a', 'me');
    ticket.done(api.put(thing('a', { spec: { x: 2 } })), true);
    await clock.advance(10);
    expect(spec(cache.get('ns/a'))).to.deep.equal({ x: 2 });
    expect([...cache.list('ns')].map(spec)).to.deep.equal([{ x: 2 }]);
    expect(cache.unconfirmed).to.equal(1);

    api.release();
    await settle();
    expect(cache.unconfirmed).to.equal(0);
    expect(spec(cache.get('ns/a'))).to.deep.equal({ x: 2 });
  });

  for (const order of ['event first', 'answer first']) {
    it(`RUN-41: the echo of a conditional write is not delivered to its writer, ${order}`, async () => {
      const { api, cache, start, listen } = harness();
      api.put(thing('c'));
      const mine = listen('me');
      const others = listen('other');
      const all = listen('me', 'deliver');
      await start();
      for (const heard of [mine, others, all]) heard.length = 0;

      api.isHeld = order === 'answer first';
      const ticket = cache.begin('ns/c', 'me');
      const answer = api.put(thing('c', { spec: { x: 1 } }));
      await settle();
      ticket.done(answer, true);
      api.release();
      await settle();

      expect(mine).to.deep.equal([]);
      expect(others).to.deep.equal(['update ns/c 11→12']);
      expect(all).to.deep.equal(['update ns/c 11→12']);
      expect(cache.unconfirmed).to.equal(0);
    });
  }

  it('RUN-42: a foreign write between our write and its response is delivered as a change from ours to theirs', async () => {
    const { api, cache, start, listen } = harness();
    api.put(thing('a'));
    const heard = listen();
    await start();
    heard.length = 0;

    const ticket = cache.begin('ns/a', 'me');
    const answer = api.put(thing('a', { spec: { ours: true } }));
    api.put(thing('a', { spec: { theirs: true } }));
    await settle();
    expect(heard).to.deep.equal([]);
    ticket.done(answer, true);
    expect(heard).to.deep.equal(['update ns/a 12→13']);
    expect(spec(cache.get('ns/a'))).to.deep.equal({ theirs: true });
    expect(cache.unconfirmed).to.equal(0);
  });

  it('RUN-42: an unconditional write that changed nothing does not suppress the foreign event of its version', async () => {
    const { api, cache, start, listen } = harness();
    api.put(thing('a'));
    const heard = listen();
    await start();
    heard.length = 0;

    api.isHeld = true;
    const foreign = api.put(thing('a', { spec: { theirs: true } }));
    cache.begin('ns/a', 'me').done(foreign, false);
    api.release();
    await settle();
    expect(heard).to.deep.equal(['update ns/a 11→12']);
  });

  it('delivers everything after a write has failed', async () => {
    const { api, cache, start, listen } = harness();
    api.put(thing('a'));
    const heard = listen();
    await start();
    heard.length = 0;

    const ticket = cache.begin('ns/a', 'me');
    api.put(thing('a', { spec: { n: 1 } }));
    api.put(thing('a', { spec: { n: 2 } }));
    await settle();
    ticket.failed();
    expect(heard).to.deep.equal(['update ns/a 11→13']);
  });

  it('holds events until the last of several writes is answered', async () => {
    const { api, cache, start, listen } = harness();
    api.put(thing('a'));
    const heard = listen();
    await start();
    heard.length = 0;

    const first = cache.begin('ns/a', 'me');
    const second = cache.begin('ns/a', 'me');
    const answer1 = api.put(thing('a', { spec: { n: 1 } }));
    const answer2 = api.put(thing('a', { spec: { n: 2 } }));
    await settle();
    second.done(answer2, true);
    expect(heard).to.deep.equal([]);
    first.done(answer1, true);
    expect(heard).to.deep.equal([]);
    expect(spec(cache.get('ns/a'))).to.deep.equal({ n: 2 });
    api.put(thing('a', { spec: { n: 3 } }));
    await settle();
    expect(heard).to.deep.equal(['update ns/a 13→14']);
  });

  it('keeps the newer of two responses that arrive in the wrong order', async () => {
    const { api, cache, start } = harness();
    api.put(thing('a'));
    await start();
    api.isHeld = true;
    const answer1 = api.put(thing('a', { spec: { n: 1 } }));
    const answer2 = api.put(thing('a', { spec: { n: 2 } }));
    cache.begin('ns/a', 'me').done(answer2, true);
    cache.begin('ns/a', 'me').done(answer1, true);
    expect(spec(cache.get('ns/a'))).to.deep.equal({ n: 2 });
  });

  it('delivers the deletion of an object even if its writer caused it', async () => {
    const { api, cache, start, listen } = harness();
    api.put(thing('a', { finalizers: ['f'] }));
    const heard = listen();
    await start();
    heard.length = 0;

    const ticket = cache.begin('ns/a', 'me');
    const answer = api.put(thing('a', { deletionTimestamp: '2026-01-01T00:00:00Z' }));
    api.remove('ns/a');
    await settle();
    ticket.done(answer, true);
    expect(heard).to.deep.equal(['delete ns/a 13']);
    expect(cache.get('ns/a'), 'a late answer must not bring it back').to.equal(undefined);
    expect(cache.unconfirmed).to.equal(0);
  });

  it('delivers a deletion and the recreation under the same name as two changes', async () => {
    const { api, cache, start, listen } = harness();
    api.put(thing('a'));
    const heard = listen();
    await start();
    heard.length = 0;

    const ticket = cache.begin('ns/a', 'me');
    const answer = api.put(thing('a', { spec: { ours: true } }));
    api.remove('ns/a');
    api.put(thing('a', { uid: 'another' }));
    await settle();
    ticket.done(answer, true);
    expect(heard).to.deep.equal(['delete ns/a 13', 'add ns/a 14']);
    expect(cache.get('ns/a')?.metadata.uid).to.equal('another');
  });

  it('reads an object it has created before its event, also by index', async () => {
    const { api, cache, start, listen } = harness();
    cache.index('x', (obj) => [String((spec(obj) as { x?: number } | undefined)?.x)]);
    const heard = listen();
    api.put(thing('old', { spec: { x: 7 } }));
    await start();
    heard.length = 0;
    expect([...cache.keysByIndex('x', '7')]).to.deep.equal(['ns/old']);
    api.isHeld = true;
    const ticket = cache.begin('ns/new', 'me');
    ticket.done(api.put(thing('new', { spec: { x: 7 } })), true);
    expect(cache.byIndex('x', '7').map((o) => o.metadata.name)).to.deep.equal(['old', 'new']);
    expect([...cache.keysByIndex('x', '7')]).to.deep.equal(['ns/old', 'ns/new']);
    const moved = cache.begin('ns/old', 'me');
    moved.done(api.put(thing('old', { spec: { x: 9 } })), true);
    expect([...cache.keysByIndex('x', '7')]).to.deep.equal(['ns/new']);
    expect(cache.size).to.equal(2);
    const change = cache.begin('ns/new', 'me');
    change.done(api.put(thing('new', { spec: { x: 8 } })), true);
    expect(cache.byIndex('x', '7')).to.deep.equal([]);
    expect([...cache.keysByIndex('x', '7')]).to.deep.equal([]);
    api.release();
    await settle();
    expect(cache.byIndex('x', '8').map((o) => o.metadata.name)).to.deep.equal(['new']);
    expect(heard).to.deep.equal([]);
    expect(cache.unconfirmed).to.equal(0);
  });

  it('RUN-43: objects found by a relist are delivered even while our write is in progress and their version is ours', async () => {
    const { api, cache, start, listen, clock } = harness();
    api.put(thing('a'));
    const heard = listen();
    await start();
    heard.length = 0;

    await clock.advance(5_000);
    api.isHeld = true;
    const ticket = cache.begin('ns/a', 'me');
    const answer = api.put(thing('a', { spec: { ours: true } }));
    api.compact();
    api.drop();
    await settle();
    expect(heard).to.deep.equal(['update ns/a 11→12 relisted']);
    ticket.done(answer, true);
    expect(cache.unconfirmed).to.equal(0);
  });

  it('RUN-44: an object created by us and deleted by others during a gap is reported as deleted', async () => {
    const { api, cache, start, listen, clock } = harness();
    const mine = listen();
    const others = listen('other');
    await start();
    api.faults.watch.push(statusError(500));
    api.drop();
    const ticket = cache.begin('ns/c', 'me');
    ticket.done(api.put(thing('c')), true);
    expect(cache.get('ns/c')?.metadata.name).to.equal('c');
    api.remove('ns/c');
    api.compact();
    await clock.advance(5_000);
    expect(cache.get('ns/c')).to.equal(undefined);
    expect([...cache.list()]).to.deep.equal([]);
    expect(mine).to.deep.equal(['delete ns/c 11 unknown']);
    expect(others).to.deep.equal(['delete ns/c 11 unknown']);
    expect(cache.unconfirmed).to.equal(0);
  });

  it('keeps a write that is newer than the list that was in progress', async () => {
    const { api, cache, start, clock } = harness();
    await start();
    await clock.advance(5_000);
    api.isHeld = true;
    api.put(thing('b'));
    api.compact();
    const listed = api.version;
    api.beforePage = () => {
      api.beforePage = () => undefined;
      cache.begin('ns/c', 'me').done(api.put(thing('c')), true);
    };
    api.drop();
    await settle();
    expect(cache.get('ns/c')?.metadata.resourceVersion).to.equal(String(listed + 1));
    api.release();
    await settle();
    expect(cache.get('ns/c')?.metadata.name).to.equal('c');
    expect(cache.unconfirmed).to.equal(0);
  });

  it('does not keep a written object that its selector will never match', async () => {
    const { api, cache, start } = harness({ labels: 'app=x' });
    await start();
    cache.begin('ns/other', 'me').done(api.put(thing('other')), true);
    expect(cache.get('ns/other')).to.equal(undefined);
    expect(cache.unconfirmed).to.equal(0);
  });

  it('hides an object that a write removed from the selection until the watch confirms it', async () => {
    const { api, cache, start } = harness({ labels: 'app=x' });
    const before = api.put(thing('a', { labels: { app: 'x' } }));
    await start();
    api.isHeld = true;
    cache
      .begin('ns/a', 'me')
      .done({ ...before, metadata: { ...before.metadata, labels: {}, resourceVersion: '12' } }, true);
    expect(cache.get('ns/a')).to.equal(undefined);
    expect(cache.size).to.equal(0);
    api.remove('ns/a');
    api.release();
    await settle();
    expect(cache.unconfirmed).to.equal(0);
  });

  it('hides an object that was created and removed from the selection before the watch reported either', async () => {
    const { api, cache, start } = harness({ labels: 'app=x' });
    await start();
    api.isHeld = true;
    const made = api.put(thing('a', { labels: { app: 'x' } }));
    cache.begin('ns/a', 'me').done(structuredClone(made), true);
    const version = String(Number(made.metadata.resourceVersion) + 1);
    const hidden = { ...made, metadata: { ...made.metadata, labels: {}, resourceVersion: version } };
    cache.begin('ns/a', 'me').done(hidden, true);
    api.release();
    await settle();
    expect(cache.get('ns/a')).to.equal(undefined);
    api.remove('ns/a');
    await settle();
    expect(cache.get('ns/a')).to.equal(undefined);
    expect(cache.unconfirmed).to.equal(0);
  });

  it('does not share the response with the writer', async () => {
    const { api, cache, start } = harness();
    await start();
    api.isHeld = true;
    const answer = api.put(thing('a', { spec: { x: 1 } }));
    cache.begin('ns/a', 'me').done(answer, true);
    answer.spec!['x'] = 2;
    expect(spec(cache.get('ns/a'))).to.deep.equal({ x: 1 });
  });

  it('freezes the objects that it returns', async () => {
    const { api, cache, start } = harness();
    api.put(thing('a', { spec: { x: 1 } }));
    await start();
    expect(Reflect.set(cache.get('ns/a')?.spec ?? {}, 'x', 2)).to.equal(false);
    expect(cache.get('ns/a')?.spec).to.deep.equal({ x: 1 });
  });

  it('delivers foreign events again after a response that could not be stored', async () => {
    const { api, cache, start, listen } = harness({
      transform(obj) {
        if (obj.spec?.['bad']) throw new Error('cannot');
        return obj;
      },
    });
    api.put(thing('a'));
    const heard = listen();
    await start();
    heard.length = 0;
    cache.begin('ns/a', 'me').done(thing('a', { spec: { bad: true } }), true);
    api.put(thing('a', { spec: { theirs: true } }));
    await settle();
    expect(heard).to.deep.equal(['update ns/a 11→12']);
    expect(cache.remembered).to.equal(0);
  });

  it('suppresses only the first event if versions cannot be compared', async () => {
    const { api, cache, start, listen } = harness({ incomparableVersions: true });
    api.put(thing('a'));
    const heard = listen();
    await start();
    heard.length = 0;
    api.isHeld = true;
    cache.begin('ns/a', 'me').done(api.put(thing('a', { spec: { ours: true } })), true);
    expect(spec(cache.get('ns/a'))).to.deep.equal({ ours: true });
    api.put(thing('a', { spec: { theirs: true } }));
    api.release();
    await settle();
    expect(heard).to.deep.equal(['update ns/a 12→13']);
    expect(cache.unconfirmed).to.equal(0);
  });
});

describe('a cache', () => {
  it('delivers existing objects to a late subscriber', async () => {
    const { api, start, listen } = harness();
    api.put(thing('a'));
    await start();
    expect(listen()).to.deep.equal(['add ns/a 11 initial']);
  });

  it('continues if a subscriber throws', async () => {
    const { api, cache, start, listen } = harness();
    cache.subscribe({
      name: 'bad',
      ownEvents: 'deliver',
      on() {
        throw new Error('mapper failed');
      },
    });
    const heard = listen();
    await start();
    api.put(thing('a'));
    api.put(thing('b'));
    await settle();
    expect(heard).to.deep.equal(['add ns/a 11', 'add ns/b 12']);
  });

  it('RUN-C5: watches each of its namespaces separately', async () => {
    const { api, cache, start, listen } = harness({ namespaces: ['n1', 'n2'] });
    api.put(thing('a', { namespace: 'n1' }));
    api.put(thing('b', { namespace: 'n2' }));
    api.put(thing('c', { namespace: 'n3' }));
    const heard = listen();
    await start();
    expect(cache.isSynced).to.equal(true);
    expect(heard.sort()).to.deep.equal(['add n1/a 11 initial', 'add n2/b 12 initial']);
    expect([...cache.list('n1')].map((o) => o.metadata.name)).to.deep.equal(['a']);
    api.remove('n1/a');
    await settle();
    expect([...cache.list()].map((o) => o.metadata.name)).to.deep.equal(['b']);
  });

  it('RUN-C5: a relist of one namespace does not affect the others', async () => {
    const { api, cache, start, clock, listen } = harness({ namespaces: ['n1', 'n2'] });
    api.put(thing('a', { namespace: 'n1' }));
    api.put(thing('b', { namespace: 'n2' }));
    await start();
    const heard = listen();
    heard.length = 0;
    await clock.advance(5_000);
    const lists = api.count('list');
    api.version++;
    api.compact();
    api.drop();
    await settle();
    expect(api.count('list'), 'one list for each namespace').to.equal(lists + 2);
    expect(heard).to.deep.equal([]);
    expect([...cache.list()].map((o) => o.metadata.name).sort()).to.deep.equal(['a', 'b']);
  });

  it('forgets an own write if the history of the server has been reset', async () => {
    const { api, cache, clock, start } = harness();
    api.version = 99;
    api.put(thing('x'));
    await start();
    await clock.advance(5_000);
    const written = { ...thing('x'), metadata: { ...thing('x').metadata, resourceVersion: '150' } };
    cache.begin('ns/x', 'me').done(written, true);
    expect([cache.unconfirmed, cache.get('ns/x')?.metadata.resourceVersion]).to.deep.equal([1, '150']);
    api.objects.get('ns/x')!.metadata.resourceVersion = '50';
    api.version = 60;
    api.compact();
    api.drop();
    api.faults.watch.push(statusError(410));
    await clock.advance(60_000);
    expect([cache.unconfirmed, cache.get('ns/x')?.metadata.resourceVersion]).to.deep.equal([0, '50']);
  });

  it('passes its selectors on to the server', async () => {
    const { api, start } = harness({ labels: 'a=b', fields: 'metadata.name=x' });
    await start();
    for (const { query } of api.requests) {
      expect(query).to.include({ labels: 'a=b', fields: 'metadata.name=x' });
    }
  });

  it('RUN-52: stores objects without managed fields', async () => {
    const { api, cache, start } = harness();
    api.put(thing('a', { managedFields: [{ manager: 'kubectl' }] }));
    await start();
    expect(cache.get('ns/a')?.metadata).not.to.have.property('managedFields');
  });

  it('keeps the stored object if its transform fails', async () => {
    const { api, cache, start } = harness({
      transform(obj) {
        if (obj.spec?.['bad']) throw new Error('cannot');
        return obj;
      },
    });
    api.put(thing('a', { spec: { n: 1 } }));
    await start();
    api.put(thing('a', { spec: { bad: true } }));
    api.put(thing('b'));
    await settle();
    expect(spec(cache.get('ns/a'))).to.deep.equal({ n: 1 });
    expect(cache.get('ns/b')).not.to.equal(undefined);
  });

  it('RUN-C18: reports itself and the reason if the first list does not succeed', async () => {
    const { api, cache, clock, signal } = harness();
    for (let i = 0; i < 50; i++) {
      api.faults.list.push(statusError(403));
      api.faults.watch.push(statusError(403));
    }
    const started = cache.start(signal);
    const failed = started.then(
      () => 'filled',
      (error: unknown) => String(error),
    );
    await clock.advance(121_000);
    expect(await failed).to.match(
      /^SourceError: things\.example\.io could not be read within 120 s: .*said 403/,
    );
  });

  it('fails at once if the first list is larger than the limit for a target', async () => {
    const { api, cache, clock, signal } = harness();
    const message = 'more than 32 MiB in a list, limits.targetResponseMiB raises it';
    for (let i = 0; i < 5; i++) {
      api.faults.list.push(new ResponseTooLarge({ message, excess: 'list', isFinal: true }));
      api.faults.watch.push(new ResponseTooLarge({ message, excess: 'frame', isFinal: true }));
    }
    const failed = cache.start(signal).then(
      () => 'filled',
      (error: unknown) => String(error),
    );
    await clock.advance(5_000);
    expect(await Promise.race([failed, Promise.resolve('waiting')])).to.equal(
      `SourceError: things.example.io could not be read: ${message}`,
    );
  });

  it('starts once however often start is called', async () => {
    const { api, cache, signal } = harness();
    await Promise.all([cache.start(signal), cache.start(signal)]);
    expect(api.count('list')).to.equal(1);
  });
});
