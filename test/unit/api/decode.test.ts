import { expect } from 'chai';
import { z } from 'zod';
import { decode, lengthOf, misfits, WrongType } from '../../../src/api/decode.ts';
import { anyJson, anyObject, open } from '../../../src/api/shared.ts';

const inner = open({ name: z.string(), count: z.int().optional() });
const schema = open({
  name: z.string(),
  isOn: z.boolean().optional(),
  free: anyJson().optional(),
  kept: open({ value: anyJson() }).optional(),
  list: z.array(inner).nullish(),
  words: z.array(z.string()).optional(),
  labels: z.record(z.string(), z.string()).optional(),
  either: z.union([anyObject(), z.boolean()]).optional(),
  old: z.unknown().optional().meta({ unused: 'nobody reads it' }),
});

describe('decoding a value', () => {
  const rows: readonly (readonly [string, unknown, unknown])[] = [
    ['gives missing fields their zero value', {}, { name: '' }],
    ['takes null for nothing', { name: null, free: null, list: null, labels: null }, { name: '' }],
    ['keeps a null that may be any value', { kept: { value: null } }, { name: '', kept: { value: null } }],
    ['takes numbers and booleans for strings', { name: 5, words: [true, 1.5] }, { name: '5', words: ['true', '1.5'] }],
    ['takes null in a map or list of strings for an empty one', { labels: { a: null }, words: [null] }, { name: '', labels: { a: '' }, words: [''] }],
    ['does not mind capitals', { NAME: 'a', List: [{ Name: 'b' }] }, { name: 'a', list: [{ name: 'b' }] }],
    ['prefers the exact name', { Name: 'a', name: 'b', NAME: 'c' }, { name: 'b' }],
    ['leaves out what the schema does not have', { nme: 'a', list: [{ x: 1 }] }, { name: '', list: [{ name: '' }] }],
    ['keeps any value as it is', { free: { A: [null, 1] } }, { name: '', free: { A: [null, 1] } }],
    ['takes the alternative that fits', { either: false }, { name: '', either: false }],
    ['takes the alternative that fits', { either: { a: 1 } }, { name: '', either: { a: 1 } }],
    ['takes nothing for an empty object', null, { name: '' }],
    ['keeps names that objects have', { labels: { constructor: 'a' } }, { name: '', labels: { constructor: 'a' } }],
  ]; // prettier-ignore
  for (const [title, value, expected] of rows) {
    it(title, () => expect(decode(schema, value)).to.deep.equal(expected));
  }

  it('keeps a key that is called like the prototype', () => {
    const value: unknown = JSON.parse('{"labels":{"__proto__":"a"}}');
    expect(JSON.stringify(decode(schema, value).labels)).to.equal('{"__proto__":"a"}');
  });

  const refused: readonly (readonly [unknown, string])[] = [
    [[], 'top: expected a map, found a list'],
    [{ name: [] }, 'top.name: expected a string, found a list'],
    [{ isOn: 'yes' }, 'top.isOn: expected true or false, found a string'],
    [{ list: 'a' }, 'top.list: expected a list, found a string'],
    [{ list: [{}, { count: 1.5 }] }, 'top.list[1].count: expected an integer, found a number'],
    [{ list: ['a'] }, 'top.list[0]: expected a map, found a string'],
    [{ labels: { a: {} } }, 'top.labels.a: expected a string, found a map'],
    [{ either: 'a' }, 'top.either: expected a map, found a string'],
  ];
  for (const [value, message] of refused) {
    it(`refuses ${JSON.stringify(value)}`, () => {
      expect(() => decode(schema, value, 'top')).to.throw(WrongType, message);
    });
  }
});

describe('comparing a value with a schema', () => {
  it('lists the differences in the order of the document', () => {
    const value = { Name: 'a', list: [{ name: 'b', cuont: 1 }, { count: 'x' }], old: 1 };
    expect(misfits(schema, value)).to.deep.equal([
      { kind: 'capitals', path: ['Name'], field: 'name' },
      { kind: 'unknown', path: ['list', 0, 'cuont'], known: ['name', 'count'] },
      { kind: 'type', path: ['list', 1, 'count'], expected: 'an integer', found: 'x' },
      { kind: 'unused', path: ['old'], why: 'nobody reads it' },
    ]);
  });

  it('finds none in what fits', () => {
    expect(misfits(schema, { name: 'a', list: null, either: true, free: 1 })).to.deep.equal([]);
    expect(misfits(schema, null)).to.deep.equal([]);
  });
});

describe('the length of a list that is not read yet', () => {
  it('is 0 when there is no list', () => {
    expect(lengthOf({ Items: [1, 2] }, 'items')).to.equal(2);
    expect(lengthOf({ items: 'ab' }, 'items')).to.equal(0);
    expect(lengthOf(undefined, 'items')).to.equal(0);
  });
});
