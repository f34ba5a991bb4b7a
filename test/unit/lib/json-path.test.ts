import { expect } from 'chai';
import { compileJsonPath, JsonPathError } from '../../../src/lib/json-path.ts';

const data = {
  kind: 'List',
  items: [
    { name: 'a', n: 1, labels: { 'app.io/x': 'p' }, tags: ['s', 't'] },
    { name: 'b', n: 2, labels: {}, ok: true },
    { name: 'c', n: 3, nothing: null },
  ],
};

describe('JSONPath finds', () => {
  const rows: [string, unknown[]][] = [
    ['kind', ['List']],
    ['.kind', ['List']],
    ['$.kind', ['List']],
    ['@.kind', ['List']],
    ['.items[0].name', ['a']],
    ['.items[-1].name', ['c']],
    ['.items[*].name', ['a', 'b', 'c']],
    ['.items[*].n', [1, 2, 3]],
    ['.items[0:2].name', ['a', 'b']],
    ['.items[::2].name', ['a', 'c']],
    ['.items[0,2].name', ['a', 'c']],
    [".items[0]['name','n']", ['a', 1]],
    [".items[0].labels['app.io/x']", ['p']],
    ['.items[0].labels.app\\.io/x', ['p']],
    ['.items[?(@.n>1)].name', ['b', 'c']],
    ['.items[?(@.name=="b")].n', [2]],
    [".items[?(@.name!='b')].n", [1, 3]],
    ['.items[?(@.ok)].name', ['b']],
    ['.items[?(@.ok==true)].name', ['b']],
    ['.items[?(@.labels.app\\.io/x=="p")].name', ['a']],
    ['.items[0].tags', [['s', 't']]],
    ['.items[2].nothing', [null]],
    ['.items[0].*', ['a', 1, { 'app.io/x': 'p' }, ['s', 't']]],
  ];
  for (const [path, values] of rows) {
    it(path, () => {
      expect(compileJsonPath(path).find(data)).to.deep.equal(values);
    });
  }
});

describe('JSONPath with integers beyond 2^53', () => {
  const long = { spec: { n: 9007199254740993n, items: [{ n: 9007199254740993n }, { n: 2 }] } };
  const rows: [string, unknown[] | undefined][] = [
    ['.spec.n', [9007199254740993n]],
    ['.spec.items[0]', [{ n: 9007199254740993n }]],
    ['.spec.items[?(@.n>9)].n', [9007199254740993n]],
    ['.spec.items[?(@.n<=2)].n', [2]],
    ['.spec[0]', undefined],
  ];
  for (const [path, values] of rows) {
    it(`finds ${path} with all digits`, () => {
      expect(compileJsonPath(path).find(long)).to.deep.equal(values);
    });
  }
});

describe('JSONPath', () => {
  it('has a first value', () => {
    expect(compileJsonPath('.items[1].labels').first(data)).to.deep.equal({});
    expect(compileJsonPath('..name').first(data)).to.equal('a');
  });
  it('returns no first value if a member is missing, and distinguishes it from null', () => {
    expect(compileJsonPath('.items[0].zz.y').first(data)).to.equal(undefined);
    expect(compileJsonPath('.items[7].name').first(data)).to.equal(undefined);
    expect(compileJsonPath('.items[2].nothing').first(data)).to.equal(null);
  });
  it('skips elements without the member if only the first value is requested', () => {
    expect(compileJsonPath('.items[*].ok').first(data)).to.equal(true);
    expect(compileJsonPath('.items[*].ok').find(data)).to.equal(undefined);
    expect(compileJsonPath('.items[7,1].name').first(data)).to.equal('b');
    expect(compileJsonPath('.items[7,1].name').find(data)).to.equal(undefined);
  });
  it('reports the number of values before it visits them', () => {
    let spent = 0;
    compileJsonPath('.items[*].name').find(data, (steps) => (spent += steps));
    expect(spent).to.equal(1 + 1 + 3 + 3);
    expect(() =>
      compileJsonPath('.items[*]').find(data, () => {
        throw new Error('enough');
      }),
    ).to.throw('enough');
  });
  for (const bad of ['.a[}', '.a[x]', ".a['b]", '{.a}']) {
    it(`rejects ${bad}`, () => {
      expect(() => compileJsonPath(bad)).to.throw(JsonPathError);
    });
  }
  it('does not find inherited properties', () => {
    expect(compileJsonPath('.constructor').first({})).to.equal(undefined);
  });
});
