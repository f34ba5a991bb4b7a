import { expect } from 'chai';
import { checkSchema } from '../../../src/blueprint/json-schema.ts';
import { blueprint } from '../dataflow/given.ts';

const text = { type: 'string' };
const files = {
  schemas: {
    'db.json': JSON.stringify({ definitions: { host: text } }),
    'y.yaml': 'type: string\n',
    'inner.json': JSON.stringify({
      definitions: { h: text },
      properties: { a: { $ref: '#/definitions/h' } },
    }),
  },
};
const localTypes = {
  port: { type: 'integer', minimum: 1, maximum: 65535 },
  Host: text,
  tree: { definitions: { leaf: { type: 'integer' } } },
  a: { $ref: 'local://b' },
  b: { $ref: 'local://a' },
  fromfile: { $ref: 'blueprint://schemas/db.json#/definitions/host' },
};
const loaded = blueprint({ localTypes }, files);
const check = (schema: unknown, value: unknown) => checkSchema(schema, value, loaded);

describe('a value that matches its schema', () => {
  const rows: readonly [string, unknown, unknown][] = [
    ['an empty schema accepts all', {}, null],
    ['true accepts all', true, 1],
    ['an integral double is an integer', { type: 'integer' }, 5.0],
    ['unknown formats are ignored', { format: 'whatever' }, 'x'],
    [
      'keywords of later drafts are ignored',
      { unevaluatedProperties: false, properties: { a: {} } },
      { b: 1 },
    ],
    [
      'so are dependentRequired and prefixItems',
      { dependentRequired: { a: ['b'] }, prefixItems: [text] },
      { a: 1 },
    ],
    [
      '$schema and id do not matter',
      { $schema: 'https://json-schema.org/draft/2019-09/schema', id: 'x', $id: 'y' },
      1,
    ],
    ['a property may be called id', { properties: { id: { type: 'integer' } } }, { id: 1 }],
    ['siblings of $ref are ignored', { $ref: 'local://port', maximum: 10 }, 80],
    ['references lead to files', { $ref: 'blueprint://schemas/db.json#/definitions/host' }, 'db'],
  ];
  for (const [title, schema, value] of rows) {
    it(title, () => expect(check(schema, value)).to.deep.equal({ kind: 'valid' }));
  }
});

describe('the error for a value that does not match, without the value', () => {
  const rows: readonly [string, unknown, unknown, string][] = [
    ['type', text, 5, '(root): Invalid type. Expected: string, given: integer'],
    ['integer', { type: 'integer' }, 5.5, '(root): Invalid type. Expected: integer, given: number'],
    [
      'several types',
      { type: ['string', 'integer'] },
      1.5,
      '(root): Invalid type. Expected: [string,integer], given: number',
    ],
    ['null', text, null, '(root): Invalid type. Expected: string, given: null'],
    [
      'nullable, which is of other dialects',
      { type: 'string', nullable: true },
      null,
      '(root): Invalid type. Expected: string, given: null',
    ],
    ['required', { required: ['a', 'b'] }, { c: 1 }, '[(root): a is required, (root): b is required]'],
    [
      'additional',
      { properties: { a: {} }, additionalProperties: false },
      { a: 1, b: 2 },
      '(root): Additional property b is not allowed',
    ],
    [
      'nested',
      { properties: { a: { properties: { b: text } } } },
      { a: { b: 5 } },
      'a.b: Invalid type. Expected: string, given: integer',
    ],
    [
      'element',
      { items: { type: 'integer' } },
      [1, 'x'],
      '1: Invalid type. Expected: integer, given: string',
    ],
    ['enum', { enum: ['x', 'y', 3] }, 'z', '(root): (root) must be one of the following: "x", "y", 3'],
    ['const', { const: 'x' }, 'y', '(root): (root) does not match: "x"'],
    ['pattern', { pattern: '^a+$' }, 'b', "(root): Does not match pattern '^a+$'"],
    ['minLength', { minLength: 3 }, 'ab', '(root): String length must be greater than or equal to 3'],
    ['maxLength', { maxLength: 2 }, 'abc', '(root): String length must be less than or equal to 2'],
    ['minimum', { minimum: 5 }, 4, '(root): Must be greater than or equal to 5'],
    ['maximum', { maximum: 5 }, 6, '(root): Must be less than or equal to 5'],
    ['exclusive limit as number', { exclusiveMinimum: 5 }, 5, '(root): Must be greater than 5'],
    ['exclusive limit as boolean', { maximum: 5, exclusiveMaximum: true }, 5, '(root): Must be less than 5'],
    ['multipleOf', { multipleOf: 3 }, 7, '(root): Must be a multiple of 3'],
    ['minItems', { minItems: 1 }, [], '(root): Array must have at least 1 items'],
    ['maxItems', { maxItems: 1 }, [1, 2], '(root): Array must have at most 1 items'],
    ['uniqueItems', { uniqueItems: true }, [1, 1], '(root): array items[0,1] must be unique'],
    [
      'contains',
      { contains: text },
      [1],
      '[(root): At least one of the items must match, 0: Invalid type. Expected: string, given: integer]',
    ],
    [
      'tuple',
      { items: [text, {}], additionalItems: false },
      ['a', 1, 2],
      '(root): No additional items allowed on array',
    ],
    ['minProperties', { minProperties: 2 }, { a: 1 }, '(root): Must have at least 2 properties'],
    ['maxProperties', { maxProperties: 1 }, { a: 1, b: 2 }, '(root): Must have at most 1 properties'],
    [
      'patternProperties',
      { patternProperties: { '^n': { type: 'integer' } } },
      { nx: 'a' },
      'nx: Invalid type. Expected: integer, given: string',
    ],
    [
      'propertyNames',
      { propertyNames: { pattern: '^a' } },
      { b: 1 },
      '[(root): Property name of "b" does not match, (root): Does not match pattern \'^a\']',
    ],
    ['dependencies', { dependencies: { a: ['b'] } }, { a: 1 }, '(root): Has a dependency on b'],
    [
      'oneOf',
      { oneOf: [text, { type: 'integer' }] },
      true,
      '[(root): Must validate one and only one schema (oneOf), (root): Invalid type. Expected: string, given: boolean]',
    ],
    [
      'oneOf with two matches',
      { oneOf: [{ type: 'number' }, { type: 'integer' }] },
      1,
      '(root): Must validate one and only one schema (oneOf)',
    ],
    [
      'anyOf',
      { anyOf: [text, { type: 'integer' }] },
      true,
      '[(root): Must validate at least one schema (anyOf), (root): Invalid type. Expected: string, given: boolean]',
    ],
    ['not', { not: text }, 'x', '(root): Must not validate the schema (not)'],
    [
      'if',
      { if: { properties: { a: { const: 1 } } }, then: { required: ['b'] } },
      { a: 1 },
      '[(root): Must validate "then" as "if" was valid, (root): b is required]',
    ],
    ['format', { format: 'ipv4' }, 'x', "(root): Does not match format 'ipv4'"],
    ['false', false, 'x', '(root): False always fails validation'],
    [
      '$defs',
      { $defs: { h: text }, properties: { a: { $ref: '#/$defs/h' } } },
      { a: 1 },
      'a: Invalid type. Expected: string, given: integer',
    ],
    ['local type', { $ref: 'local://port' }, 70000, '(root): Must be less than or equal to 65535'],
    [
      'local type in a part of the schema, case-sensitive',
      { properties: { q: { items: { $ref: 'local://Host' } } } },
      { q: ['a', 5] },
      'q.1: Invalid type. Expected: string, given: integer',
    ],
    [
      'part of a local type',
      { $ref: 'local://tree#/definitions/leaf' },
      'x',
      '(root): Invalid type. Expected: integer, given: string',
    ],
    [
      'file through a local type',
      { $ref: 'local://fromfile' },
      5,
      '(root): Invalid type. Expected: string, given: integer',
    ],
    [
      'pointer inside a file',
      { $ref: 'blueprint://schemas/inner.json' },
      { a: 5 },
      'a: Invalid type. Expected: string, given: integer',
    ],
  ];
  for (const [title, schema, value, message] of rows) {
    it(title, () => expect(check(schema, value)).to.deep.equal({ kind: 'invalid', message }));
  }

  it('secrets are not shown', () => {
    expect(JSON.stringify(check({ type: 'integer', enum: [1] }, 's3cr3t'))).not.to.contain('s3cr3t');
  });
});

describe('the draft that a schema names', () => {
  const draft = (version: string, schema: object) => ({
    $schema: `https://json-schema.org/draft/${version}/schema`,
    ...schema,
  });
  const older = (version: string, schema: object) => ({
    $schema: `http://json-schema.org/draft-0${version}/schema#`,
    ...schema,
  });
  const unevaluated = { properties: { a: {} }, unevaluatedProperties: false };
  const anchored = {
    $defs: { t: { $anchor: 'text', type: 'string' } },
    properties: { a: { $ref: '#text' } },
  };
  const dependent = { dependentRequired: { a: ['b'] } };
  const tuple = { items: [text], additionalItems: { type: 'integer' } };
  const rows: readonly [title: string, schema: unknown, value: unknown, message?: string][] = [
    [
      '4 has boolean exclusive limits',
      older('4', { maximum: 5, exclusiveMaximum: true }),
      5,
      'Must be less than 5',
    ],
    ['4 has id', older('4', { id: 'http://example.org/x', type: 'string' }), 'x'],
    ['6 has const', older('6', { const: 1 }), 2, '(root) does not match: 1'],
    [
      '7 has if, then and else',
      older('7', { if: text, then: { minLength: 2 } }),
      'x',
      'String length must be',
    ],
    ['7 ignores later keywords', older('7', unevaluated), { b: 1 }],
    [
      '2019-09 has unevaluatedProperties',
      draft('2019-09', unevaluated),
      { b: 1 },
      '(root): Additional property b is not allowed',
    ],
    ['2019-09 has dependentRequired', draft('2019-09', dependent), { a: 1 }, '(root): Has a dependency on b'],
    [
      '2019-09 has anchors',
      draft('2019-09', anchored),
      { a: 1 },
      'a: Invalid type. Expected: string, given: integer',
    ],
    [
      '2019-09 respects siblings of $ref',
      draft('2019-09', { $defs: { t: text }, $ref: '#/$defs/t', minLength: 2 }),
      'x',
      'String length must be',
    ],
    ['2019-09 has tuples', draft('2019-09', tuple), ['x', 'y'], '1: Invalid type'],
    [
      '2019-09 has recursive references',
      draft('2019-09', { properties: { a: { $recursiveRef: '#' } }, maxProperties: 1 }),
      { a: { b: 1, c: 2 } },
      'a: Must have at most 1 properties',
    ],
    [
      '2020-12 has prefixItems',
      draft('2020-12', { prefixItems: [text], items: false }),
      ['x', 1],
      '(root): No additional items allowed on array',
    ],
    ['2020-12 understands older tuples', draft('2020-12', tuple), ['x', 'y'], '1: Invalid type'],
    [
      '2020-12 has unevaluatedItems',
      draft('2020-12', { prefixItems: [text], unevaluatedItems: false }),
      ['x', 1],
      '(root): No additional items allowed on array',
    ],
    [
      '2020-12 understands older limits',
      draft('2020-12', { minimum: 5, exclusiveMinimum: true }),
      5,
      'Must be greater than 5',
    ],
    [
      'of unknown name is treated as the older mixture',
      { $schema: 'https://example.org/mine', ...unevaluated },
      { b: 1 },
    ],
  ];
  for (const [title, schema, value, message] of rows) {
    it(title, () => {
      const verdict = check(schema, value);
      if (message === undefined) expect(verdict).to.deep.equal({ kind: 'valid' });
      else expect(verdict).to.have.property('message').that.contains(message);
    });
  }

  it('applies to the files of the blueprint that it refers to', () => {
    const strict = blueprint({ localTypes: { strict: draft('2020-12', unevaluated) } });
    expect(checkSchema({ $ref: 'local://strict' }, { b: 1 }, strict).kind).to.equal('invalid');
  });
});

describe('an invalid schema', () => {
  const rows: readonly [string, unknown, string][] = [
    ['unknown type', { type: 'strin' }, 'must be equal to one of the allowed values'],
    ['broken pattern', { pattern: '(' }, 'missing closing )'],
    ['wrong value of a keyword', { minimum: 'x' }, 'minimum must be number'],
    ['pointer to a missing place', { $ref: '#/definitions/nope' }, '#/definitions/nope'],
    [
      'unknown local type',
      { $ref: 'local://nope' },
      'error resolving reference at [].$ref: type nope is not defined in local types',
    ],
    ['path in a local type', { $ref: 'local://port/x' }, 'a path is not supported for local resources'],
    [
      'missing field',
      { $ref: 'local://tree#/definitions/zz' },
      'element at "[].definitions" doesn\'t have a field "zz"',
    ],
    [
      'pointer through a value that is not an object',
      { $ref: 'blueprint://schemas/db.json#/definitions/host/type/x' },
      'element at "[].definitions.host.type" is not an object',
    ],
    [
      'missing file',
      { $ref: 'blueprint://schemas/nope.json' },
      'unable to read local schema from schemas/nope.json: file does not exist',
    ],
    [
      'file that is not valid JSON',
      { $ref: 'blueprint://schemas/y.yaml' },
      'schemas/y.yaml is not valid JSON',
    ],
    [
      'cycle',
      { properties: { x: { $ref: 'local://a' } } },
      'cyclic references detected: reference "local://a" is part of a cycle',
    ],
    ['component', { $ref: 'cd://resources/x' }, 'no component descriptor defined to resolve the ref'],
    ['network', { $ref: 'http://example.org/s.json' }, 'would have to be fetched, which is not supported'],
  ];
  for (const [title, schema, message] of rows) {
    it(title, () => {
      const verdict = check(schema, 5);
      expect(verdict).to.have.property('kind', 'unusable');
      expect(verdict)
        .to.have.property('message')
        .that.contains('validator creation failed')
        .and.contains(message);
    });
  }
});

describe('patterns', () => {
  it('compilations of different schemas are kept apart', () => {
    expect(check({ pattern: '^a' }, 'a').kind).to.equal('valid');
    expect(check({ pattern: '^b' }, 'a').kind).to.equal('invalid');
    expect(check({ pattern: '^a', properties: {} }, 'b').kind).to.equal('invalid');
  });

  it('takes linear time', () => {
    expect(check({ pattern: '^(a+)+$' }, `${'a'.repeat(5000)}!`).kind).to.equal('invalid');
  });
});
