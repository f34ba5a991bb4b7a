import { expect } from 'chai';
import { ByteBudget, type ByteShare } from '../../../src/lib/byte-budget.ts';
import { settle } from '../../support/clock.ts';

/** Takes shares, and records their order. */
function taker(budget: ByteBudget) {
  const order: string[] = [];
  const shares = new Map<string, ByteShare>();
  return {
    order,
    take: async (name: string, bytes: number, key = name, signal?: AbortSignal) => {
      const share = await budget.take(bytes, key, signal);
      order.push(name);
      shares.set(name, share);
    },
    release: async (name: string) => {
      shares.get(name)?.release();
      await settle();
    },
  };
}

describe('a budget of bytes', () => {
  it('grants what is available, and lets others wait until enough is released', async () => {
    const budget = new ByteBudget(100);
    const { order, take, release } = taker(budget);
    void take('a', 60);
    void take('b', 60);
    await settle();
    expect(order).to.deep.equal(['a']);
    expect(budget.used).to.equal(60);
    await release('a');
    expect(order).to.deep.equal(['a', 'b']);
    await release('b');
    expect(budget.used).to.equal(0);
  });

  it('grants everything to a request for more', async () => {
    const budget = new ByteBudget(100);
    const { order, take, release } = taker(budget);
    void take('huge', 1_000_000);
    void take('small', 1);
    await settle();
    expect(order).to.deep.equal(['huge']);
    await release('huge');
    expect(order).to.deep.equal(['huge', 'small']);
  });

  it('grants no key more than half of it while the key holds a share', async () => {
    const budget = new ByteBudget(100);
    const { order, take } = taker(budget);
    for (const name of ['a1', 'a2', 'a3', 'a4']) void take(name, 25, 'a');
    void take('b', 25);
    await settle();
    expect(order).to.deep.equal(['a1', 'a2', 'b']);
  });

  it('serves keys in turn, however many requests of one wait', async () => {
    const budget = new ByteBudget(100);
    const { order, take, release } = taker(budget);
    void take('first', 100);
    for (const name of ['a1', 'a2', 'a3']) void take(name, 100, 'a');
    void take('b', 100);
    void take('c', 100);
    await settle();
    for (const name of ['first', 'a1', 'b', 'c', 'a2']) await release(name);
    expect(order).to.deep.equal(['first', 'a1', 'b', 'c', 'a2', 'a3']);
  });

  it('does not let a small request overtake a large one', async () => {
    const budget = new ByteBudget(100);
    const { order, take, release } = taker(budget);
    void take('first', 60);
    void take('large', 80);
    void take('small', 10);
    await settle();
    expect(order).to.deep.equal(['first']);
    await release('first');
    expect(order).to.deep.equal(['first', 'large', 'small']);
  });

  it('drops a request that was aborted, and continues with the next', async () => {
    const budget = new ByteBudget(100);
    const { order, take, release } = taker(budget);
    const gone = new AbortController();
    void take('first', 50);
    const waiting = take('large', 100, 'large', gone.signal);
    void take('small', 50);
    gone.abort(new Error('gone'));
    expect(await waiting.catch((error: unknown) => (error as Error).message)).to.equal('gone');
    await settle();
    expect(order).to.deep.equal(['first', 'small']);
    const late = take('late', 1, 'late', gone.signal);
    expect(await late.catch((error: unknown) => (error as Error).message)).to.equal('gone');
    await release('first');
    await release('small');
    expect(budget.used).to.equal(0);
  });

  it('is released once, however often release is called', async () => {
    const budget = new ByteBudget(100);
    const share = await budget.take(70, 'a');
    share.release();
    share.release();
    expect(budget.used).to.equal(0);
  });
});
