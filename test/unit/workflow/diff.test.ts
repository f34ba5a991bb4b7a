/** Where two values differ. */
import { expect } from 'chai';
import { differences, type Compared } from '../../../src/workflow/diff.ts';
import { equalMatcher, genericMatcher, neverMatcher } from '../../../src/workflow/match-generic.ts';
import { authored, isSameQuantity, withFoldedStringData } from '../../../src/workflow/shapes.ts';
import { FakeClock } from '../../support/clock.ts';
import type { Widget } from '../runtime/support/world.ts';
import { contextOn, primary } from './support.ts';

const plain: Compared = { isSecret: false, ignoresExtra: false, isIgnored: () => false };
const ctx = contextOn(new FakeClock());
const base64 = (text: string): string => Buffer.from(text).toString('base64');

describe('the differences of two values', () => {
  const rows: [string, unknown, unknown, string[]][] = [
    ['are none if they are equal', { a: [1, { b: null }] }, { a: [1, { b: null }] }, []],
    ['are named by their path', { a: { b: 1 } }, { a: { b: 2 } }, ['/a/b: 1, wanted 2']],
    ['escape names', { 'a/b~c': 1 }, { 'a/b~c': 2 }, ['/a~1b~0c: 1, wanted 2']],
    ['include missing fields', {}, { a: 1 }, ['/a: nothing, wanted 1']],
    ['include undesired fields', { a: 1 }, {}, ['/a: 1, wanted nothing']],
    ['include each element of a list', [1, 2, 3], [1, 3], ['/1: 2, wanted 3', '/2: 3, wanted nothing']],
    ['include a missing element of a list', [1], [1, 2], ['/1: nothing, wanted 2']],
    ['include an object instead of a list', { a: {} }, { a: [] }, ['/a: {}, wanted []']],
    ['include a list instead of an object', { a: [] }, { a: {} }, ['/a: [], wanted {}']],
    ['include a scalar instead of an object', { a: 1 }, { a: { b: 1 } }, ['/a: 1, wanted {"b":1}']],
    ['include an object instead of a scalar', { a: { b: 1 } }, { a: 1 }, ['/a: {"b":1}, wanted 1']],
    ['include a scalar instead of a list', { a: 'x' }, { a: ['x'] }, ['/a: "x", wanted ["x"]']],
    ['include a list instead of a scalar', { a: ['x'] }, { a: 'x' }, ['/a: ["x"], wanted "x"']],
    ['are none between two NaN', NaN, NaN, []],
    ['include a number instead of NaN', { a: NaN }, { a: 1 }, ['/a: null, wanted 1']],
    ['include NaN instead of a number', { a: 1 }, { a: NaN }, ['/a: 1, wanted null']],
    ['treat inherited properties as missing', {}, { toString: 'x' }, ['/toString: nothing, wanted "x"']],
    [
      'show 60 characters',
      'x'.repeat(58),
      'y'.repeat(58),
      [`: "${'x'.repeat(58)}", wanted "${'y'.repeat(58)}"`],
    ],
    ['shorten longer values', 'x'.repeat(59), 1, [`: "${'x'.repeat(59)}…, wanted 1`]],
  ];
  for (const [title, actual, wanted, expected] of rows) {
    it(title, () => {
      expect(differences(actual, wanted, plain)).to.deep.equal(expected);
    });
  }
  it('ignore additional fields on request', () => {
    const how = { ...plain, ignoresExtra: true };
    expect(differences({ a: 1, list: [1, 2] }, { list: [1] }, how)).to.deep.equal([]);
    expect(differences({ a: 1 }, { a: undefined }, how)).to.deep.equal([]);
  });
  it('show no value of a Secret', () => {
    expect(differences({ a: 1 }, { a: 2 }, { ...plain, isSecret: true })).to.deep.equal(['/a']);
  });
});

describe('matchers', () => {
  it('by equality show no value, which may be secret', () => {
    const match = equalMatcher.match({ a: 1, b: 1 }, { a: 2, b: 2 }, primary, ctx);
    expect(match).to.deep.equal({ matched: false, diff: '/value/a, /value/b' });
  });
  it('that never compare report that nothing matches', () => {
    expect(neverMatcher.match(1, 1, primary, ctx)).to.deep.equal({ matched: false });
  });
  it('of the desired fields ignore labels by default, and show where they are', () => {
    const of = (label: string) => ({ metadata: { name: 'a', labels: { x: label } } });
    const diff = (metadata?: 'subset') =>
      genericMatcher<object, Widget>(metadata && { metadata }).match(of('1'), of('2'), primary, ctx).diff;
    expect(diff()).to.equal(undefined);
    expect(diff('subset')).to.equal('/metadata/labels/x: "1", wanted "2"');
  });
});

describe('the stringData of a Secret', () => {
  for (const [title, object, expected] of [
    ['becomes data', { stringData: { a: 'x' } }, { data: { a: base64('x') } }],
    [
      'overwrites data',
      { stringData: { a: 'x' }, data: { a: 'y', b: 'z' } },
      { data: { a: base64('x'), b: 'z' } },
    ],
    [
      'replaces data that is not an object',
      { stringData: { a: 'x' }, data: 'y' },
      { data: { a: base64('x') } },
    ],
    ['may be missing', { data: { a: 'y' } }, { data: { a: 'y' } }],
  ] as const) {
    it(title, () => {
      expect(withFoldedStringData(object)).to.deep.equal(expected);
    });
  }
  for (const [kind, expected] of [
    ['Secret', { data: { a: base64('x') } }],
    ['ConfigMap', { stringData: { a: 'x' } }],
  ] as const) {
    it(`is ${kind === 'Secret' ? '' : 'not '}folded in a ${kind}`, () => {
      const object = { apiVersion: 'v1', kind, metadata: {}, status: {}, stringData: { a: 'x' } };
      expect(authored(object)).to.deep.equal(expected);
    });
  }
});

describe('two quantities', () => {
  for (const [path, a, b, expected] of [
    ['/spec/resources/limits/cpu', '500m', '0.5', true],
    ['/status/capacity/memory', '1Gi', '1024Mi', true],
    ['/status/allocatable/memory', '1Gi', '1024Mi', true],
    ['/spec/hard/pods', '1k', 1000, true],
    ['/emptyDir/sizeLimit', '1Gi', '1024Mi', true],
    ['/spec/resources/limits/cpu', 'a', 'b', false],
    ['/spec/resources/limits/cpu', true, '1', false],
    ['/spec/resources/limits/cpu/more', '500m', '0.5', false],
    ['/spec/cpu', '500m', '0.5', false],
    ['/sizeLimit/x', '1Gi', '1024Mi', false],
  ] as const) {
    it(`at ${path} ${expected ? 'are' : 'are not'} the same: ${String(a)} and ${String(b)}`, () => {
      expect(isSameQuantity(a, b, path)).to.equal(expected);
    });
  }
});
