import { expect } from 'chai';
import { evaluate, InvalidPath } from '../../../../deployers/sdk/jsonpath.ts';

const object = {
  metadata: { labels: { 'app.kubernetes.io/name': 'x' } },
  items: [
    { name: 'a', n: 1, on: true },
    { name: 'b', n: 2 },
    { name: 'c', n: 3 },
  ],
  empty: [],
  nothing: null,
};

const rows: readonly (readonly [string, readonly unknown[] | undefined])[] = [
  ['.items[0].name', ['a']],
  ['items[0].name', ['a']],
  ['$.items[0].name', ['a']],
  ['.items[-1].name', ['c']],
  ['.items[9].name', undefined],
  ['.items[*].name', ['a', 'b', 'c']],
  ['.items[0:2].name', ['a', 'b']],
  ['.items[0,2].name', ['a', 'c']],
  ['.items[?(@.name=="b")].n', [2]],
  ['.items[?(@.n>1)].name', ['b', 'c']],
  ['.items[?(@.on)].name', ['a']],
  ['.items[*].on', undefined],
  ['.empty[*].name', []],
  ['.nothing', [null]],
  ['.nothing.more', undefined],
  ['.gone', undefined],
  [".metadata.labels['app.kubernetes.io/name']", ['x']],
  ['.metadata.labels.app\\.kubernetes\\.io/name', ['x']],
  ['..n', undefined],
  ['.', [object]],
];

describe('JSON paths', () => {
  for (const [path, expected] of rows) {
    it(`${path} yields ${JSON.stringify(expected)?.slice(0, 40) ?? 'no such field'}`, () => {
      expect(evaluate(path, object)).to.deep.equal(expected);
    });
  }
  for (const path of ['', '{.a}', '.a[', '.a[b]', '.a..', '.a[?(x)]']) {
    it(`"${path}" is refused`, () => {
      expect(() => evaluate(path, {})).to.throw(InvalidPath);
    });
  }
  it('does not reach into what objects inherit', () => {
    expect(evaluate('.constructor', {})).to.equal(undefined);
  });
});
