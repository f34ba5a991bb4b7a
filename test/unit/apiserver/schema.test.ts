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

/** What the server does with a new object before it stores it, as `field: message` lines. */
function findings(spec: Record<string, unknown>): string[] {
  const object = schema.applyDefaults(schema.prune(widget(spec)));
  return schema.validate(object).map((error) => `${error.field}: ${error.message}`);
}

describe('a structural schema validates', () => {
  const inBody = (path: string, why: string): string => `${path} in body should be ${why}`;
  const rows: [string, Record<string, unknown>, string[]][] = [
    ['nothing wrong', {}, []],
    ['a missing field', { foo: undefined }, ['spec.foo: Required value']],
    ['a null where none is allowed as missing', { foo: null }, ['spec.foo: Required value']],
    [
      'a wrong type',
      { num: 'x' },
      ['spec.num: Invalid value: "string": spec.num in body must be of type integer: "string"'],
    ],
    [
      'a fraction as no integer',
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
    ['a factor', { mult: 3 }, [`spec.mult: Invalid value: 3: ${inBody('spec.mult', 'a multiple of 2')}`]],
    [
      'a text too short',
      { foo: 'a' },
      [`spec.foo: Invalid value: "a": ${inBody('spec.foo', 'at least 2 chars long')}`],
    ],
    ['a text too long', { foo: 'abcdef' }, ['spec.foo: Too long: may not be more than 5 bytes']],
    [
      'a pattern',
      { foo: 'ABC' },
      [`spec.foo: Invalid value: "ABC": spec.foo in body should match '^[a-z]+$'`],
    ],
    ['an enumeration', { mode: 'C' }, ['spec.mode: Unsupported value: "C": supported values: "A", "B"']],
    [
      'a list too short',
      { list: [] },
      ['spec.list: Invalid value: 0: spec.list in body should have at least 1 items'],
    ],
    ['a list too long', { list: ['a', 'b', 'c'] }, ['spec.list: Too many: 3: must have at most 2 items']],
    ['a map too large', { map: { a: 1, b: 2, c: 3 } }, ['spec.map: Too many: 3: must have at most 2 items']],
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
      'alternatives of which none holds',
      { oneof: {} },
      [
        '<nil>: Invalid value: "": "spec.oneof" must validate one and only one schema (oneOf). Found none valid',
        'spec.oneof.a: Required value',
      ],
    ],
    [
      'alternatives of which two hold',
      { oneof: { a: '1', b: '2' } },
      [
        '<nil>: Invalid value: "": "spec.oneof" must validate one and only one schema (oneOf). Found 2 valid alternatives',
      ],
    ],
    ['items of a set, once each', { set: ['a', 'a', 'b', 'a'] }, ['spec.set[1]: Duplicate value: "a"']],
    [
      'items of a map by key',
      { lm: [{ k: 'a' }, { k: 'a', v: 2 }] },
      ['spec.lm[1]: Duplicate value: {"k":"a"}'],
    ],
    [
      'members of an embedded resource',
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

  it('counts characters, not UTF-16 units', () => {
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

  it('API-154: a default for null, and nothing for a null that may be', () => {
    expect(filled({ foo: null, num: null, nul: null, defobj: {} })).to.deep.equal({
      num: 3,
      mode: 'A',
      nul: null,
      defobj: { x: 7 },
    });
  });

  it('hands back the object itself when nothing is missing', () => {
    const whole = widget({ foo: 'abc', num: 1, mode: 'B', defobj: { x: 1 } });
    expect(schema.applyDefaults(whole)).to.equal(whole);
  });

  it('changes nothing the second time', () => {
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

  it('API-152: what it does not know, and keeps what it is told to preserve', () => {
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

  it('so that nothing is left to prune', () => {
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

  it('API-160: forgives a bad value that stays', () => {
    expect(update({ foo: 'long', list: ['a'] }, { foo: 'long', list: ['b'] })).to.deep.equal([]);
  });
  it('API-160: does not forgive a bad value that changes', () => {
    expect(update({ foo: 'long' }, { foo: 'longer' })).to.deep.equal(['spec.foo']);
  });
  it('API-160: does not forgive it on create', () => {
    expect(strict.validate({ spec: { foo: 'long' } })).to.have.length(1);
  });
  it('finds the old self of an item of a list map by its key', () => {
    const bad = { k: 'a', v: 'long' };
    expect(update({ lm: [bad] }, { lm: [{ k: 'b' }, bad] })).to.deep.equal([]);
    expect(update({ lm: [bad] }, { lm: [{ ...bad, k: 'b' }] })).to.deep.equal(['spec.lm[0].v']);
  });
  it('knows no old self of an item of a plain list', () => {
    expect(update({ list: ['long'] }, { list: ['a', 'long'] })).to.deep.equal(['spec.list[1]']);
    expect(update({ list: ['long'] }, { list: ['long'] })).to.deep.equal([]);
  });
});
