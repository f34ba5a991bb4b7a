import { expect } from 'chai';
import { isCrash } from '../../../deployers/sdk/errors.ts';
import { exactJson, inexactIn, parseExactJson } from '../../../src/lib/exact-json.ts';
import { copy, deepFreeze, equal } from '../../../src/lib/json.ts';
import { mergeDiff, mergePatch } from '../../../src/lib/merge.ts';
import { isNestedTooDeeply, messageOf, SAFE_LEVELS } from '../../../src/lib/message-of.ts';
import { outlookOf } from '../../../src/lib/outlook.ts';
import { programmingErrorIn } from '../../../src/lib/programming-error.ts';
import { bugIn } from '../../../src/machine/critical.ts';
import { isFinal } from '../../../src/runtime/errors.ts';
import { nested, stackOverflow } from '../../support/nested.ts';

describe('a value that is nested too deeply', () => {
  const calls: Readonly<Record<string, (value: Record<string, unknown>) => unknown>> = {
    copy,
    deepFreeze,
    equal: (value) => equal(value, nested(SAFE_LEVELS)),
    exactJson: (value) => parseExactJson(exactJson(value)),
    inexactIn,
    mergeDiff: (value) => mergeDiff({}, value),
    mergePatch: (value) => mergePatch({}, value),
  };
  for (const [name, call] of Object.entries(calls))
    it(`has more levels than ${name} can be sure to follow`, () => {
      expect(() => call(nested(SAFE_LEVELS))).to.not.throw();
    });

  it('is the fault of its author, not a mistake of the program, and no retry helps', () => {
    const error = stackOverflow() as Error;
    expect(isNestedTooDeeply(error)).to.equal(true);
    expect(isFinal(error)).to.equal(true);
    expect(outlookOf(new Error('read', { cause: error }))).to.equal('final');
    expect(bugIn(error)).to.equal(undefined);
    expect(programmingErrorIn(error)).to.equal(undefined);
    expect(isCrash(error)).to.equal(false);
    expect(messageOf(error)).to.contain('up to 1000 levels').and.contain('flatten');
  });
  it('differs from other errors of their class', () => {
    const error = new RangeError('Invalid array length');
    expect(isNestedTooDeeply(error)).to.equal(false);
    expect(isFinal(error)).to.equal(false);
    expect(bugIn(error)).to.equal(error);
    expect(messageOf(error)).to.equal('Invalid array length');
  });
});
