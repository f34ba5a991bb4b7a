/** The order of keys if several namespaces need workers. */
import { expect } from 'chai';
import { namespaceOf } from '../../../src/runtime/keys.ts';
import { FairOrder, type Waiting } from '../../../src/runtime/queue/fair-order.ts';
import {
  createQueue,
  INITIAL_PRIORITY,
  type WorkItem,
  type WorkQueue,
} from '../../../src/runtime/queue/queue.ts';
import { HEAVY_MS, WINDOW_MS } from '../../../src/runtime/queue/usage.ts';
import { FakeClock } from '../../support/clock.ts';

/** Takes as many turns as can be had now, at most `most`. */
async function takeUpTo(queue: WorkQueue, most: number): Promise<WorkItem[]> {
  const turns: WorkItem[] = [];
  for (let i = 0; i < most; i++) void queue.take().then((turn) => turn && turns.push(turn));
  await new Promise(setImmediate);
  return turns;
}
const spaces = (turns: readonly WorkItem[]): string => turns.map(({ key }) => namespaceOf(key)).join('');

describe('fairness of the queue between namespaces', () => {
  let clock: FakeClock;
  let queue: WorkQueue;
  const start = (workers: number): void => {
    clock = new FakeClock();
    queue = createQueue(clock, undefined, { workers, namespaceOf });
  };
  const addMany = (namespace: string, count: number, priority = 0): void => {
    for (let i = 0; i < count; i++) queue.add(`${namespace}/${String(i)}`, priority);
  };
  /** One reconcile after the other, each taking `ms`. */
  async function play(count: number, ms: (turn: WorkItem) => number = () => 0): Promise<string> {
    let order = '';
    for (let i = 0; i < count; i++) {
      const turn = (await queue.take()) as WorkItem;
      order += namespaceOf(turn.key);
      await clock.advance(ms(turn));
      turn.end();
    }
    return order;
  }
  /** Makes `namespace` one that used much time lately. */
  async function tire(namespace: string): Promise<void> {
    queue.add(`${namespace}/long`);
    await play(1, () => HEAVY_MS + 1);
  }

  interface Row {
    readonly title: string;
    readonly added: readonly (readonly [namespace: string, count: number, priority?: number])[];
    readonly order: string;
  }
  const rows: readonly Row[] = [
    {
      title: 'alternates between namespaces, however many keys each has',
      added: [['A', 2_000], ['B', 3], ['C', 1]], // prettier-ignore
      order: 'ABCABABAAA',
    },
    {
      title: 'takes the highest priority first, of any namespace',
      added: [['A', 2, INITIAL_PRIORITY], ['B', 2, INITIAL_PRIORITY], ['C', 2]], // prettier-ignore
      order: 'CCABAB',
    },
    {
      title: 'alternates within each priority',
      added: [['A', 2, 5], ['B', 1, 5], ['B', 2]], // prettier-ignore
      order: 'ABAB',
    },
    {
      title: 'keeps the position of a namespace that adds a key',
      added: [['A', 1], ['B', 1], ['A', 2]], // prettier-ignore
      order: 'ABA',
    },
  ];
  for (const { title, added, order } of rows) {
    it(title, async () => {
      start(10);
      for (const [namespace, count, priority] of added) addMany(namespace, count, priority);
      expect(await play(order.length)).to.equal(order);
    });
  }

  it('returns the keys of a namespace in their order', async () => {
    start(10);
    addMany('A', 5);
    addMany('B', 5);
    const turns = await takeUpTo(queue, 6);
    expect(turns.map(({ key }) => key)).to.deep.equal(['A/0', 'B/0', 'A/1', 'B/1', 'A/2', 'B/2']);
  });

  for (const { workers, most } of [
    { workers: 1, most: 1 },
    { workers: 2, most: 1 },
    { workers: 3, most: 2 },
    { workers: 10, most: 9 },
    { workers: 30, most: 29 },
  ]) {
    it(`gives one namespace at most ${String(most)} of ${String(workers)} workers`, async () => {
      start(workers);
      addMany('A', 2_000);
      const turns = await takeUpTo(queue, workers);
      expect(turns).to.have.length(most);
      queue.add('B/canary');
      await new Promise(setImmediate);
      expect(spaces(turns)).to.equal('A'.repeat(most) + (workers > 1 ? 'B' : ''));
      turns.at(-1)?.end();
      await new Promise(setImmediate);
      expect(queue.depths().get(0)).to.equal(2_000 - most + (workers > 1 ? 0 : 1));
    });
  }

  it('gives a waiting worker a key when the end of another reconcile allows it', async () => {
    start(3);
    addMany('A', 3);
    const turns = await takeUpTo(queue, 3);
    expect(spaces(turns)).to.equal('AA');
    turns[0]?.end();
    await new Promise(setImmediate);
    expect(spaces(turns)).to.equal('AAA');
  });

  it('prefers others to a namespace that holds half of the workers', async () => {
    start(4);
    addMany('A', 10);
    const held = await takeUpTo(queue, 2);
    addMany('B', 2);
    addMany('C', 2);
    expect(spaces(held) + spaces(await takeUpTo(queue, 2))).to.equal('AABC');
  });

  it('never gives all workers to namespaces that used much time', async () => {
    start(4);
    await tire('A');
    await tire('B');
    addMany('A', 10);
    addMany('B', 10);
    const turns = await takeUpTo(queue, 4);
    expect(spaces(turns)).to.equal('ABA');
    queue.add('C/canary');
    await new Promise(setImmediate);
    expect(spaces(turns)).to.equal('ABAC');
  });

  it('serves a namespace that used much time after the others, and does not starve it', async () => {
    start(10);
    await tire('A');
    addMany('A', 4);
    addMany('B', 9);
    expect(await play(13)).to.match(/^BB?B?AB+AB+AB*A$/u);
  });

  it('puts edits of a namespace that used much time behind the first list of the others', async () => {
    start(10);
    await tire('A');
    addMany('A', 2);
    addMany('B', 2, INITIAL_PRIORITY);
    expect(await play(2)).to.equal('BB');
  });

  it('serves a namespace whose reconciles fail after the others', async () => {
    start(10);
    for (let i = 0; i < 26; i++) {
      queue.add('A/bad');
      const turn = (await queue.take()) as WorkItem;
      turn.failed();
      turn.end();
    }
    addMany('A', 1);
    addMany('B', 2);
    expect(await play(3)).to.equal('BBA');
  });

  it('forgets after a while which namespaces used much time', async () => {
    start(10);
    await tire('A');
    await clock.advance(2 * WINDOW_MS);
    addMany('A', 1);
    addMany('B', 2);
    expect(await play(3)).to.equal('ABB');
  });

  it('notices it also if keys of that namespace have been waiting since', async () => {
    start(10);
    await tire('A');
    addMany('A', 2);
    const busy = await takeUpTo(queue, 1);
    expect(spaces(busy)).to.equal('A');
    await clock.advance(2 * WINDOW_MS);
    addMany('B', 1, INITIAL_PRIORITY);
    busy[0]?.end();
    await clock.advance(2 * WINDOW_MS);
    expect(await play(2)).to.match(/^(AB|BA)$/u);
  });

  it('serves a namespace that used much time, even with one worker', async () => {
    start(1);
    await tire('A');
    addMany('A', 1);
    expect(spaces(await takeUpTo(queue, 1))).to.equal('A');
  });

  it('serves others if a namespace that used much time was next and is gone', async () => {
    start(10);
    await tire('A');
    addMany('A', 1);
    addMany('B', 4);
    expect(await play(3)).to.equal('BBB');
    queue.cancel('A/0');
    expect(spaces(await takeUpTo(queue, 1))).to.equal('B');
  });

  it('counts the workers of a namespace once when it reaches half of them', async () => {
    start(4);
    await tire('A');
    await tire('B');
    addMany('A', 2);
    expect(spaces(await takeUpTo(queue, 2))).to.equal('AA');
    addMany('B', 1);
    expect(spaces(await takeUpTo(queue, 1))).to.equal('B');
  });

  it('forgets which namespace held half of the workers', async () => {
    start(4);
    for (let i = 0; i < 5; i++) {
      addMany('A', 2);
      for (const turn of await takeUpTo(queue, 2)) turn.end();
    }
    await tire('B');
    addMany('B', 1);
    expect(spaces(await takeUpTo(queue, 1))).to.equal('B');
  });

  it('charges a reconcile with all of the time before another began', async () => {
    start(10);
    queue.add('A/1');
    queue.add('B/1');
    const a = await takeUpTo(queue, 1);
    await clock.advance(2_000);
    const b = await takeUpTo(queue, 1);
    await clock.advance(2_000);
    for (const turn of [...a, ...b]) turn.end();
    addMany('A', 1);
    addMany('B', 1);
    addMany('C', 1);
    expect(await play(3)).to.equal('BCA');
  });

  it('shares the time of a reconcile with those that run concurrently', async () => {
    start(10);
    for (const name of ['B', 'C', 'D', 'E']) queue.add(`${name}/1`);
    queue.add('A/1');
    const turns = await takeUpTo(queue, 5);
    await clock.advance(2 * HEAVY_MS);
    for (const turn of turns) turn.end();
    queue.add('A/2', INITIAL_PRIORITY);
    queue.add('F/1');
    expect(await play(2), 'a fifth of the time is not much').to.equal('FA');
    queue.add('A/3');
    queue.add('F/2', INITIAL_PRIORITY);
    expect(await play(2)).to.equal('AF');
  });

  it('does not count a reconcile that has left its worker, except for its namespace', async () => {
    start(4);
    addMany('A', 10);
    const slow = await takeUpTo(queue, 3);
    expect(spaces(slow)).to.equal('AAA');
    expect(slow.map((turn) => turn.leaveWorker())).to.deep.equal([true, true, true]);
    for (const name of ['B', 'C', 'D', 'E']) queue.add(`${name}/1`);
    const others = await takeUpTo(queue, 4);
    expect(spaces(others), 'A has no more, although workers are free').to.equal('BCDE');
    for (const turn of others) turn.end();
    expect(spaces(await takeUpTo(queue, 4))).to.equal('');
    slow[0]?.end();
    expect(queue.depths().get(0)).to.equal(6);
  });

  it('lets a limited number of reconciles leave their workers, and none without fairness', async () => {
    start(2);
    let left = 0;
    for (let i = 0; i < 30; i++) {
      queue.add(`space-${String(i)}/a`);
      const [turn] = await takeUpTo(queue, 1);
      if (turn?.leaveWorker()) left++;
      else turn?.end();
    }
    expect(left).to.equal(20);
    for (const one of [createQueue(clock), createQueue(clock, undefined, { workers: 1, namespaceOf })]) {
      one.add('A/1');
      expect((await one.take())?.leaveWorker()).to.equal(false);
    }
  });

  it('stores nothing about a namespace without keys', async () => {
    start(10);
    for (let i = 0; i < 100; i++) queue.add(`space-${String(i)}/a`);
    await play(100);
    expect(queue.size).to.equal(0);
    queue.add('space-1/a');
    expect(await play(1)).to.equal('space-1');
  });

  it('remembers namespaces as long as they have keys', () => {
    interface Entry extends Waiting<Entry> {
      readonly key: string;
    }
    const order = new FairOrder<Entry>(2);
    const [first, second, other] = [order.enter('A'), order.enter('A'), order.enter('B')];
    expect([first === second, order.size]).to.deep.equal([true, 2]);
    order.leave(first);
    expect(order.size).to.equal(2);
    order.leave(second);
    order.leave(other);
    expect(order.size).to.equal(0);
  });
});
