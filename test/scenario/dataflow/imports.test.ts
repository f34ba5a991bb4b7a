/** Where imports come from, and which of them a blueprint sees. */
import { expect } from 'chai';
import { dataObjectKind } from '../../../src/api/kinds/dataobject.ts';
import { labels } from '../../../src/api/labels.ts';
import { objectName } from '../../../src/dataflow/scope.ts';
import { useCluster } from '../../support/cluster.ts';
import {
  aTarget,
  CLUSTER,
  configMap,
  data,
  everythingInView,
  fails,
  go,
  itemsOf,
  keeping,
  keepingImports,
  kept,
  secret,
  shop,
  succeeds,
  takes,
  TEXT,
  type Given,
} from '../../support/dataflow.ts';
import { dataObject, target } from '../../support/landscape.ts';

/** Templates of the first fixture: one item that uses both imports. */
const first = {
  bp: {
    jsonSchema: 'https://json-schema.org/draft/2019-09/schema',
    imports: [data('text', TEXT), { name: 'cluster', targetType: 'kubernetes-cluster' }],
    deployExecutions: [{ name: 'main', type: 'GoTemplate', file: '/deploy.yaml' }],
  },
  files: {
    'deploy.yaml': [
      'deployItems:',
      '- name: app',
      '  type: test.example/fake',
      '  target: {import: cluster}',
      '  config:',
      '    apiVersion: test.example/v1',
      '    kind: Cfg',
      '    text: {{ .imports.text | quote }}',
      '    ns: {{ .imports.cluster.metadata.namespace }}',
    ].join('\n'),
  },
  spec: {
    imports: {
      data: [{ name: 'text', dataRef: 'greeting' }],
      targets: [{ name: 'cluster', target: 'my-cluster' }],
    },
  },
  objects: [dataObject('greeting', 'hello'), target('my-cluster')],
} satisfies Given;

/** A blueprint with these imports, and the values that its items see. */
const seeing = (imports: readonly object[], more: Omit<Given, 'bp'> = {}): Given => ({
  bp: { imports, ...keepingImports },
  ...more,
});
const optional = (name: string, more: object = {}) => data(name, TEXT, { required: false, ...more });
const number = (more: object) => data('num', { type: 'integer' }, more);
const conditional = (more: object = {}) => [optional('a', { imports: [data('b', TEXT)], ...more })];
const taking = (entry: object) => ({ imports: { data: [{ name: 'v', ...entry }] } });
const aiming = (entry: object) => ({ imports: { targets: [{ name: 'ts', ...entry }] } });

describe('imports', () => {
  const here = useCluster();

  it('DF-01: are passed to the deploy items, data as values and targets as references', async () => {
    const scene = await here.scene();
    for (const object of first.objects) await scene.create(object);
    await scene.create(shop(first));
    await scene.answer('shop', 'app');
    await scene.finished('shop', 'Succeeded');
    await everythingInView(scene);
    expect(itemsOf(scene)).to.deep.equal([
      {
        name: 'app',
        type: 'test.example/fake',
        target: { name: 'my-cluster', namespace: scene.ns },
        config: { apiVersion: 'test.example/v1', kind: 'Cfg', text: 'hello', ns: scene.ns },
      },
    ]);
  });

  it('DF-02: are copied into the scope of the installation, with labels, hash and owner', async () => {
    const bp = { ...first.bp, deployExecutions: [] };
    const scene = await succeeds(here, { ...first, bp });
    const job = scene.jobs('shop')[0];
    const marks = {
      [labels.dataContext]: 'Inst.shop',
      [labels.dataSource]: 'Inst.shop',
      [labels.dataSourceType]: 'import',
      [labels.dataJobId]: job,
    };
    const text = scene.dataObject('hyuhkva5astz6vdrj6ufzoe7pv752fng');
    expect(text?.data).to.equal('hello');
    expect(text?.metadata.labels).to.deep.equal({ ...marks, [labels.dataKey]: 'text' });
    expect(text?.metadata.annotations).to.deep.equal({
      'data.landscaper.gardener.cloud/hash': 'a1f2fbfe2c4ad81749cd0380b735295d06f9d0c4',
    });
    expect(text?.metadata.ownerReferences).to.have.length(1);
    expect(text?.metadata.ownerReferences?.[0]).to.include({ kind: 'Installation', name: 'shop' });
    const cluster = scene.target('2bf2rar56vhps6esz4cft4u27hzwbebd');
    expect(cluster?.spec).to.deep.equal(scene.target('my-cluster')?.spec);
    expect(cluster?.metadata.labels).to.deep.equal({ ...marks, [labels.dataKey]: 'cluster' });
  });

  it('DF-03: have the hash that upstream computes for them', async () => {
    const scene = await succeeds(here, { ...first, bp: { ...first.bp, deployExecutions: [] } });
    const { status } = scene.installation('shop') ?? {};
    expect(status?.importsHash).to.equal('8b0e0842cfa0d22911bca8b4e01b3093960bc00e');
  });

  const values: readonly [title: string, given: Given, imports: object][] = [
    [
      'DF-08: use their default if the installation sets no value',
      seeing([number({ required: false, default: { value: 3 } })]),
      { num: 3 },
    ],
    [
      'DF-11: do not have null as a default',
      seeing([number({ required: false, default: { value: null } })]),
      {},
    ],
    ['DF-12: that depend on an import without value are not required', seeing(conditional()), {}],
    [
      'DF-12: that depend on an import with a value are available with it',
      seeing(conditional(), { spec: takes('a', 'b'), objects: [dataObject('a', 'x'), dataObject('b', 'y')] }),
      { a: 'x', b: 'y' },
    ],
    [
      'DF-15: without a type are data if there is a schema',
      seeing([{ name: 'x', schema: TEXT }], { spec: takes('x'), objects: [dataObject('x', 'y')] }),
      { x: 'y' },
    ],
    [
      'DF-22: may be an entry of a secret, read as YAML',
      seeing([data('v', { type: 'object' })], {
        spec: taking({ secretRef: { name: 's', key: 'k' } }),
        objects: [secret('s', { k: '{"port": 80}' })],
      }),
      { v: { port: 80 } },
    ],
    [
      'DF-23: may be all entries of a secret, each read as YAML',
      seeing([data('v')], {
        spec: taking({ secretRef: { name: 's' } }),
        objects: [secret('s', { a: '0123', b: 'yes', c: 'text' })],
      }),
      { v: { a: 83, b: true, c: 'text' } },
    ],
    [
      'DF-25: may be binary data of a config map',
      seeing([data('v')], {
        spec: taking({ configMapRef: { name: 'c', key: 'k' } }),
        objects: [configMap('c', { binaryData: { k: Buffer.from('from: binary').toString('base64') } })],
      }),
      { v: { from: 'binary' } },
    ],
    [
      'DF-30: may be an empty list of targets',
      seeing([aTarget('ts', 'targetList')], { spec: aiming({ targets: [] }) }),
      { ts: [] },
    ],
    [
      'may be null, with a schema that allows it',
      seeing([data('v')], { spec: takes('v'), objects: [dataObject('v', null)] }),
      { v: null },
    ],
  ];
  for (const [title, given, imports] of values) {
    it(title, async () => expect(kept(await succeeds(here, given))).to.deep.equal(imports));
  }

  it('DF-11: without value are absent, and templates can check that', async () => {
    const imports = [number({ required: false, default: { value: null } })];
    const template =
      'deployItems: [{{ if hasKey .imports "num" }}{name: a, type: test.example/fake}{{ end }}]';
    const scene = await succeeds(here, { bp: { imports, deployExecutions: [go(template)] } });
    expect(itemsOf(scene)).to.deep.equal([]);
  });

  it('DF-22: from a secret are compared by their bytes', async () => {
    const imports = [data('text')];
    const scene = await succeeds(here, {
      bp: { imports },
      spec: { imports: { data: [{ name: 'text', secretRef: { name: 's', key: 'k' } }] } },
      objects: [secret('s', { k: 'hello' })],
    });
    const { importsHash } = scene.installation('shop')?.status ?? {};
    expect(importsHash, 'that of DF-168').to.equal('394a251dd689de3ae6ada4cdb5498e28141a11c8');
  });

  const targets = [
    target('t1', 'kubernetes-cluster', { n: 1 }),
    target('t2', 'kubernetes-cluster', { n: 2 }),
  ];
  const names = '{{ range .imports.ts }}{{ .metadata.name }},{{ end }}';

  it('DF-29: may be a list of targets, in its order', async () => {
    const imports = [aTarget('ts', 'targetList')];
    const spec = aiming({ targets: ['t2', 't1'] });
    const scene = await succeeds(here, { bp: { imports, ...keeping(`"${names}"`) }, spec, objects: targets });
    expect(kept(scene)).to.equal('t2,t1,');
    const copies = [0, 1].map((i) => scene.target(objectName('Inst.shop', `ts[${i}]`)));
    expect(copies.map((t) => t?.spec.config)).to.deep.equal([{ n: 2 }, { n: 1 }]);
    expect(copies.map((t) => t?.metadata.labels?.[labels.dataIndex])).to.deep.equal(['0', '1']);
  });

  it('DF-31: may be a map of targets, copied key by key', async () => {
    const spec = { imports: { targets: [{ name: 'clusters', targetMap: { red: 't1', blue: 't2' } }] } };
    const imports = [aTarget('clusters', 'targetMap')];
    const scene = await succeeds(here, { bp: { imports }, spec, objects: targets });
    const copies = ['4ms7ndcetwszk6powkygpgeksjmskqq5', 'xvczfuvjzg3i5mnutbp77wtgb2t4bbt3'].map((name) =>
      scene.target(name),
    );
    expect(copies.map((t) => t?.spec.config)).to.deep.equal([{ n: 1 }, { n: 2 }]);
    expect(copies.map((t) => t?.metadata.labels?.[labels.dataTargetMapKey])).to.deep.equal(['red', 'blue']);
  });

  it('DF-32: may be a map of targets with the short form of the type', async () => {
    const imports = [{ name: 'ts', type: 'targetMap', targetType: 'kubernetes-cluster' }];
    const scene = await succeeds(
      here,
      seeing(imports, { spec: aiming({ targetMap: { a: 't1' } }), objects: targets }),
    );
    expect(kept(scene)).to.have.nested.property('ts.a.spec.type', CLUSTER);
  });

  it('that depend on a target are required if it exists', async () => {
    const imports = [aTarget('ts', 'target', { required: false, imports: [data('b', TEXT)] })];
    const missing = await fails(here, seeing(imports, { spec: aiming({ target: 't1' }), objects: targets }));
    expect(missing.error.message).to.contain('import "b" of type data, which is not satisfied');
    const spec = { imports: { ...aiming({ target: 't1' }).imports, ...takes('b').imports } };
    const scene = await succeeds(
      here,
      seeing(imports, { spec, objects: [...targets, dataObject('b', 'y')] }),
    );
    expect(kept(scene)).to.have.property('b', 'y');
  });

  it('that a root takes from a list of its parent do not exist', async () => {
    const imports = [aTarget('ts', 'targetList')];
    const scene = await succeeds(here, seeing(imports, { spec: aiming({ targetListRef: 'x' }) }));
    expect(kept(scene)).to.deep.equal({ ts: [] });
  });

  it('DF-169: must not change while the job runs', async () => {
    const scene = await here.scene();
    await scene.create(dataObject('greeting', 'hello'));
    await scene.create(target('my-cluster'));
    await scene.create(shop(first));
    await scene.waiting('shop', 'app');
    await scene.patch(dataObjectKind, 'greeting', { data: 'other' });
    await scene.until('the change is in view', () => scene.dataObject('greeting')?.data === 'other');
    await scene.answer('shop', 'app');
    const { status } = await scene.finished('shop', 'Failed');
    expect(status?.lastError).to.include({ reason: 'CheckImportsHash' });
    expect(status?.lastError?.message).to.match(/^imports have changed$/m);
  });
});
