import { expect } from 'chai';
import { compileJsonPath, isSimplePath, JsonPathError } from '../../../src/lib/json-path.ts';

const data = {
  kind: 'List',
  items: [
    { name: 'a', n: 1, labels: { 'app.io/x': 'p' }, tags: ['s', 't'] },
    { name: 'b', n: 2, labels: {}, ok: true },
    { name: 'c', n: 3, nothing: null },
  ],
};

describe('JSONPath prints', () => {
  const rows: [string, string][] = [
    ['{.kind}', 'List'],
    ['kind', 'List'],
    ['.kind', 'List'],
    ['{$.kind}', 'List'],
    ['{@.kind}', 'List'],
    ['kind is {.kind}!', 'kind is List!'],
    ['{.items[0].name}', 'a'],
    ['{.items[-1].name}', 'c'],
    ['{.items[*].name}', 'a b c'],
    ['{.items[0:2].name}', 'a b'],
    ['{.items[::2].name}', 'a c'],
    ['{.items[0,2].name}', 'a c'],
    ["{.items[0]['name','n']}", 'a 1'],
    ["{.items[0].labels['app.io/x']}", 'p'],
    ['{.items[0].labels.app\\.io/x}', 'p'],
    ['{..name}', 'a b c'],
    ['{.items[?(@.n>1)].name}', 'b c'],
    ['{.items[?(@.name=="b")].n}', '2'],
    ["{.items[?(@.name!='b')].n}", '1 3'],
    ['{.items[?(@.ok)].name}', 'b'],
    ['{.items[?(@.ok==true)].name}', 'b'],
    ['{.items[?(@.labels.app\\.io/x=="p")].name}', 'a'],
    ['{range .items[*]}{.name}={.n}{"\\n"}{end}', 'a=1\nb=2\nc=3\n'],
    ['{range .items[0].tags[*]}[{@}]{end}', '[s][t]'],
    ['{.items[0].tags}', '["s","t"]'],
    ['{.items[2].nothing}', ''],
    ['{.items[0].*}', 'a 1 {"app.io/x":"p"} ["s","t"]'],
  ];
  for (const [template, text] of rows) {
    it(template, () => {
      expect(compileJsonPath(template).print(data)).to.equal(text);
    });
  }
});

describe('JSONPath with integers beyond 2^53', () => {
  const long = { spec: { n: 9007199254740993n, items: [{ n: 9007199254740993n }, { n: 2 }] } };
  const rows: [string, string][] = [
    ['{.spec.n}', '9007199254740993'],
    ['{.spec.items[0]}', '{"n":9007199254740993}'],
    ['{.spec.items[?(@.n>9)].n}', '9007199254740993'],
    ['{.spec.items[?(@.n<=2)].n}', '2'],
  ];
  for (const [template, text] of rows) {
    it(`prints ${template} with all digits`, () => {
      expect(compileJsonPath(template).print(long)).to.equal(text);
    });
  }

  it('reports that they are not a list', () => {
    expect(() => compileJsonPath('{.spec[0]}').print(long)).to.throw(JsonPathError, '9007199254740993');
  });
});

describe('JSONPath', () => {
  it('finds values unchanged', () => {
    expect(compileJsonPath('.items[*].n').find(data)).to.deep.equal([1, 2, 3]);
    expect(compileJsonPath('.items[1].labels').first(data)).to.deep.equal({});
  });
  it('returns no first value if a member is missing, and distinguishes it from null', () => {
    expect(compileJsonPath('.items[0].zz.y').first(data)).to.equal(undefined);
    expect(compileJsonPath('.items[7].name').first(data)).to.equal(undefined);
    expect(compileJsonPath('.items[2].nothing').first(data)).to.equal(null);
  });
  it('reports a missing member on request', () => {
    expect(() => compileJsonPath('{.zz}').find(data)).to.throw(JsonPathError, 'zz is not found');
    expect(() => compileJsonPath('{.items[7]}').find(data)).to.throw(JsonPathError, 'out of bounds');
  });
  for (const bad of ['{.a', '{.a[}', '{.a[x]}', '{range .a}', "{.a['b]}"]) {
    it(`rejects ${bad}`, () => {
      expect(() => compileJsonPath(bad).print({ a: [] })).to.throw(JsonPathError);
    });
  }
  it('does not find inherited properties', () => {
    expect(compileJsonPath('.constructor').first({})).to.equal(undefined);
  });
  it('recognizes simple paths', () => {
    expect(isSimplePath('.spec.a[0]')).to.equal(true);
    expect(isSimplePath('spec')).to.equal(false);
    expect(isSimplePath('{.spec}')).to.equal(false);
  });
});
