import { expect } from 'chai';
import { programmingErrorIn } from '../../../src/lib/programming-error.ts';

describe('a mistake of the program', () => {
  for (const error of [new TypeError('a is frozen'), new RangeError('a'), new ReferenceError('a')])
    it(`is found as ${error.name}, also as the cause of another error`, () => {
      expect(programmingErrorIn(error)).to.equal(error);
      expect(programmingErrorIn(new Error('b', { cause: new Error('c', { cause: error }) }))).to.equal(error);
    });

  for (const error of [new TypeError('fetch failed'), new Error('a'), 'TypeError', undefined])
    it(`is not found in ${String(error)}`, () => {
      expect(programmingErrorIn(error)).to.equal(undefined);
    });
});
