import { expect } from 'chai';
import { checkJsonBounds, JsonTooLarge } from '../../../src/lib/json-bounds.ts';

describe('the bounds of JSON', () => {
  const many = (text: string, count: number): string => Array<string>(count).fill(text).join(',');
  const fine: readonly [string, string][] = [
    ['a short text', '[1,{"a":[]}]'],
    ['nearly a million values', `[${many('1', 999_998)}]`],
    ['commas and brackets in strings', `["${'[,'.repeat(600_000)}","${'\\"{'.repeat(600_000)}"]`],
    ['ten thousand levels', '['.repeat(10_000) + ']'.repeat(10_000)],
    ['a long text with few levels', many('[[]]', 20_000)],
    ['invalid JSON', '"'.repeat(20_001)],
  ];
  for (const [title, text] of fine) {
    it(`accept ${title}`, () => {
      expect(() => {
        checkJsonBounds(text);
      }).not.to.throw();
    });
  }

  const refused: readonly [string, string, string][] = [
    ['more than a million values', `[${many('1', 1_000_000)}]`, 'more than 1000000 values'],
    ['more than a million lists', `[${many('[]', 500_001)}]`, 'more than 1000000 values'],
    ['too many levels', '['.repeat(10_001), 'nested more than 10000 deep'],
  ];
  for (const [title, text, why] of refused) {
    it(`reject ${title}`, () => {
      expect(() => {
        checkJsonBounds(text);
      }).to.throw(JsonTooLarge, why);
    });
  }
});
