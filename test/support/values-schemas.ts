/** Schemas and values, with what helm says; `make test-helm` compares, so that the verdicts stay true. */

const D4 = 'http://json-schema.org/draft-04/schema#';
const D6 = 'http://json-schema.org/draft-06/schema#';
const D7 = 'http://json-schema.org/draft-07/schema#';
const D2019 = 'https://json-schema.org/draft/2019-09/schema';
const a = (schema: unknown, more: object = {}): object => ({ properties: { a: schema }, ...more });

export interface SchemaCase {
  readonly title: string;
  readonly schema: unknown;
  /** As YAML. */
  readonly values: string;
  readonly isAccepted: boolean;
}

const spelled = (name: unknown, isKnown: boolean): SchemaCase => ({
  title: `$schema is ${JSON.stringify(name)}`,
  schema: { $schema: name, type: 'object' },
  values: 'a: 1',
  isAccepted: isKnown,
});

const given = (title: string, schema: unknown, values: string, isAccepted: boolean): SchemaCase => ({
  title,
  schema,
  values,
  isAccepted,
});

/** The same schema in several drafts; with values that are accepted in these only. */
const perDraft = (
  title: string,
  schema: object,
  values: string,
  accepted: readonly number[],
): readonly SchemaCase[] =>
  Object.entries({ 4: D4, 6: D6, 7: D7, 2019: D2019, 2020: undefined }).map(([draft, $schema]) =>
    given(
      `${title}, draft ${draft}`,
      { ...schema, ...($schema && { $schema }) },
      values,
      accepted.includes(Number(draft)),
    ),
  );

const ALL = [4, 6, 7, 2019, 2020];

export const schemaCases: readonly SchemaCase[] = [
  ...['http', 'https'].flatMap((scheme) =>
    ['schema', 'draft-04/schema', 'draft-06/schema', 'draft-07/schema', 'draft/2019-09/schema'].flatMap(
      (path) => [
        spelled(`${scheme}://json-schema.org/${path}`, true),
        spelled(`${scheme}://json-schema.org/${path}#`, true),
      ],
    ),
  ),
  spelled('http://json-schema.org/draft/2020-12/schema#', true),
  spelled(7, false),
  spelled('json-schema.org/draft-07/schema', false),
  given('no schema', { type: 'object' }, 'a: 1', true),
  given('a schema that accepts nothing', false, 'a: 1', false),
  given('an exclusive minimum', a({ minimum: 0, exclusiveMinimum: true }, { $schema: D4 }), 'a: 0', false),
  given('a limit beyond', a({ minimum: 0, exclusiveMinimum: true }, { $schema: D4 }), 'a: 1', true),
  given('an inclusive minimum', a({ minimum: 0, exclusiveMinimum: false }, { $schema: D4 }), 'a: 0', true),
  given('an exclusive maximum', a({ maximum: 5, exclusiveMaximum: true }, { $schema: D4 }), 'a: 5', false),
  given('an exclusive number in draft 4', a({ exclusiveMinimum: 1 }, { $schema: D4 }), 'a: 2', false),
  given('an exclusive limit alone', a({ exclusiveMinimum: true }, { $schema: D4 }), 'a: 2', false),
  given(
    'a boolean limit in draft 7',
    a({ minimum: 0, exclusiveMinimum: true }, { $schema: D7 }),
    'a: 1',
    false,
  ),
  given('a number as limit', a({ exclusiveMinimum: 0 }, { $schema: D7 }), 'a: 0', false),
  ...perDraft('a format', a({ format: 'ipv4' }), 'a: x', [2019, 2020]),
  ...perDraft('a format that fits', a({ format: 'ipv4' }), 'a: 1.2.3.4', ALL),
  ...perDraft('a format of OpenAPI', a({ format: 'int32' }), 'a: x', ALL),
  ...perDraft('a format of others', a({ format: 'byte' }), 'a: "?"', ALL),
  ...perDraft('a relative address', a({ format: 'uri' }), 'a: x/y', [2019, 2020]),
  ...perDraft('an address with blanks', a({ format: 'uri' }), 'a: "http://h/a b"', ALL),
  ...perDraft('a version', a({ format: 'semver' }), 'a: "1.0"', [2019, 2020]),
  ...perDraft(
    'a sibling of a reference',
    { definitions: { x: { type: 'string' } }, ...a({ $ref: '#/definitions/x', minLength: 5 }) },
    'a: b',
    [4, 6, 7],
  ),
  ...perDraft(
    'a sibling with a type',
    { definitions: { x: { minLength: 1 } }, ...a({ $ref: '#/definitions/x', type: 'integer', title: 'x' }) },
    'a: b',
    [4, 6, 7],
  ),
  ...perDraft(
    'a reference to an unknown keyword',
    { mine: { x: { type: 'string' } }, ...a({ $ref: '#/mine/x' }) },
    'a: 1',
    [],
  ),
  ...perDraft(
    'a reference to a property',
    { ...a({ type: 'string' }), allOf: [{ properties: { b: { $ref: '#/properties/a' } } }] },
    'b: 1',
    [],
  ),
  ...perDraft('a reference to a name', { ...a({ $ref: 'urn:x:y' }) }, 'a: 1', ALL),
  ...perDraft('a constant', a({ const: 1 }), 'a: 2', [4]),
  ...perDraft('a condition', { if: {}, then: { required: ['b'] } }, 'a: 1', [4, 6]),
  ...perDraft('contained elements', a({ contains: { const: 1 } }), 'a: [2]', [4]),
  ...perDraft('names of properties', { propertyNames: { maxLength: 2 } }, 'abc: 1', [4]),
  ...perDraft('properties that need others', { dependencies: { a: ['b'] } }, 'a: 1', []),
  ...perDraft('dependent properties', { dependentRequired: { a: ['b'] } }, 'a: 1', [4, 6, 7]),
  ...perDraft('unevaluated properties', { ...a({}), unevaluatedProperties: false }, 'b: 1', [4, 6, 7]),
  ...perDraft(
    'definitions of later drafts',
    { $defs: { x: { type: 'string' } }, ...a({ $ref: '#/$defs/x' }) },
    'a: 1',
    [],
  ),
  ...perDraft(
    'the keyword of OpenAPI',
    { ...a({ items: { type: 'string', nullable: true } }) },
    'a: [null]',
    [],
  ),
  ...perDraft('a list of types', a({ type: ['string', 'null'] }), 'a: 1', []),
  ...perDraft(
    'a property like one of objects',
    a({}, { properties: { constructor: { type: 'string' } } }),
    'a: 1',
    ALL,
  ),
  ...perDraft(
    'a property that is there',
    { properties: { constructor: { type: 'string' } } },
    'constructor: 1',
    [],
  ),
  ...perDraft('a required property like one of objects', { required: ['toString'] }, 'a: 1', []),
  ...perDraft('a required property that is there', { required: ['toString'] }, 'toString: 1', ALL),
  ...perDraft('a dependency on such a property', { dependencies: { valueOf: ['b'] } }, 'a: 1', ALL),
  ...perDraft('no other properties', { properties: {}, additionalProperties: false }, 'constructor: 1', []),
  ...perDraft('a large integer', a({ type: 'integer' }), 'a: 9007199254740993', ALL),
  ...perDraft(
    'a large integer as number',
    a({ type: 'number', maximum: 1e20 }),
    'a: 9223372036854775807',
    ALL,
  ),
  ...perDraft('an integer with a fraction of zero', a({ type: 'integer' }), 'a: 1.0', ALL),
  ...perDraft('a multiple', a({ multipleOf: 0.01 }), 'a: 0.29', ALL),
  ...perDraft('no multiple', a({ multipleOf: 0.01 }), 'a: 0.295', []),
  ...perDraft('a fine multiple', a({ multipleOf: 1e-9 }), 'a: 1e-9', ALL),
  ...perDraft('an id', { id: 'http://x/y', $id: 'http://x/y', ...a({ type: 'string' }) }, 'a: 1', []),
  ...perDraft(
    'a property with the name of a keyword',
    { properties: { id: { type: 'string' }, $ref: { type: 'string' } } },
    'id: x',
    ALL,
  ),
  ...perDraft('a pattern that is not valid', a({ pattern: '(?=x)' }), 'a: x', []),
  ...perDraft('a list for each position', a({ items: [{ type: 'string' }] }), 'a: [1]', []),
];
