/** Small pure functions of the runtime: keys, mappers, patches and indices. */
import { expect } from 'chai';
import { Indices } from '../../../src/runtime/cache/indices.ts';
import { jsonDiff } from '../../../src/runtime/transport/json-patch.ts';
import {
  apiVersionOf,
  groupOf,
  isSameKind,
  joinKey,
  keyOf,
  namespaceOf,
  splitKey,
} from '../../../src/runtime/keys.ts';
import {
  anyOf,
  byAnnotation,
  byController,
  byLabel,
  byOwner,
  bySameName,
  type Mapper,
} from '../../../src/runtime/sources/mappers.ts';
import type { JsonOp, Meta, Obj } from '../../../src/runtime/types.ts';

const obj = (metadata: Partial<Meta>): Obj => ({
  apiVersion: 'v1',
  kind: 'Part',
  metadata: { name: 'p', namespace: 'A', ...metadata },
});
const gvk = { group: 'example.io', version: 'v1', kind: 'Widget' };

describe('keys', () => {
  it('join a namespace, if there is one, and a name', () => {
    expect([joinKey('a', 'b'), joinKey('', 'b'), joinKey(undefined, 'b')]).to.deep.equal(['a/b', 'b', 'b']);
    expect([keyOf(obj({})), keyOf({ ...obj({}), metadata: { name: 'c' } })]).to.deep.equal(['A/p', 'c']);
  });

  it('are split at the first slash', () => {
    expect([splitKey('a/b/c'), splitKey('b')]).to.deep.equal([
      { namespace: 'a', name: 'b/c' },
      { name: 'b' },
    ]);
    expect([namespaceOf('a/b'), namespaceOf('b')]).to.deep.equal(['a', '']);
  });

  it('consist of groups, versions and kinds', () => {
    expect([apiVersionOf(gvk), apiVersionOf({ ...gvk, group: '' })]).to.deep.equal(['example.io/v1', 'v1']);
    expect([groupOf('example.io/v1'), groupOf('v1')]).to.deep.equal(['example.io', '']);
    expect(isSameKind(gvk, { ...gvk })).to.equal(true);
    for (const other of [{ group: 'x' }, { version: 'x' }, { kind: 'x' }])
      expect(isSameKind(gvk, { ...gvk, ...other })).to.equal(false);
  });
});

describe('mappers', () => {
  const widgets = { ...gvk, namespaced: true };
  const owner = (name: string, more: object = {}) => ({
    apiVersion: 'example.io/v2',
    kind: 'Widget',
    name,
    uid: 'u',
    ...more,
  });
  const ownerReferences = [
    owner('controls', { controller: true }),
    owner('owns', { controller: false }),
    owner('other-kind', { kind: 'Part', controller: true }),
    owner('other-group', { apiVersion: 'example.com/v1', controller: true }),
  ];
  const labels = { name: 'x', in: 'B' };
  type Row = readonly [string, Mapper, Partial<Meta>, readonly string[]];
  const rows: readonly Row[] = [
    ['the controller', byController(widgets), { ownerReferences }, ['A/controls']],
    ['no controller', byController(widgets), {}, []],
    [
      'a controller without a namespace',
      byController({ ...widgets, namespaced: false }),
      { ownerReferences },
      ['controls'],
    ],
    ['all owners', byOwner(widgets), { ownerReferences }, ['A/controls', 'A/owns']],
    ['a label', byLabel({ name: 'name' }), { labels }, ['A/x']],
    ['labels', byLabel({ name: 'name', namespace: 'in' }), { labels }, ['B/x']],
    [
      'a label without the one of the namespace',
      byLabel({ name: 'name', namespace: 'at' }),
      { labels },
      ['A/x'],
    ],
    [
      'a label for a cluster-scoped object',
      byLabel({ name: 'name', isClusterScoped: true }),
      { labels },
      ['x'],
    ],
    ['a missing label', byLabel({ name: 'none' }), { labels }, []],
    ['no labels', byLabel({ name: 'name' }), { annotations: labels }, []],
    ['an empty label', byLabel({ name: 'name' }), { labels: { name: '' } }, []],
    ['annotations', byAnnotation({ name: 'name', namespace: 'in' }), { annotations: labels }, ['B/x']],
    ['no annotations', byAnnotation({ name: 'name' }), { labels }, []],
    ['its own name', bySameName, {}, ['A/p']],
    [
      'several mappers, without duplicates',
      anyOf(bySameName, byLabel({ name: 'name' }), bySameName),
      { labels },
      ['A/p', 'A/x'],
    ],
    ['no mapper', anyOf(), {}, []],
  ];
  for (const [title, mapper, metadata, expected] of rows)
    it(`by ${title}`, () => {
      expect(mapper(obj(metadata))).to.deep.equal(expected);
    });
});

describe('the JSON patch between two values', () => {
  type Row = readonly [string, object, object, readonly JsonOp[]];
  const rows: readonly Row[] = [
    ['nothing', { a: { b: [1] } }, { a: { b: [1] } }, []],
    ['added fields', {}, { a: 1 }, [{ op: 'add', path: '/a', value: 1 }]],
    ['removed fields', { a: 1 }, {}, [{ op: 'remove', path: '/a' }]],
    ['fields that were set to undefined', { a: 1 }, { a: undefined }, [{ op: 'remove', path: '/a' }]],
    ['nothing for fields that were never set', { a: undefined }, {}, []],
    [
      'fields that were undefined and are added',
      { a: undefined },
      { a: 1 },
      [{ op: 'add', path: '/a', value: 1 }],
    ],
    ['values that became null', { a: 1 }, { a: null }, [{ op: 'replace', path: '/a', value: null }]],
    ['values that were null', { a: null }, { a: { b: 1 } }, [{ op: 'replace', path: '/a', value: { b: 1 } }]],
    [
      'nested fields',
      { a: { b: 1, c: 1 } },
      { a: { b: 2, c: 1 } },
      [{ op: 'replace', path: '/a/b', value: 2 }],
    ],
    ['whole lists', { a: [1, 2] }, { a: [1] }, [{ op: 'replace', path: '/a', value: [1] }]],
    ['a list for an object', { a: {} }, { a: [] }, [{ op: 'replace', path: '/a', value: [] }]],
    ['an object for a list', { a: [] }, { a: {} }, [{ op: 'replace', path: '/a', value: {} }]],
    ['a string for an object', { a: {} }, { a: 'b' }, [{ op: 'replace', path: '/a', value: 'b' }]],
    [
      'names with slashes and tildes',
      { 'a/b/c': {} },
      { 'a/b/c': { '~1~': 1 } },
      [{ op: 'add', path: '/a~1b~1c/~01~0', value: 1 }],
    ],
  ];
  for (const [title, base, next, expected] of rows)
    it(`has ${title}`, () => {
      expect(jsonDiff(base, next)).to.deep.equal(expected);
    });

  it('shares nothing with its inputs', () => {
    const value = { b: 1 };
    expect(jsonDiff({}, { a: value })[0]?.value).not.to.equal(value);
  });
});

describe('indices', () => {
  const words = (text: string): readonly string[] => text.split(' ').filter(Boolean);
  const indices = (...existing: readonly (readonly [string, string])[]): Indices<string> => {
    const made = new Indices<string>();
    made.add('words', words, existing);
    return made;
  };
  const found = (from: Indices<string>, value: string): string[] => [...from.lookUp('words', value)];

  it('contain objects that existed before', () => {
    const made = indices(['1', 'a b'], ['2', 'b']);
    expect([found(made, 'a'), found(made, 'b'), found(made, 'c')]).to.deep.equal([['1'], ['1', '2'], []]);
  });

  it('follow additions, changes and deletions', () => {
    const made = indices();
    made.replace('1', undefined, 'a b');
    made.replace('2', undefined, 'a');
    made.replace('3', undefined, 'a a');
    expect(found(made, 'a')).to.deep.equal(['1', '2', '3']);
    made.replace('1', 'a b', 'b c');
    expect([found(made, 'a'), found(made, 'b'), found(made, 'c')]).to.deep.equal([['2', '3'], ['1'], ['1']]);
    made.replace('2', 'a', undefined);
    made.replace('3', 'a a', undefined);
    made.replace('3', 'a', undefined);
    expect([found(made, 'a'), found(made, 'b')]).to.deep.equal([[], ['1']]);
    made.replace('4', undefined, 'a');
    expect(found(made, 'a')).to.deep.equal(['4']);
    made.replace('5', 'a', undefined);
    expect(found(made, 'a')).to.deep.equal(['4']);
  });

  it('have different names, and reject an unknown name', () => {
    const made = indices(['1', 'a']);
    expect(made.add('words', () => ['x'], [['1', 'a']])).to.equal(false);
    expect(made.add('others', () => ['x'], [['1', 'a']])).to.equal(true);
    expect([found(made, 'a'), found(made, 'x'), [...made.lookUp('others', 'x')]]).to.deep.equal([
      ['1'],
      [],
      ['1'],
    ]);
    expect(() => made.lookUp('none', 'a')).to.throw('index none does not exist');
  });
});
