import { outcome } from '../../support/outcome.ts';
import { expect } from 'chai';
import {
  DefinitionInvalid,
  ImportNotSatisfied,
  SchemaValidationFailed,
} from '../../../src/blueprint/errors.ts';
import { constructImports } from '../../../src/blueprint/imports.ts';
import { blueprint, CLUSTER, imports, installation, runner, target } from '../dataflow/given.ts';

type Definitions = readonly object[];
type Found = Parameters<typeof imports>[0];
const construct = (
  definitions: Definitions,
  found: Found = {},
  importDataMappings?: Record<string, unknown>,
) =>
  constructImports(
    installation('shop', importDataMappings ? { importDataMappings } : {}),
    blueprint({ imports: definitions }),
    imports(found),
    runner,
  );

const text = { type: 'string' };
const conditional = (more: object = {}) => [
  {
    name: 'a',
    type: 'data',
    required: false,
    schema: text,
    imports: [{ name: 'b', type: 'data', schema: text }],
    ...more,
  },
];
const optionalNumber = (value: unknown) => [
  { name: 'num', type: 'data', required: false, default: { value }, schema: { type: 'integer' } },
];

describe('import values', () => {
  const rows: readonly [string, Definitions, Found, unknown][] = [
    ['are the imports of the installation', [{ name: 'x', schema: text }], { data: { x: 'v' } }, { x: 'v' }],
    ['leave out undeclared ones', [], { data: { x: 'v' } }, {}],
    ['leave out optional ones without value', conditional(), {}, {}],
    ['use defaults', optionalNumber(3), {}, { num: 3 }],
    ['prefer the imported value to the default', optionalNumber(3), { data: { num: 4 } }, { num: 4 }],
    ['use false and empty values as defaults', optionalNumber(0), {}, { num: 0 }],
    ['do not use null as default', optionalNumber(null), {}, {}],
    [
      'include conditional ones at top level',
      conditional(),
      { data: { a: 'q', b: 'r' } },
      { a: 'q', b: 'r' },
    ],
    [
      'include conditional ones below a target',
      [{ name: 't', required: false, targetType: CLUSTER, imports: [{ name: 'b', schema: text }] }],
      { targets: { t: target('t1') }, data: { b: 'r' } },
      { t: target('t1'), b: 'r' },
    ],
    [
      'contain complete targets, also in lists and maps, even if the type is in short form',
      [
        { name: 'one', targetType: 'kubernetes-cluster' },
        { name: 'list', type: 'targetList', targetType: 'kubernetes-cluster' },
        { name: 'map', type: 'targetMap', targetType: 'kubernetes-cluster' },
      ],
      {
        targets: { one: target('t1') },
        targetLists: { list: [target('t2')] },
        targetMaps: { map: { red: target('t3') } },
      },
      { one: target('t1'), list: [target('t2')], map: { red: target('t3') } },
    ],
  ];
  for (const [title, definitions, found, values] of rows) {
    it(title, async () => expect(await construct(definitions, found)).to.deep.equal(values));
  }

  it('may have any name', async () => {
    const found = { data: JSON.parse('{"__proto__": {"a": 1}}') as Record<string, unknown> };
    const values = await construct([{ name: '__proto__', schema: {} }], found);
    expect(Object.entries(values)).to.deep.equal([['__proto__', { a: 1 }]]);
  });

  it('are taken from mappings first', async () => {
    const definitions = [
      { name: 'url', schema: text },
      { name: 'host', schema: text },
      { name: 'fixed', schema: text },
    ];
    const mappings = { url: '(( proto "://" host ))', host: '(( host "!" ))', fixed: 'fixed' };
    expect(await construct(definitions, { data: { proto: 'http', host: 'db' } }, mappings)).to.deep.equal({
      url: 'http://db',
      host: 'db!',
      fixed: 'fixed',
    });
  });

  it('from mappings are validated as well', async () => {
    expect(await outcome(construct([{ name: 'x', schema: text }], {}, { x: 5 }))).to.throw(
      SchemaValidationFailed,
    );
  });

  it('show targets to mappings', async () => {
    const mappings = { kc: '(( cluster.spec.config.kubeconfig ))' };
    expect(
      await construct([{ name: 'kc', schema: text }], { targets: { cluster: target('t') } }, mappings),
    ).to.deep.equal({ kc: '{}' });
  });
});

describe('imports that fail because of', () => {
  const aws = { ...target('t'), spec: { type: 'landscaper.gardener.cloud/aws' } };
  const unsatisfied = (name: string, type: string): string =>
    `blueprint defines import "${name}" of type ${type}, which is not satisfied`;
  const rows: readonly [string, Definitions, Found, string][] = [
    ['missing required data', [{ name: 'x', schema: text }], {}, unsatisfied('x', 'data')],
    ['a missing required target', [{ name: 't', targetType: CLUSTER }], {}, unsatisfied('t', 'target')],
    [
      'a missing list',
      [{ name: 't', type: 'targetList', targetType: CLUSTER }],
      {},
      unsatisfied('t', 'targetList'),
    ],
    [
      'a missing map',
      [{ name: 't', type: 'targetMap', targetType: CLUSTER }],
      {},
      unsatisfied('t', 'targetMap'),
    ],
    [
      'a target instead of data',
      [{ name: 't', schema: text }],
      { targets: { t: target('t') } },
      unsatisfied('t', 'data'),
    ],
    [
      'a default on a required import',
      [{ ...optionalNumber(3)[0], required: true }],
      {},
      unsatisfied('num', 'data'),
    ],
    ['a condition that is true', conditional(), { data: { a: 'q' } }, unsatisfied('b', 'data')],
    [
      'a condition that is true by default',
      conditional({ default: { value: 'q' } }),
      {},
      unsatisfied('b', 'data'),
    ],
    [
      'data that does not match its schema',
      [{ name: 'x', schema: text }],
      { data: { x: 5 } },
      'shop.x: imported datatype does not have the expected schema: (root): Invalid type. Expected: string, given: integer',
    ],
    [
      'a default that does not match its schema',
      optionalNumber('x'),
      {},
      'shop.num: imported datatype does not have the expected schema',
    ],
    [
      'data below a condition that does not match its schema',
      conditional(),
      { data: { a: 'q', b: 1 } },
      'shop.a.b: imported datatype',
    ],
    ['data without schema', [{ name: 'x', type: 'data' }], { data: { x: 1 } }, 'shop.x: no schema defined'],
    [
      'an invalid schema',
      [{ name: 'x', schema: { type: 'no' } }],
      { data: { x: 1 } },
      'shop.x: validator creation failed',
    ],
    [
      'a target of another type',
      [{ name: 't', targetType: 'kubernetes-cluster' }],
      { targets: { t: aws } },
      `shop.t: imported target type is landscaper.gardener.cloud/aws but expected ${CLUSTER}`,
    ],
    [
      'a list element of another type',
      [{ name: 't', type: 'targetList', targetType: CLUSTER }],
      { targetLists: { t: [target('x'), aws] } },
      `shop.t: type of the element at position 1 of the imported targetlist is landscaper.gardener.cloud/aws but expected ${CLUSTER}`,
    ],
    [
      'a map entry of another type',
      [{ name: 't', type: 'targetMap', targetType: CLUSTER }],
      { targetMaps: { t: { a: target('x'), b: aws } } },
      `shop.t: type of the element at position b of the imported targetmap is landscaper.gardener.cloud/aws but expected ${CLUSTER}`,
    ],
    [
      'an unknown kind',
      [{ name: 'x', type: 'magic', schema: text }],
      { data: { x: 1 } },
      "shop.x: unknown import type 'magic'",
    ],
  ];
  for (const [title, definitions, found, message] of rows) {
    it(title, async () => {
      const [Wanted] = [ImportNotSatisfied, SchemaValidationFailed, DefinitionInvalid].filter((Class) =>
        Class === ImportNotSatisfied
          ? message.startsWith('blueprint defines')
          : (Class === DefinitionInvalid) === message.includes('unknown import type'),
      );
      expect(await outcome(construct(definitions, found))).to.throw(Wanted!, message);
    });
  }
});
