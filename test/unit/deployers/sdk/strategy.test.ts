import { expect } from 'chai';
import { deepMerge } from '../../../../deployers/sdk/manifests/strategy.ts';

type Wins = 'into' | 'from';

/** Title, stored, manifest, result of merge (stored wins), result of mergeOverwrite. */
const rows: readonly (readonly [string, unknown, unknown, unknown, unknown])[] = [
  ['both non-empty scalars', 'a', 'b', 'a', 'b'],
  ['an empty stored text', '', 'b', 'b', 'b'],
  ['a stored zero', 0, 5, 5, 5],
  ['a stored false', false, true, true, true],
  ['an empty stored list', [], ['x'], ['x'], ['x']],
  ['an empty stored map', {}, { k: 'v' }, { k: 'v' }, { k: 'v' }],
  ['an empty text in the manifest', 'a', '', 'a', ''],
  ['a zero in the manifest', 5, 0, 5, 0],
  ['a false in the manifest', true, false, true, false],
  ['two lists', ['a'], ['b', 'c'], ['a'], ['b', 'c']],
  ['an empty list in the manifest', ['a'], [], ['a'], []],
  ['null in the manifest', 'a', null, 'a', null],
  ['an empty map over a filled one', { k: 'v' }, {}, { k: 'v' }, { k: 'v' }],
  ['a map against a scalar', 'a', { k: 'v' }, 'a', { k: 'v' }],
  ['maps with different fields', { a: 1 }, { b: 2 }, { a: 1, b: 2 }, { a: 1, b: 2 }],
  ['nested maps', { m: { a: 1, b: 2 } }, { m: { b: 3 } }, { m: { a: 1, b: 2 } }, { m: { a: 1, b: 3 } }],
];

describe('deep merge of a manifest with what is stored', () => {
  for (const [title, stored, manifest, merge, overwrite] of rows) {
    for (const [wins, expected] of [
      ['into', merge],
      ['from', overwrite],
    ] as [Wins, unknown][]) {
      it(`S-23: ${title}, ${wins === 'into' ? 'stored' : 'manifest'} values win`, () => {
        expect(deepMerge({ f: stored }, { f: manifest }, wins)).to.deep.equal({ f: expected });
      });
    }
  }

  it('S-23: fields of one side only are there afterwards', () => {
    expect(deepMerge({ a: 1 }, { b: 2 }, 'into')).to.deep.equal({ a: 1, b: 2 });
  });

  it('S-23: a whole spec', () => {
    const stored = { on: false, n: 0, name: 'a', tags: ['x'], opts: {} };
    const manifest = { on: true, n: 5, name: 'b', tags: ['y', 'z'], opts: { k: 'v' }, more: 1 };
    expect(deepMerge(stored, manifest, 'into')).to.deep.equal({ ...manifest, name: 'a', tags: ['x'] });
    expect(deepMerge(stored, manifest, 'from')).to.deep.equal(manifest);
  });
});
