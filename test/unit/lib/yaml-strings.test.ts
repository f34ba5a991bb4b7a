/** Scalars that a Go program reads as strings: the values are those that sigs.k8s.io/yaml produces. */
import { expect } from 'chai';
import { KUBECONFIG } from '../../../src/lib/kubeconfig-strings.ts';
import { EACH_STRING, goTextOf, type YamlStrings } from '../../../src/lib/yaml-strings.ts';
import { parseYaml } from '../../../src/lib/yaml.ts';

describe('a scalar where Go has a string', () => {
  const rows: readonly (readonly [yaml: string, text: unknown])[] = [
    ['1.10', '1.1'],
    ['"1.10"', '1.10'],
    ['1.0', '1'],
    ['20240101', '20240101'],
    ['12345678.9', '1.2345679e+07'],
    ['1e21', '1e+21'],
    ['-0.0', '-0'],
    ['0777', '511'],
    ['0x10', '16'],
    ['9223372036854775807', '9223372036854775807'],
    ['18446744073709551615', '18446744073709551615'],
    ['18446744073709551616', '1.8446744e+19'],
    ['1e39', '+Inf'],
    ['.inf', '+Inf'],
    ['-.inf', '-Inf'],
    ['.nan', 'NaN'],
    ['yes', 'true'],
    ['off', 'false'],
    ['2024-01-01', '2024-01-01'],
    ['~', null],
    ['text', 'text'],
  ];
  for (const [yaml, text] of rows)
    it(`${yaml} is ${JSON.stringify(text)}`, () => {
      const strings: YamlStrings = { fields: { a: 'string' } };
      expect(parseYaml(`{a: ${yaml}, b: 1}`, { strings })).to.deep.equal({
        a: text,
        b: 1,
      });
      expect(parseYaml(`[${yaml}]`, { strings: EACH_STRING })).to.deep.equal([text ?? '']);
    });

  it('stays as it is where Go has no string', () => {
    const strings: YamlStrings = { fields: { a: { fields: { b: 'string' } }, c: undefined } };
    expect(parseYaml('{a: {b: 1, c: 1}, c: 1, d: [1]}', { strings })).to.deep.equal({
      a: { b: '1', c: 1 },
      c: 1,
      d: [1],
    });
    expect(parseYaml('{a: [1], b: x}', { strings: { fields: { a: 'string' } } })).to.deep.equal({
      a: [1],
      b: 'x',
    });
  });

  it('is found by the name of its field in any case, of which the exact one wins', () => {
    const strings: YamlStrings = { fields: { appVersion: 'string' } };
    expect(parseYaml('{AppVersion: 1}', { strings })).to.deep.equal({ appVersion: '1' });
    for (const both of ['{appversion: 1, appVersion: 2}', '{appVersion: 2, appversion: 1}'])
      expect(parseYaml(both, { strings })).to.deep.equal({ appVersion: '2' });
  });

  it('is one in aliases and merges, too', () => {
    const strings: YamlStrings = { each: { fields: { v: 'string' } } };
    const text = 'a: &a {v: 1.10}\nb: {<<: *a}\nc: *a\n';
    expect(parseYaml(text, { strings })).to.deep.equal({ a: { v: '1.1' }, b: { v: '1.1' }, c: { v: '1.1' } });
  });

  it('of a document that was read before is the same, except for large floats without a fraction', () => {
    expect([1.1, 5, 1e21, 2n ** 63n, true, null, 'x', undefined].map(goTextOf)).to.deep.equal([
      '1.1',
      '5',
      '1e+21',
      '9223372036854775808',
      'true',
      null,
      'x',
      undefined,
    ]);
  });

  it('of a kubeconfig is read only from a field of the exact name', () => {
    const text = 'users: [{name: 1.10, user: {Token: 5, token: 9007199254740993, exec: {args: [1]}}}]';
    expect(parseYaml(text, { strings: KUBECONFIG })).to.deep.equal({
      users: [{ name: '1.1', user: { Token: 5, token: '9007199254740993', exec: { args: ['1'] } } }],
    });
  });
});
