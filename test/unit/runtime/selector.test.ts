import { expect } from 'chai';
import { DefinitionError } from '../../../src/runtime/errors.ts';
import { areDisjoint, parseSelector } from '../../../src/runtime/cache/selector.ts';

describe('a label selector', () => {
  const rows: [string | undefined, Record<string, string> | undefined, boolean][] = [
    [undefined, undefined, true],
    ['', { a: 'b' }, true],
    ['a=b', { a: 'b' }, true],
    ['a==b', { a: 'b' }, true],
    ['a=b', { a: 'c' }, false],
    ['a=b', undefined, false],
    ['a=', { a: '' }, true],
    ['a!=b', { a: 'b' }, false],
    ['a!=b', {}, true],
    ['a', { a: '' }, true],
    ['a', {}, false],
    ['!a', {}, true],
    ['!a', { a: 'b' }, false],
    ['a in (b, c)', { a: 'c' }, true],
    ['a in (b, c)', {}, false],
    ['a notin (b,c)', {}, true],
    ['a notin (b,c)', { a: 'b' }, false],
    ['x.io/a in (b,c),d=e,!f', { 'x.io/a': 'b', d: 'e' }, true],
    ['x.io/a in (b,c),d=e,!f', { 'x.io/a': 'b', d: 'e', f: '' }, false],
    ['toString', {}, false],
  ];
  for (const [text, labels, expected] of rows) {
    it(`${String(text)} ${expected ? 'selects' : 'does not select'} ${JSON.stringify(labels)}`, () => {
      expect(parseSelector(text).matches(labels)).to.equal(expected);
    });
  }

  for (const text of ['a in b', '=b', 'a b', 'a=(b)=c']) {
    it(`"${text}" is rejected`, () => {
      expect(() => parseSelector(text)).to.throw(DefinitionError, text);
    });
  }

  it('is rejected with the invalid part and its position', () => {
    expect(() => parseSelector('a,b in c')).to.throw('"b in c" in the label selector "a,b in c"');
  });
});

describe('two label selectors', () => {
  for (const [a, b, expected] of [
    ['a=b', 'a=c', true],
    ['a in (b,c)', 'a in (d,e)', true],
    ['x,a=b', 'y,a=c', true],
    ['a in (b,c)', 'a in (c,d)', false],
    ['a=b', 'x=c', false],
    ['a=b', 'a!=b', false],
    ['a!=b', 'a=c', false],
    ['a', '!a', false],
    ['a=b', '', false],
    ['', 'a=b', false],
  ] as const)
    it(`"${a}" and "${b}" ${expected ? 'never select the same object' : 'may select the same object'}`, () => {
      expect(areDisjoint(parseSelector(a), parseSelector(b))).to.equal(expected);
    });
});
