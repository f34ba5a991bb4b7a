import { expect } from 'chai';
import fc from 'fast-check';
import { equal } from '../../../src/lib/json.ts';
import { mergeDiff, mergePatch } from '../../../src/lib/merge.ts';

describe('the merge patch between two objects', () => {
  const rows: [string, object, object, object | undefined][] = [
    ['nothing for equal objects', { a: { b: [1] } }, { a: { b: [1] } }, undefined],
    ['a changed scalar', { a: 1, b: 2 }, { a: 1, b: 3 }, { b: 3 }],
    ['a removed field as null', { a: 1, b: 2 }, { a: 1 }, { b: null }],
    ['only the inner field that changed', { a: { b: 1, c: 2 } }, { a: { b: 1, c: 3 } }, { a: { c: 3 } }],
    ['a whole array', { a: [1, 2] }, { a: [1, 2, 3] }, { a: [1, 2, 3] }],
    ['an object in place of a scalar', { a: 1 }, { a: { b: 1 } }, { a: { b: 1 } }],
    ['a scalar in place of an object', { a: { b: 1 } }, { a: 1 }, { a: 1 }],
    ['an empty object that is new', {}, { a: {} }, { a: {} }],
    ['nothing for a null of an absent field', {}, { a: null }, undefined],
    ['removal for a null of an existing field', { a: 1 }, { a: null }, { a: null }],
    ['removal for undefined', { a: 1 }, { a: undefined }, { a: null }],
  ];
  for (const [title, base, next, patch] of rows) {
    it(`is ${title}`, () => {
      expect(mergeDiff(base, next)).to.deep.equal(patch);
    });
  }

  it('turns the first into the second, for all objects without nulls', () => {
    const value = fc.letrec((tie) => ({
      any: fc.oneof(
        { depthSize: 'small' },
        fc.integer(),
        fc.string(),
        fc.boolean(),
        tie('list'),
        tie('object'),
      ),
      list: fc.array(tie('any'), { maxLength: 3 }),
      object: fc.dictionary(fc.constantFrom('a', 'b', 'c', '__proto__', 'toString'), tie('any'), {
        noNullPrototype: true,
      }),
    }));
    fc.assert(
      fc.property(value.object, value.object, (base, next) => {
        const patch = mergeDiff(base, next);
        const result = patch ? mergePatch(base, patch) : base;
        expect(equal(result, next)).to.equal(true);
        expect(patch === undefined).to.equal(equal(base, next));
      }),
    );
  });
});

describe('applying a merge patch', () => {
  // The examples of RFC 7396, appendix A.
  const rows: [unknown, unknown, unknown][] = [
    [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
    [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
    [{ a: 'b' }, { a: null }, {}],
    [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
    [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
    [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
    [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
    [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
    [
      ['a', 'b'],
      ['c', 'd'],
      ['c', 'd'],
    ],
    [{ a: 'b' }, ['c'], ['c']],
    [{ a: 'foo' }, null, null],
    [{ a: 'foo' }, 'bar', 'bar'],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [[1, 2], { a: 'b', c: null }, { a: 'b' }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  ];
  for (const [target, patch, result] of rows) {
    it(`${JSON.stringify(patch)} to ${JSON.stringify(target)}`, () => {
      const before = JSON.stringify(target);
      expect(mergePatch(target, patch)).to.deep.equal(result);
      expect(JSON.stringify(target)).to.equal(before);
    });
  }
});
