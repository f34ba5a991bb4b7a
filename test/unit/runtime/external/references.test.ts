import { expect } from 'chai';
import { kubernetesTags, nameAsExternalName } from '../../../../src/runtime/external/index.ts';
import { resolveReferences, type Reference } from '../../../../src/runtime/external/references.ts';
import type { Obj, View } from '../../../../src/runtime/types.ts';
import { objectOf } from '../support/source-host.ts';
import { widget, widgets } from '../support/world.ts';
import { settle } from '../../../support/clock.ts';
import { buckets, createScene, KEY, NAME, type Scene } from './cloud.ts';

const EXTERNAL_NAME = 'external.espalier.dev/name';
const ownedBy = (uid: string) => ({
  ownerReferences: [{ apiVersion: 'v1', kind: 'Claim', name: uid, uid, controller: true }],
});
const named = (name: string, more: object = {}) =>
  objectOf(`A/${name}`, { annotations: { [EXTERNAL_NAME]: `vpc-${name}` }, ...more });

describe('a reference', () => {
  const objects = [
    named('b', { labels: { net: 'x' } }),
    named('a', { labels: { net: 'x' }, ...ownedBy('c') }),
    objectOf('A/young', { labels: { net: 'young' } }),
    named('y', { namespace: 'B', labels: { net: 'y' } }),
  ];
  const cache = {
    get: (key: string) => objects.find(({ metadata: { namespace, name } }) => `${namespace}/${name}` === key),
    list: (namespace?: string) => objects.filter(({ metadata }) => metadata.namespace === namespace),
  };
  const withSpec = <T extends object>(object: T, spec: object) => ({ ...object, spec });
  const resolve = (spec: object, reference: Partial<Reference> = {}, metadata: object = {}) =>
    resolveReferences(withSpec(objectOf('A/1', metadata), spec), [
      { reference: { field: 'vpc', kind: widgets, ...reference }, cache },
    ]);

  const rows: [string, object, object | undefined][] = [
    ['is absent', {}, undefined],
    ['fills the field', { vpcRef: { name: 'a' } }, { vpc: 'vpc-a' }],
    ['leaves a value in place', { vpc: 'mine', vpcRef: { name: 'a' } }, undefined],
    [
      'replaces a value if it is to be resolved always',
      { vpc: 'x', vpcRef: { name: 'a', policy: { resolve: 'Always' } } },
      { vpc: 'vpc-a' },
    ],
    [
      'changes nothing if the value is right',
      { vpc: 'vpc-a', vpcRef: { name: 'a', policy: { resolve: 'Always' } } },
      undefined,
    ],
    [
      'selects the first by name, and stores its choice',
      { vpcSelector: { matchLabels: { net: 'x' } } },
      { vpc: 'vpc-a', vpcRef: { name: 'a' } },
    ],
    [
      'keeps its choice',
      { vpcRef: { name: 'b' }, vpcSelector: { matchLabels: { net: 'x' } } },
      { vpc: 'vpc-b' },
    ],
    [
      'selects each time on request',
      {
        vpc: 'vpc-b',
        vpcRef: { name: 'b' },
        vpcSelector: { matchLabels: { net: 'x' }, policy: { resolve: 'Always' } },
      },
      { vpc: 'vpc-a', vpcRef: { name: 'a' } },
    ],
    [
      'selects the first although another one that matches has no value yet',
      { vpcSelector: { matchLabels: {} } },
      { vpc: 'vpc-a', vpcRef: { name: 'a' } },
    ],
    ['ignores references that are no objects', { vpcRef: 'a', vpcSelector: 'b' }, undefined],
    ['may be optional', { vpcRef: { name: 'gone', policy: { resolution: 'Optional' } } }, undefined],
  ];
  for (const [title, spec, patch] of rows)
    it(title, () => {
      expect(resolve(spec)).to.deep.equal({ ok: true, patch });
    });

  const refused: [string, object, string][] = [
    [
      'an object that does not exist',
      { vpcRef: { name: 'gone' } },
      'spec.vpcRef refers to no existing Widget',
    ],
    [
      'an object without a value',
      { vpcRef: { name: 'young' } },
      'Widget young, which spec.vpcRef refers to, has no value yet',
    ],
    [
      'an object of another namespace',
      { vpcSelector: { matchLabels: { net: 'y' } } },
      'spec.vpcSelector refers to no existing Widget',
    ],
    [
      'nothing that its selector matches',
      { vpcSelector: { matchLabels: { net: 'z' } } },
      'spec.vpcSelector refers to no existing Widget',
    ],
    [
      'an unknown policy',
      { vpcRef: { name: 'a', policy: { resolve: 'Never' } } },
      'spec.vpcRef.policy.resolve is "Never"; it can be "IfNotPresent" or "Always"',
    ],
  ];
  for (const [title, spec, problem] of refused)
    it(`does not resolve to ${title}`, () => {
      expect(resolve(spec)).to.deep.equal({ ok: false, problem });
    });

  describe('to a list', () => {
    const lists: [string, object, object | undefined][] = [
      [
        'fills it in the order of the references',
        { vpcRefs: [{ name: 'b' }, { name: 'a' }] },
        { vpc: ['vpc-b', 'vpc-a'] },
      ],
      [
        'selects all by name, and stores its choice',
        { vpcSelector: { matchLabels: { net: 'x' } } },
        { vpc: ['vpc-a', 'vpc-b'], vpcRefs: [{ name: 'a' }, { name: 'b' }] },
      ],
      ['leaves values in place', { vpc: ['mine'], vpcRefs: [{ name: 'a' }] }, undefined],
      ['fills an empty one', { vpc: [], vpcRefs: [{ name: 'a' }] }, { vpc: ['vpc-a'] }],
      [
        'follows if one of them is to be resolved always',
        { vpc: ['x'], vpcRefs: [{ name: 'b' }, { name: 'a', policy: { resolve: 'Always' } }] },
        { vpc: ['vpc-b', 'vpc-a'] },
      ],
      [
        'changes nothing if values and choice are right',
        {
          vpc: ['vpc-a', 'vpc-b'],
          vpcRefs: [{ name: 'a' }, { name: 'b' }],
          vpcSelector: { matchLabels: { net: 'x' }, policy: { resolve: 'Always' } },
        },
        undefined,
      ],
      [
        'leaves out optional ones',
        { vpcRefs: [{ name: 'gone', policy: { resolution: 'Optional' } }, { name: 'a' }] },
        { vpc: ['vpc-a'] },
      ],
      ['is not filled by a single reference', { vpcRef: { name: 'a' } }, undefined],
    ];
    for (const [title, spec, patch] of lists)
      it(title, () => {
        expect(resolve(spec, { list: true })).to.deep.equal({ ok: true, patch });
      });

    const problems: [string, object, string][] = [
      [
        'one of which does not exist',
        [{ name: 'a' }, { name: 'gone' }],
        'spec.vpcRefs[1] refers to no existing Widget',
      ],
      [
        'one of which has no value',
        [{ name: 'young' }],
        'Widget young, which spec.vpcRefs[0] refers to, has no value yet',
      ],
      ['one of which has no name', ['a'], 'spec.vpcRefs[0] refers to no existing Widget'],
    ];
    for (const [title, vpcRefs, problem] of problems)
      it(`waits for objects ${title}`, () => {
        expect(resolve({ vpcRefs }, { list: true })).to.deep.equal({ ok: false, problem });
      });

    it('waits for a selector that matches nothing', () => {
      const spec = { vpcSelector: { matchLabels: { net: 'z' } } };
      const problem = 'spec.vpcSelector refers to no existing Widget';
      expect(resolve(spec, { list: true })).to.deep.equal({ ok: false, problem });
    });
  });

  it('selects by the controller of its object, not by another owner', () => {
    const [controller] = ownedBy('c').ownerReferences;
    const ownerReferences = [{ ...controller, uid: 'other', controller: false }, controller];
    const spec = { vpcSelector: { matchControllerRef: true } };
    const patch = { vpc: 'vpc-a', vpcRef: { name: 'a' } };
    expect(resolve(spec, {}, { ownerReferences })).to.deep.equal({ ok: true, patch });
  });

  it('names an object without a namespace by its name alone', () => {
    const kind = { ...widgets, namespaced: false };
    const metadata = { name: 'w', annotations: { [EXTERNAL_NAME]: 'vpc-w' } };
    const wide = { ...objectOf('A/w'), metadata };
    const reference = { field: 'vpc', kind };
    const found = { get: (key: string) => (key === 'w' ? wide : undefined), list: () => [] };
    const object = withSpec(objectOf('A/1'), { vpcRef: { name: 'w' } });
    expect(resolveReferences(object, [{ reference, cache: found }])).to.deep.equal({
      ok: true,
      patch: { vpc: 'vpc-w' },
    });
  });

  it('selects among objects without a namespace', () => {
    const kind = { ...widgets, namespaced: false };
    const labels = { net: 'w' };
    const metadata = { name: 'w', labels, annotations: { [EXTERNAL_NAME]: 'vpc-w' } };
    const wide = { ...objectOf('A/w'), metadata };
    const cluster = {
      get: () => undefined,
      list: (namespace?: string) => (namespace === undefined ? [wide] : []),
    };
    const spec = { vpcSelector: { matchLabels: { net: 'w' } } };
    const object = withSpec(objectOf('A/1'), spec);
    expect(
      resolveReferences(object, [{ reference: { field: 'vpc', kind }, cache: cluster }]),
    ).to.deep.include({
      patch: { vpc: 'vpc-w', vpcRef: { name: 'w' } },
    });
  });

  it('can require the same controller', () => {
    const spec = { vpcSelector: { matchLabels: { net: 'x' }, matchControllerRef: true } };
    expect(resolve(spec, {}, ownedBy('c'))).to.deep.equal({
      ok: true,
      patch: { vpc: 'vpc-a', vpcRef: { name: 'a' } },
    });
    expect(resolve(spec, {}, ownedBy('d')).ok).to.equal(false);
    expect(resolve(spec).ok).to.equal(false);
  });

  it('can have another value than the name of the resource', () => {
    const value = ({ metadata }: View<Obj>) => metadata.labels?.['net'];
    expect(resolve({ vpcRef: { name: 'young' } }, { value })).to.deep.equal({
      ok: true,
      patch: { vpc: 'young' },
    });
  });
});

describe('an external resource', () => {
  let scene: Scene;
  afterEach(() => scene.world.end());

  it('waits for the object that it refers to, and is created with its value', async () => {
    const seen: unknown[] = [];
    scene = createScene({ references: [{ field: 'tier', kind: widgets }] });
    scene.cloud.during = (step, object) => void (step === 'create' && seen.push(object.spec?.tier));
    scene.put({ size: 1, tierRef: { name: 'gold' } } as object);
    await scene.start();
    expect(scene.condition('Failed')?.reason).to.equal('ReferencesUnresolved');
    expect(scene.connectedAt).to.deep.equal([]);
    scene.world.cluster.put(widgets, widget('A/gold', { annotations: { [EXTERNAL_NAME]: 'tier-7' } }));
    await scene.world.clock.advance(60_000);
    expect(seen).to.deep.equal(['tier-7']);
    expect(scene.get()?.spec?.tier).to.equal('tier-7');
  });

  describe('whose references', () => {
    const resolved = (key?: string): unknown => scene.get(key)?.spec?.tier;
    const gold = (value: string | undefined, labels: object = {}) =>
      widget('A/gold', { labels: { ...labels }, ...(value && { annotations: { [EXTERNAL_NAME]: value } }) });
    const begin = async (spec: object, more: Partial<Reference> = {}): Promise<void> => {
      scene = createScene({ references: [{ field: 'tier', kind: widgets, ...more }] });
      scene.put({ size: 1, ...spec });
      await scene.start();
      await settle();
    };
    const put = async (value: string | undefined, labels?: object): Promise<void> => {
      const { cluster } = scene.world;
      if (cluster.read(widgets, 'A/gold')) cluster.edit(widgets, 'A/gold', gold(value, labels));
      else cluster.put(widgets, gold(value, labels));
      await settle();
    };

    it('wait for an object is reconciled when its value appears', async () => {
      await begin({ tierRef: { name: 'gold' } });
      await put(undefined);
      expect(scene.condition('Failed')?.message).to.include('has no value yet');
      await put('tier-7');
      expect(resolved()).to.equal('tier-7');
      expect(scene.cloud.calls).to.deep.equal([`create ${NAME}`]);
    });

    it('wait for a selector is reconciled when an object matches', async () => {
      await begin({ tierSelector: { matchLabels: { metal: 'gold' } } });
      await put('tier-7', { metal: 'silver' });
      expect(resolved()).to.equal(undefined);
      await put('tier-7', { metal: 'gold' });
      expect(resolved()).to.equal('tier-7');
    });

    it('follow an object is reconciled when its value changes, and not otherwise', async () => {
      const policy = { resolve: 'Always' };
      await begin({ tierRef: { name: 'gold', policy } });
      await put('tier-7');
      await scene.world.clock.advance(40_000);
      const { length } = scene.connectedAt;
      scene.world.cluster.edit(widgets, 'A/gold', { spec: { size: 9 } });
      await settle();
      expect(scene.connectedAt).to.have.length(length);
      scene.world.cluster.edit(widgets, 'A/gold', {
        metadata: { annotations: { [EXTERNAL_NAME]: 'tier-8' } },
      });
      await settle();
      expect(resolved()).to.equal('tier-8');
    });

    it('have values is not reconciled when the objects change', async () => {
      await begin({ tier: 'mine', tierRef: { name: 'gold' } });
      const { length } = scene.connectedAt;
      await put('tier-7');
      expect([resolved(), scene.connectedAt.length]).to.deep.equal(['mine', length]);
    });

    it('are a list follows all objects that its selector matches', async () => {
      const policy = { resolve: 'Always' };
      await begin({ tierSelector: { matchLabels: { metal: 'gold' }, policy } }, { list: true });
      await put('tier-7', { metal: 'gold' });
      expect(resolved()).to.deep.equal(['tier-7']);
      const labels = { metal: 'gold' };
      scene.world.cluster.put(widgets, widget('A/a', { labels, annotations: { [EXTERNAL_NAME]: 'tier-1' } }));
      await settle();
      expect(resolved()).to.deep.equal(['tier-1', 'tier-7']);
      scene.world.cluster.remove(widgets, 'A/gold');
      await settle();
      expect(resolved()).to.deep.equal(['tier-1']);
    });
  });

  it('is initialized before its first step, with one write', async () => {
    scene = createScene({ initializers: [nameAsExternalName, kubernetesTags()] });
    scene.put({ size: 1, tags: { team: 'a' } } as object);
    await scene.start();
    expect(scene.cloud.calls).to.deep.equal(['create 1']);
    expect(scene.get()?.spec).to.deep.equal({
      size: 1,
      tags: { team: 'a', 'kubernetes-kind': 'bucket', 'kubernetes-namespace': 'A', 'kubernetes-name': '1' },
    });
    const writes = scene.writes().length;
    await scene.world.clock.advance(30_000);
    scene.world.cluster.edit(buckets, KEY, {
      spec: { tags: { 'kubernetes-name': 'mine' } },
    });
    await scene.world.clock.advance(1_000);
    expect((scene.get()?.spec as { tags?: object }).tags).to.include({ 'kubernetes-name': 'mine' });
    expect(writes).to.be.at.most(5);
  });

  it('has no tag for a namespace if its kind has none', () => {
    const object = { apiVersion: 'example.io/v1', kind: 'Bucket', metadata: { name: '1' }, spec: {} };
    expect(kubernetesTags()(object)).to.deep.equal({
      spec: { tags: { 'kubernetes-kind': 'bucket', 'kubernetes-name': '1' } },
    });
  });

  it('shows why it could not be initialized, and is initialized later', async () => {
    let isBroken = true;
    const initialize = () => {
      if (isBroken) throw new Error('no tier is free');
      return { spec: { tier: 'gold' } };
    };
    scene = createScene({ initializers: [initialize] });
    scene.put({ size: 1 });
    await scene.start();
    expect(scene.condition('Failed')).to.include({
      reason: 'InitializationFailed',
      message: 'no tier is free',
    });
    expect(scene.cloud.connects).to.equal(0);
    isBroken = false;
    await scene.world.clock.advance(2_000);
    expect(scene.get()?.spec).to.include({ tier: 'gold' });
    expect(scene.active()).not.to.include('Failed');
  });
});
