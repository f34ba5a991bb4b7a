import { spawnSync } from 'node:child_process';
import { expect } from 'chai';
import { z } from 'zod';
import { crdOf } from '../../../src/lib/crd/crd.ts';
import { SchemaError, structural, type Node } from '../../../src/lib/crd/structural.ts';
import { loadCrds } from '../../../src/api/crds.ts';
import { definitions } from '../../../src/api/kinds.ts';
import { anyJson, anyObject, int64, open, time } from '../../../src/api/shared.ts';

const convert = (schema: z.ZodType): Node =>
  structural(z.toJSONSchema(schema, { io: 'input', target: 'openapi-3.0' }) as Node);

const anything = {
  kind: { group: 'example.org', version: 'v1', kind: 'Thing', plural: 'things', namespaced: false },
  description: 'A thing.',
} as const;

const tree = z.object({
  get children(): z.ZodType {
    return z.array(tree);
  },
});

describe('a CustomResourceDefinition of an author', () => {
  it('has the names, limits, columns and rules of its description', () => {
    const spec = z.object({
      size: z.int().min(1).max(9).default(3),
      name: z.string().min(1).max(63).regex(/^a/),
      colour: z.enum(['red', 'blue']).optional(),
      port: z.union([z.int(), z.string()]).meta({ 'x-kubernetes-int-or-string': true }),
    });
    const { spec: crd } = crdOf({
      ...anything,
      schema: z.object({ spec, status: z.object({ ready: z.boolean() }).optional() }),
      shortNames: ['th'],
      columns: [{ name: 'Ready', type: 'boolean', path: '.status.ready', isWide: true }],
      rules: [{ path: 'spec.size', rule: 'self >= oldSelf', message: 'a thing does not shrink' }],
    }) as { spec: { names: object; scope: string; versions: Node[] } };
    expect(crd.scope).to.equal('Cluster');
    expect(crd.names).to.deep.equal({
      kind: 'Thing',
      listKind: 'ThingList',
      plural: 'things',
      singular: 'thing',
      shortNames: ['th'],
    });
    const [version] = crd.versions;
    expect(version?.['subresources']).to.deep.equal({ status: {} });
    expect(version?.['additionalPrinterColumns']).to.deep.equal([
      { name: 'Ready', type: 'boolean', jsonPath: '.status.ready', priority: 1 },
    ]);
    const { openAPIV3Schema } = version?.['schema'] as { openAPIV3Schema: Node };
    expect(openAPIV3Schema.properties?.['spec']?.properties).to.deep.equal({
      size: {
        type: 'integer',
        minimum: 1,
        maximum: 9,
        default: 3,
        'x-kubernetes-validations': [{ rule: 'self >= oldSelf', message: 'a thing does not shrink' }],
      },
      name: { type: 'string', minLength: 1, maxLength: 63, pattern: '^a' },
      colour: { type: 'string', enum: ['red', 'blue'] },
      port: { 'x-kubernetes-int-or-string': true },
    });
  });

  const refused: readonly (readonly [string, z.ZodType, string])[] = [
    [
      'a union',
      z.object({ spec: z.object({ a: z.array(z.union([z.int(), z.string()])) }) }),
      'spec.a[]: keyword anyOf is not allowed in a CRD: a field has one type',
    ],
    [
      'a schema that contains itself',
      z.object({ spec: tree }),
      'spec: keyword $ref is not allowed in a CRD: a schema cannot contain itself',
    ],
  ];
  for (const [what, schema, message] of refused)
    it(`cannot have ${what}, and says where it is`, () => {
      expect(() => crdOf({ ...anything, schema })).to.throw(SchemaError, message);
    });

  it('cannot have a rule for a field that does not exist', () => {
    const rules = [{ path: 'spec.b', rule: 'true', message: 'never' }];
    expect(() => crdOf({ ...anything, schema: z.object({ spec: z.object({}) }), rules })).to.throw(
      SchemaError,
      'a rule refers to the field spec.b, which does not exist',
    );
  });
});

describe('a structural schema', () => {
  const cases: readonly { readonly title: string; readonly schema: z.ZodType; readonly node: Node }[] = [
    {
      title: 'lists the fields of an object and does not restrict others',
      schema: open({ a: z.string(), b: z.boolean().optional() }),
      node: {
        type: 'object',
        properties: { a: { type: 'string' }, b: { type: 'boolean' } },
        required: ['a'],
      },
    },
    {
      title: 'preserves any value',
      schema: anyJson(),
      node: { 'x-kubernetes-preserve-unknown-fields': true },
    },
    {
      title: 'preserves an arbitrary object',
      schema: anyObject(),
      node: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    },
    {
      title: 'preserves an object without known fields as an empty one',
      schema: open({}),
      node: { type: 'object', properties: {} },
    },
    {
      title: 'types the values of a map',
      schema: z.record(z.string(), z.string()),
      node: { type: 'object', additionalProperties: { type: 'string' } },
    },
    {
      title: 'has no limits of JavaScript integers',
      schema: int64(),
      node: { type: 'integer', format: 'int64' },
    },
    { title: 'supports times', schema: time(), node: { type: 'string', format: 'date-time' } },
    {
      title: 'describes list elements',
      schema: z.array(open({ x: z.string().describe('A thing.') })),
      node: {
        type: 'array',
        items: {
          type: 'object',
          properties: { x: { type: 'string', description: 'A thing.' } },
          required: ['x'],
        },
      },
    },
  ];
  for (const { title, schema, node } of cases) {
    it(title, () => {
      expect(convert(schema)).to.deep.equal(node);
    });
  }

  it('cannot be generated from unsupported schemas', () => {
    expect(() => convert(z.union([z.string(), z.boolean()]))).to.throw('anyOf');
  });
});

describe('the CRDs', () => {
  it('are up to date with the schemas', () => {
    const check = spawnSync(process.execPath, ['--import', 'tsx', 'hack/update-crds.ts', '--check'], {
      cwd: new URL('../../../', import.meta.url),
      encoding: 'utf8',
    });
    expect(check.stderr).to.equal('');
    expect(check.status).to.equal(0);
  });

  it('are all found by the program', () => {
    expect(loadCrds().map(({ spec }) => spec.names.kind)).to.have.members(
      definitions.map(({ kind }) => kind.kind),
    );
  });

  for (const crd of loadCrds()) {
    const { kind } = crd.spec.names;
    const nodes = [...walk(crd.spec.versions[0]?.schema.openAPIV3Schema as Node, kind)];

    it(`${kind} is structural: every node has a type or preserves everything`, () => {
      const untyped = nodes.filter(
        ([, node]) => node.type === undefined && node['x-kubernetes-preserve-unknown-fields'] !== true,
      );
      expect(untyped.map(([path]) => path)).to.deep.equal([]);
    });

    it(`${kind} has no node with both properties and additionalProperties`, () => {
      const both = nodes.filter(([, node]) => node.properties && node.additionalProperties);
      expect(both.map(([path]) => path)).to.deep.equal([]);
    });

    it(`${kind} has no list without items and no required field without description`, () => {
      const poor = nodes.filter(
        ([path, node]) =>
          (node.type === 'array' && !node.items) ||
          (!node.description && !path.endsWith('[]') && !path.endsWith('{}') && !path.endsWith('.metadata')),
      );
      expect(poor.map(([path]) => path)).to.deep.equal([]);
    });

    it(`${kind} has phases without an enumeration`, () => {
      expect(nodes.filter(([, node]) => node['enum']).map(([path]) => path)).to.deep.equal([]);
    });
  }
});

function* walk(node: Node, path: string): Generator<readonly [string, Node]> {
  yield [path, node];
  for (const [name, child] of Object.entries(node.properties ?? {})) yield* walk(child, `${path}.${name}`);
  if (node.items) yield* walk(node.items, `${path}[]`);
  if (typeof node.additionalProperties === 'object') yield* walk(node.additionalProperties, `${path}{}`);
}
