import { expect } from 'chai';
import fc from 'fast-check';
import type { Clock } from '../../../src/lib/clock.ts';
import {
  createQueue,
  INITIAL_PRIORITY,
  type WorkItem,
  type WorkQueue,
} from '../../../src/runtime/queue/queue.ts';
import { FakeClock } from '../../support/clock.ts';

describe('the work queue', () => {
  let clock: FakeClock;
  let queue: WorkQueue;
  beforeEach(() => {
    clock = new FakeClock();
    queue = createQueue(clock);
  });

  const take = async (): Promise<WorkItem> => {
    const turn = await queue.take();
    if (!turn) throw new Error('the queue is closed');
    return turn;
  };
  const drain = async (): Promise<string[]> => {
    const keys: string[] = [];
    while ([...queue.depths().values()].some((depth) => depth > 0)) {
      const turn = await take();
      keys.push(turn.key);
      turn.end();
    }
    return keys;
  };

  it('returns keys in their order, each once', async () => {
    expect(queue.add('a')).to.equal('queued');
    expect(queue.add('b')).to.equal('queued');
    expect(queue.add('a')).to.equal('merged');
    expect(await drain()).to.deep.equal(['a', 'b']);
    expect(queue.size).to.equal(0);
  });

  it('gives a key to a waiting worker', async () => {
    const waiting = take();
    queue.add('a');
    expect((await waiting).key).to.equal('a');
  });

  it('makes a running key ready again when its reconcile ends', async () => {
    queue.add('a');
    const turn = await take();
    expect(turn.dirty()).to.equal(false);
    expect(queue.add('a')).to.equal('queued');
    expect(queue.add('a')).to.equal('merged');
    expect(turn.dirty()).to.equal(true);
    expect(await drain()).to.deep.equal([]);
    turn.end();
    expect(await drain()).to.deep.equal(['a']);
  });

  it('RUN-122: lets an edit overtake the first list, and keeps the higher priority', async () => {
    for (let i = 0; i < 60_000; i++) queue.add(String(i), INITIAL_PRIORITY);
    queue.add('41234');
    queue.add('41234', INITIAL_PRIORITY);
    const turn = await take();
    expect(turn.key).to.equal('41234');
    expect(turn.priority).to.equal(0);
    queue.addAfter('41234', 1_000, 'retry', turn.priority);
    turn.end();
    await clock.advance(1_000);
    expect((await take()).key).to.equal('41234');
    expect((await take()).key).to.equal('0');
    expect(queue.depths().get(INITIAL_PRIORITY)).to.equal(59_998);
  });

  it('makes delayed keys ready in the order of their times', async () => {
    queue.addAfter('late', 300, 'requeue');
    queue.addAfter('early', 100, 'requeue');
    queue.addAfter('middle', 200, 'retry');
    await clock.advance(99);
    expect(await drain()).to.deep.equal([]);
    await clock.advance(1);
    expect(await drain()).to.deep.equal(['early']);
    await clock.advance(1_000);
    expect(await drain()).to.deep.equal(['middle', 'late']);
  });

  it('keeps one timer per key, the last one set', async () => {
    queue.addAfter('a', 100, 'sync');
    queue.addAfter('a', 200, 'retry');
    expect(queue.timerOf('a')).to.deep.include({ kind: 'retry', when: 200 });
    await clock.advance(150);
    expect(await drain()).to.deep.equal([]);
    await clock.advance(50);
    expect(await drain()).to.deep.equal(['a']);
    await clock.advance(1_000);
    expect(await drain()).to.deep.equal([]);
    expect(clock.pending).to.equal(0);
  });

  it('drops the timer of a key when its reconcile begins', async () => {
    queue.addAfter('a', 100, 'retry');
    queue.add('a');
    (await take()).end();
    expect(queue.timerOf('a')).to.equal(undefined);
    await clock.advance(1_000);
    expect(await drain()).to.deep.equal([]);
  });

  it('forgets everything about a cancelled key except that it is running', async () => {
    queue.add('a');
    queue.addAfter('b', 100, 'requeue');
    queue.cancel('a');
    queue.cancel('b');
    queue.add('c');
    const turn = await take();
    queue.add('c');
    queue.cancel('c');
    turn.end();
    await clock.advance(1_000);
    expect(await drain()).to.deep.equal([]);
    expect(queue.size).to.equal(0);
  });

  it('accepts and returns nothing after it was closed', async () => {
    const waiting = queue.take();
    queue.addAfter('a', 100, 'requeue');
    queue.close();
    expect(queue.add('b')).to.equal('merged');
    queue.addAfter('c', 100, 'requeue');
    expect(await waiting).to.equal(undefined);
    expect(await queue.take()).to.equal(undefined);
    expect(clock.pending).to.equal(0);
    expect(queue.size).to.equal(0);
  });

  it('gives a waiting worker one key, and keeps the others', async () => {
    const waiting = take();
    queue.add('a');
    queue.add('b');
    expect((await waiting).key).to.equal('a');
    expect((await take()).key).to.equal('b');
  });

  it('makes keys of the same time ready in the order of their timers', async () => {
    const keys = ['e', 'b', 'd', 'a', 'c'];
    for (const key of keys) queue.addAfter(key, 100, 'requeue');
    await clock.advance(100);
    expect(await drain()).to.deep.equal(keys);
  });

  for (const ms of [0, -1, NaN])
    it(`makes a key ready now that has ${String(ms)} ms to wait, instead of its timer`, async () => {
      queue.addAfter('a', 100, 'retry');
      queue.addAfter('a', ms, 'requeue', 7);
      expect(queue.timerOf('a')).to.equal(undefined);
      const turn = await take();
      expect([turn.key, turn.priority]).to.deep.equal(['a', 7]);
      turn.end();
      expect(queue.size).to.equal(0);
    });

  it('makes a running key ready with the highest priority that it was given since its reconcile began', async () => {
    queue.add('a', 9);
    const turn = await take();
    queue.add('a', -5);
    queue.add('a', 3);
    queue.add('a', 1);
    turn.end();
    expect((await take()).priority).to.equal(3);
  });

  it('counts a key with raised priority once, with its new priority', async () => {
    queue.add('a', 1);
    queue.add('a', 2);
    expect([...queue.depths()]).to.deep.equal([
      [1, 0],
      [2, 1],
    ]);
    (await take()).end();
    expect(queue.depths().get(2)).to.equal(0);
  });

  it('ends a reconcile once, however often it is called', async () => {
    queue.add('a');
    const first = await take();
    first.end();
    queue.add('a');
    const second = await take();
    first.end();
    queue.add('a');
    expect(await drain()).to.deep.equal([]);
    second.end();
    expect(await drain()).to.deep.equal(['a']);
  });

  it('keeps a cancelled key running', async () => {
    queue.add('a');
    const turn = await take();
    queue.cancel('a');
    queue.add('a');
    expect(await drain()).to.deep.equal([]);
    turn.end();
    expect(await drain()).to.deep.equal(['a']);
  });

  it('keeps a timer that was set during the reconcile of its key', async () => {
    queue.add('a');
    const turn = await take();
    queue.addAfter('a', 100, 'retry');
    turn.end();
    expect(queue.size).to.equal(1);
    queue.addAfter('a', 200, 'requeue');
    await clock.advance(199);
    expect(await drain()).to.deep.equal([]);
    await clock.advance(1);
    expect(await drain()).to.deep.equal(['a']);
  });

  it('reports each start of a key and its waiting time to its observer', async () => {
    const told: (string | number)[] = [];
    queue = createQueue(clock, { added: () => told.push('added'), taken: (ms) => told.push(ms) });
    await clock.advance(1_000);
    queue.add('a');
    queue.add('a', 5);
    await clock.advance(300);
    const turn = await take();
    queue.add('a');
    await clock.advance(200);
    turn.end();
    (await take()).end();
    expect(told).to.deep.equal(['added', 300, 'added', 0]);
  });

  it('handles a timer of the machine that fires early', async () => {
    const early = new FakeClock();
    let haste = 1;
    const hasty: Clock = {
      now: () => early.now(),
      wall: () => early.wall(),
      at: (when, fn) => early.at(when - haste, fn),
    };
    queue = createQueue(hasty);
    queue.addAfter('a', 100, 'requeue');
    haste = 0;
    await early.advance(99);
    expect(await drain()).to.deep.equal([]);
    await early.advance(1);
    expect(await drain()).to.deep.equal(['a']);
  });

  interface Step {
    readonly op: 'add' | 'after' | 'take' | 'end' | 'cancel' | 'pass';
    readonly n: number;
  }
  const step: fc.Arbitrary<Step> = fc.record({
    op: fc.constantFrom('add', 'after', 'take', 'take', 'end', 'cancel', 'pass'),
    n: fc.nat(5),
  });

  it('never runs a key twice or has two timers of it, and forgets idle keys', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        clock = new FakeClock();
        queue = createQueue(clock);
        const running = new Map<string, WorkItem>();
        const admitted = new Map<string, number>();
        const began = new Map<string, number>();
        for (const [at, { op, n }] of steps.entries()) {
          const key = `k${String(n)}`;
          if (op === 'add') {
            queue.add(key, n);
            admitted.set(key, at);
          } else if (op === 'after') queue.addAfter(key, n * 10, 'requeue');
          else if (op === 'cancel') {
            queue.cancel(key);
            admitted.delete(key);
          } else if (op === 'pass') await clock.advance(n * 7);
          else if (op === 'end') {
            running.get(key)?.end();
            running.delete(key);
          } else if ([...queue.depths().values()].some((depth) => depth > 0)) {
            const turn = await take();
            expect(running.has(turn.key)).to.equal(false);
            running.set(turn.key, turn);
            began.set(turn.key, at);
          }
        }
        for (const turn of running.values()) turn.end();
        await clock.advance(1_000);
        const rest = await drain();
        expect(new Set(rest).size).to.equal(rest.length);
        for (const [key, at] of admitted)
          if (!rest.includes(key)) expect(began.get(key)).to.be.greaterThan(at);
        expect(queue.size).to.equal(0);
        expect(clock.pending).to.equal(0);
      }),
      { numRuns: 150 },
    );
  });
});
