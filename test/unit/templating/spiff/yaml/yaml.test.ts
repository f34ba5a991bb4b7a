import { expect } from 'chai';
import { YamlError } from '../../../../../src/lib/yaml.ts';
import type { SpiffValue } from '../../../../../src/templating/spiff/value.ts';
import {
  readSpiffYaml,
  readSpiffYamlAll,
  writeSpiffYaml,
} from '../../../../../src/templating/spiff/yaml/index.ts';

const map = (entries: Readonly<Record<string, SpiffValue>>): SpiffValue => new Map(Object.entries(entries));

const shown = (value: SpiffValue): string =>
  typeof value === 'bigint' ? value.toString() : JSON.stringify(value);

describe("a scalar in Spiff's YAML", () => {
  const rows: readonly (readonly [string, SpiffValue])[] = [
    ...['yes', 'on', 'y', 'true', 'tRue', 'TRUE', 'YES'].map((text) => [text, true] as const),
    ...['no', 'off', 'n', 'false', 'fALSE'].map((text) => [text, false] as const),
    ...['~', 'null', 'Null', 'NULL', ''].map((text) => [text, null] as const),
    ['nULL', 'nULL'],
    ['~x', '~x'],
    ['+1', 1n],
    ['0777', 511n],
    ['0o17', 15n],
    ['0x1F', 31n],
    ['0b11', 3n],
    ['1_000', 1000n],
    ['9223372036854775807', 9223372036854775807n],
    ['9223372036854775808', 9223372036854775808],
    ['08', 8],
    ['1.0', 1],
    ['.5', 0.5],
    ['5.', 5],
    ['1e3', 1000],
    ['1_0.5', 10.5],
    ['-.inf', -Infinity],
    ['1e400', '1e400'],
    ['1:30', '1:30'],
    ['2024-01-02', '2024-01-02'],
    ['2024-01-02T03:04:05Z', '2024-01-02T03:04:05Z'],
    ['"5"', '5'],
    ['!!str 5', 5n],
    ['!!int "5"', 5n],
    ['!!float 5', 5n],
    ['!custom yes', true],
    ['"\u{1F30D} ü"', '\u{1F30D} ü'],
  ];
  for (const [text, value] of rows) {
    it(`${text} is the ${value === null ? 'null' : typeof value} ${shown(value)}`, () => {
      expect(readSpiffYaml(text)).to.equal(value);
    });
  }
});

describe("a document in Spiff's YAML", () => {
  it('keeps the order of its keys, and merges nothing by itself', () => {
    const read = readSpiffYaml('b: &x {k: 1}\na: {<<: *x, z: 2}\n') as ReadonlyMap<string, SpiffValue>;
    expect([...read.keys()]).to.deep.equal(['b', 'a']);
    expect(read.get('a')).to.deep.equal(
      new Map<string, SpiffValue>([
        ['<<', map({ k: 1n })],
        ['z', 2n],
      ]),
    );
  });
  it('uses the last of equal keys', () => {
    expect(readSpiffYaml('{a: 1, a: 2}')).to.deep.equal(map({ a: 2n }));
  });
  for (const [key, shown] of [
    ['1', '1'],
    ['1.5', '1.5'],
    ['y', 'true'],
    ['null', '<nil>'],
    ['[a]', 'a list'],
  ] as const) {
    it(`has no key ${key}`, () => {
      expect(() => readSpiffYaml(`? ${key}\n: x\n`)).to.throw(`map key must be a string: ${shown}`);
    });
  }
  it('has no colon inside a string in a flow collection', () => {
    for (const text of ['[http://x/y]', '{x:1}']) {
      expect(() => readSpiffYaml(text)).to.throw("found unexpected ':'; put the text in quotes");
    }
    expect(readSpiffYaml('["http://x"]')).to.deep.equal(['http://x']);
    expect(readSpiffYaml('a: http://x')).to.deep.equal(map({ a: 'http://x' }));
  });
  it('is one', () => {
    expect(() => readSpiffYaml('a: 1\n---\nb: 2\n')).to.throw('multi document not possible');
    expect(readSpiffYamlAll('a: 1\n---\nb: 2\n')).to.have.length(2);
    expect(readSpiffYaml('# nothing\n')).to.equal(null);
  });
  it('cannot fill the memory with aliases', () => {
    const levels = Array.from(
      { length: 12 },
      (_, i) =>
        `l${String(i)}: &l${String(i)} [${Array(10)
          .fill(i === 0 ? 'x' : `*l${String(i - 1)}`)
          .join(', ')}]`,
    );
    expect(() => readSpiffYaml(levels.join('\n')))
      .to.throw(YamlError, 'yaml: line 5: document contains excessive aliasing, at *l3')
      .with.property('line', 5);
  });
  it('cannot contain itself', () => {
    expect(() => readSpiffYaml('&a [*a]')).to.throw("anchor 'a' value contains itself");
  });
});

describe("writing Spiff's YAML", () => {
  it('sorts keys by their bytes and distinguishes integers from doubles', () => {
    const value = map({ b: [1n, 1e6, 0.1, 20971520], a: map({}), '10': null, '9': [] });
    expect(writeSpiffYaml(value)).to.equal(
      '"10": null\n"9": []\na: {}\nb:\n- 1\n- 1e+06\n- 0.1\n- 2.097152e+07\n',
    );
  });
  it('quotes strings that would be read as another type', () => {
    const texts = ['yes', 'tRue', '5', '08', '2024-01-02', '', '~', "it's", 'a: b', ' x', '# x'];
    expect(writeSpiffYaml(texts)).to.equal(
      '- "yes"\n- "tRue"\n- "5"\n- "08"\n- "2024-01-02"\n- ""\n- "~"\n- it\'s\n- \'a: b\'\n- \' x\'\n- \'# x\'\n',
    );
  });
  it('writes several lines as a block, and escapes characters beyond ASCII', () => {
    expect(writeSpiffYaml(map({ a: 'x\ny\n', b: 'x\ny' }))).to.equal('a: |+\n  x\n  y\nb: |-\n  x\n  y\n');
    expect(writeSpiffYaml('Größe \u{1F30D}')).to.equal('"Gr\\xF6\\xDFe \\U0001F30D"\n');
  });
  it('is read back as the same value', () => {
    const value = map({
      n: null,
      t: true,
      i: -5n,
      d: 2.5,
      l: ['a\n b\n', 'ü: x', map({ '': 'e', '<<': 'm' })],
    });
    expect(readSpiffYaml(writeSpiffYaml(value))).to.deep.equal(value);
  });
});
