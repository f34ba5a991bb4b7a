import { expect } from 'chai';
import { DefinitionError } from '../../../../src/runtime/errors.ts';
import { polledPerPrimary } from '../../../../src/workflow/external.ts';
import { perResourceSource, pollSource } from '../../../../src/runtime/sources/polling.ts';
import type { Key, Obj, View } from '../../../../src/runtime/types.ts';
import { settle } from '../../../support/clock.ts';
import { createHost, objectOf, type TestHost } from '../support/source-host.ts';

interface Reading {
  readonly id: string;
  readonly degrees: number;
}
const reading = (id: string, degrees = 1): Reading => ({ id, degrees });
const [first, second] = [objectOf('A/1'), objectOf('A/2')];

/** A service whose answers a test holds back and gives one by one. */
class Service<A> {
  readonly asked: { readonly key: Key; readonly signal: AbortSignal }[] = [];
  readonly #waiting: { resolve: (answer: A) => void; reject: (error: Error) => void }[] = [];

  ask(key: Key, signal: AbortSignal): Promise<A> {
    this.asked.push({ key, signal });
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
  }
  /** Answers the oldest open question. */
  async answer(answer: A | Error): Promise<void> {
    const open = this.#waiting.shift();
    if (answer instanceof Error) open?.reject(answer);
    else open?.resolve(answer);
    await settle();
  }
  get isWaiting(): boolean {
    return this.#waiting.length > 0;
  }
}

describe('a source that polls for all primaries', () => {
  let test: TestHost;
  let service: Service<ReadonlyMap<Key, readonly Reading[]>>;
  let stop: AbortController;
  let isStarted: boolean;
  beforeEach(() => {
    test = createHost();
    service = new Service();
    stop = new AbortController();
    isStarted = false;
  });
  afterEach(() => {
    stop.abort(new Error('stop'));
  });

  const start = async (everyMs?: number, isSeveral = true) => {
    const source = pollSource<Reading>({
      name: 'poll',
      fetch: (signal) => service.ask('all', signal),
      ...(everyMs !== undefined && { everyMs }),
      ...(isSeveral && { idOf: ({ id }: Reading) => id }),
    });
    const attached = source.attach(test.host);
    attached.start(stop.signal).then(
      () => (isStarted = true),
      () => undefined,
    );
    await settle();
    return { source, attached };
  };
  const answers = (answer: Readonly<Record<Key, readonly Reading[]>>) =>
    service.answer(new Map(Object.entries(answer)));

  it('has started with the first answer, which raises no event', async () => {
    const { source, attached } = await start();
    expect(isStarted).to.equal(false);
    await answers({ 'A/1': [reading('a')] });
    expect([isStarted, test.events]).to.deep.equal([true, []]);
    expect([source.of(first), attached.of(first), source.of(second)]).to.deep.equal([
      [reading('a')],
      [reading('a')],
      [],
    ]);
    expect([source.name, source.stage]).to.deep.equal(['poll', 'normal']);
  });

  for (const [title, everyMs, expectedMs] of [
    ['5 s', undefined, 5_000],
    ['its period', 700, 700],
  ] as const)
    it(`asks again ${title} after an answer`, async () => {
      await start(everyMs);
      await test.clock.advance(60_000);
      await answers({});
      await test.clock.advance(expectedMs - 1);
      expect(service.asked).to.have.length(1);
      await test.clock.advance(1);
      expect(service.asked).to.have.length(2);
      await test.clock.advance(60_000);
      expect(service.asked).to.have.length(2);
    });

  for (const everyMs of [0, -1, NaN, Infinity])
    it(`cannot ask every ${String(everyMs)} ms`, () => {
      const all = { name: 'poll', everyMs, fetch: () => Promise.resolve(new Map<Key, never[]>()) };
      const each = { name: 'poll', everyMs, fetch: () => Promise.resolve([]) };
      for (const create of [() => pollSource(all), () => polledPerPrimary(each)])
        expect(create).to.throw(
          DefinitionError,
          `source poll: everyMs must be a positive number of milliseconds, not ${String(everyMs)}`,
        );
    });

  it('raises events for what is new, different or gone, and for nothing else', async () => {
    await start();
    await answers({ 'A/1': [reading('a')], 'A/2': [reading('a')], 'A/3': [reading('a')] });
    await test.clock.advance(5_000);
    await answers({ 'A/1': [reading('a')], 'A/2': [reading('a', 2)], 'A/4': [reading('a')] });
    expect(test.taken()).to.have.members(['A/2: poll generic', 'A/3: poll generic', 'A/4: poll generic']);
    await test.clock.advance(5_000);
    await answers({ 'A/1': [reading('a')], 'A/2': [reading('a', 2)], 'A/4': [reading('a')] });
    expect(test.taken()).to.deep.equal([]);
  });

  it('repeats a failed first poll until there is an answer', async () => {
    await start();
    await service.answer(new Error('no route'));
    expect(isStarted).to.equal(false);
    await test.clock.advance(5_000);
    await answers({});
    expect(isStarted).to.equal(true);
    expect(test.lines).to.deep.equal([
      { level: 'warn', message: 'poll failed', fields: { source: 'poll', err: 'Error: no route' } },
    ]);
  });

  it('keeps what it knows and raises no event when a later poll fails', async () => {
    const { source } = await start();
    await answers({ 'A/1': [reading('a')] });
    await test.clock.advance(5_000);
    await service.answer(new Error('no route'));
    expect([test.taken(), source.of(first)]).to.deep.equal([[], [reading('a')]]);
    await test.clock.advance(5_000);
    expect(service.isWaiting).to.equal(true);
  });

  it('ends with its controller, without a complaint about the poll that this ends', async () => {
    await start();
    await answers({});
    await test.clock.advance(5_000);
    expect(service.asked.at(-1)?.signal).to.equal(stop.signal);
    stop.abort(new Error('stop'));
    await service.answer(new Error('aborted'));
    await test.clock.advance(60_000);
    expect([service.asked.length, test.lines, test.events]).to.deep.equal([2, [], []]);
  });

  it('ends with its controller between two polls', async () => {
    await start();
    await answers({});
    stop.abort(new Error('stop'));
    await test.clock.advance(60_000);
    expect([service.asked.length, test.clock.pending]).to.deep.equal([1, 0]);
  });

  describe('that is corrected', () => {
    it('knows the new value, and finds no news in the same answer', async () => {
      const { source } = await start();
      await answers({});
      source.remember('A/1', reading('a'));
      expect(source.of(first)).to.deep.equal([reading('a')]);
      await test.clock.advance(5_000);
      await answers({ 'A/1': [reading('a')] });
      expect(test.taken()).to.deep.equal([]);
    });

    it('forgets one value, or all of a primary', async () => {
      const { source } = await start();
      await answers({ 'A/1': [reading('a'), reading('b')], 'A/2': [reading('a'), reading('b')] });
      source.forget('A/1', 'a');
      source.forget('A/2');
      expect([source.of(first), source.of(second)]).to.deep.equal([[reading('b')], []]);
    });

    for (const [title, correct, expected] of [
      ['remembered', 'remember', [reading('a', 7)]],
      ['forgotten', 'forget', []],
    ] as const)
      it(`does not believe an older answer about what was ${title} meanwhile`, async () => {
        const { source } = await start();
        await answers({ 'A/1': [reading('a')] });
        await test.clock.advance(5_000);
        if (correct === 'remember') source.remember('A/1', reading('a', 7));
        else source.forget('A/1', 'a');
        await answers({ 'A/1': [reading('a', 3)], 'A/2': [reading('a')] });
        expect([test.taken(), source.of(first)]).to.deep.equal([['A/2: poll generic'], expected]);

        await test.clock.advance(5_000);
        await answers({ 'A/1': [reading('a', 3)], 'A/2': [reading('a')] });
        expect([test.taken(), source.of(first)]).to.deep.equal([['A/1: poll generic'], [reading('a', 3)]]);
      });

    it('does not believe an older answer that lacks what was remembered meanwhile', async () => {
      const { source } = await start();
      await answers({});
      await test.clock.advance(5_000);
      source.remember('A/1', reading('a'));
      await answers({});
      expect([test.taken(), source.of(first)]).to.deep.equal([[], [reading('a')]]);
    });
  });
});

describe('a source that polls for all primaries, before a process takes over', () => {
  it('asks again, raises events for changes, and ignores an answer that is on its way', async () => {
    const test = createHost();
    const service = new Service<ReadonlyMap<Key, readonly Reading[]>>();
    const stop = new AbortController();
    const source = pollSource<Reading>({ name: 'poll', fetch: (signal) => service.ask('all', signal) });
    const attached = source.attach(test.host);
    void attached.start(stop.signal);
    await service.answer(new Map([['A/1', [reading('a', 1)]]]));
    await test.clock.advance(5_000);
    const refreshed = attached.refresh?.(() => true, stop.signal);
    await service.answer(new Map([['A/1', [reading('a', 2)]]]));
    expect(source.of(first)).to.deep.equal([reading('a', 1)]);
    await service.answer(new Map([['A/1', [reading('a', 3)]]]));
    await refreshed;
    expect([source.of(first), test.taken()]).to.deep.equal([[reading('a', 3)], ['A/1: poll generic']]);
    const failed = attached.refresh?.(() => true, stop.signal).catch((error: unknown) => error);
    await service.answer(new Error('down'));
    expect(String(await failed)).to.equal('Error: down');
    stop.abort(new Error('stop'));
  });
});

describe('a source that polls for each primary', () => {
  let test: TestHost;
  let service: Service<readonly Reading[]>;
  let stop: AbortController;
  beforeEach(() => {
    test = createHost();
    service = new Service();
    stop = new AbortController();
  });
  afterEach(() => {
    stop.abort(new Error('stop'));
  });

  const create = (more: { isSeveral?: boolean; when?: (primary: View<Obj>) => boolean } = {}) =>
    perResourceSource<Reading>({
      name: 'each',
      fetch: ({ metadata }, signal) => service.ask(`${metadata.namespace ?? ''}/${metadata.name}`, signal),
      delayMs: (last) => (last === undefined ? 1_000 : 10_000),
      ...(more.isSeveral && { idOf: ({ id }: Reading) => id }),
      ...(more.when && { when: more.when }),
    });
  const start = async (more: Parameters<typeof create>[0] = {}) => {
    const source = create(more);
    const attached = source.attach(test.host);
    await attached.start(stop.signal);
    return { source, attached };
  };
  const askedFor = (): readonly Key[] => service.asked.map(({ key }) => key);
  const isPolled = async (): Promise<boolean> => {
    const before = service.asked.length;
    await test.clock.advance(10_000);
    return service.asked.length > before;
  };

  it('drops the values of primaries that this process takes over, and answers that are on their way', async () => {
    const { source, attached } = await start();
    test.primaries.add(first);
    test.primaries.add(second);
    await test.clock.advance(1_000);
    await service.answer([reading('a')]);
    await service.answer([reading('b')]);
    const { refresh } = attached;
    await refresh?.(({ metadata }) => metadata.name === '1', stop.signal);
    expect([source.of(first), source.of(second)]).to.deep.equal([[], [reading('b')]]);
    const loaded = source.load(first);
    await refresh?.(() => true, stop.signal);
    await service.answer([reading('old')]);
    expect(source.of(first)).to.deep.equal([]);
    await service.answer([reading('new')]);
    expect(await loaded).to.deep.equal([reading('new')]);
  });

  it('asks for no primary for which another process is responsible, and keeps no values of it', async () => {
    const handled = new Set(['1', '2']);
    const attached = create().attach({ ...test.host, handles: ({ metadata }) => handled.has(metadata.name) });
    await attached.start(stop.signal);
    test.primaries.add(first);
    await test.clock.advance(1_000);
    await service.answer([reading('a')]);
    handled.delete('1');
    await test.clock.advance(10_000);
    expect([askedFor(), attached.of(first)]).to.deep.equal([['A/1'], []]);
    handled.add('1');
    await test.clock.advance(1_000);
    expect(askedFor()).to.deep.equal(['A/1', 'A/1']);
  });

  for (const [title, delayMs] of [
    ['is 0 after an answer', () => 0],
    ['is not a number', () => NaN],
    ['is negative', () => -1],
    [
      'cannot be determined',
      () => {
        throw new Error('broken');
      },
    ],
  ] as const)
    it(`asks every 5 s if the pause ${title}, and logs it`, async () => {
      const source = perResourceSource<Reading>({
        name: 'each',
        fetch: ({ metadata }, signal) => service.ask(metadata.name, signal),
        delayMs,
      });
      await source.attach(test.host).start(stop.signal);
      test.primaries.add(first);
      await test.clock.advance(5_000);
      await service.answer([reading('a')]);
      const before = service.asked.length;
      await test.clock.advance(4_999);
      expect(service.asked).to.have.length(before);
      await test.clock.advance(1);
      expect(service.asked).to.have.length(before + 1);
    });

  it('asks after the pause that the last answer calls for', async () => {
    const { source, attached } = await start();
    test.primaries.add(first);
    await test.clock.advance(999);
    expect(askedFor()).to.deep.equal([]);
    await test.clock.advance(1);
    expect(askedFor()).to.deep.equal(['A/1']);
    await service.answer([reading('a')]);
    expect(test.taken()).to.deep.equal(['A/1: each generic']);
    expect([source.of(first), attached.of(first)]).to.deep.equal([[reading('a')], [reading('a')]]);
    await test.clock.advance(9_999);
    expect(askedFor()).to.have.length(1);
    await test.clock.advance(1);
    await service.answer([reading('a')]);
    expect([askedFor().length, test.taken()]).to.deep.equal([2, []]);
    expect([source.name, source.stage]).to.deep.equal(['each', 'normal']);
  });

  it('polls a primary once, however often that changes', async () => {
    await start();
    test.primaries.add(first);
    for (let i = 0; i < 3; i++)
      test.primaries.change({ type: 'update', old: first, obj: first, relisted: false });
    await test.clock.advance(1_000);
    expect(askedFor()).to.deep.equal(['A/1']);
    expect(test.clock.pending).to.equal(0);
  });

  it('hears of all changes of primaries, under the name of the controller', async () => {
    await start();
    const [subscriber] = test.primaries.subscribers;
    expect(subscriber).to.deep.include({ name: 'widgets/each', ownEvents: 'deliver' });
  });

  it('asks with the signal of the controller', async () => {
    await start();
    test.primaries.add(first);
    await test.clock.advance(1_000);
    expect(service.asked[0]?.signal).to.equal(stop.signal);
  });

  it('reports a failed poll, and asks again', async () => {
    await start();
    test.primaries.add(first);
    await test.clock.advance(1_000);
    await service.answer(new Error('no route'));
    expect(test.lines).to.deep.equal([
      {
        level: 'warn',
        message: 'poll failed',
        fields: { source: 'each', primary: 'A/1', err: 'Error: no route' },
      },
    ]);
    await test.clock.advance(1_000);
    expect(askedFor()).to.deep.equal(['A/1', 'A/1']);
  });

  it('skips a poll while the primary is not in the cache', async () => {
    await start();
    test.primaries.add(first);
    test.primaries.objects.clear();
    await test.clock.advance(1_000);
    expect([askedFor(), test.lines]).to.deep.equal([[], []]);
    test.primaries.objects.set('A/1', first);
    await test.clock.advance(1_000);
    expect(askedFor()).to.deep.equal(['A/1']);
  });

  describe('ends', () => {
    it('with the deletion of the primary, and forgets what it knew', async () => {
      const { source } = await start();
      test.primaries.add(first);
      await test.clock.advance(1_000);
      await service.answer([reading('a')]);
      test.primaries.remove(first);
      expect([source.of(first), await isPolled()]).to.deep.equal([[], false]);
      expect(test.clock.pending).to.equal(0);
    });

    it('with the deletion of the primary during a poll, whose answer counts for nothing', async () => {
      const { source } = await start();
      test.primaries.add(first);
      await test.clock.advance(1_000);
      test.primaries.remove(first);
      await service.answer([reading('a')]);
      expect([test.taken(), source.of(first), await isPolled()]).to.deep.equal([[], [], false]);
    });

    it('not for a primary that is never polled when it is deleted', async () => {
      await start({ when: () => false });
      test.primaries.add(first);
      test.primaries.remove(first);
      expect(test.events).to.deep.equal([]);
    });

    it('and begins again with a new primary of the same name', async () => {
      await start();
      test.primaries.add(first);
      test.primaries.remove(first);
      test.primaries.add(first);
      await test.clock.advance(1_000);
      expect(askedFor()).to.deep.equal(['A/1']);
    });

    it('with the controller', async () => {
      const { source } = await start();
      test.primaries.add(first);
      await test.clock.advance(1_000);
      await service.answer([reading('a')]);
      stop.abort(new Error('stop'));
      expect([test.primaries.subscribers.size, source.of(first), await isPolled()]).to.deep.equal([
        0,
        [],
        false,
      ]);
      expect(test.clock.pending).to.equal(0);
    });
  });

  describe('polls the primaries that it is meant for', () => {
    const isHot = ({ metadata }: View<Obj>): boolean => metadata.labels?.['hot'] === 'yes';
    const hot = objectOf('A/1', { labels: { hot: 'yes' } });

    it('as long as they are', async () => {
      const { source } = await start({ when: isHot });
      test.primaries.add(first);
      expect(await isPolled()).to.equal(false);
      test.primaries.change({ type: 'update', old: first, obj: hot, relisted: false });
      expect(await isPolled()).to.equal(true);
      await service.answer([reading('a')]);
      expect(source.of(first)).to.have.length(1);
      test.primaries.change({ type: 'update', old: hot, obj: first, relisted: false });
      expect([source.of(first), await isPolled()]).to.deep.equal([[], false]);
    });

    it('and not one for which this cannot be determined', async () => {
      await start({
        when: () => {
          throw new Error('no');
        },
      });
      test.primaries.add(first);
      expect(await isPolled()).to.equal(false);
      expect(test.events).to.deep.equal(['failed: condition of source each']);
    });
  });

  describe('that is read', () => {
    it('asks when nothing is known, once for all readers and without an event', async () => {
      const { source } = await start();
      const loads = Promise.all([source.load(first), source.load(first)]);
      await service.answer([reading('a')]);
      expect(await loads).to.deep.equal([[reading('a')], [reading('a')]]);
      expect(await source.load(first)).to.deep.equal([reading('a')]);
      expect([askedFor(), test.taken()]).to.deep.equal([['A/1'], []]);
    });

    it('asks again after an answer that failed', async () => {
      const { source } = await start();
      const failed = source.load(first).catch((error: unknown) => error);
      await service.answer(new Error('no route'));
      expect(await failed)
        .to.be.an('error')
        .with.property('message', 'no route');
      const load = source.load(first);
      await service.answer([]);
      expect(await load).to.deep.equal([]);
    });

    it('answers before the controller has started', async () => {
      const source = create();
      const load = source.load(first);
      expect(service.asked[0]?.signal.aborted).to.equal(false);
      await service.answer([reading('a')]);
      expect(await load).to.deep.equal([reading('a')]);
    });

    it('shares the question of a poll under way', async () => {
      const { source } = await start();
      test.primaries.add(first);
      await test.clock.advance(1_000);
      const load = source.load(first);
      await service.answer([reading('a')]);
      expect(await load).to.deep.equal([reading('a')]);
      expect([askedFor(), test.taken()]).to.deep.equal([['A/1'], ['A/1: each generic']]);
    });
  });

  describe('that is corrected', () => {
    it('knows the new value without asking', async () => {
      const { source } = await start();
      source.remember('A/1', reading('a'));
      expect([source.of(first), await source.load(first), askedFor()]).to.deep.equal([
        [reading('a')],
        [reading('a')],
        [],
      ]);
    });

    it('asks all the same when one of several values is all that it was given', async () => {
      const { source } = await start({ isSeveral: true });
      source.remember('A/1', reading('a'));
      expect(source.of(first)).to.deep.equal([]);
      const load = source.load(first);
      await service.answer([reading('a'), reading('b')]);
      expect(await load).to.have.length(2);
      source.remember('A/1', reading('c'));
      expect(source.of(first)).to.have.length(3);
    });

    it('forgets one value, or all', async () => {
      const { source } = await start({ isSeveral: true });
      const load = source.load(first);
      await service.answer([reading('a'), reading('b')]);
      await load;
      source.forget('A/1', 'a');
      expect(source.of(first)).to.deep.equal([reading('b')]);
      source.forget('A/1');
      expect(source.of(first)).to.deep.equal([]);
    });

    it('does not believe the answer to a question that was asked before', async () => {
      const { source } = await start();
      test.primaries.add(first);
      await test.clock.advance(1_000);
      source.remember('A/1', reading('a', 7));
      await service.answer([reading('a')]);
      expect([source.of(first), test.taken()]).to.deep.equal([[reading('a', 7)], []]);
      expect(await isPolled()).to.equal(true);
      await service.answer([reading('a')]);
      expect([source.of(first), test.taken()]).to.deep.equal([[reading('a')], ['A/1: each generic']]);
    });

    it('asks again for a reader whose answer was outdated', async () => {
      const { source } = await start();
      const load = source.load(first);
      source.forget('A/1');
      await service.answer([reading('a')]);
      expect(askedFor()).to.have.length(2);
      await service.answer([reading('a', 2)]);
      expect(await load).to.deep.equal([reading('a', 2)]);
    });
  });
});
