import { spawnSync } from 'node:child_process';
import { expect } from 'chai';
import { z } from 'zod';
import { structural, type Node } from '../../../hack/crd-schema.ts';
import { loadCrds } from '../../../src/api/crds.ts';
import { definitions } from '../../../src/api/kinds.ts';
import { anyJson, anyObject, int64, open, time } from '../../../src/api/shared.ts';

const convert = (schema: z.ZodType): Node =>
  structural(z.toJSONSchema(schema, { io: 'input', target: 'openapi-3.0' }) as Node);

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
