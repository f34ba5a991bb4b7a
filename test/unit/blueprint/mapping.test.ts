import { expect } from 'chai';
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
  evaluateMapping(document, bindings, {
    what: 'import mapping template shop.url',
    reason: 'ConstructImports',
  });

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
      "unable to template import mapping template shop.url: unresolved nodes:\n\t(( nope ))\tin (root)\t*'nope' not found",
    ],
    ['an unknown name deep down', { deep: ['(( host.nope ))'] }, "in deep.[0]\t*'host.nope' not found"],
    ['a syntax error', '((( in ))', 'is not understood'],
    ['a function', '(( exec("id") ))', 'is not understood'],
    ['an operator', '(( port + 1 ))', 'is not understood'],
    ['an imported number joined to a text', '(( "n" port ))', "type 'float' cannot be concatenated"],
    ['a map joined to a text', '(( "n" map ))', 'only texts, integers and booleans'],
    ['a reference to itself', { a: '(( b ))', b: '(( a ))' }, 'refers to itself'],
    ['a merge', { '<<<': '(( map ))' }, 'not supported'],
    ['an inherited name', '(( constructor ))', 'not found'],
  ];
  for (const [title, document, message] of mistakes) {
    it(`is refused for ${title}`, () => {
      expect(() => evaluate(document))
        .to.throw(MappingFailed, message)
        .with.property('reason', 'ConstructImports');
    });
  }
});
