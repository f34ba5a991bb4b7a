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
      'is plain data when it has no expression',
      { k: [1, 2, 'fixed', null, false] },
      { k: [1, 2, 'fixed', null, false] },
    ],
    ['joins texts', '(( proto "://" host ))', 'http://db'],
    ['joins texts around references', '(( "<" exports.raw ">" ))', '<x>'],
    ['joins integers and booleans of its own to texts', '(( host 1 true ))', 'db1true'],
    ['takes whole values as they are', '(( map.a ))', { b: [1, 'x', null] }],
    ['keeps numbers', '(( port ))', 8080],
    ['knows names with a hyphen', ['(( extra-1 ))', '(( map.c-d ))'], [8080, true]],
    [
      'takes elements of lists',
      ['(( map.a.b[1] ))', '(( map.a.b.[1] ))', '(( map.a.b.[-1] ))'],
      ['x', 'x', null],
    ],
    ['takes elements by their name', '(( objs.q.v ))', 'y'],
    ['takes quoted keys', '(( cluster.metadata.labels.["a.b/c"] ))', 'blue'],
    ['joins lists', '(( map.a.b map.a.b ))', [1, 'x', null, 1, 'x', null]],
    ['merges maps, the right one wins', '(( objs.[0] objs.[1] ))', { name: 'q', v: 'y' }],
    ['leaves other texts alone', ['a (( host )) b', '( host )', ''], ['a (( host )) b', '( host )', '']],
    ['unescapes', '((! x ))', '(( x ))'],
    ['removes what is undefined', { a: ['(( ~~ ))', 1], b: '(( ~~ ))' }, { a: [1] }],
    ['is null when undefined as a whole', '(( ~~ ))', null],
    [
      'knows null, true and false',
      ['(( ~ ))', '(( nil ))', '(( true ))', '(( false ))'],
      [null, null, true, false],
    ],
    [
      'sees its own fields before the bindings',
      { plain: 1, host: 'own', deep: { ref: '(( .plain ))', up: '(( plain ))', h: '(( host ))' } },
      { plain: 1, host: 'own', deep: { ref: 1, up: 1, h: 'own' } },
    ],
    ['computes with numbers', '(( port + 1 ))', 8081],
    ['merges what it refers to', { '<<<': '(( map.a ))', c: 1 }, { b: [1, 'x', null], c: 1 }],
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
    [
      'an unknown name deep down',
      { deep: ['(( host.nope ))'] },
      "in url\tdeep.[0]\t()\t*'host.nope' not found",
    ],
    ['a syntax error', '((( in ))', "((( in ))\tin url\t\t()\t*parse error near symbol 5 - symbol 6: ' '"],
    ['a process', '(( exec("id") ))', '*exec: no OS operations supported in this execution environment'],
    ['a file', '(( read("/etc/passwd") ))', '*read: error reading [/etc/passwd]:  /etc: file does not exist'],
    ['the environment', '(( env("PATH") ))', "*unknown function 'env'"],
    ['a function of executions', '(( parseOCIRef("a:1") ))', "*unknown function 'parseOCIRef'"],
    [
      'an imported number joined to a text',
      '(( "n" port ))',
      `*type 'float'(port) cannot be concatenated with type 'string'("n")`,
    ],
    [
      'a map joined to a text',
      '(( "n" map ))',
      `*type 'map'(map) cannot be concatenated with type 'string'("n")`,
    ],
    ['a reference to itself', { a: '(( b ))', b: '(( a ))' }, "(( b ))\tin url\ta\t()\t@'b' unresolved"],
    ['an inherited name', '(( constructor ))', "*'constructor' not found"],
  ];
  for (const [title, document, message] of mistakes) {
    it(`is refused for ${title}`, () => {
      expect(() => evaluate(document))
        .to.throw(MappingFailed, message)
        .with.property('reason', 'ConstructImports');
    });
  }
});
