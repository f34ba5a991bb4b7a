import { expect } from 'chai';
import { kubernetesTags, nameAsExternalName } from '../../../../src/runtime/external/index.ts';
import { resolveReferences, type Reference } from '../../../../src/runtime/external/references.ts';
import type { Obj, View } from '../../../../src/runtime/types.ts';
import { objectOf } from '../support/source-host.ts';
import { widget, widgets } from '../support/world.ts';
import { buckets, createScene, KEY, type Scene } from './cloud.ts';

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
});
