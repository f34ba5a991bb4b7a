import { expect } from 'chai';
import fc from 'fast-check';
import { compileSchema, type JsonSchema } from '../../../src/apiserver/schema/schema.ts';
import { scaleErrors } from '../../../src/apiserver/schema/scale-paths.ts';
import { widgetSchema } from './widget.ts';

const schema = compileSchema(widgetSchema);

const widget = (spec: Record<string, unknown>): object => ({
  apiVersion: 'ex.io/v1',
  kind: 'Widget',
  metadata: { name: 'x' },
  spec,
});

/** The changes of the server to a new object before it is stored, as `field: message` lines. */
function findings(spec: Record<string, unknown>): string[] {
  const object = schema.applyDefaults(schema.prune(widget(spec)));
  return schema.validate(object).map((error) => `${error.field}: ${error.message}`);
}

describe('a structural schema validates', () => {
  const inBody = (path: string, why: string): string => `${path} in body should be ${why}`;
  const rows: [string, Record<string, unknown>, string[]][] = [
    ['a valid object', {}, []],
    ['a missing field', { foo: undefined }, ['spec.foo: Required value']],
    ['a null that is not allowed, as missing', { foo: null }, ['spec.foo: Required value']],
    [
      'a wrong type',
      { num: 'x' },
      ['spec.num: Invalid value: "string": spec.num in body must be of type integer: "string"'],
    ],
    [
      'a fraction that should be an integer',
      { num: 1.5 },
      ['spec.num: Invalid value: "number": spec.num in body must be of type integer: "number"'],
    ],
    [
      'a minimum',
      { num: 0 },
      [`spec.num: Invalid value: 0: ${inBody('spec.num', 'greater than or equal to 1')}`],
    ],
    [
      'a maximum',
      { num: 10 },
      [`spec.num: Invalid value: 10: ${inBody('spec.num', 'less than or equal to 9')}`],
    ],
    [
      'an exclusive minimum',
      { ex: 1 },
      [`spec.ex: Invalid value: 1: ${inBody('spec.ex', 'greater than 1')}`],
    ],
    [
      'an exclusive maximum',
      { ex: 10 },
      [`spec.ex: Invalid value: 10: ${inBody('spec.ex', 'less than 10')}`],
    ],
    ['a multiple', { mult: 3 }, [`spec.mult: Invalid value: 3: ${inBody('spec.mult', 'a multiple of 2')}`]],
    [
      'a string that is too short',
      { foo: 'a' },
      [`spec.foo: Invalid value: "a": ${inBody('spec.foo', 'at least 2 chars long')}`],
    ],
    ['a string that is too long', { foo: 'abcdef' }, ['spec.foo: Too long: may not be more than 5 bytes']],
    [
      'a pattern',
      { foo: 'ABC' },
      [`spec.foo: Invalid value: "ABC": spec.foo in body should match '^[a-z]+$'`],
    ],
    ['an enumeration', { mode: 'C' }, ['spec.mode: Unsupported value: "C": supported values: "A", "B"']],
    [
      'a list that is too short',
      { list: [] },
      ['spec.list: Invalid value: 0: spec.list in body should have at least 1 items'],
    ],
    [
      'a list that is too long',
      { list: ['a', 'b', 'c'] },
      ['spec.list: Too many: 3: must have at most 2 items'],
    ],
    [
      'a map that is too large',
      { map: { a: 1, b: 2, c: 3 } },
      ['spec.map: Too many: 3: must have at most 2 items'],
    ],
    [
      'a format',
      { date: '2020' },
      ['spec.date: Invalid value: "2020": spec.date in body must be of type date-time: "2020"'],
    ],
    [
      'an int-or-string',
      { ios: true },
      ['spec.ios: Invalid value: "boolean": spec.ios in body must be of type integer,string: "boolean"'],
    ],
    [
      'alternatives of which none matches',
      { oneof: {} },
      [
        '<nil>: Invalid value: "": "spec.oneof" must validate one and only one schema (oneOf). Found none valid',
        'spec.oneof.a: Required value',
      ],
    ],
    [
      'alternatives of which two match',
      { oneof: { a: '1', b: '2' } },
      [
        '<nil>: Invalid value: "": "spec.oneof" must validate one and only one schema (oneOf). Found 2 valid alternatives',
      ],
    ],
    ['duplicate items of a set', { set: ['a', 'a', 'b', 'a'] }, ['spec.set[1]: Duplicate value: "a"']],
    [
      'duplicate keys of a list map',
      { lm: [{ k: 'a' }, { k: 'a', v: 2 }] },
      ['spec.lm[1]: Duplicate value: {"k":"a"}'],
    ],
    [
      'fields of an embedded resource',
      { emb: {} },
      ['spec.emb.apiVersion: Required value', 'spec.emb.kind: Required value'],
    ],
    [
      'items of lists',
      { objs: [{ n: 'abcd' }, {}] },
      ['spec.objs[0].n: Too long: may not be more than 3 bytes', 'spec.objs[1].n: Required value'],
    ],
  ];
  for (const [title, spec, wanted] of rows) {
    it(`API-153: ${title}`, () => {
      expect(findings({ foo: 'abc', ...spec })).to.have.members(wanted);
    });
  }

  it('in characters, not UTF-16 units', () => {
    const text = compileSchema({ type: 'object', properties: { a: { type: 'string', maxLength: 1 } } });
    expect(text.validate({ a: '😀' })).to.deep.equal([]);
    expect(text.validate({ a: '😀😀' })).to.have.length(1);
  });

  it('API-158: paths of the scale subresource', () => {
    const errors = scaleErrors(widget({ num: 'x' }), { spec: '.spec.num', status: '.status.num' });
    expect(errors).to.deep.equal([
      {
        field: '.spec.num',
        type: 'FieldValueInvalid',
        message: 'Invalid value: 0: .spec.num accessor error: x is of the type string, expected int64',
      },
    ]);
  });
});

describe('a structural schema fills in', () => {
  const filled = (spec: Record<string, unknown>): unknown =>
    (schema.applyDefaults(widget(spec)) as { spec: unknown }).spec;

  it('API-152: defaults at every depth', () => {
    expect(filled({ foo: 'abc', lm: [{ k: 'a' }] })).to.deep.equal({
      foo: 'abc',
      num: 3,
      mode: 'A',
      defobj: { x: 7 },
      lm: [{ k: 'a', v: 1 }],
    });
  });

  it('API-154: the default for null, and keeps a null that is allowed', () => {
    expect(filled({ foo: null, num: null, nul: null, defobj: {} })).to.deep.equal({
      num: 3,
      mode: 'A',
      nul: null,
      defobj: { x: 7 },
    });
  });

  it('nothing and returns the object itself if it is complete', () => {
    const whole = widget({ foo: 'abc', num: 1, mode: 'B', defobj: { x: 1 } });
    expect(schema.applyDefaults(whole)).to.equal(whole);
  });

  it('nothing the second time', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 3 }), (value) => {
        const once = schema.applyDefaults(widget({ any: value, defobj: value, lm: value }));
        expect(schema.applyDefaults(once)).to.equal(once);
      }),
      { numRuns: 50 },
    );
  });
});

describe('a structural schema prunes', () => {
  const spec = {
    foo: 'abc',
    bar: 1,
    any: { a: { b: 1 } },
    raw: { k: 'x', z: 1 },
    objs: [{ n: 'a', zz: 1 }],
    map: { a: 1 },
    emb: { apiVersion: 'v1', kind: 'X', metadata: { name: 'a', zz: 1 }, data: {} },
  };

  it('API-152: unknown fields, unless the schema preserves them', () => {
    expect(schema.prune(widget(spec))).to.deep.equal(
      widget({
        foo: 'abc',
        any: { a: { b: 1 } },
        raw: { k: 'x', z: 1 },
        objs: [{ n: 'a' }],
        map: { a: 1 },
        emb: { apiVersion: 'v1', kind: 'X', metadata: { name: 'a' }, data: {} },
      }),
    );
  });

  it('and reports the paths', () => {
    expect(schema.unknownFields({ ...widget(spec), top: 1 })).to.deep.equal([
      'spec.bar',
      'spec.emb.metadata.zz',
      'spec.objs[0].zz',
      'top',
    ]);
  });

  it('everything at once, so that a second run finds nothing', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom('foo', 'zz', 'raw', 'lm', 'objs'), fc.jsonValue()),
        (value) => {
          const pruned = schema.prune(widget(value));
          expect(schema.unknownFields(pruned)).to.deep.equal([]);
          expect(schema.prune(pruned)).to.equal(pruned);
        },
      ),
      { numRuns: 50 },
    );
  });
});

describe('ratcheting', () => {
  const strict = compileSchema({
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        properties: {
          foo: { type: 'string', maxLength: 3 },
          list: { type: 'array', items: { type: 'string', maxLength: 3 } },
          lm: {
            type: 'array',
            'x-kubernetes-list-type': 'map',
            'x-kubernetes-list-map-keys': ['k'],
            items: {
              type: 'object',
              properties: { k: { type: 'string' }, v: { type: 'string', maxLength: 3 } },
            },
          },
        },
      },
    },
  } satisfies JsonSchema);
  const update = (old: object, next: object): string[] =>
    strict.validate({ spec: next }, { spec: old }).map((error) => error.field);

  it('API-160: accepts an invalid value that does not change', () => {
    expect(update({ foo: 'long', list: ['a'] }, { foo: 'long', list: ['b'] })).to.deep.equal([]);
  });
  it('API-160: rejects an invalid value that changes', () => {
    expect(update({ foo: 'long' }, { foo: 'longer' })).to.deep.equal(['spec.foo']);
  });
  it('API-160: rejects an invalid value on create', () => {
    expect(strict.validate({ spec: { foo: 'long' } })).to.have.length(1);
  });
  it('finds the old state of an item of a list map by its key', () => {
    const bad = { k: 'a', v: 'long' };
    expect(update({ lm: [bad] }, { lm: [{ k: 'b' }, bad] })).to.deep.equal([]);
    expect(update({ lm: [bad] }, { lm: [{ ...bad, k: 'b' }] })).to.deep.equal(['spec.lm[0].v']);
  });
  it('has no old state for an item of a plain list', () => {
    expect(update({ list: ['long'] }, { list: ['a', 'long'] })).to.deep.equal(['spec.list[1]']);
    expect(update({ list: ['long'] }, { list: ['long'] })).to.deep.equal([]);
  });
});

describe('multiples of a number with a fraction', () => {
  const rows: readonly (readonly [number: number, factor: number, isMultiple: boolean])[] = [
    [0.3, 0.1, true],
    [0.28, 0.01, true],
    [0.29, 0.01, false],
    [7.5, 2.5, true],
    [7.6, 2.5, false],
    [-0.5, 0.5, true],
    [5, 0.5, false],
    [5, 2.5, false],
    [6, 2.5, true],
    [1e300, 0.1, false],
  ];
  for (const [number, factor, isMultiple] of rows)
    it(`are those of Go: ${String(number)} is ${isMultiple ? '' : 'not '}one of ${String(factor)}`, () => {
      const { validate } = compileSchema({
        type: 'object',
        properties: { n: { type: 'number', multipleOf: factor } },
      });
      expect(validate({ n: number }).length === 0).to.equal(isMultiple);
    });
});
