import { expect } from 'chai';
import fc from 'fast-check';
import { Heap, type HeapItem } from '../../../src/runtime/queue/heap.ts';

interface Item extends HeapItem {
  readonly rank: number;
}

describe('a heap', () => {
  const filled = (ranks: readonly number[]): { heap: Heap<Item>; items: Item[] } => {
    const heap = new Heap<Item>((a, b) => a.rank < b.rank);
    const items = ranks.map((rank) => ({ rank, place: 0 }));
    for (const item of items) heap.push(item);
    return { heap, items };
  };
  const emptied = (heap: Heap<Item>): number[] => {
    const ranks: number[] = [];
    for (let first = heap.peek(); first && ranks.length < 100; first = heap.peek()) {
      ranks.push(first.rank);
      heap.remove(first);
    }
    return ranks;
  };
  const sorted = (ranks: readonly number[]): number[] => [...ranks].sort((a, b) => a - b);

  it('has no first item if it is empty', () => {
    expect(filled([]).heap.peek()).to.equal(undefined);
  });

  it('returns its items in order, whichever of them were removed before', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(50), { maxLength: 40 }), fc.array(fc.nat(39)), (ranks, taken) => {
        const { heap, items } = filled(ranks);
        const out = new Set(taken.filter((at) => at < items.length));
        for (const at of out) heap.remove(items[at] as Item);
        expect(emptied(heap)).to.deep.equal(sorted(ranks.filter((_, at) => !out.has(at))));
      }),
    );
  });

  it('moves the last item up if it replaces one that is farther down', () => {
    const { heap, items } = filled([1, 10, 2, 11, 12, 3, 4]);
    heap.remove(items[3] as Item);
    expect(emptied(heap)).to.deep.equal([1, 2, 3, 4, 10, 12]);
  });
});
