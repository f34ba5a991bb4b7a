/** Compares the queue with a model that is too slow to be used and too simple to be wrong. */
import { expect } from 'chai';
import fc from 'fast-check';
import { createQueue, type WorkItem } from '../../../src/runtime/queue/queue.ts';
import { FakeClock } from '../../support/clock.ts';

interface Waiting {
  readonly key: string;
  priority: number;
  order: number;
}

/** Lists that are searched from end to end, and time that is a number. */
class Model {
  ready: Waiting[] = [];
  timers: { key: string; when: number; priority: number; order: number }[] = [];
  /** Running keys, and the priority with which they return; undefined if there was no event meanwhile. */
  readonly running = new Map<string, number | undefined>();
  now = 0;
  #order = 0;

  add(key: string, priority: number): 'queued' | 'merged' {
    if (this.running.has(key)) {
      const before = this.running.get(key);
      this.running.set(key, before === undefined ? priority : Math.max(before, priority));
      return before === undefined ? 'queued' : 'merged';
    }
    const known = this.ready.find((each) => each.key === key);
    if (known) {
      if (priority > known.priority) Object.assign(known, { priority, order: this.#order++ });
      return 'merged';
    }
    this.ready.push({ key, priority, order: this.#order++ });
    return 'queued';
  }

  after(key: string, ms: number, priority: number): void {
    this.timers = this.timers.filter((each) => each.key !== key);
    if (ms <= 0) this.add(key, priority);
    else this.timers.push({ key, when: this.now + ms, priority, order: this.#order++ });
  }

  cancel(key: string): void {
    this.timers = this.timers.filter((each) => each.key !== key);
    this.ready = this.ready.filter((each) => each.key !== key);
    if (this.running.has(key)) this.running.set(key, undefined);
  }

  take(): Waiting | undefined {
    const [first] = [...this.ready].sort((a, b) => b.priority - a.priority || a.order - b.order);
    if (!first) return undefined;
    this.cancel(first.key);
    this.running.set(first.key, undefined);
    return first;
  }

  end(key: string): void {
    const priority = this.running.get(key);
    this.running.delete(key);
    if (priority !== undefined) this.add(key, priority);
  }

  pass(ms: number): void {
    this.now += ms;
    const due = this.timers.filter(({ when }) => when <= this.now);
    this.timers = this.timers.filter(({ when }) => when > this.now);
    due.sort((a, b) => a.when - b.when || a.order - b.order);
    for (const { key, priority } of due) this.add(key, priority);
  }

  get size(): number {
    const keys = [...this.ready, ...this.timers].map(({ key }) => key);
    return new Set([...keys, ...this.running.keys()]).size;
  }
}

const key = fc.constantFrom('a', 'b', 'c', 'd');
const priority = fc.constantFrom(-100, 0, 0, 5);
const step = fc.oneof(
  fc.record({ op: fc.constant('add' as const), key, priority }),
  fc.record({ op: fc.constant('after' as const), key, priority, ms: fc.constantFrom(0, 10, 20, 20, 35) }),
  fc.record({ op: fc.constant('cancel' as const), key }),
  fc.record({ op: fc.constant('take' as const) }),
  fc.record({ op: fc.constant('take' as const) }),
  fc.record({ op: fc.constant('end' as const), key }),
  fc.record({ op: fc.constant('pass' as const), ms: fc.constantFrom(5, 10, 40) }),
);

describe('the queue and its model', () => {
  it('return the same keys and remember the same, whatever happens', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 80, size: 'max' }), async (steps) => {
        const clock = new FakeClock();
        const queue = createQueue(clock);
        const model = new Model();
        const turns = new Map<string, WorkItem>();
        for (const each of steps) {
          switch (each.op) {
            case 'add':
              expect(queue.add(each.key, each.priority)).to.equal(model.add(each.key, each.priority));
              break;
            case 'after':
              queue.addAfter(each.key, each.ms, 'requeue', each.priority);
              model.after(each.key, each.ms, each.priority);
              break;
            case 'cancel':
              queue.cancel(each.key);
              model.cancel(each.key);
              break;
            case 'take': {
              const expected = model.take();
              if (!expected) break;
              const turn = (await queue.take()) as WorkItem;
              expect([turn.key, turn.priority]).to.deep.equal([expected.key, expected.priority]);
              turns.set(turn.key, turn);
              break;
            }
            case 'end':
              if (!model.running.has(each.key)) break;
              expect(turns.get(each.key)?.dirty()).to.equal(model.running.get(each.key) !== undefined);
              turns.get(each.key)?.end();
              model.end(each.key);
              break;
            case 'pass':
              await clock.advance(each.ms);
              model.pass(each.ms);
          }
          expect(queue.size).to.equal(model.size);
          const depth = [...queue.depths().values()].reduce((sum, n) => sum + n, 0);
          expect(depth).to.equal(model.ready.length);
          for (const name of ['a', 'b', 'c', 'd']) {
            expect(queue.timerOf(name)?.when).to.equal(
              model.timers.find((timer) => timer.key === name)?.when,
            );
          }
        }
      }),
      { numRuns: 300 },
    );
  }).timeout(60_000);
});
