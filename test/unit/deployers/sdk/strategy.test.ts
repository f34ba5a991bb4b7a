import { expect } from 'chai';
import type { KubeObject } from '../../../../deployers/objects/manifests/model.ts';
import { deepMerge, desired, isUnchanged } from '../../../../deployers/objects/manifests/strategy.ts';

type Wins = 'into' | 'from';

/** Title, stored, manifest, result of merge (stored takes precedence), result of mergeOverwrite. */
const rows: readonly (readonly [string, unknown, unknown, unknown, unknown])[] = [
  ['both non-empty scalars', 'a', 'b', 'a', 'b'],
  ['an empty stored string', '', 'b', 'b', 'b'],
  ['a stored zero', 0, 5, 5, 5],
  ['a stored false', false, true, true, true],
  ['an empty stored list', [], ['x'], ['x'], ['x']],
  ['an empty stored map', {}, { k: 'v' }, { k: 'v' }, { k: 'v' }],
  ['an empty string in the manifest', 'a', '', 'a', ''],
  ['a zero in the manifest', 5, 0, 5, 0],
  ['a false in the manifest', true, false, true, false],
  ['two lists', ['a'], ['b', 'c'], ['a'], ['b', 'c']],
  ['an empty list in the manifest', ['a'], [], ['a'], []],
  ['null in the manifest', 'a', null, 'a', null],
  ['an empty map over a filled one', { k: 'v' }, {}, { k: 'v' }, { k: 'v' }],
  ['a map against a scalar', 'a', { k: 'v' }, 'a', { k: 'v' }],
  ['maps with different fields', { a: 1 }, { b: 2 }, { a: 1, b: 2 }, { a: 1, b: 2 }],
  ['nested maps', { m: { a: 1, b: 2 } }, { m: { b: 3 } }, { m: { a: 1, b: 2 } }, { m: { a: 1, b: 3 } }],
];

describe('deep merge of a manifest with the stored object', () => {
  for (const [title, stored, manifest, merge, overwrite] of rows) {
    for (const [wins, expected] of [
      ['into', merge],
      ['from', overwrite],
    ] as [Wins, unknown][]) {
      it(`DEP-23: ${title}, ${wins === 'into' ? 'stored' : 'manifest'} values take precedence`, () => {
        expect(deepMerge({ f: stored }, { f: manifest }, wins)).to.deep.equal({ f: expected });
      });
    }
  }

  it('DEP-23: fields of only one side are in the result', () => {
    expect(deepMerge({ a: 1 }, { b: 2 }, 'into')).to.deep.equal({ a: 1, b: 2 });
  });

  it('DEP-23: a whole spec', () => {
    const stored = { on: false, n: 0, name: 'a', tags: ['x'], opts: {} };
    const manifest = { on: true, n: 5, name: 'b', tags: ['y', 'z'], opts: { k: 'v' }, more: 1 };
    expect(deepMerge(stored, manifest, 'into')).to.deep.equal({ ...manifest, name: 'a', tags: ['x'] });
    expect(deepMerge(stored, manifest, 'from')).to.deep.equal(manifest);
  });
});

const object = (
  apiVersion: string,
  kind: string,
  fields: object = {},
  metadata: object = {},
): KubeObject => ({
  apiVersion,
  kind,
  ...fields,
  metadata: { name: 'x', ...metadata },
});

describe('the object to send', () => {
  it('is the one that was read, in the version that was read', () => {
    const current = object('v1', 'ConfigMap', {}, { resourceVersion: '7', uid: 'u' });
    for (const strategy of ['update', 'patch', 'merge', 'mergeOverwrite'] as const) {
      const { metadata } = desired(current, object('v1', 'ConfigMap'), strategy, { own: 'yes' });
      expect(metadata).to.deep.equal({ name: 'x', resourceVersion: '7', uid: 'u', labels: { own: 'yes' } });
    }
    const unversioned = desired(object('v1', 'ConfigMap'), object('v1', 'ConfigMap'), 'update', {});
    expect(Object.keys(unversioned.metadata)).to.have.members(['name', 'labels']);
  });

  it('has the labels of its owner, whatever the manifest and the cluster have', () => {
    const current = object('v1', 'ConfigMap', {}, { labels: { own: 'theirs', a: '1' } });
    const wanted = object('v1', 'ConfigMap', {}, { labels: { own: 'manifest', b: '2' } });
    const labelsBy = (strategy: 'update' | 'merge') =>
      desired(current, wanted, strategy, { own: 'yes' }).metadata.labels;
    expect(labelsBy('update')).to.deep.equal({ own: 'yes', b: '2' });
    expect(labelsBy('merge')).to.deep.equal({ own: 'yes', a: '1', b: '2' });
  });

  /** Title, kind, on the cluster, in the manifest, the sent object. */
  const carried: readonly (readonly [string, readonly [string, string], object, object, object])[] = [
    ['a status that the manifest omits', ['v1', 'Pod'], { status: { a: 1 } }, {}, { status: { a: 1 } }],
    [
      'no status over that of the manifest',
      ['v1', 'Pod'],
      { status: { a: 1 } },
      { status: {} },
      { status: {} },
    ],
    ['no field that the manifest does not have', ['v1', 'ConfigMap'], { data: { a: 'b' } }, {}, {}],
    [
      'the addresses of a service',
      ['v1', 'Service'],
      { spec: { clusterIP: '10.0.0.7', clusterIPs: ['10.0.0.7'], type: 'NodePort' } },
      { spec: { ports: [] } },
      { spec: { clusterIP: '10.0.0.7', clusterIPs: ['10.0.0.7'], ports: [] } },
    ],
    [
      'no address over that of the manifest',
      ['v1', 'Service'],
      { spec: { clusterIP: '10.0.0.7' } },
      { spec: { clusterIP: 'None' } },
      { spec: { clusterIP: 'None' } },
    ],
    [
      'the addresses of a service whose manifest has no spec',
      ['v1', 'Service'],
      { spec: { clusterIP: '10.0.0.7' } },
      {},
      { spec: { clusterIP: '10.0.0.7' } },
    ],
    [
      'nothing for a kind of the same name in another API',
      ['example.org/v1', 'Service'],
      { spec: { clusterIP: '10.0.0.7' } },
      {},
      {},
    ],
    [
      'the selector of a job, which is immutable',
      ['batch/v1', 'Job'],
      {
        spec: {
          selector: { matchLabels: { uid: 'u' } },
          template: { metadata: { labels: { uid: 'u' } } },
        },
      },
      {
        spec: {
          selector: { matchLabels: { mine: '1' } },
          template: { metadata: { labels: { mine: '1' }, name: 'n' }, spec: { a: 1 } },
        },
      },
      {
        spec: {
          selector: { matchLabels: { uid: 'u' } },
          template: { metadata: { labels: { uid: 'u' }, name: 'n' }, spec: { a: 1 } },
        },
      },
    ],
    [
      'the tokens of a service account',
      ['v1', 'ServiceAccount'],
      { secrets: [{ name: 't' }] },
      {},
      { secrets: [{ name: 't' }] },
    ],
    [
      'no rules of a role that is not aggregated',
      ['rbac.authorization.k8s.io/v1', 'ClusterRole'],
      { rules: [{ verbs: ['get'] }] },
      {},
      {},
    ],
    [
      'no data of a secret of another type',
      ['v1', 'Secret'],
      { data: { token: 'dA==' } },
      { type: 'Opaque' },
      { type: 'Opaque' },
    ],
  ];
  for (const [title, [apiVersion, kind], current, wanted, expected] of carried) {
    it(`carries over ${title}`, () => {
      const manifest = object(apiVersion, kind, wanted);
      const given = structuredClone(manifest);
      const {
        apiVersion: _,
        kind: __,
        metadata: ___,
        ...fields
      } = desired(object(apiVersion, kind, current), manifest, 'update', {});
      expect(fields).to.deep.equal(expected);
      expect(manifest, 'the manifest itself is not changed').to.deep.equal(given);
    });
  }

  it('carries over finalizers and owners, unless the manifest has its own', () => {
    const [held, owned] = [['op/x'], [{ apiVersion: 'v1', kind: 'X', name: 'x', uid: 'u' }]];
    const current = object('v1', 'ConfigMap', {}, { finalizers: held, ownerReferences: owned });
    const metadataFor = (metadata: object) =>
      desired(current, object('v1', 'ConfigMap', {}, metadata), 'update', {}).metadata;
    expect(metadataFor({})).to.deep.include({ finalizers: held, ownerReferences: owned });
    expect(metadataFor({ finalizers: ['my/own'] })).to.deep.include({ finalizers: ['my/own'] });
    expect(desired(object('v1', 'A'), object('v1', 'A'), 'update', {}).metadata).to.not.have.any.keys(
      'finalizers',
      'ownerReferences',
    );
  });
});

describe('whether sending an object would change anything', () => {
  const secret = (fields: object, metadata: object = {}): KubeObject =>
    object('v1', 'Secret', fields, metadata);
  const rows: readonly (readonly [string, KubeObject, KubeObject, boolean])[] = [
    [
      'fields that only the server sets',
      secret({}, { resourceVersion: '1', uid: 'u', generation: 3, managedFields: [{}] }),
      secret({}),
      false,
    ],
    ...['labels', 'annotations', 'finalizers', 'ownerReferences'].map(
      (field) => [`${field} that are empty`, secret({}, { [field]: {} }), secret({}), false] as const,
    ),
    ['a label', secret({}, { labels: { a: '1' } }), secret({}), true],
    [
      'another annotation',
      secret({}, { annotations: { a: '1' } }),
      secret({}, { annotations: { a: '2' } }),
      true,
    ],
    ['a finalizer', secret({}), secret({}, { finalizers: ['x/y'] }), true],
    ['an owner', secret({}), secret({}, { ownerReferences: [{ name: 'o' }] }), true],
    [
      'stringData as the server stores it',
      secret({ data: { a: 'Yg==' } }),
      secret({ stringData: { a: 'b' } }),
      false,
    ],
    [
      'stringData besides data',
      secret({ data: { a: 'Yg==', c: 'ZA==' } }),
      secret({ data: { c: 'ZA==' }, stringData: { a: 'b' } }),
      false,
    ],
    ['different stringData', secret({ data: { a: 'Yg==' } }), secret({ stringData: { a: 'c' } }), true],
    ['new stringData', secret({ data: {} }), secret({ stringData: { a: 'b' } }), true],
    ['a field', secret({ data: { a: 'Yg==' } }), secret({ data: { a: 'Yw==' } }), true],
  ];
  for (const [title, current, next, isChange] of rows) {
    it(`is ${isChange ? '' : 'not '}decided by ${title}`, () => {
      expect(isUnchanged(current, next)).to.equal(!isChange);
    });
  }
});
