import { expect } from 'chai';
import { SizedMap, unshared } from '../../../src/lib/sized-map.ts';

const KIB = 2 ** 10;
const texts = (maxBytes: number, onDrop?: (key: string) => void) =>
  new SizedMap<string>(maxBytes, (text) => text.length, onDrop);

describe('a map with a maximum size', () => {
  it('drops what was not used for the longest time', () => {
    const dropped: string[] = [];
    const map = texts(5 * KIB, (key) => dropped.push(key));
    for (const key of ['a', 'b', 'c']) map.set(key, key.repeat(KIB));
    map.get('a');
    map.set('d', 'd'.repeat(KIB));
    expect(dropped).to.deep.equal(['b']);
    expect(map.values()).to.deep.equal(['c', 'a', 'd'].map((key) => key.repeat(KIB)));
  });

  it('counts keys, and entries without content', () => {
    const map = texts(64 * KIB);
    for (let i = 0; i < 10_000; i++) map.set(`key ${String(i)}`, '');
    expect(map.items).to.be.within(50, 150);
    map.set('k'.repeat(64 * KIB), '');
    expect(map.get('k'.repeat(64 * KIB))).to.equal(undefined);
  });

  it('keeps nothing that is larger than the whole map, and knows its size after deletions', () => {
    const map = texts(2 * KIB);
    map.set('a', 'a');
    map.set('a', 'a'.repeat(2 * KIB));
    expect([map.get('a'), map.size, map.items]).to.deep.equal([undefined, 0, 0]);
    map.delete('unknown');
    expect(map.size).to.equal(0);
  });
});

describe('bytes in memory of their own', () => {
  it('keep nothing of a larger piece of memory', () => {
    const part = Buffer.alloc(64 * KIB, 'x').subarray(100, 103);
    const own = unshared(part);
    expect(Buffer.from(own).toString()).to.equal('xxx');
    expect(own.buffer.byteLength).to.equal(3);
  });

  it('are not copied if they already have it', () => {
    const own = new Uint8Array(3);
    expect(unshared(own)).to.equal(own);
  });
});
