import { expect } from 'chai';
import type { Target } from '../../../src/api/kinds/target.ts';
import { annotations, labels } from '../../../src/api/labels.ts';
import type { ExportValues } from '../../../src/blueprint/exports.ts';
import {
  executionExportObject,
  exportObjects,
  importObjects,
  type WrittenObject,
} from '../../../src/dataflow/objects.ts';
import { blueprint, CLUSTER, installation, target } from './given.ts';

const shop = installation('shop');
const owner = {
  apiVersion: 'landscaper.gardener.cloud/v1alpha1',
  kind: 'Installation',
  name: 'shop',
  uid: 'uid-shop',
};
const hashOf = (object: WrittenObject | undefined): string | undefined =>
  object?.metadata.annotations?.[annotations.dataHash];
const nodes = [
  { name: 'nodes', type: 'targetList', targetType: CLUSTER },
  { name: 'clusters', type: 'targetMap', targetType: CLUSTER },
];

describe('the copy of a data import', () => {
  const [copied] = importObjects(shop, blueprint({ imports: [{ name: 'text', schema: {} }] }), {
    text: 'hello',
  });

  it('has all recorded fields', () => {
    expect(copied).to.deep.equal({
      apiVersion: 'landscaper.gardener.cloud/v1alpha1',
      kind: 'DataObject',
      metadata: {
        name: 'hyuhkva5astz6vdrj6ufzoe7pv752fng',
        namespace: 'demo',
        labels: {
          'data.landscaper.gardener.cloud/context': 'Inst.shop',
          'data.landscaper.gardener.cloud/jobid': 'job-1',
          'data.landscaper.gardener.cloud/key': 'text',
          'data.landscaper.gardener.cloud/source': 'Inst.shop',
          'data.landscaper.gardener.cloud/sourceType': 'import',
        },
        annotations: { 'data.landscaper.gardener.cloud/hash': 'a1f2fbfe2c4ad81749cd0380b735295d06f9d0c4' },
        ownerReferences: [owner],
      },
      data: 'hello',
    });
  });

  const values: readonly [string, unknown, string][] = [
    [
      'a map',
      {
        port: 5432,
        host: 'db.example.org',
        big: 20971520,
        less: 'a<b&c>',
        sep: '\u2028',
        none: null,
        list: [],
      },
      'c86b07f1af3a58ad51b18d1a6f6b944d50c18412',
    ],
    ['an integer', 5, 'ac3478d69a3c81fa62e60f5c3696165a4e5e6ac4'],
    ['a fraction', 1.5, 'aa8f289ebe6d4db1b4a1038b8931ec8c2b5399fb'],
    ['a list', [1, [2]], 'd5f328e1dc10939caee411af3288eae4eca30a9e'],
    ['markup', '<a&b>', 'e99d032eae3c0911d8c70bddb7f7183e8f6cfa56'],
    ['an empty string', '', 'dd29ecf524b030a65261e3059c48ab9e1ecb2585'],
    ['false', false, '7cb6efb98ba5972a9b5090dc2e517fe14d12cb04'],
  ];
  for (const [title, value, hash] of values) {
    it(`has the recorded hash of ${title}`, () => {
      const objects = importObjects(shop, blueprint({ imports: [{ name: 'v', schema: {} }] }), { v: value });
      expect(hashOf(objects[0])).to.equal(hash);
    });
  }

  it('is not written for an undeclared import, nor without a value', () => {
    const declared = blueprint({ imports: [{ name: 'a', schema: {}, required: false }] });
    expect(importObjects(shop, declared, { made: 'by a binding' })).to.deep.equal([]);
  });

  it('is written for a conditional import, too', () => {
    const imports = [{ name: 'a', schema: {}, required: false, imports: [{ name: 'b', schema: {} }] }];
    const keys = importObjects(shop, blueprint({ imports }), { a: 1, b: 2 }).map(
      (o) => o.metadata.labels?.[labels.dataKey],
    );
    expect(keys).to.deep.equal(['a', 'b']);
  });

  it('may contain null', () => {
    const declared = blueprint({ imports: [{ name: 'nothing', schema: {} }] });
    expect(importObjects(shop, declared, { nothing: null })).to.have.nested.property('[0].data', null);
  });
});

describe('the copy of a target import', () => {
  it('keeps labels of users and drops those of its former scope', () => {
    const source = target('t', undefined, {
      labels: {
        team: 'blue',
        [labels.dataContext]: 'Inst.x',
        [labels.dataIndex]: '3',
        [labels.dataTargetMapKey]: 'red',
      },
      annotations: { note: 'n', 'kubectl.kubernetes.io/last-applied-configuration': '{"old": "secret"}' },
    });
    const declared = blueprint({ imports: [{ name: 'cluster', targetType: 'kubernetes-cluster' }] });
    const [copied] = importObjects(shop, declared, { cluster: source });
    expect(copied?.metadata.name).to.equal('2bf2rar56vhps6esz4cft4u27hzwbebd');
    expect(copied?.metadata.labels).to.deep.equal({
      team: 'blue',
      [labels.dataContext]: 'Inst.shop',
      [labels.dataKey]: 'cluster',
      [labels.dataSource]: 'Inst.shop',
      [labels.dataSourceType]: 'import',
      [labels.dataJobId]: 'job-1',
    });
    expect(Object.keys(copied?.metadata.annotations ?? {})).to.have.members(['note', annotations.dataHash]);
  });

  it('is rejected if a binding replaced it with another kind of value', () => {
    const declared = (type: string) => blueprint({ imports: [{ name: 'x', type, targetType: CLUSTER }] });
    for (const type of ['target', 'targetList', 'targetMap']) {
      for (const x of ['text', [1], { a: 1 }]) {
        expect(() => importObjects(shop, declared(type), { x })).to.throw('import "x" is');
      }
    }
  });

  it('of a list or map is one object per element, with index or key', () => {
    const [t1, t2] = [
      target('t1', { kubeconfig: '{}', n: 1 }),
      target('t2', { kubeconfig: '{}', z: 1, a: { b: '<&>' } }),
    ];
    const objects = importObjects(shop, blueprint({ imports: nodes }), {
      nodes: [t2, t1],
      clusters: { red: t1, blue: t2 },
    });
    const seen = objects.map((o) => [
      o.metadata.name,
      o.metadata.labels?.[labels.dataIndex] ?? o.metadata.labels?.[labels.dataTargetMapKey],
      hashOf(o),
    ]);
    expect(seen).to.deep.equal([
      ['rgvghuvv2gmrzpow7xqda2wimzyh3kki', '0', 'cf18bbbc34adb37615ecffb0304a656a191c1276'],
      ['wyaloxjv5yarzjvrfyeqafr3sgcnqyrm', '1', 'dcc3f531910575f557e5fd68bf98ac53391409c4'],
      ['4ms7ndcetwszk6powkygpgeksjmskqq5', 'red', 'dcc3f531910575f557e5fd68bf98ac53391409c4'],
      ['xvczfuvjzg3i5mnutbp77wtgb2t4bbt3', 'blue', 'cf18bbbc34adb37615ecffb0304a656a191c1276'],
    ]);
  });

  it('with a secret reference has the recorded hash', () => {
    const source: Target = { ...target('t'), spec: { type: CLUSTER, secretRef: { name: 's', key: 'text' } } };
    const declared = blueprint({ imports: [{ name: 'one', targetType: CLUSTER }] });
    expect(hashOf(importObjects(shop, declared, { one: source })[0])).to.equal(
      '5a4f129e2b5b971eee10a8895232aa98f4f58313',
    );
  });
});

describe('an exported object', () => {
  const data = (ref: string, value: unknown): ExportValues => ({
    data: [{ name: 'out', ref, value }],
    targets: [],
  });

  it('of a root has a plain name and no context', () => {
    const [object] = exportObjects(shop, undefined, data('greeting-out', 'hello'));
    expect(object?.metadata).to.deep.equal({
      name: 'greeting-out',
      namespace: 'demo',
      labels: {
        [labels.dataSource]: 'Inst.shop',
        [labels.dataSourceType]: 'export',
        [labels.dataKey]: 'greeting-out',
        [labels.dataJobId]: 'job-1',
      },
      annotations: { [annotations.dataHash]: 'a1f2fbfe2c4ad81749cd0380b735295d06f9d0c4' },
      ownerReferences: [owner],
    });
  });

  it('of a sub-installation is in the context of the parent', () => {
    const [object] = exportObjects(installation('db-x'), 'shop', data('dbUrl', 'db.eu-1'));
    expect(object?.metadata.name).to.equal('ezckfi5hbdewv3g6dnuvg7iu7iugammj');
    expect(object?.metadata.labels).to.include({
      [labels.dataContext]: 'Inst.shop',
      [labels.dataSource]: 'Inst.db-x',
    });
  });

  it('may be named literally; the label omits the #', () => {
    const [object] = exportObjects(shop, undefined, data('#literal', 1));
    expect(object?.metadata.name).to.equal('literal');
    expect(object?.metadata.labels?.[labels.dataKey]).to.equal('literal');
  });

  it('may contain null', () => {
    expect(exportObjects(shop, undefined, data('null-out', null))).to.have.nested.property('[0].data', null);
  });

  const targets: readonly [string, object, string][] = [
    [
      'a configuration',
      { config: { kubeconfig: 'abc', a: [1] } },
      'be197beeb140878b25789a1bae1a513fb328aa14',
    ],
    ['a string as configuration', { config: 'text' }, '3ade2bd0c2a4121dbb3955aecc452ae62749c6e3'],
    ['a secret', { secretRef: { name: 's', key: 'k' } }, '110f03e9881cff03d541a1c11a9123f6a827be17'],
    ['nothing', {}, 'da39a3ee5e6b4b0d3255bfef95601890afd80709'],
  ];
  for (const [title, access, hash] of targets) {
    it(`may be a target with ${title}`, () => {
      const value = {
        name: 't',
        ref: 'target-out',
        type: CLUSTER,
        labels: { a: 'b' },
        annotations: { c: 'd' },
        ...access,
      };
      const [object] = exportObjects(shop, undefined, { data: [], targets: [value] });
      expect(object).to.deep.include({ kind: 'Target', spec: { type: CLUSTER, ...access } });
      expect(object?.metadata.labels).to.include({ a: 'b', [labels.dataKey]: 'target-out' });
      expect(object?.metadata.annotations).to.deep.equal({ c: 'd', [annotations.dataHash]: hash });
    });
  }
});

describe('the results of an execution', () => {
  it('are one data object in its own context', () => {
    const object = executionExportObject({ ...shop, kind: 'Execution' }, { app: null });
    expect(object.metadata.name).to.equal('ei5wjspizeqbpbixpd3rsbfqhljbnudf');
    expect(object.metadata.labels).to.deep.equal({
      [labels.dataContext]: 'Exec.shop',
      [labels.dataSource]: 'Exec.shop',
    });
    expect(hashOf(object)).to.equal('36ad0259a96e0d637cdfa2d671e694fc62c65abf');
    expect(object.metadata.ownerReferences?.[0]?.kind).to.equal('Execution');
  });
});
