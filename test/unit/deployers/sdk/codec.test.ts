import { expect } from 'chai';
import { z } from 'zod';
import {
  passthrough,
  codec,
  CodecError,
  optionalBoolean,
  optionalList,
  optionalObject,
  optionalString,
  optionalStringMap,
  optionalStrings,
} from '../../../../deployers/sdk/codec.ts';
import { schemaCodec, type Checked } from '../../../../deployers/sdk/schema.ts';

const [OLD, NEW] = ['blob.example.org/v1', 'blob.example.org/v2'];
const KIND = 'ProviderConfiguration';

describe('a codec', () => {
  const blobs = codec<string>(
    KIND,
    { [OLD]: ({ path }) => `old ${String(path)}`, [NEW]: ({ path }) => `new ${String(path)}` },
    { [OLD]: { path: 'anything' } },
  );

  it('reads each version with its own reader', () => {
    expect(blobs.decode({ apiVersion: OLD, kind: KIND, path: 'x' })).to.equal('old x');
    expect(blobs.decode({ apiVersion: NEW, kind: KIND, path: 'x' })).to.equal('new x');
  });

  const refused: readonly (readonly [unknown, string])[] = [
    ['x', `expected an object of kind ${KIND}`],
    [
      { apiVersion: 'x/v1', kind: KIND },
      `no kind "${KIND}" is registered for version "x/v1"; expected ${KIND} of ${OLD} or ${NEW}`,
    ],
    [{ apiVersion: OLD, kind: 'Other' }, `no kind "Other" is registered for version "${OLD}"`],
    [{ apiVersion: 1, kind: 2 }, 'no kind "" is registered for version ""'],
  ];
  for (const [document, message] of refused) {
    it(`rejects ${JSON.stringify(document)}`, () => {
      expect(() => blobs.decode(document))
        .to.throw(CodecError, message)
        .with.property('step', 'decode');
    });
  }

  it('reports unknown fields if it knows the schema', () => {
    const document = { apiVersion: OLD, kind: KIND, path: 'x', pth: 'y' };
    expect(blobs.unread?.(document)).to.have.length(1);
    expect(blobs.unread?.(document)[0]).to.match(/^pth is not a known field/);
    for (const other of [{ ...document, apiVersion: NEW }, { ...document, apiVersion: 1 }, 'x', null])
      expect(blobs.unread?.(other)).to.deep.equal([]);
  });

  it('may pass a document on unchanged', () => {
    expect(passthrough.decode('x')).to.equal('x');
  });
});

describe('fields of a configuration', () => {
  const rows = [
    ['a string', optionalString, 'x', 1, 'expected a string'],
    ['a boolean', optionalBoolean, false, 'yes', 'expected true or false'],
    ['an object', optionalObject, { a: 1 }, [], 'expected an object'],
    ['a list', optionalList, [1], {}, 'expected a list'],
    ['a list of strings', optionalStrings, ['a'], 'a', 'expected a list'],
    ['a map of strings', optionalStringMap, { a: 'b' }, 'a', 'expected an object'],
  ] as const;
  for (const [title, read, good, bad, message] of rows) {
    it(`may be ${title}, or missing`, () => {
      expect(read(good, 'a.b')).to.deep.equal(good);
      expect([read(undefined, 'a.b'), read(null, 'a.b')]).to.deep.equal([undefined, undefined]);
      expect(() => read(bad, 'a.b'))
        .to.throw(CodecError, `a.b: ${message}`)
        .with.property('step', 'decode');
    });
  }

  it('are reported with their path within lists and maps', () => {
    expect(() => optionalStrings(['x', 1], 'a')).to.throw(CodecError, 'a[1]: expected a string');
    expect(() => optionalStringMap({ x: 'y', z: 1 }, 'a')).to.throw(CodecError, 'a.z: expected a string');
  });
});

describe('a codec from a schema', () => {
  const decode = (answer: Checked<string> | Promise<Checked<string>>): string =>
    schemaCodec(KIND, { [OLD]: { '~standard': { validate: () => answer } } }).decode({
      apiVersion: OLD,
      kind: KIND,
    });

  describe('finds the fields that a schema of zod leaves out', () => {
    const head = { apiVersion: OLD, kind: KIND };
    const field = z.object({ name: z.string() });
    const rows: readonly (readonly [string, z.ZodType, unknown, readonly string[]])[] = [
      ['in the document', field, { nam: 1 }, ['nam is not a known field; did you mean name?']],
      [
        'in fields of fields',
        z.object({ a: field.optional() }),
        { a: { x: 1 } },
        ['a.x is not a known field; known fields are name'],
      ],
      [
        'in lists',
        z.object({ a: z.array(field.nullish()) }),
        { a: [{ nam: 1 }] },
        ['a[0].nam is not a known field; did you mean name?'],
      ],
      [
        'in maps',
        z.object({ a: z.record(z.string(), field) }),
        { a: { any: { nam: 1 } } },
        ['a.any.nam is not a known field; did you mean name?'],
      ],
      [
        'in the alternative that fits best',
        z.object({ a: z.union([field, z.object({ x: z.int() })]) }),
        { a: { x: 1 } },
        [],
      ],
      [
        'behind defaults and transformations',
        z.object({ a: field.default({ name: '' }), b: field.transform(({ name }) => name) }),
        { a: { y: 1 }, b: { z: 1 } },
        [
          'a.y is not a known field; known fields are name',
          'b.z is not a known field; known fields are name',
        ],
      ],
      ['but not in loose objects', z.looseObject({ a: field }), { b: 1, a: { name: 'x' } }, []],
      ['nor in values of any type', z.object({ a: z.unknown() }), { a: { b: 1 } }, []],
    ];
    for (const [title, schema, fields, found] of rows)
      it(title, () => {
        const document = { ...head, ...(fields as object) };
        expect(schemaCodec(KIND, { [OLD]: schema }).unread?.(document)).to.deep.equal(found);
      });

    it('and none with another library, or of another version', () => {
      const other = { '~standard': { validate: () => ({ value: 1 }) } };
      expect(schemaCodec(KIND, { [OLD]: other }).unread?.({ ...head, x: 1 })).to.deep.equal([]);
      expect(schemaCodec(KIND, { [NEW]: field }).unread?.({ ...head, x: 1 })).to.deep.equal([]);
    });
  });

  it('returns the result of the schema for the document', () => {
    expect(decode({ value: 'read' })).to.equal('read');
  });

  it('reports every error of the schema, with its path', () => {
    const issues = [
      { message: 'is wrong' },
      { message: 'is missing', path: ['a', 0, 'b'] },
      { message: 'is odd', path: [{ key: 'c' }, { key: 1 }] },
    ];
    expect(() => decode({ issues }))
      .to.throw(CodecError, 'is wrong; a[0].b: is missing; c[1]: is odd')
      .with.property('step', 'decode');
  });

  it('must be synchronous', () => {
    expect(() => decode(Promise.resolve({ value: 'x' }))).to.throw(TypeError, 'asynchronous');
  });
});
