/** Imports that are missing or do not match the blueprint. */
import { expect } from 'chai';
import { useCluster } from '../../support/cluster.ts';
import {
  aTarget,
  bpFile,
  CLUSTER,
  configMap,
  data,
  fails,
  secret,
  takes,
  TEXT,
  type Given,
} from '../../support/dataflow.ts';
import { dataObject, target } from '../../support/landscape.ts';

const text = dataObject('text', 'hello');
const of = (definition: object, more: Omit<Given, 'bp'> = {}): Given => ({
  bp: { imports: [definition] },
  ...more,
});
const number = (more: object): Given => of(data('num', { type: 'integer' }, more));
const taking = (entry: object) => ({ spec: { imports: { data: [{ name: 'v', ...entry }] } } });
const aiming = (entry: object) => ({ spec: { imports: { targets: [{ name: 'ts', ...entry }] } } });
const aws = target('aws', 'aws');
const cluster = target('t1');
const conditional = (more: object = {}) =>
  data('a', TEXT, { required: false, imports: [data('b', TEXT)], ...more });

/** Upstream's message for one import of a type. */
const notSatisfied = (name: string, type = 'data') =>
  `blueprint defines import "${name}" of type ${type}, which is not satisfied`;
const OTHER = `is landscaper.gardener.cloud/aws but expected ${CLUSTER}`;
const SCHEMA = 'imported datatype does not have the expected schema';

describe('an import that', () => {
  const here = useCluster();

  const rows: readonly [title: string, given: Given, ...messages: string[]][] = [
    [
      'DF-04: does not exist is reported with the name of the missing object',
      of(data('text'), { spec: { imports: { data: [{ name: 'text', dataRef: 'greeting' }] } } }),
      'unable to fetch data object greeting: dataobjects.landscaper.gardener.cloud "greeting" not found',
    ],
    [
      'DF-05: does not match its schema is reported with both types',
      of(data('text', TEXT), { spec: takes('text'), objects: [dataObject('text', 5)] }),
      `shop.text: ${SCHEMA}`,
      'Invalid type. Expected: string, given: integer',
    ],
    [
      'DF-06: is a target of another type is reported with both types',
      of(aTarget('ts'), { ...aiming({ target: 'aws' }), objects: [aws] }),
      `shop.ts: imported target type ${OTHER}`,
    ],
    [
      'DF-06: has a target of another type in its list is reported with the index',
      of(aTarget('ts', 'targetList'), { ...aiming({ targets: ['t1', 'aws'] }), objects: [cluster, aws] }),
      `shop.ts: type of the element at position 1 of the imported targetlist ${OTHER}`,
    ],
    [
      'DF-06: has a target of another type in its map is reported with the key',
      of(aTarget('ts', 'targetMap'), {
        ...aiming({ targetMap: { a: 't1', b: 'aws' } }),
        objects: [cluster, aws],
      }),
      `shop.ts: type of the element at position b of the imported targetmap ${OTHER}`,
    ],
    ['DF-07: the installation does not set is not satisfied', of(data('text', TEXT)), notSatisfied('text')],
    [
      'DF-07: is a target that the installation does not set is not satisfied',
      of(aTarget('ts')),
      notSatisfied('ts', 'target'),
    ],
    [
      'DF-07: is a list of targets that the installation does not set is not satisfied',
      of(aTarget('ts', 'targetList')),
      notSatisfied('ts', 'targetList'),
    ],
    [
      'DF-07: is a map of targets that the installation does not set is not satisfied',
      of(aTarget('ts', 'targetMap')),
      notSatisfied('ts', 'targetMap'),
    ],
    [
      'DF-09: has a default of the wrong type is reported',
      number({ required: false, default: { value: 'x' } }),
      `shop.num: ${SCHEMA}`,
    ],
    [
      'DF-10: is required ignores its default',
      number({ required: true, default: { value: 3 } }),
      notSatisfied('num'),
    ],
    [
      'DF-10: is not marked as optional ignores its default',
      number({ default: { value: 3 } }),
      notSatisfied('num'),
    ],
    [
      'DF-13: depends on an import with a value is required',
      of(conditional(), { spec: takes('a'), objects: [dataObject('a', 'x')] }),
      notSatisfied('b'),
    ],
    [
      'DF-14: depends on an import with a default is required',
      of(conditional({ default: { value: 'q' } })),
      notSatisfied('b'),
    ],
    [
      'DF-16: has no schema is reported',
      of({ name: 'text', type: 'data' }, { spec: takes('text'), objects: [text] }),
      'shop.text: no schema defined',
    ],
    [
      'is of an unknown type is reported',
      of({ name: 'text', type: 'magic', schema: {} }, { spec: takes('text'), objects: [text] }),
      "unknown import type 'magic'",
    ],
    [
      'DF-24: is a missing key of a secret is reported',
      of(data('v'), {
        ...taking({ secretRef: { name: 's', key: 'zz' } }),
        objects: [secret('s', { k: 'x' })],
      }),
      'key zz in secret NS/s does not exist',
    ],
    [
      'DF-24: is a missing key of a config map is reported',
      of(data('v'), {
        ...taking({ configMapRef: { name: 'c', key: 'zz' } }),
        objects: [configMap('c', { data: { k: 'x' } })],
      }),
      "key 'zz' in configmap 'NS/c' does not exist",
    ],
    [
      'DF-24: is of a missing secret is reported',
      of(data('v'), taking({ secretRef: { name: 's' } })),
      'secrets "s" not found (import "v")',
    ],
    [
      'is of a missing target is reported, optional or not',
      of(aTarget('ts', 'target', { required: false }), aiming({ target: 'nowhere' })),
      'targets.landscaper.gardener.cloud "nowhere" not found',
    ],
    [
      'is of a secret that is not valid YAML is reported without its content',
      of(data('v'), {
        ...taking({ secretRef: { name: 's', key: 'k' } }),
        objects: [secret('s', { k: 'a: b: s3cr3t' })],
      }),
      'secret NS/s cannot be read',
    ],
  ];
  for (const [title, given, ...messages] of rows) {
    it(title, async () => {
      const { scene, error } = await fails(here, given);
      for (const message of messages) expect(error.message).to.contain(message.replace('NS', scene.ns));
      expect(error.message).not.to.contain('s3cr3t');
      expect(scene.execution('shop')).to.equal(undefined);
    });
  }
});

describe('a blueprint of an installation', () => {
  const here = useCluster();
  const asFile = (file: unknown): Given => ({
    spec: { blueprint: { inline: { filesystem: { 'blueprint.yaml': file } } } },
  });

  it('DF-47: may be written as a map', async () => {
    const document = JSON.parse(bpFile({ imports: [data('text', TEXT)] })) as object;
    const { error } = await fails(here, asFile(document));
    expect(error.message, 'it was read, or nothing would be missing').to.contain(notSatisfied('text'));
  });

  const rows: readonly [title: string, file: unknown, message: string][] = [
    [
      'DF-47: that is a folder is rejected',
      { $type: 'directory', value: {} },
      '"blueprint.yaml" is a directory, not a file',
    ],
    ['that is a list is rejected', ['x'], 'there is no file "blueprint.yaml"'],
    ['that is not valid YAML is rejected', 'apiVersion: [', 'unable to decode blueprint definition'],
    [
      'that is of another type is rejected',
      'apiVersion: v1\nkind: Pod\n',
      'found apiVersion v1 and kind Pod',
    ],
  ];
  for (const [title, file, message] of rows) {
    it(title, async () => {
      const { error } = await fails(here, asFile(file));
      expect(error).to.include({ operation: 'InitPrerequisites', reason: 'ResolveBlueprint' });
      expect(error.message).to.contain(message);
    });
  }
});
