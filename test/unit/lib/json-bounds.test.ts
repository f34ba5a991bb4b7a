import { expect } from 'chai';
import { checkJsonBounds, JsonTooLarge } from '../../../src/lib/json-bounds.ts';

describe('the bounds of JSON', () => {
  const many = (text: string, count: number): string => Array<string>(count).fill(text).join(',');
  const fine: readonly [string, string][] = [
    ['what is short', '[1,{"a":[]}]'],
    ['nearly a million values', `[${many('1', 999_998)}]`],
    ['commas and brackets in strings', `["${'[,'.repeat(600_000)}","${'\\"{'.repeat(600_000)}"]`],
    ['a depth of ten thousand', '['.repeat(10_000) + ']'.repeat(10_000)],
    ['much that is not deep', many('[[]]', 20_000)],
    ['what is no JSON at all', '"'.repeat(20_001)],
  ];
  for (const [title, text] of fine) {
    it(`let ${title} pass`, () => {
      expect(() => {
        checkJsonBounds(text);
      }).not.to.throw();
    });
  }

  const refused: readonly [string, string, string][] = [
    ['more than a million values', `[${many('1', 1_000_000)}]`, 'more than 1000000 values'],
    ['more than a million lists', `[${many('[]', 500_001)}]`, 'more than 1000000 values'],
    ['more depth', '['.repeat(10_001), 'nested more than 10000 deep'],
  ];
  for (const [title, text, why] of refused) {
    it(`refuse ${title}`, () => {
      expect(() => {
        checkJsonBounds(text);
      }).to.throw(JsonTooLarge, why);
    });
  }
});
