import { expect } from 'chai';
import { FakeClock, settle } from '../../support/clock.ts';
import { recordingLogger } from '../../support/recording-logger.ts';
import { ScriptedApi, statusError, thing, THINGS } from '../../support/scripted-api.ts';
import { createCache } from '../../../src/runtime/cache/cache.ts';
import { seededRng } from '../../../src/lib/rng.ts';
import { ResponseTooLarge, TransportError } from '../../../src/runtime/errors.ts';
import { harness } from './harness.ts';

const names = (objects: Iterable<{ metadata: { name: string } }>): string[] =>
  [...objects].map((o) => o.metadata.name).sort();
const reset = (): Error =>
  new TransportError({ message: 'lost the connection (ECONNRESET)', safeToRepeat: true });

describe('a watch', () => {
  it('RUN-45: continues at its version after every kind of error, at growing intervals, without a list', async () => {
    const { api, cache, clock, start, listen } = harness();
    api.put(thing('a'));
    await start();
    const heard = listen();
    heard.length = 0;
    await clock.advance(5_000);
    const [lists, watches] = [api.count('list'), api.count('watch')];

    api.faults.watch.push(statusError(500), statusError(403), statusError(401));
    api.drop(reset());
    await settle();
    const at: number[] = [];
    for (let seen = watches; api.count('watch') < watches + 4;) {
      expect(cache.problem).to.be.a('string');
      await clock.advance(50);
      if (api.count('watch') > seen) at.push(clock.now());
      seen = api.count('watch');
    }
    const pauses = at.map((t, i) => t - (at[i - 1] ?? 5_000));
    for (const [i, pause] of pauses.entries()) {
      expect(pause).to.be.within(800 * 2 ** i * 0.8, 800 * 2 ** i * 1.2 + 50);
    }
    expect(api.count('list')).to.equal(lists);
    expect(cache.problem).to.equal(undefined);
    api.put(thing('b'));
    await settle();
    expect(heard).to.deep.equal(['add ns/b 12']);
    expect(api.requests.at(-1)?.query.resourceVersion).to.equal('11');
  });

  it('never waits longer than half a minute and a fifth, and never gives up', async () => {
    const { api, cache, clock, start } = harness();
    await start();
    for (let i = 0; i < 100; i++) api.faults.watch.push(statusError(503));
    const before = api.count('watch');
    api.drop(reset());
    await clock.advance(30 * 60_000);
    const tries = api.count('watch') - before;
    expect(tries).to.be.within(48, 80);
    expect(cache.problem).to.contain('said 503');
  });

  it('forgets the failures before a connection that lasted', async () => {
    const { api, clock, start } = harness();
    await start();
    for (let i = 0; i < 8; i++) api.faults.watch.push(statusError(500));
    api.drop(reset());
    await clock.advance(5 * 60_000);
    api.drop(reset());
    await settle();
    const before = api.count('watch');
    api.drop(reset());
    await clock.advance(1_000);
    expect(api.count('watch')).to.equal(before + 1);
  });

  it('lists everything in pages after an event that is too large, reports it, and never does it in a loop', async () => {
    const { api, cache, clock, start, listen } = harness();
    api.streaming = 'yes';
    await start();
    const heard = listen();
    await clock.advance(20_000);
    const before = [api.count('list'), api.count('watch')] as const;
    api.isHeld = true;
    api.put(thing('large'));
    const refused = new ResponseTooLarge({
      message: 'an event of more than 16 MiB',
      excess: 'frame',
      isFinal: false,
    });
    api.drop(refused);
    await settle();
    expect(cache.problem).to.equal('an event of more than 16 MiB');
    expect(api.count('watch')).to.equal(before[1]);
    await clock.advance(2_000);
    expect(cache.problem).to.equal(undefined);
    expect(api.count('list')).to.equal(before[0] + 1);
    expect(heard).to.deep.equal(['add ns/large 11']);
    const lists = api.count('list');
    for (let tenth = 0; tenth < 300; tenth++) {
      api.drop(refused);
      await clock.advance(100);
    }
    expect(api.count('list') - lists, 'lists in 30 s').to.be.within(1, 30);
  });

  for (const [what, deliver] of [
    ['delivers events', (api: ScriptedApi) => void api.put(thing('a'))],
    [
      'sends bookmarks',
      (api: ScriptedApi) => {
        api.version++;
        api.bookmark();
      },
    ],
    ['has no events', () => undefined],
  ] as const) {
    it(`never waits for a server that ${what} and whose connections are cut every 15 to 20 seconds`, async () => {
      const { api, cache, clock, start } = harness();
      await start();
      await clock.advance(1_000);
      for (let cut = 0; cut < 40; cut++) {
        const before = api.count('watch');
        await clock.advance(14_000);
        deliver(api);
        await clock.advance(1_000 + (cut % 6) * 1_000);
        api.drop(reset());
        await settle();
        expect(cache.problem, `after cut ${String(cut)}`).to.equal(undefined);
        expect(api.count('watch'), `after cut ${String(cut)}`).to.equal(before + 1);
      }
      expect(api.count('list')).to.equal(1);
    });
  }

  it('does not flood a server that cuts every connection after one event, nor does it wait long', async () => {
    for (const error of [reset(), undefined]) {
      const { api, cache, clock, start } = harness();
      await start();
      await clock.advance(2_000);
      const before = api.count('watch');
      for (let tenth = 0; tenth < 600; tenth++) {
        api.put(thing('a'));
        await settle();
        api.drop(error);
        await clock.advance(100);
      }
      expect(api.count('watch') - before).to.be.within(50, 95);
      expect(cache.get('ns/a')?.metadata.resourceVersion).to.equal(String(api.version));
    }
  });

  it('waits longer and longer for a server that repeats the same bookmark and cuts the connection', async () => {
    const { api, clock, start } = harness();
    await start();
    const before = api.count('watch');
    for (let tenth = 0; tenth < 600; tenth++) {
      api.bookmark();
      await settle();
      api.drop(reset());
      await clock.advance(100);
    }
    expect(api.count('watch') - before).to.be.below(10);
  });

  it('waits longer and longer for a server whose streamed list takes long and breaks', async () => {
    const { api, clock, start } = harness();
    api.streaming = 'no bookmark';
    await start();
    for (let second = 0; second < 300; second++) {
      api.put(thing('a'));
      await clock.advance(1_000);
      if (second % 12 === 11) api.drop(reset());
    }
    expect(api.count('watch')).to.be.below(16);
    expect(api.count('list')).to.equal(0);
  });

  it('waits as long as the server requests, even after a connection that lasted', async () => {
    const { api, clock, start } = harness();
    await start();
    await clock.advance(60_000);
    const before = api.count('watch');
    api.drop(Object.assign(statusError(429), { retryAfterMs: 20_000 }));
    await clock.advance(19_900);
    expect(api.count('watch')).to.equal(before);
    await clock.advance(200);
    expect(api.count('watch')).to.equal(before + 1);
  });

  it('continues at once if the server ends a watch in time', async () => {
    const { api, cache, clock, start } = harness();
    await start();
    await clock.advance(300_000);
    const before = api.count('watch');
    api.drop();
    await settle();
    expect(api.count('watch')).to.equal(before + 1);
    expect(cache.problem).to.equal(undefined);
  });

  it('does not flood a server that ends every watch at once', async () => {
    const { api, clock, start } = harness();
    await start();
    for (let i = 0; i < 600; i++) {
      api.drop();
      await clock.advance(100);
    }
    expect(api.count('watch')).to.be.below(15);
  });

  it('respects a pause that the server requests', async () => {
    const { api, clock, start } = harness();
    await start();
    const error = Object.assign(statusError(429), { retryAfterMs: 20_000 });
    await clock.advance(2_000);
    const before = api.count('watch');
    api.drop(error);
    await clock.advance(19_000);
    expect(api.count('watch')).to.equal(before);
    await clock.advance(1_500);
    expect(api.count('watch')).to.equal(before + 1);
  });

  it('RUN-46: lists again after 410 in the stream and reports changed, deleted and recreated objects', async () => {
    const { api, clock, start, listen } = harness();
    api.put(thing('x'));
    api.put(thing('y'));
    api.put(thing('z'));
    await start();
    const heard = listen();
    heard.length = 0;
    await clock.advance(5_000);

    api.isHeld = true;
    api.put(thing('x', { spec: { changed: true } }));
    api.remove('ns/y');
    api.remove('ns/z');
    api.put(thing('z', { uid: 'new' }));
    api.compact();
    api.push({ type: 'ERROR', status: { code: 410, reason: 'Expired' } });
    await settle();
    expect(heard).to.have.members([
      'update ns/x 11→14 relisted',
      'delete ns/y 12 unknown',
      'delete ns/z 13 unknown',
      'add ns/z 17',
    ]);
    expect(heard.indexOf('delete ns/z 13 unknown')).to.be.below(heard.indexOf('add ns/z 17'));
  });

  it('RUN-46: treats 410 as HTTP status the same way', async () => {
    const { api, cache, clock, start } = harness();
    await start();
    await clock.advance(5_000);
    api.faults.watch.push(statusError(410, 'Expired'));
    api.drop();
    await settle();
    expect(api.count('list')).to.equal(2);
    expect(api.requests.at(-2)?.query.resourceVersion, 'a list after 410 is a consistent one').to.equal(
      undefined,
    );
    expect(cache.problem).to.equal(undefined);
  });

  it('does not flood a server whose lists expire at once', async () => {
    const { api, clock, start } = harness();
    await start();
    for (let i = 0; i < 100; i++) api.faults.watch.push(statusError(410));
    api.drop(reset());
    await clock.advance(60_000);
    expect(api.count('list')).to.be.below(12);
  });

  it('RUN-47: rejects a list from the past and requests one that is not older', async () => {
    const { api, cache, clock, start, listen } = harness();
    api.version = 99;
    api.put(thing('x', { spec: { now: true } }));
    await start();
    const heard = listen();
    heard.length = 0;
    await clock.advance(5_000);

    api.listVersion = 60;
    api.objects.get('ns/x')!.metadata.resourceVersion = '50';
    api.compact();
    api.faults.watch.push(statusError(410));
    api.drop();
    await settle();
    expect(cache.get('ns/x')?.metadata.resourceVersion).to.equal('100');
    expect(cache.problem).to.contain('older');

    api.listVersion = undefined;
    api.objects.get('ns/x')!.metadata.resourceVersion = '100';
    await clock.advance(2_000);
    expect(api.requests.filter((r) => r.verb === 'list').at(-1)?.query.resourceVersion).to.equal('100');
    expect(heard).to.deep.equal([]);
    expect(cache.problem).to.equal(undefined);
  });

  it('accepts a server whose history went back permanently, after several requests', async () => {
    const { api, cache, clock, start, listen } = harness();
    api.version = 99;
    api.put(thing('x'));
    api.put(thing('lost'));
    await start();
    const heard = listen();
    heard.length = 0;
    await clock.advance(5_000);

    api.objects.delete('ns/lost');
    api.objects.get('ns/x')!.metadata.resourceVersion = '50';
    api.version = 60;
    api.compact();
    api.faults.watch.push(statusError(410));
    api.drop();
    await clock.advance(60_000);
    expect(cache.problem).to.equal(undefined);
    expect(heard).to.deep.equal(['update ns/x 100→50 relisted', 'delete ns/lost 101 unknown']);
    api.put(thing('y'));
    await settle();
    expect(names(cache.list())).to.deep.equal(['x', 'y']);
  });

  it('detects by a bookmark that the history went back while it was disconnected', async () => {
    const { api, cache, clock, start } = harness();
    api.version = 99;
    api.put(thing('x'));
    await start();
    await clock.advance(5_000);
    api.objects.clear();
    api.version = 50;
    api.compact();
    api.bookmark();
    await clock.advance(60_000);
    expect(names(cache.list())).to.deep.equal([]);
    expect(cache.problem).to.equal(undefined);
  });

  it('rejects a single event that is older than its version', async () => {
    const { api, cache, start, listen } = harness();
    const old = api.put(thing('a', { spec: { n: 1 } }));
    api.put(thing('a', { spec: { n: 2 } }));
    await start();
    const heard = listen();
    heard.length = 0;
    api.push({ type: 'MODIFIED', object: old });
    api.push({ type: 'DELETED', object: old });
    await settle();
    expect(heard).to.deep.equal([]);
    expect(cache.get('ns/a')?.metadata.resourceVersion).to.equal('12');
  });

  it('ignores the late deletion of a previous object with the same name', async () => {
    const { api, cache, start } = harness();
    const old = api.put(thing('a', { uid: 'old' }));
    api.objects.clear();
    api.put(thing('a', { uid: 'new' }));
    await start();
    old.metadata.resourceVersion = '99';
    api.push({ type: 'DELETED', object: old });
    await settle();
    expect(cache.get('ns/a')?.metadata.uid).to.equal('new');
  });

  it('RUN-C15: reports a recreation whose deletion was missed as delete, then add', async () => {
    const { api, start, listen } = harness();
    api.put(thing('a', { uid: 'old' }));
    await start();
    const heard = listen();
    heard.length = 0;
    api.put(thing('a', { uid: 'new' }));
    await settle();
    expect(heard).to.deep.equal(['delete ns/a 11 unknown', 'add ns/a 12']);
  });

  it('RUN-48: restarts the list if its token expires half-way, without adding anything twice', async () => {
    const { api, cache, clock, start, listen } = harness();
    for (let i = 0; i < 1200; i++) api.put(thing(`t${String(i)}`));
    const heard = listen();
    let failed = false;
    api.beforePage = (page) => {
      if (page !== 3 || failed) return;
      failed = true;
      expect(cache.size, 'pages are handed on as they come').to.equal(1000);
      expect(cache.isSynced).to.equal(false);
      throw statusError(410, 'Expired');
    };
    await start();
    await clock.advance(2_000);
    expect(failed).to.equal(true);
    expect(cache.isSynced).to.equal(true);
    expect(cache.size).to.equal(1200);
    expect(heard).to.have.length(1200);
    expect(heard.every((line) => line.endsWith('initial'))).to.equal(true);
  });

  it('forgets objects of a failed list that are not in the next one', async () => {
    const { api, cache, clock, start } = harness();
    api.pageSize = 1;
    api.put(thing('a'));
    api.put(thing('b'));
    let failed = false;
    api.beforePage = (page) => {
      if (page !== 2 || failed) return;
      failed = true;
      api.objects.delete('ns/a');
      api.version++;
      throw reset();
    };
    await start();
    await clock.advance(2_000);
    expect(names(cache.list())).to.deep.equal(['b']);
  });

  it('RUN-49: resumes a quiet watch from the last bookmark', async () => {
    const { api, cache, clock, start } = harness();
    api.put(thing('a'));
    await start();
    for (let minute = 0; minute < 60; minute++) {
      api.version += 10;
      api.bookmark();
      await clock.advance(60_000);
      if (minute === 54) api.compact();
    }
    const lists = api.count('list');
    api.drop(reset());
    await clock.advance(2_000);
    expect(api.count('list')).to.equal(lists);
    expect(cache.problem).to.equal(undefined);
    expect(api.requests.at(-1)?.query.resourceVersion).to.equal(String(api.version));
  });

  it('RUN-50: uses pages permanently if the server rejects streamed lists', async () => {
    const { api, clock, start } = harness();
    api.put(thing('a'));
    await start();
    expect(api.requests.map((r) => r.verb)).to.deep.equal(['watch', 'list', 'watch']);
    await clock.advance(5_000);
    api.compact();
    api.version++;
    api.compact();
    api.drop();
    await settle();
    expect(api.requests.slice(3).map((r) => r.verb)).to.deep.equal(['watch', 'list', 'watch']);
    expect(api.requests.slice(1).some((r) => r.query.sendInitialEvents)).to.equal(false);
  });

  it('RUN-50: uses pages after ten seconds of silence without the end of a streamed list', async () => {
    const { api, cache, clock, start, listen } = harness();
    api.streaming = 'no bookmark';
    api.put(thing('a'));
    const heard = listen();
    await start();
    await clock.advance(9_900);
    expect(cache.isSynced).to.equal(false);
    await clock.advance(200);
    expect(cache.isSynced).to.equal(true);
    expect(heard).to.deep.equal(['add ns/a 11 initial']);
    expect(api.openWatches).to.equal(1);
  });

  it('RUN-50: accepts a streamed list that takes long but is not silent', async () => {
    const { api, cache, clock, start } = harness();
    api.streaming = 'no bookmark';
    await start();
    for (let i = 0; i < 10; i++) {
      await clock.advance(5_000);
      api.put(thing(`t${String(i)}`));
    }
    api.push({ type: 'BOOKMARK', resourceVersion: String(api.version), initialEventsEnd: true });
    await settle();
    expect(cache.isSynced).to.equal(true);
    expect(cache.size).to.equal(10);
    expect(api.count('list')).to.equal(0);
  });

  it('streams the list and continues to watch on the same connection', async () => {
    const { api, cache, start, listen } = harness();
    api.streaming = 'yes';
    api.put(thing('a'));
    api.put(thing('b'));
    const heard = listen();
    await start();
    expect(cache.isSynced).to.equal(true);
    api.remove('ns/a');
    await settle();
    expect(heard).to.deep.equal(['add ns/a 11 initial', 'add ns/b 12 initial', 'delete ns/a 13']);
    expect(api.requests).to.have.length(1);
  });

  it('finds deletions in a streamed relist', async () => {
    const { api, cache, clock, start } = harness();
    api.streaming = 'yes';
    api.put(thing('a'));
    api.put(thing('b'));
    await start();
    await clock.advance(5_000);
    api.isHeld = true;
    api.remove('ns/a');
    api.compact();
    api.drop();
    await settle();
    expect(names(cache.list())).to.deep.equal(['b']);
  });

  it('resumes a minute after a bookmark is missing, with the last version and without a list', async () => {
    const { api, cache, clock, start } = harness();
    api.put(thing('a'));
    await start();
    for (let minute = 0; minute < 3; minute++) {
      await clock.advance(60_000);
      api.bookmark();
    }
    await settle();
    const [lists, watches] = [api.count('list'), api.count('watch')];
    await clock.advance(119_000);
    expect(api.count('watch')).to.equal(watches);
    await clock.advance(2_000);
    expect([api.count('list'), api.count('watch')]).to.deep.equal([lists, watches + 1]);
    expect(cache.problem).to.equal(undefined);
    // The new connection is silent from its start.
    await clock.advance(121_000);
    expect(api.count('watch')).to.equal(watches + 2);
    api.put(thing('b'));
    await settle();
    expect(names(cache.list())).to.deep.equal(['a', 'b']);
  });

  it('leaves a silent connection of a server without bookmarks open until its timeout', async () => {
    const { api, clock, start } = harness();
    await start();
    const watches = api.count('watch');
    await clock.advance(290_000);
    expect(api.count('watch')).to.equal(watches);
  });

  it('RUN-51: closes a half-open connection five seconds after its timeout and resumes', async () => {
    const { api, clock, start, listen } = harness();
    api.put(thing('a'));
    await start();
    const heard = listen();
    heard.length = 0;
    await clock.advance(5_000);
    api.isHalfOpen = true;
    api.drop();
    await settle();
    const { timeoutSeconds = 0 } = api.requests.at(-1)?.query ?? {};
    expect(timeoutSeconds).to.be.within(300, 599);
    const before = api.count('watch');
    api.put(thing('b'));
    await clock.advance(timeoutSeconds * 1000 + 4_900);
    expect(api.count('watch')).to.equal(before);
    expect(heard).to.deep.equal([]);
    api.isHalfOpen = false;
    await clock.advance(200);
    expect(api.count('watch')).to.equal(before + 1);
    expect(heard).to.deep.equal(['add ns/b 12']);
  });

  it('RUN-51: sends nothing after it was stopped during a list, a pause or a watch', async () => {
    for (const phase of ['list', 'pause', 'watch']) {
      const { api, clock, start, stop } = harness();
      if (phase === 'list') api.beforePage = stop;
      if (phase === 'pause') api.faults.watch.push(undefined, statusError(500));
      await start();
      if (phase !== 'list') stop();
      await settle();
      const before = api.requests.length;
      await clock.advance(3_600_000);
      expect(api.requests, phase).to.have.length(before);
      expect(api.openWatches).to.equal(0);
      expect(clock.pending, `timers after a stop during a ${phase}`).to.equal(0);
    }
  });

  it('is empty after its kind was removed and installed again', async () => {
    const { api, cache, clock, start, listen } = harness();
    api.put(thing('a'));
    await start();
    const heard = listen();
    heard.length = 0;
    await clock.advance(5_000);
    api.faults.watch.push(statusError(404));
    api.faults.list.push(statusError(404), statusError(404));
    api.drop();
    await clock.advance(1_000);
    expect(cache.problem).to.contain('the server does not serve this kind');
    expect(cache.get('ns/a'), 'kept until it is known to be gone').not.to.equal(undefined);
    api.objects.clear();
    api.version++;
    await clock.advance(10_000);
    expect(heard).to.deep.equal(['delete ns/a 11 unknown']);
  });
});

describe('the log of a watch', () => {
  /** Levels of the lines that report an interruption. */
  const levelsAfter = async (before: number, after: number): Promise<readonly string[]> => {
    const api = new ScriptedApi();
    const clock = new FakeClock();
    const { log, lines } = recordingLogger();
    const stop = new AbortController();
    const cache = createCache(api, THINGS, { clock, rng: seededRng(1), log });
    for (let i = 0; i < before; i++) api.faults.list.push(statusError(429, 'storage is (re)initializing'));
    const started = cache.start(stop.signal);
    started.catch(() => undefined);
    await clock.advance(30_000);
    for (let i = 0; i < after; i++) api.faults.watch.push(statusError(503, 'no'));
    if (after > 0) api.drop();
    await clock.advance(30_000);
    stop.abort(new Error('stop'));
    return lines.filter(({ message }) => message === 'watch interrupted').map(({ level }) => level);
  };

  it('does not warn of a single failure before the first list', async () => {
    expect(await levelsAfter(1, 0)).to.deep.equal(['debug']);
  });
  it('warns once if the first list fails again', async () => {
    expect(await levelsAfter(3, 0)).to.deep.equal(['debug', 'warn', 'debug']);
  });
  it('warns of the first failure after the first list', async () => {
    expect((await levelsAfter(0, 2))[0]).to.equal('warn');
  });
});
