import { expect } from 'chai';
import fc from 'fast-check';
import type { Clock } from '../../../src/lib/clock.ts';
import { createQueue, INITIAL_PRIORITY, type Turn, type WorkQueue } from '../../../src/runtime/queue.ts';
import { FakeClock } from '../../support/clock.ts';

describe('the work queue', () => {
  let clock: FakeClock;
  let queue: WorkQueue;
  beforeEach(() => {
    clock = new FakeClock();
    queue = createQueue(clock);
  });

  const take = async (): Promise<Turn> => {
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

  it('hands out keys in the order they came, each once', async () => {
    expect(queue.add('a')).to.equal('queued');
    expect(queue.add('b')).to.equal('queued');
    expect(queue.add('a')).to.equal('merged');
    expect(await drain()).to.deep.equal(['a', 'b']);
    expect(queue.size).to.equal(0);
  });

  it('hands a key to whoever waits for one', async () => {
    const waiting = take();
    queue.add('a');
    expect((await waiting).key).to.equal('a');
  });

  it('makes a running key ready again when its turn ends', async () => {
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

  it('S122: lets an edit overtake the first list, and keeps the higher priority', async () => {
    for (let i = 0; i < 60_000; i++) queue.add(String(i), INITIAL_PRIORITY);
    queue.add('41234');
    queue.add('41234', INITIAL_PRIORITY);
    const turn = await take();
    expect(turn.key).to.equal('41234');
    expect(turn.priority).to.equal(0);
    queue.after('41234', 1_000, 'retry', turn.priority);
    turn.end();
    await clock.advance(1_000);
    expect((await take()).key).to.equal('41234');
    expect((await take()).key).to.equal('0');
    expect(queue.depths().get(INITIAL_PRIORITY)).to.equal(59_998);
  });

  it('makes delayed keys ready in the order of their time', async () => {
    queue.after('late', 300, 'again');
    queue.after('early', 100, 'again');
    queue.after('middle', 200, 'retry');
    await clock.advance(99);
    expect(await drain()).to.deep.equal([]);
    await clock.advance(1);
    expect(await drain()).to.deep.equal(['early']);
    await clock.advance(1_000);
    expect(await drain()).to.deep.equal(['middle', 'late']);
  });

  it('keeps one timer per key, the last one set', async () => {
    queue.after('a', 100, 'sync');
    queue.after('a', 200, 'retry');
    expect(queue.timerOf('a')).to.deep.include({ kind: 'retry', when: 200 });
    await clock.advance(150);
    expect(await drain()).to.deep.equal([]);
    await clock.advance(50);
    expect(await drain()).to.deep.equal(['a']);
    await clock.advance(1_000);
    expect(await drain()).to.deep.equal([]);
    expect(clock.pending).to.equal(0);
  });

  it('drops the timer of a key when its turn begins', async () => {
    queue.after('a', 100, 'retry');
    queue.add('a');
    (await take()).end();
    expect(queue.timerOf('a')).to.equal(undefined);
    await clock.advance(1_000);
    expect(await drain()).to.deep.equal([]);
  });

  it('forgets everything about a cancelled key but its turn', async () => {
    queue.add('a');
    queue.after('b', 100, 'again');
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

  it('takes nothing and gives nothing after it was closed', async () => {
    const waiting = queue.take();
    queue.after('a', 100, 'again');
    queue.close();
    queue.add('b');
    queue.after('c', 100, 'again');
    expect(await waiting).to.equal(undefined);
    expect(await queue.take()).to.equal(undefined);
    expect(clock.pending).to.equal(0);
    expect(queue.size).to.equal(0);
  });

  it('does not mind a timer of the machine that is early', async () => {
    const early = new FakeClock();
    let haste = 1;
    const hasty: Clock = {
      now: () => early.now(),
      wall: () => early.wall(),
      at: (when, fn) => early.at(when - haste, fn),
    };
    queue = createQueue(hasty);
    queue.after('a', 100, 'again');
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

  it('never has two turns of one key, nor two timers, and forgets what is at rest', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        clock = new FakeClock();
        queue = createQueue(clock);
        const running = new Map<string, Turn>();
        const admitted = new Map<string, number>();
        const began = new Map<string, number>();
        for (const [at, { op, n }] of steps.entries()) {
          const key = `k${String(n)}`;
          if (op === 'add') {
            queue.add(key, n);
            admitted.set(key, at);
          } else if (op === 'after') queue.after(key, n * 10, 'again');
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
