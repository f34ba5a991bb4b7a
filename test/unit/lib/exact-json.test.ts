import { expect } from 'chai';
import { exactJson, inexactIn, parseExactJson } from '../../../src/lib/exact-json.ts';

describe('JSON with long integers', () => {
  const same: readonly string[] = [
    '{"a":1,"b":[true,null,"x"],"c":-2.5e10}',
    '{"t":"12345678901234567890","k9007199254740993":1}',
    '{"t":"a \\"9007199254740993\\" b\\\\"}',
    '[1.2345678901234567,1e300,0.1234567890123456789]',
    '[9007199254740991,9007199254740992,1000000000000000000]',
    '"9007199254740993"',
  ];
  for (const text of same) {
    it(`reads ${text} like JSON.parse`, () => {
      expect(parseExactJson(text)).to.deep.equal(JSON.parse(text));
    });
  }

  it('keeps the digits of integers that a double cannot hold, wherever they are', () => {
    const text = '{"a":9007199254740993,"b":[-9223372036854775807,{"c": 12345678901234567890 }],"d":"x"}';
    expect(parseExactJson(text)).to.deep.equal({
      a: 9007199254740993n,
      b: [-9223372036854775807n, { c: 12345678901234567890n }],
      d: 'x',
    });
    expect(parseExactJson('9007199254740993')).to.equal(9007199254740993n);
  });

  it('keeps the digits of an integer exactly if a double would change them when it is written', () => {
    const digits = [
      '9223372036854775000',
      '1152921504606847000',
      '-9007199254740994',
      '100000000000000000000',
    ];
    for (const each of digits) expect(parseExactJson(each), each).to.equal(Number(each));
    // A double represents 2^60, but is written with other digits.
    for (const each of ['1152921504606846976', '9223372036854775807', '1000000000000000000000'])
      expect(parseExactJson(each), each).to.equal(BigInt(each));
    for (const each of [...digits, '1152921504606846976'])
      expect(exactJson(parseExactJson(each))).to.equal(each);
  });

  it('rejects integers that no double can represent, before it reads their digits', () => {
    expect(() => parseExactJson(`[${'1'.repeat(1_000_000)}]`)).to.throw(
      SyntaxError,
      'an integer has 1000000 digits, more than 300, a fixed limit',
    );
    expect(parseExactJson('1'.repeat(300))).to.equal(BigInt('1'.repeat(300)));
  });

  it('finds such an integer at any position, and at the end of the text', () => {
    for (let before = 0; before < 40; before++) {
      const space = ' '.repeat(before);
      expect(parseExactJson(`${space}9007199254740993`), String(before)).to.equal(9007199254740993n);
      expect(parseExactJson(`[123456789012345,${space}9007199254740993,1]`), String(before)).to.deep.equal([
        123456789012345,
        9007199254740993n,
        1,
      ]);
    }
  });

  it('writes the values that it has read', () => {
    for (const text of ['{"a":9007199254740993,"b":[-9223372036854775807],"c":"x"}', '{"a":1}']) {
      expect(exactJson(parseExactJson(text))).to.equal(text);
    }
  });

  it('indents its output', () => {
    expect(exactJson({ a: [2n ** 60n + 1n] }, 2)).to.equal('{\n  "a": [\n    1152921504606846977\n  ]\n}');
    expect(exactJson({ a: 1 }, 2)).to.equal('{\n  "a": 1\n}');
  });

  it('is not confused by strings that look like its internal markers', () => {
    const tricky = {
      a: 'integer-00000000-0000-0000-0000-000000000000:12',
      b: '"integer-x:5"',
      c: 2n ** 60n + 1n,
    };
    expect(parseExactJson(exactJson(tricky))).to.deep.equal(tricky);
  });

  it('reports invalid JSON like JSON.parse', () => {
    for (const text of ['{"a":9007199254740993', '[9007199254740993,]', '"9007199254740993', '-']) {
      expect(() => parseExactJson(text), text).to.throw(SyntaxError);
    }
  });

  it('reads megabytes at once', () => {
    const text = JSON.stringify({ a: 'x"\\'.repeat(500_000), b: 0 }).replace('"b":0', '"b":9007199254740993');
    expect((parseExactJson(text) as { b: bigint }).b).to.equal(9007199254740993n);
  });

  it('reports the place of such an integer', () => {
    expect(inexactIn({ a: [1, { b: 2n ** 60n }] })).to.deep.equal({
      path: 'a[1].b',
      digits: '1152921504606846976',
    });
    expect(inexactIn(5n)).to.deep.equal({ path: '', digits: '5' });
    expect(inexactIn({ a: [1, 'x', null] })).to.equal(undefined);
  });
});
