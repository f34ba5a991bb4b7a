import { expect } from 'chai';
import { validateCrd } from '../../../src/apiserver/crd/validation.ts';
import type { JsonSchema } from '../../../src/apiserver/schema/schema.ts';

interface Draft {
  metadata: { name: string };
  spec: {
    group: string;
    scope: string;
    names: Record<string, unknown>;
    versions: Record<string, unknown>[];
    preserveUnknownFields?: boolean;
  };
  status: { storedVersions: string[]; conditions?: object[] };
}

const draft = (properties: Record<string, JsonSchema> = {}): Draft => ({
  metadata: { name: 'widgets.ex.io' },
  spec: {
    group: 'ex.io',
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties } } } },
      },
    ],
  },
  status: { storedVersions: ['v1'] },
});

const version = (crd: Draft): Record<string, unknown> => crd.spec.versions[0] as Record<string, unknown>;
const root = (crd: Draft): Record<string, unknown> =>
  (version(crd)['schema'] as { openAPIV3Schema: Record<string, unknown> }).openAPIV3Schema;
const texts = (crd: Draft, old?: Draft): string[] =>
  validateCrd(crd, old).map((error) => `${error.field}: ${error.message}`);

const SCHEMA = 'spec.validation.openAPIV3Schema';
const B = `${SCHEMA}.properties[spec].properties[b]`;

describe('a CustomResourceDefinition', () => {
  it('is accepted if it is valid', () => {
    expect(texts(draft({ a: { type: 'string' } }))).to.deep.equal([]);
  });

  const changes: [string, (crd: Draft) => void, string][] = [
    [
      'a name that is not plural and group',
      (crd) => (crd.metadata.name = 'foo.ex.io'),
      'metadata.name: Invalid value: "foo.ex.io": must be spec.names.plural+"."+spec.group',
    ],
    [
      'no schema',
      (crd) => delete version(crd)['schema'],
      'spec.versions[0].schema.openAPIV3Schema: Required value',
    ],
    [
      'preserveUnknownFields, the old switch',
      (crd) => (crd.spec.preserveUnknownFields = true),
      'spec.preserveUnknownFields: Invalid value: true: cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead',
    ],
    [
      'a root without type',
      (crd) => delete root(crd)['type'],
      `${SCHEMA}.type: Required value: must not be empty at the root`,
    ],
    [
      'more than the name under metadata',
      (crd) => {
        const properties = root(crd)['properties'] as Record<string, JsonSchema>;
        properties['metadata'] = { type: 'object', properties: { labels: { type: 'object' } } };
      },
      `${SCHEMA}.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified`,
    ],
    [
      'a column without type',
      (crd) => (version(crd)['additionalPrinterColumns'] = [{ name: 'a', type: 'foo', jsonPath: '.a' }]),
      'spec.additionalPrinterColumns[0].type: Invalid value: "foo": must be one of boolean,date,integer,number,string',
    ],
    [
      'a column without path',
      (crd) => (version(crd)['additionalPrinterColumns'] = [{ name: 'a', type: 'string', jsonPath: 'a' }]),
      'spec.additionalPrinterColumns[0].JSONPath: Invalid value: "a": must be a simple json path starting with .',
    ],
  ];
  for (const [title, change, wanted] of changes) {
    it(`API-149: is rejected because of ${title}`, () => {
      const crd = draft();
      change(crd);
      expect(texts(crd)).to.deep.equal([wanted]);
    });
  }

  const offences: [string, JsonSchema, string][] = [
    [
      'a property without type',
      {},
      `${B}.type: Required value: must not be empty for specified object fields`,
    ],
    [
      'properties and additionalProperties',
      { type: 'object', properties: { x: { type: 'string' } }, additionalProperties: { type: 'string' } },
      `${B}.additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive`,
    ],
    ['a reference', { type: 'object', $ref: '#/x' }, `${B}.$ref: Forbidden: $ref is not supported`],
    [
      'unique items',
      { type: 'array', uniqueItems: true, items: { type: 'string' } },
      `${B}.uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic`,
    ],
    ['a list without items', { type: 'array' }, `${B}.items: Required value: must be specified`],
    [
      'a default of the wrong type',
      { type: 'integer', default: 'x' },
      `${B}.default: Invalid value: "string":  in body must be of type integer: "string"`,
    ],
    [
      'a default with unknown fields',
      { type: 'object', default: { zz: 1 }, properties: { a: { type: 'string' } } },
      `${B}.default: Invalid value: {"zz":1}: must not have unknown fields`,
    ],
    [
      'a default in a condition',
      { type: 'string', anyOf: [{ default: 'x' }] },
      `${B}.anyOf[0].default: Forbidden: must be undefined to be structural`,
    ],
    [
      'a list-map key that may be absent',
      {
        type: 'array',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['k'],
        items: { type: 'object', properties: { k: { type: 'string' } } },
      },
      `${B}.items.properties[k].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property`,
    ],
    [
      'an invalid pattern',
      { type: 'string', pattern: '(' },
      `${B}.pattern: Invalid value: "(": must be a valid regular expression, but isn't: error parsing regexp: missing closing ): \`(\``,
    ],
  ];
  for (const [title, schema, wanted] of offences) {
    it(`API-149: is rejected because of ${title}`, () => {
      expect(texts(draft({ b: schema }))).to.deep.equal([wanted]);
    });
  }

  it('API-149: is rejected without exactly one storage version', () => {
    const crd = draft();
    version(crd)['storage'] = false;
    expect(texts(crd)[0]).to.match(
      /^spec\.versions: Invalid value: \[.*\]: must have exactly one version marked as storage version$/,
    );
  });
  it('API-149: needs an approval in a protected group', () => {
    const crd = draft();
    crd.spec.group = 'ex.k8s.io';
    crd.metadata.name = 'widgets.ex.k8s.io';
    expect(texts(crd)[0]).to.contain(
      'metadata.annotations[api-approved.kubernetes.io]: Required value: protected groups must have approval annotation',
    );
  });
  it('has errors with the path of the version if versions differ', () => {
    const crd = draft({ b: {} });
    const other = structuredClone(draft({ a: { type: 'string' } }).spec.versions[0]);
    crd.spec.versions.push({ ...other, name: 'v2', storage: false });
    expect(texts(crd)[0]).to.contain(
      'spec.versions[0].schema.openAPIV3Schema.properties[spec].properties[b].type',
    );
  });
  it('accepts int-or-string with its two types', () => {
    const anyOf = [{ type: 'integer' }, { type: 'string' }];
    expect(texts(draft({ b: { 'x-kubernetes-int-or-string': true, anyOf } }))).to.deep.equal([]);
  });

  it('API-151: keeps scope and kind after it is established', () => {
    const old = draft();
    old.status.conditions = [{ type: 'Established', status: 'True' }];
    const next = draft();
    next.spec.scope = 'Cluster';
    next.spec.names['kind'] = 'Gadget';
    expect(texts(next, old)).to.have.members([
      'spec.scope: Invalid value: "Cluster": field is immutable',
      'spec.names.kind: Invalid value: "Gadget": field is immutable',
    ]);
  });
});
