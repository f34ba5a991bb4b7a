import { expect } from 'chai';
import { byCodePoint, goJson } from '../../../src/lib/gojson.ts';
import { sha1Hex, sha1Name } from '../../../src/lib/hash.ts';

describe('JSON as Go writes it', () => {
  const rows: readonly [string, unknown, string][] = [
    ['sorts fields', { b: 1, a: { d: 1, c: 2 } }, '{"a":{"c":2,"d":1},"b":1}'],
    ['sorts numeric names as strings', { 10: 1, 9: 2, a: 3 }, '{"10":1,"9":2,"a":3}'],
    ['escapes markup', '<a&b>', '"\\u003ca\\u0026b\\u003e"'],
    ['escapes line separators', '\u2028\u2029', '"\\u2028\\u2029"'],
    ['leaves other characters alone', 'Grüße 🌍', '"Grüße 🌍"'],
    ['writes numbers in shortest form', [1, 1.5, 1e21, 1e-7, 20971520, -0], '[1,1.5,1e+21,1e-7,20971520,-0]'],
    ['writes big integers exactly', 12345678901234567890n, '12345678901234567890'],
    ['keeps null and leaves undefined out', { a: null, b: undefined }, '{"a":null}'],
    ['writes undefined as null', undefined, 'null'],
  ];
  for (const [title, value, text] of rows) it(title, () => expect(goJson(value)).to.equal(text));

  it('indents by two blanks but keeps empty maps and lists on one line', () => {
    expect(goJson({ b: [1, []], a: {} }, 2)).to.equal('{\n  "a": {},\n  "b": [\n    1,\n    []\n  ]\n}');
  });

  it('rejects values that JSON cannot represent', () => {
    expect(() => goJson(NaN)).to.throw(TypeError);
    expect(() => goJson({ f: () => 1 })).to.throw(TypeError);
  });

  it('orders by UTF-8 bytes beyond the basic plane', () => {
    expect(['🌍', '\uffee'].sort(byCodePoint)).to.deep.equal(['\uffee', '🌍']);
  });
});

describe('hashes in stored objects', () => {
  it('are SHA-1 in hex for contents', () => {
    expect(sha1Hex(goJson('hello', 2))).to.equal('a1f2fbfe2c4ad81749cd0380b735295d06f9d0c4');
    expect(sha1Hex(goJson({ port: 5432, host: 'db.example.org' }, 2))).to.equal(
      'd8e4a2731017768a09012c1e14cb8b6f2b14ed58',
    );
    expect(sha1Hex(goJson('a<b', 2))).to.equal('cc7cea8c0e7dede3fd7aafff229466519db84493');
  });

  it('are SHA-1 in base32 for names', () => {
    expect(sha1Name('Inst.shop/dbUrl')).to.equal('ezckfi5hbdewv3g6dnuvg7iu7iugammj');
  });
});
