import { expect } from 'chai';
import { LinkedList, type Linked } from '../../../../src/runtime/queue/linked-list.ts';
import { Pace } from '../../../../src/lib/pace.ts';
import { FakeClock, settle } from '../../../support/clock.ts';

describe('the pace of reconciles', () => {
  const create = () => {
    let now = 1_000;
    const clock = Object.assign(new FakeClock(), { now: () => now });
    return { pace: new Pace(clock), pass: (ms: number) => (now += ms) };
  };

  it('goes on for 8 ms, then waits for the event loop', async () => {
    const { pace, pass } = create();
    expect(pace.rest()).to.equal(undefined);
    pass(7);
    expect(pace.rest()).to.equal(undefined);
    pass(1);
    let others = 0;
    setImmediate(() => others++);
    const rest = pace.rest();
    expect(rest).to.be.instanceOf(Promise);
    await rest;
    expect(others).to.equal(1);
  });

  it('begins again with each turn of the event loop', async () => {
    const { pace, pass } = create();
    expect(pace.rest()).to.equal(undefined);
    await settle(2);
    pass(100);
    expect(pace.rest()).to.equal(undefined);
    pass(7);
    expect(pace.rest()).to.equal(undefined);
  });
});

describe('a linked list', () => {
  interface Item extends Linked<Item> {
    readonly name: string;
  }
  const filled = (...names: readonly string[]) => {
    const list = new LinkedList<Item>();
    const items = names.map((name): Item => ({ name, list: undefined, before: undefined, after: undefined }));
    for (const item of items) list.push(item);
    return { list, items };
  };
  const namesIn = ({ first }: LinkedList<Item>): string => {
    let names = '';
    for (let item = first; item && names.length < 20; item = item.after) names += item.name;
    return names;
  };
  const backwards = (last: Item | undefined): string => {
    let names = '';
    for (let item = last; item && names.length < 20; item = item.before) names += item.name;
    return names;
  };

  for (const [title, out, left] of [
    ['the first', 0, 'bc'],
    ['one between others', 1, 'ac'],
    ['the last', 2, 'ab'],
  ] as const)
    it(`loses ${title}`, () => {
      const { list, items } = filled('a', 'b', 'c');
      const item = items[out] as Item;
      list.remove(item);
      expect([namesIn(list), item.list, item.before, item.after]).to.deep.equal([
        left,
        undefined,
        undefined,
        undefined,
      ]);
      const [, last] = left;
      expect(backwards(items.find(({ name }) => name === last))).to.equal(left.split('').reverse().join(''));
      list.push(item);
      expect([namesIn(list), item.list === list]).to.deep.equal([left + item.name, true]);
    });

  it('is empty at first, and again when its only item is taken out', () => {
    const { list, items } = filled('a');
    list.remove(items[0] as Item);
    expect([list.first, filled().list.first]).to.deep.equal([undefined, undefined]);
    list.push(items[0] as Item);
    expect(namesIn(list)).to.equal('a');
  });
});
