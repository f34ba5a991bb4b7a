import { expect } from 'chai';
import fc from 'fast-check';
import { copy, deepFreeze, equal } from '../../../src/lib/json.ts';

describe('copying JSON', () => {
  it('gives an equal value that shares nothing with the original', () => {
    const original = { a: [{ b: 1 }], c: null, d: { e: 'x' } };
    const result = copy(original);
    expect(result).to.deep.equal(original);
    result.a[0]!.b = 2;
    result.d.e = 'y';
    expect(original).to.deep.equal({ a: [{ b: 1 }], c: null, d: { e: 'x' } });
  });

  it('agrees with stringify and parse for every JSON value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(JSON.stringify(copy(value))).to.equal(JSON.stringify(value));
      }),
    );
  });

  it('leaves out undefined fields', () => {
    expect(Object.keys(copy({ a: undefined, b: 1 }))).to.deep.equal(['b']);
  });

  it('keeps a field that is called __proto__ a field', () => {
    const hostile = JSON.parse('{"__proto__":{"polluted":true}}') as object;
    const result = copy(hostile);
    expect(Object.keys(result)).to.deep.equal(['__proto__']);
    expect((result as { polluted?: boolean }).polluted).to.equal(undefined);
  });
});

describe('comparing JSON', () => {
  const rows: [string, unknown, unknown, boolean][] = [
    ['objects in another order', { a: 1, b: 2 }, { b: 2, a: 1 }, true],
    ['an undefined field and none', { a: 1, b: undefined }, { a: 1 }, true],
    ['an undefined field and another field', { a: undefined }, { b: 1 }, false],
    ['a missing field', { a: 1, b: 2 }, { a: 1 }, false],
    ['null and an empty object', null, {}, false],
    ['null and absent', { a: null }, {}, false],
    ['an array and an object', [], {}, false],
    ['arrays in another order', [1, 2], [2, 1], false],
    ['a longer array', [1], [1, 2], false],
    ['a number and its string', 1, '1', false],
    ['an inherited name', { toString: 1 }, {}, false],
  ];
  for (const [title, a, b, expected] of rows) {
    it(`returns ${String(expected)} for ${title}`, () => {
      expect(equal(a, b)).to.equal(expected);
      expect(equal(b, a)).to.equal(expected);
    });
  }

  it('finds every value equal to its copy', () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => equal(value, copy(value))));
  });
});

describe('freezing', () => {
  it('rejects writes at every level', () => {
    const frozen = deepFreeze({ a: [{ b: 1 }] });
    expect(() => {
      frozen.a[0]!.b = 2;
    }).to.throw(TypeError);
    expect(() => frozen.a.push({ b: 3 })).to.throw(TypeError);
  });
});
