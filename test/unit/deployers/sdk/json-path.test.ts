import { expect } from 'chai';
import { evaluate } from '../../../../deployers/objects/json-path.ts';
import { JsonPathError } from '../../../../src/lib/json-path.ts';

const object = {
  metadata: { labels: { 'app.kubernetes.io/name': 'x' } },
  items: [
    { name: 'a', n: 1, on: true },
    { name: 'b', n: 2 },
    { name: 'c', n: 3 },
  ],
  empty: [],
  nothing: null,
  'a,b': 'comma',
  'a]b': 'bracket',
  nulls: [
    { k: 1, v: null },
    { k: 2, v: 0 },
  ],
  words: ['x', 'y'],
  deep: { v: 1, list: [{ v: 2 }] },
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
  ['$', [object]],
  [' .items[0].name ', ['a']],
  ['.items[-3].name', ['a']],
  ['.items[-4].name', undefined],
  ['.items[3].name', undefined],
  ['.metadata[0]', undefined],
  ['.items.name', undefined],
  ['.items.length', undefined],
  ['.items[1:].name', ['b', 'c']],
  ['.items[:1].name', ['a']],
  ['.items[:].name', ['a', 'b', 'c']],
  ['.items[-2:].name', ['b', 'c']],
  ['.items[0:3:2].name', ['a', 'c']],
  ['.items[0:3:1].name', ['a', 'b', 'c']],
  ['.items[0:3:0].name', ['a', 'b', 'c']],
  ['.metadata[0:1]', undefined],
  ["['items'][0]['name']", ['a']],
  ['["items"][0]["name"]', ['a']],
  [".items[0]['name','n']", ['a', 1]],
  [".items[0]['name', 'n']", ['a', 1]],
  [".items[0]['gone']", undefined],
  [".items['name']", undefined],
  ['.items[0].*', ['a', 1, true]],
  ['.items[0][*]', ['a', 1, true]],
  ['.items[0].name.*', []],
  ['.empty[0]', undefined],
  ["['a,b']", ['comma']],
  ["['a]b']", ['bracket']],
  ['.items[?(@.n==2)].name', ['b']],
  ['.items[?(@.n!=2)].name', ['a', 'c']],
  ['.items[?(@.n<2)].name', ['a']],
  ['.items[?(@.n<=2)].name', ['a', 'b']],
  ['.items[?(@.n>=2)].name', ['b', 'c']],
  ['.items[?(@.n>2)].name', ['c']],
  ['.items[?(@.name>"a")].n', [2, 3]],
  [".items[?(@.name>='b')].n", [2, 3]],
  ['.items[?(@.n>"1")].name', []],
  ['.items[?(@.on==true)].name', ['a']],
  ['.items[?(@.on==false)].name', []],
  ['.items[?(@.gone!=1)].name', []],
  ['.items[?( @.n == 2 )].name', ['b']],
  ['.nulls[?(@.v==null)].k', [1]],
  ['.nulls[?(@.v==nil)].k', [1]],
  ['.words[?(@=="x")]', ['x']],
  ['.metadata[?(@)]', [{ 'app.kubernetes.io/name': 'x' }]],
  ['.deep..v', undefined],
  ['.deep..[0]', undefined],
];

describe('JSON paths', () => {
  for (const [path, expected] of rows) {
    it(`${path} yields ${JSON.stringify(expected)?.slice(0, 40) ?? 'no such field'}`, () => {
      expect(evaluate(path, object)).to.deep.equal(expected);
    });
  }

  const refused: readonly (readonly [string, string])[] = [
    ['', 'the JSON path is empty'],
    ['  ', 'the JSON path is empty'],
    ['{.a}', 'JSON path ".{.a}": a field name is missing at 1'],
    ['.a[', 'JSON path ".a[": a closing bracket is missing'],
    ["['a", `JSON path "['a": a closing bracket is missing`],
    ['.a[b]', 'JSON path ".a[b]": "b" is neither an index nor a quoted field'],
    ['.a[1x]', '"1x" is neither an index nor a quoted field'],
    ['.a..', 'JSON path ".a..": a field name is missing at 4'],
    ['.a.', 'JSON path ".a.": a field name is missing at 3'],
    ['.a]', 'JSON path ".a]": unexpected "]" at 2'],
    ['.a b', 'JSON path ".a b": unexpected " " at 2'],
    ['.a[?(x)]', 'JSON path filter "x" is not valid'],
    ['.a[?(@.b==c)]', '"c" is not a value that a JSON path can compare with'],
    ['.a[?(@.b==  )]', 'JSON path filter "@.b==" is not valid'],
  ];
  for (const [path, message] of refused) {
    it(`"${path}" is rejected`, () => {
      expect(() => evaluate(path, {})).to.throw(JsonPathError, message);
    });
  }

  it('may have parts with dots and backslashes', () => {
    expect(evaluate('.a\\.b.c', { 'a.b': { c: 1 } })).to.deep.equal([1]);
    expect(evaluate('.a\\ b', { 'a b': 1 })).to.deep.equal([1]);
  });

  it('find all objects below with two dots', () => {
    expect(evaluate('..[*]', [[1]])).to.deep.equal([[1], 1]);
    expect(evaluate('..*', { a: { b: 1 } })).to.deep.equal([{ b: 1 }, 1]);
    expect(evaluate('..n', { n: 1 })).to.deep.equal([1]);
    expect(evaluate('..n', { n: { n: 2 } })).to.deep.equal([{ n: 2 }, 2]);
    expect(evaluate('..n', { n: null })).to.deep.equal([null]);
  });
  it('do not find inherited properties', () => {
    expect(evaluate('.constructor', {})).to.equal(undefined);
  });
});
