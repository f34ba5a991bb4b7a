/** Compares the table with a Map, in any order of reads, changes and rounds of compression. */
import { expect } from 'chai';
import fc from 'fast-check';
import { Block, BLOCK_OBJECTS } from '../../../src/runtime/cache/block.ts';
import { ObjectTable } from '../../../src/runtime/cache/object-table.ts';
import { thing, type Thing } from '../../support/scripted-api.ts';

const object = (name: string, version: number): Thing => ({
  ...thing(name, { resourceVersion: String(version) }),
  spec: { text: `ü\n"\\ of ${name}`, list: [1, null, { deep: 'x'.repeat(50) }] },
});
const key = (i: number): string => `ns/${String(i)}`;

const round = (table: ObjectTable<Thing>): void => {
  for (const _ of table.compressIdle());
};
const filled = (count: number): ObjectTable<Thing> => {
  const table = new ObjectTable<Thing>();
  for (let i = 0; i < count; i++) table.set(key(i), object(String(i), i));
  return table;
};

/** How many blocks are decompressed. */
function blocksRead(read: () => unknown): number {
  let count = 0;
  const { lines } = Block.prototype;
  Block.prototype.lines = function () {
    count++;
    return lines.call(this);
  };
  try {
    read();
    return count;
  } finally {
    Block.prototype.lines = lines;
  }
}

describe('the table of the objects of a cache', () => {
  it('equals a map, whatever is compressed', () => {
    const name = fc.integer({ min: 0, max: 60 });
    const steps = fc.array(
      fc.oneof(
        fc.record({ do: fc.constant('set' as const), name }),
        fc.record({ do: fc.constant('get' as const), name }),
        fc.record({ do: fc.constant('peek' as const), name }),
        fc.record({ do: fc.constant('delete' as const), name }),
        fc.record({ do: fc.constant('round' as const), name }),
        fc.record({ do: fc.constant('part of a round' as const), name }),
      ),
      { maxLength: 200 },
    );
    fc.assert(
      fc.property(steps, (all) => {
        const table = filled(40);
        const model = new Map(Array.from({ length: 40 }, (_, i) => [key(i), object(String(i), i)]));
        let version = 100;
        let part: Generator<void> | undefined;
        // Rounds follow each other.
        const finish = (): void => {
          while (part && !part.next().done);
          part = undefined;
        };
        for (const step of all) {
          const at = key(step.name);
          if (step.do === 'set') {
            const obj = object(String(step.name), ++version);
            table.set(at, obj);
            model.set(at, obj);
          } else if (step.do === 'delete') {
            table.delete(at);
            model.delete(at);
          } else if (step.do === 'round') {
            finish();
            round(table);
          } else if (step.do === 'part of a round') {
            part ??= table.compressIdle();
            if (part.next().done) part = undefined;
          } else expect(table[step.do](at)).to.deep.equal(model.get(at));
          expect(table.versionOf(at)).to.equal(model.get(at)?.metadata.resourceVersion);
          expect(table.has(at)).to.equal(model.has(at));
        }
        expect(table.size).to.equal(model.size);
        expect([...table.entries()]).to.deep.equal([...model]);
        expect([...table.keys()]).to.deep.equal([...model.keys()]);
        expect(table.compressed).to.be.within(0, table.size);
        // Without any use, everything is compressed in the end, and no objects are counted twice.
        finish();
        round(table);
        round(table);
        expect(table.compressed).to.equal(table.size);
      }),
    );
  });

  it('compresses what was used neither in this round nor in the one before', () => {
    const table = filled(3);
    round(table);
    expect(table.compressed).to.equal(0);
    table.get(key(0));
    round(table);
    expect(table.compressed).to.equal(2);
    round(table);
    expect(table.compressed).to.equal(3);
  });

  it('returns the same value while an object is used', () => {
    const table = filled(2);
    round(table);
    round(table);
    const first = table.get(key(0));
    expect(table.get(key(0))).to.equal(first);
    expect(table.peek(key(1))).not.to.equal(table.peek(key(1)));
    expect(table.compressed).to.equal(1);
  });

  it('leaves what JSON cannot represent as it is', () => {
    const table = filled(2);
    const big = { ...object('2', 2), spec: { text: 1n as unknown as string } };
    table.set(key(2), big);
    for (let i = 0; i < 5; i++) round(table);
    expect(table.compressed).to.equal(2);
    expect(table.get(key(2))).to.equal(big);
  });

  it('moves the last objects of a block to another one, so that none keeps a whole block', () => {
    const count = 4 * BLOCK_OBJECTS;
    const table = filled(count);
    round(table);
    round(table);
    for (let i = 0; i < count; i++) if (i % BLOCK_OBJECTS > 3) table.delete(key(i));
    expect(blocksRead(() => [...table.entries()])).to.equal(4);
    round(table);
    expect(blocksRead(() => [...table.entries()])).to.equal(1);
    expect(table.compressed).to.equal(16);
    for (let i = 0; i < count; i++)
      if (i % BLOCK_OBJECTS <= 3) expect(table.peek(key(i))).to.deep.equal(object(String(i), i));
  });

  it('gives decompressed objects to the function of its owner', () => {
    const table = new ObjectTable<Thing>((obj) => Object.freeze(obj));
    table.set(key(0), object('0', 0));
    round(table);
    round(table);
    expect(Object.isFrozen(table.get(key(0)))).to.equal(true);
  });
});
