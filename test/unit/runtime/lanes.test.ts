import { getEventListeners } from 'node:events';
import { expect } from 'chai';
import { Lanes, type Lane } from '../../../src/runtime/transport/lanes.ts';
import { HEAVY_MS, WINDOW_MS } from '../../../src/runtime/queue/usage.ts';
import { FakeClock, settle } from '../../support/clock.ts';

type Leave = () => void;

describe('the lanes of a connection', () => {
  let clock: FakeClock;
  let lanes: Lanes;
  /** The requests that were admitted, as `namespace lane`, and their ends. */
  let admitted: string[];
  let leaves: Leave[];

  const start = (places: number): void => {
    clock = new FakeClock();
    lanes = new Lanes(places, clock);
    admitted = [];
    leaves = [];
  };
  const enter = (namespace: string, lane: Lane = 'write', signal?: AbortSignal): Promise<void> =>
    lanes.enter(lane, namespace, signal).then((leave) => {
      admitted.push(`${namespace} ${lane}`);
      leaves.push(leave);
    });
  const enterMany = (count: number, namespace: string, lane: Lane = 'write'): void => {
    for (let i = 0; i < count; i++) void enter(namespace, lane);
  };
  /** Ends the requests in the order of their admission, until all have been admitted and ended. */
  async function drain(): Promise<readonly string[]> {
    await settle();
    for (let leave = leaves.shift(); leave; leave = leaves.shift()) {
      leave();
      await settle();
    }
    return admitted;
  }
  const spaces = (): string => admitted.map((each) => each.charAt(0)).join('');
  /** Makes `namespace` one whose requests took much time lately. */
  async function tire(namespace: string): Promise<void> {
    const leave = await lanes.enter('write', namespace);
    await clock.advance(HEAVY_MS + 1);
    leave();
  }

  describe('of one namespace', () => {
    it('admit the most urgent first, and among those the first', async () => {
      start(1);
      for (const lane of ['list', 'list', 'read', 'write', 'read'] as const) void enter('A', lane);
      expect(await drain()).to.deep.equal(['A list', 'A write', 'A read', 'A read', 'A list']);
    });

    it('do not keep a place for an aborted request', async () => {
      start(1);
      void enter('A');
      const stop = new AbortController();
      const gone = enter('A', 'read', stop.signal).catch((error: unknown) => (error as Error).message);
      void enter('A', 'list');
      stop.abort(new Error('enough'));
      expect(await gone).to.equal('enough');
      expect(await drain()).to.deep.equal(['A write', 'A list']);
      expect(lanes.size).to.equal(0);
    });

    it('do not admit a request whose signal has already aborted', async () => {
      start(1);
      const gone = lanes.enter('read', 'A', AbortSignal.abort(new Error('late')));
      expect(await gone.catch((error: unknown) => (error as Error).message)).to.equal('late');
      expect(lanes.size).to.equal(0);
      (await lanes.enter('read', 'A'))();
    });

    it('do not listen to the signal of a request any longer than it waits', async () => {
      start(1);
      const { signal } = new AbortController();
      const leave = await lanes.enter('write', 'A', signal);
      expect(getEventListeners(signal, 'abort'), 'admitted at once').to.have.length(0);
      const waiting = lanes.enter('write', 'A', signal);
      expect(getEventListeners(signal, 'abort')).to.have.length(1);
      leave();
      (await waiting)();
      expect(getEventListeners(signal, 'abort')).to.deep.equal([]);
    });

    it('keep the others waiting when a request is aborted that they have already admitted', async () => {
      start(1);
      void enter('A');
      const stop = new AbortController();
      void enter('A', 'write', stop.signal);
      void enter('A');
      await settle();
      leaves[0]?.();
      await settle();
      stop.abort(new Error('enough'));
      await settle();
      expect(admitted).to.have.length(2);
      leaves[1]?.();
      await settle();
      expect(admitted).to.have.length(3);
    });

    for (const { places, most } of [
      { places: 1, most: 1 },
      { places: 2, most: 1 },
      { places: 32, most: 31 },
    ]) {
      it(`admit at most ${String(most)} of ${String(places)} at once`, async () => {
        start(places);
        enterMany(100, 'A');
        await settle();
        expect(admitted).to.have.length(most);
        expect(await drain()).to.have.length(100);
      });
    }
  });

  describe('of several namespaces', () => {
    it('admit them by turns, however many requests each has, and each in its order', async () => {
      start(1);
      enterMany(5, 'A');
      void enter('B', 'read');
      enterMany(2, 'B');
      void enter('C');
      await drain();
      expect(admitted.join()).to.equal(
        'A write,A write,B write,C write,A write,B write,A write,A write,B read',
      );
    });

    it('always have a place for a namespace with few requests', async () => {
      start(4);
      enterMany(10, 'A');
      await settle();
      void enter('B', 'list');
      await settle();
      expect(spaces()).to.equal('AAAB');
    });

    it('count requests without a namespace as those of one', async () => {
      start(4);
      for (let i = 0; i < 10; i++) void lanes.enter('list').then(() => admitted.push('- list'));
      await settle();
      void enter('B');
      await settle();
      expect(spaces()).to.equal('---B');
    });

    it('do not starve a namespace whose requests took much time', async () => {
      start(1);
      await tire('A');
      const held = await lanes.enter('write', 'X');
      enterMany(3, 'A');
      enterMany(12, 'B');
      held();
      await drain();
      expect(spaces().slice(0, 12)).to.match(/^(B{1,3}A){3}/u);
    });

    it('forget after a while whose requests took much time', async () => {
      start(1);
      await tire('A');
      await clock.advance(2 * WINDOW_MS);
      const held = await lanes.enter('write', 'X');
      enterMany(2, 'A');
      enterMany(2, 'B');
      held();
      await drain();
      expect(spaces()).to.equal('ABAB');
    });

    it('keep nothing about a namespace without requests, aborted ones included', async () => {
      start(2);
      enterMany(3, 'A');
      enterMany(1, 'B');
      const stop = new AbortController();
      const gone = enter('C', 'read', stop.signal).catch((error: unknown) => (error as Error).message);
      await settle();
      expect(lanes.size).to.equal(3);
      stop.abort(new Error('enough'));
      expect(await gone).to.equal('enough');
      expect(lanes.size).to.equal(2);
      await drain();
      expect(lanes.size).to.equal(0);
    });
  });

  describe('of a namespace with many requests', () => {
    /** The number of requests of the crowd that are on their way. */
    const onTheirWay = (): number => leaves.length;
    /** Ends a request of the crowd. */
    async function end(count = 1): Promise<void> {
      for (let i = 0; i < count; i++) {
        leaves.shift()?.();
        await settle();
      }
    }
    /** One request of another namespace that ends at once. */
    async function pass(namespace: string): Promise<void> {
      const leave = await lanes.enter('write', namespace);
      leave();
      await settle();
    }

    it('are at most half of the places for some requests after one of another namespace', async () => {
      start(8);
      enterMany(200, 'A');
      await settle();
      expect(onTheirWay()).to.equal(7);
      await pass('B');
      await end(3);
      expect(onTheirWay(), 'half').to.equal(4);
      await end(31);
      expect(onTheirWay()).to.equal(4);
      await end(1);
      expect(onTheirWay(), 'four for each place have started since').to.equal(7);
    });

    it('are the same number while the other namespace continues', async () => {
      start(8);
      enterMany(200, 'A');
      await settle();
      await pass('B');
      await end(3);
      for (let i = 0; i < 5; i++) {
        await end(20);
        await pass('B');
        expect(onTheirWay()).to.equal(4);
      }
    });

    it('use all places but one when no other namespace sends requests', async () => {
      start(8);
      await pass('B');
      for (let i = 0; i < 40; i++) await pass('A');
      enterMany(20, 'A');
      await settle();
      await end(6);
      expect(onTheirWay()).to.equal(7);
    });

    it('are at most half together with those of other namespaces with many', async () => {
      start(8);
      await tire('A');
      await tire('B');
      enterMany(100, 'A');
      enterMany(100, 'B');
      await settle();
      await end(40);
      expect(onTheirWay()).to.equal(7);
      await pass('C');
      await end(3);
      expect(onTheirWay()).to.equal(4);
      await end(10);
      expect(spaces().slice(-10))
        .to.match(/A.*A.*A/u)
        .and.to.match(/B.*B.*B/u);
    });

    it('are overtaken by a job with one request after the other, except for half of the places', async () => {
      const [PLACES, WRITES] = [32, 13];
      start(PLACES);
      enterMany(1_000, 'A');
      await settle();
      let answered = 0;
      for (let written = 0; written < WRITES; written++) {
        const leave = await lanes.enter('write', 'B');
        // The server answers one request at a time, in the order of their arrival.
        const before = onTheirWay();
        await end(before);
        answered += before;
        leave();
      }
      expect(answered).to.equal(31 + (WRITES - 1) * 16);
    });
  });
});
