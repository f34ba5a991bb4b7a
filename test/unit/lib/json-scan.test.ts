import { expect } from 'chai';
import { JsonScan, structureExcess, type StructureExcess } from '../../../src/lib/json-scan.ts';

const limits = { maxDepth: 3, maxElements: 5 };

/** Text, and the limit that it exceeds if there are at most three levels and five values. */
const rows: readonly (readonly [string, StructureExcess | undefined])[] = [
  ['', undefined],
  ['1', undefined],
  ['[]', undefined],
  ['[[[]]]', undefined],
  ['[[[[]]]]', 'depth'],
  ['{"a":{"b":{"c":1}}}', undefined],
  ['{"a":{"b":{"c":{}}}}', 'depth'],
  ['{"a":[{"b":[]}]}', 'depth'],
  ['[[],[],[]]', 'elements'],
  ['[[],[]]', undefined],
  ['[1,2,3,4,5]', undefined],
  ['[1,2,3,4,5,6]', 'elements'],
  ['{"a":1,"b":2,"c":3,"d":4,"e":5}', undefined],
  ['{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6}', 'elements'],
  ['"[[[[[[[["', undefined],
  ['["[[[[,,,,,,,,,,"]', undefined],
  ['{"[[[[":"{{{{"}', undefined],
  ['["\\"[[[[[["]', undefined],
  ['["\\\\",[[[', 'depth'],
  ['["\\\\\\"[[[[[["]', undefined],
  ['["\\u005b\\u005b\\u005b\\u005b"]', undefined],
  ['["ü[[[[[€"]', undefined],
  ['["ü€",[[[', 'depth'],
  ['[[]][[]][[]]', 'elements'],
  [']]]]][[[[', undefined],
  ['[[[["never closed', 'depth'],
  ['"never closed [[[[[[', undefined],
  ['[1 , 2 ,\n3,\t4,5 , 6]', 'elements'],
];

describe('counting the structure of JSON before it is parsed', () => {
  for (const [text, excess] of rows) {
    const bytes = Buffer.from(text);
    it(`finds ${excess ?? 'nothing'} in ${JSON.stringify(text)}, however the bytes are split`, () => {
      expect(structureExcess(bytes, limits)).to.equal(excess);
      for (let cut = 0; cut <= bytes.length; cut++) {
        const scan = new JsonScan(limits);
        const first = scan.feed(bytes.subarray(0, cut));
        expect(first ?? scan.feed(bytes.subarray(cut)), `cut at ${String(cut)}`).to.equal(excess);
      }
      const scan = new JsonScan(limits);
      const found = [...bytes].map((byte) => scan.feed(Uint8Array.of(byte))).find(Boolean);
      expect(found, 'byte by byte').to.equal(excess);
    });
  }

  it('counts at least half and at most twice the values that a parser creates', () => {
    const count = (value: unknown): number =>
      typeof value !== 'object' || value === null
        ? 1
        : 1 + Object.values(value).reduce((sum: number, each) => sum + count(each), 0);
    const depth = (value: unknown): number =>
      typeof value !== 'object' || value === null ? 0 : 1 + Math.max(0, ...Object.values(value).map(depth));
    for (const value of [
      { metadata: { name: 'a', labels: { x: '1', y: '[[' } }, items: [1, [2, [3]], {}, ''] },
      [[[[]]], {}, [{}], '\\"[', { '{': '}' }],
    ]) {
      const bytes = Buffer.from(JSON.stringify(value));
      const [levels, values] = [depth(value), count(value)];
      expect(structureExcess(bytes, { maxDepth: levels, maxElements: 2 * values })).to.equal(undefined);
      expect(structureExcess(bytes, { maxDepth: levels - 1, maxElements: 2 * values })).to.equal('depth');
      expect(structureExcess(bytes, { maxDepth: levels, maxElements: Math.floor(values / 2) - 1 })).to.equal(
        'elements',
      );
    }
  });
});
