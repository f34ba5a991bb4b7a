/** Manifests as values: their lists, names, labels and paths in the API. */
import { expect } from 'chai';
import { CodecError } from '../../../../deployers/sdk/codec.ts';
import { handedOverLabels, labelValue, ownershipOf } from '../../../../deployers/objects/manifests/label.ts';
import {
  describeManifest,
  describeRef,
  idOf,
  isKubeObject,
  keyOfRef,
  type KubeObject,
  type Manifest,
  type Policy,
} from '../../../../deployers/objects/manifests/model.ts';
import {
  expandLists,
  kindFromCrds,
  NotAnObject,
  stageOf,
  withoutDuplicates,
  type ResolvedManifest,
} from '../../../../deployers/objects/manifests/order.ts';
import { inParallel } from '../../../../deployers/objects/manifests/parallel.ts';
import { decodeStrategy } from '../../../../deployers/objects/manifests/strategy-name.ts';
import { InvalidObjectName } from '../../../../src/runtime/errors.ts';
import { configMap, LS } from '../bench.ts';

const placed = (name: string, policy: Policy = 'manage', more: Partial<Manifest> = {}): ResolvedManifest => ({
  policy,
  object: configMap(name),
  kind: { group: '', version: 'v1', kind: 'ConfigMap', plural: 'configmaps', namespaced: true },
  ...more,
});

describe('manifests', () => {
  const of = (object: object, origin?: string): Manifest => ({
    policy: 'keep',
    object: object as KubeObject,
    ...(origin !== undefined && { origin }),
  });
  const objectsOf = (object: object): unknown => expandLists([of(object)]).map((manifest) => manifest.object);
  const { metadata } = configMap('a');

  const lists: readonly (readonly [string, object, unknown])[] = [
    ['an object', configMap('a'), [configMap('a')]],
    ['a list', { apiVersion: 'v1', kind: 'List', items: [configMap('a')] }, [configMap('a')]],
    ['an empty list', { apiVersion: 'v1', kind: 'List' }, []],
    ['an empty list as Go writes it', { apiVersion: 'v1', kind: 'List', items: null }, []],
    [
      'a typed list, whose elements need no type',
      { apiVersion: 'g/v1', kind: 'ThingList', items: [{ metadata }] },
      [{ apiVersion: 'g/v1', kind: 'Thing', metadata }],
    ],
    [
      'a kind that ends in List and has no items',
      { apiVersion: 'g/v1', kind: 'BlackList', metadata },
      [{ apiVersion: 'g/v1', kind: 'BlackList', metadata }],
    ],
    [
      'a kind called List of another API',
      { apiVersion: 'g/v1', kind: 'List', metadata },
      [{ apiVersion: 'g/v1', kind: 'List', metadata }],
    ],
    [
      'a nested list, which needs no name',
      {
        apiVersion: 'v1',
        kind: 'List',
        items: [{ apiVersion: 'v1', kind: 'List', items: [configMap('a')] }],
      },
      [configMap('a')],
    ],
  ];
  for (const [title, object, expected] of lists) {
    it(`may be ${title}`, () => {
      expect(objectsOf(object)).to.deep.equal(expected);
    });
  }

  it('inherit policy and hooks of their list, and know their position in it', () => {
    const list = { apiVersion: 'v1', kind: 'ConfigMapList', items: [configMap('a'), configMap('b')] };
    const hooks = { annotateBeforeDelete: { a: 'b' } };
    expect(expandLists([{ ...of(list, 'manifests[3]'), ...hooks }])).to.deep.equal([
      { policy: 'keep', ...hooks, object: configMap('a'), origin: 'manifests[3].items[0]' },
      { policy: 'keep', ...hooks, object: configMap('b'), origin: 'manifests[3].items[1]' },
    ]);
    expect(expandLists([of(list)])[1]?.origin).to.equal('ConfigMapList.items[1]');
  });

  for (const [title, item] of [
    ['a string', 'x'],
    ['an object without a type', { metadata }],
    ['an object without a name', { apiVersion: 'v1', kind: 'ConfigMap' }],
  ] as const) {
    it(`may not be a list with ${title}`, () => {
      const list = of({ apiVersion: 'v1', kind: 'List', items: [item] }, 'm');
      expect(() => expandLists([list])).to.throw(NotAnObject, /^m\.items\[0\]: expected an object/);
    });
  }

  it('of the same object are replaced by the last of them', () => {
    const [first, other, last] = [placed('a'), placed('b'), placed('a', 'keep')];
    expect(withoutDuplicates([first, other, last])).to.deep.equal({
      manifests: [other, last],
      duplicates: [first],
    });
  });

  it('are in three stages', () => {
    const cluster = { ...placed('a').kind, namespaced: false };
    const crd = { ...configMap('a'), kind: 'CustomResourceDefinition' };
    const of3 = [placed('a'), placed('a', 'manage', { object: crd }), { ...placed('a'), kind: cluster }];
    expect(of3.map(stageOf)).to.deep.equal(['namespaced', 'crds', 'cluster']);
  });

  const definition = (spec: object): KubeObject => ({
    ...configMap('d'),
    spec: {
      group: 'g',
      scope: 'Namespaced',
      names: { kind: 'K', plural: 'ks' },
      versions: [{ name: 'v1' }, { name: 'v2' }],
      ...spec,
    },
  });
  const found = { group: 'g', version: 'v2', kind: 'K', plural: 'ks', namespaced: true };
  const kinds: readonly (readonly [string, readonly KubeObject[], unknown])[] = [
    ['by the CRD of their kind', [definition({})], found],
    ['by a later CRD', [definition({ group: 'h' }), definition({})], found],
    ['for cluster-scoped kinds', [definition({ scope: 'Cluster' })], { ...found, namespaced: false }],
    ['not without a CRD', [], undefined],
    ['not by a CRD of another group', [definition({ group: 'h' })], undefined],
    ['not by a CRD of another kind', [definition({ names: { kind: 'L', plural: 'ls' } })], undefined],
    ['not by another version', [definition({ versions: [{ name: 'v1' }] })], undefined],
    ['not by a CRD without versions', [definition({ versions: null })], undefined],
    ['not by a CRD whose versions are not objects', [definition({ versions: ['v2', null] })], undefined],
    ['not by a CRD without a plural', [definition({ names: { kind: 'K' } })], undefined],
    ['not by a CRD without a spec', [configMap('d')], undefined],
  ];
  for (const [title, crds, expected] of kinds) {
    it(`have a path in the API ${title}`, () => {
      expect(kindFromCrds(crds, 'g/v2', 'K')).to.deep.equal(expected);
    });
  }
});

describe('the name of an object', () => {
  const ref = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', namespace: 'app' };

  it('in messages', () => {
    expect(describeRef(ref)).to.equal('Deployment app/web');
    expect(describeRef({ ...ref, namespace: '' })).to.equal('Deployment web');
    expect(describeRef({ ...ref, name: '' })).to.equal('Deployment app/(without a name)');
    expect(describeManifest(placed('one'))).to.equal('ConfigMap app/one');
    expect(describeManifest(placed('one', 'manage', { origin: 'manifests[3]' }))).to.equal(
      'ConfigMap app/one (manifests[3])',
    );
  });

  it('in the API', () => {
    expect(keyOfRef(ref)).to.equal('app/web');
    expect(keyOfRef({ ...ref, namespace: '' })).to.equal('web');
    expect(() => keyOfRef({ ...ref, namespace: '', name: 'a/b' })).to.throw(
      InvalidObjectName,
      '"a/b" cannot be the name of a Deployment',
    );
  });

  it('is the same for all versions of its API', () => {
    expect(idOf(ref)).to.equal(idOf({ ...ref, apiVersion: 'apps/v1beta1' }));
    expect(idOf(ref)).to.not.equal(idOf({ ...ref, apiVersion: 'other/v1' }));
    expect(idOf({ ...ref, apiVersion: 'v1' })).to.equal(idOf({ ...ref, apiVersion: 'v2' }));
  });

  for (const [value, isOne] of [
    [{ apiVersion: 'v1', kind: 'A', metadata: {} }, true],
    [{ kind: 'A', metadata: {} }, false],
    [{ apiVersion: 'v1', metadata: {} }, false],
    [{ apiVersion: 'v1', kind: 'A' }, false],
    [{ apiVersion: 'v1', kind: 'A', metadata: [] }, false],
    ['A', false],
    [null, false],
  ] as const) {
    it(`needs a type and metadata: ${JSON.stringify(value)}`, () => {
      expect(isKubeObject(value)).to.equal(isOne);
    });
  }
});

describe('the labels of an item on its objects', () => {
  const own = ownershipOf({ name: 'web', namespace: 'proj' });
  const next = { name: 'api', namespace: 'proj', type: `${LS}/kubernetes-manifest` };

  it('contain a name of up to 63 characters unchanged', () => {
    expect(labelValue('x'.repeat(63))).to.equal('x'.repeat(63));
    expect(labelValue('x'.repeat(64))).to.match(/^x{54}-[0-9a-f]{8}$/);
    expect(labelValue('x'.repeat(64))).to.not.equal(labelValue('x'.repeat(65)));
  });

  it('have no namespace if the item has none', () => {
    expect(Object.keys(ownershipOf({ name: 'web' }).labels)).to.have.length(1);
    expect(Object.keys(own.labels)).to.have.length(2);
  });

  it('that only this item set are removed when it leaves an object to another one', () => {
    const two = ownershipOf({ name: 'web', namespace: 'proj' }, [
      ...Object.keys(ownershipOf({ name: 'x' }).labels),
      'helm',
    ]);
    const changes = (labels: Record<string, string>) => handedOverLabels(two, next, { metadata: { labels } });
    expect(changes({ ...two.labels, other: '1' })).to.deep.equal({ ...ownershipOf(next).labels, helm: null });
    expect(changes({ ...two.labels, helm: 'changed' })).to.deep.equal(ownershipOf(next).labels);
    expect(changes({ helm: 'web' })).to.equal(undefined);
    expect(handedOverLabels(two, next, { metadata: {} })).to.equal(undefined);
  });
});

describe('several requests at a time', () => {
  it('are limited in number, and their results are in the order of the requests', async () => {
    let running = 0;
    let most = 0;
    const answer = async (n: number, i: number): Promise<string> => {
      most = Math.max(most, ++running);
      for (let turns = n; turns > 0; turns--) await Promise.resolve();
      running--;
      return `${String(i)}:${String(n)}`;
    };
    expect(await inParallel([9, 1, 5, 1, 1], answer, 2)).to.deep.equal(['0:9', '1:1', '2:5', '3:1', '4:1']);
    expect(most).to.equal(2);
    await inParallel(
      Array.from({ length: 50 }, () => 3),
      answer,
    );
    expect(most).to.equal(8);
  });

  it('are all finished before the first failure is thrown', async () => {
    const finished: number[] = [];
    const failure = await inParallel([1, 2, 3], async (n) => {
      for (let turns = 4 * n; turns > 0; turns--) await Promise.resolve();
      finished.push(n);
      if (n < 3) throw new Error(`failure ${String(n)}`);
    }).catch((error: unknown) => error);
    expect((failure as Error).message).to.equal('failure 1');
    expect(finished).to.deep.equal([1, 2, 3]);
  });
});

describe('the update strategy of a configuration', () => {
  it('is update by default', () => {
    expect([undefined, null, ''].map(decodeStrategy)).to.deep.equal(['update', 'update', 'update']);
    expect(decodeStrategy('mergeOverwrite')).to.equal('mergeOverwrite');
  });

  it('is rejected with the list of valid ones', () => {
    expect(() => decodeStrategy('replace'))
      .to.throw(
        CodecError,
        'updateStrategy: replace is not a valid update strategy, use one of update, patch, merge, mergeOverwrite, apply',
      )
      .with.property('step', 'validate');
    expect(() => decodeStrategy(1)).to.throw(CodecError, 'updateStrategy: expected a string');
  });
});
