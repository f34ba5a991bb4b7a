import { expect } from 'chai';
import { seededRng } from '../../../src/lib/rng.ts';
import { FakeClock } from '../../support/clock.ts';
import { evaluateMapping, MappingFailed } from '../../../src/blueprint/mapping.ts';

const bindings = {
  proto: 'http',
  host: 'db',
  port: 8080,
  map: { a: { b: [1, 'x', null] }, 'c-d': true },
  objs: [
    { name: 'p', v: 'x' },
    { name: 'q', v: 'y' },
  ],
  cluster: { spec: { config: { kubeconfig: 'kc' } }, metadata: { labels: { 'a.b/c': 'blue' } } },
  'extra-1': 8080,
  exports: { raw: 'x' },
};
const evaluate = (document: unknown): unknown =>
  evaluateMapping(
    document,
    bindings,
    {
      key: 'url',
      what: 'import mapping template shop.url',
      reason: 'ConstructImports',
    },
    { clock: new FakeClock(), rng: seededRng(1) },
  );

describe('a data mapping', () => {
  const rows: readonly [string, unknown, unknown][] = [
    [
      'is plain data if it has no expression',
      { k: [1, 2, 'fixed', null, false] },
      { k: [1, 2, 'fixed', null, false] },
    ],
    ['concatenates strings', '(( proto "://" host ))', 'http://db'],
    ['concatenates strings around references', '(( "<" exports.raw ">" ))', '<x>'],
    ['concatenates its own integers and booleans with strings', '(( host 1 true ))', 'db1true'],
    ['uses whole values unchanged', '(( map.a ))', { b: [1, 'x', null] }],
    ['keeps numbers', '(( port ))', 8080],
    ['supports names with a hyphen', ['(( extra-1 ))', '(( map.c-d ))'], [8080, true]],
    [
      'selects elements of lists',
      ['(( map.a.b[1] ))', '(( map.a.b.[1] ))', '(( map.a.b.[-1] ))'],
      ['x', 'x', null],
    ],
    ['selects elements by their name', '(( objs.q.v ))', 'y'],
    ['supports quoted keys', '(( cluster.metadata.labels.["a.b/c"] ))', 'blue'],
    ['concatenates lists', '(( map.a.b map.a.b ))', [1, 'x', null, 1, 'x', null]],
    ['merges maps, and the right one takes precedence', '(( objs.[0] objs.[1] ))', { name: 'q', v: 'y' }],
    ['leaves other strings alone', ['a (( host )) b', '( host )', ''], ['a (( host )) b', '( host )', '']],
    ['unescapes', '((! x ))', '(( x ))'],
    ['removes undefined values', { a: ['(( ~~ ))', 1], b: '(( ~~ ))' }, { a: [1] }],
    ['is null if it is undefined as a whole', '(( ~~ ))', null],
    [
      'has null, true and false',
      ['(( ~ ))', '(( nil ))', '(( true ))', '(( false ))'],
      [null, null, true, false],
    ],
    [
      'sees its own fields before the bindings',
      { plain: 1, host: 'own', deep: { ref: '(( .plain ))', up: '(( plain ))', h: '(( host ))' } },
      { plain: 1, host: 'own', deep: { ref: 1, up: 1, h: 'own' } },
    ],
    ['computes with numbers', '(( port + 1 ))', 8081],
    ['merges the value that it refers to', { '<<<': '(( map.a ))', c: 1 }, { b: [1, 'x', null], c: 1 }],
    [
      'follows references to other expressions',
      { a: '(( b ))', b: '(( host "!" ))' },
      { a: 'db!', b: 'db!' },
    ],
  ];
  for (const [title, document, value] of rows)
    it(title, () => expect(evaluate(document)).to.deep.equal(value));

  const mistakes: readonly [string, unknown, string][] = [
    [
      'an unknown name',
      '(( nope ))',
      "unable to template import mapping template shop.url: unresolved nodes:\n\t(( nope ))\tin url\t\t()\t*'nope' not found",
    ],
    ['an unknown nested name', { deep: ['(( host.nope ))'] }, "in url\tdeep.[0]\t()\t*'host.nope' not found"],
    ['a syntax error', '((( in ))', "((( in ))\tin url\t\t()\t*parse error near symbol 5 - symbol 6: ' '"],
    ['a process', '(( exec("id") ))', '*exec: no OS operations supported in this execution environment'],
    ['a file', '(( read("/etc/passwd") ))', '*read: error reading [/etc/passwd]:  /etc: file does not exist'],
    ['the environment', '(( env("PATH") ))', "*unknown function 'env'"],
    ['a function of executions', '(( parseOCIRef("a:1") ))', "*unknown function 'parseOCIRef'"],
    [
      'an imported number concatenated with a string',
      '(( "n" port ))',
      `*type 'float'(port) cannot be concatenated with type 'string'("n")`,
    ],
    [
      'a map concatenated with a string',
      '(( "n" map ))',
      `*type 'map'(map) cannot be concatenated with type 'string'("n")`,
    ],
    ['a reference to itself', { a: '(( b ))', b: '(( a ))' }, "(( b ))\tin url\ta\t()\t@'b' unresolved"],
    ['an inherited name', '(( constructor ))', "*'constructor' not found"],
  ];
  for (const [title, document, message] of mistakes) {
    it(`is rejected because of ${title}`, () => {
      expect(() => evaluate(document))
        .to.throw(MappingFailed, message)
        .with.property('reason', 'ConstructImports');
    });
  }

  /** The message from its excerpt on. */
  const shown = (document: unknown): string => {
    try {
      evaluate(document);
    } catch (error) {
      const { message } = error as Error;
      return message.slice(message.indexOf('\nmapping source') + 1);
    }
    throw new Error('it succeeded');
  };

  it('is shown with the lines around the error, and with its input, without values', () => {
    expect(shown({ deep: ['x', { a: '(( host.nope ))' }], z: 1 })).to.match(
      /^mapping source, line 4, column 8:\n1: {4}url:\n2: {6}deep:\n3: {6}- x\n4: {6}- a: \(\( host\.nope \)\)\n {13}ˆ≈{7}\n5: {6}z: 1\n\nmapping input:\n/,
    );
    expect(shown('(( nope ))'))
      .to.contain('\n\thost: "[...] (string)"\n')
      .and.contain('\tport: "[...] (float64)"\n')
      .and.contain('\tproto:')
      .and.not.contain('http');
  });

  const marked: readonly [string, unknown, string, number][] = [
    ['the value itself', '(( nope ))', '(( nope ))', 6],
    ['the place of the syntax error', '((( in ))', '((( in ))', 13],
    ['a merge', { '<<<': '(( nope ))' }, '<<<: (( nope ))', 8],
    ['a string of several lines', '((\n  host\n  nope ))', '((', 3],
  ];
  for (const [title, document, line, column] of marked) {
    it(`has the mark below ${title}`, () => {
      const lines = shown(document).split('\n');
      const at = lines.findIndex((one) => one.includes('ˆ'));
      expect(lines[at - 1]?.endsWith(line)).to.equal(true);
      expect(lines[at]?.indexOf('ˆ')).to.equal(column + 5);
      expect(lines[0]).to.match(new RegExp(`column ${String(column)}:$`));
    });
  }

  it('that grows too large is reported without a place', () => {
    expect(() => evaluate('(( [1..99999999999] ))'))
      .to.throw(MappingFailed, 'a result of more than')
      .with.property('message')
      .that.contains('mapping input:')
      .and.not.contains('mapping source');
  });
});
