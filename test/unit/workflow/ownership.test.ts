/** How an object names its primary, and how the primary is found from it. */
import { expect } from 'chai';
import type { Kind, View } from '../../../src/runtime/types.ts';
import { withOwner, toPrimaryOf, type OwnerMark } from '../../../src/workflow/ownership.ts';
import { FakeClock } from '../../support/clock.ts';
import { widgets, type Part, type Widget } from '../runtime/support/world.ts';
import { contextOn, primary } from './support.ts';

const ctx = contextOn(new FakeClock());
const part = (metadata: object = {}): Part => ({
  apiVersion: 'example.io/v1',
  kind: 'Part',
  metadata: { namespace: 'ns', name: 'p', ...metadata },
});
const PREFIX = 'my.example';
const mark = (gc: boolean): OwnerMark => ({ name: 'part', gc, prefix: PREFIX });
const metadataOf = (object: Part, gc: boolean, p: View<Widget> = primary) =>
  withOwner(object, mark(gc), p, ctx).metadata;
const clusterScoped: View<Widget> = { ...primary, metadata: { name: 'a', uid: 'uid-a' } };
const owner = {
  apiVersion: 'example.io/v1',
  kind: 'Widget',
  name: 'a',
  uid: 'uid-a',
  controller: true,
  blockOwnerDeletion: true,
};
const annotations = {
  [`${PREFIX}/primary-name`]: 'a',
  [`${PREFIX}/primary-type`]: 'Widget.example.io',
  [`${PREFIX}/primary-namespace`]: 'ns',
};

describe('an object that its primary owns', () => {
  const theirs = { apiVersion: 'v1', kind: 'Other', name: 'x', uid: 'uid-x' };
  it('has the primary as its controller', () => {
    expect(metadataOf(part(), true)).to.deep.equal({ namespace: 'ns', name: 'p', ownerReferences: [owner] });
  });
  it('keeps its other owners', () => {
    expect(metadataOf(part({ ownerReferences: [theirs] }), true).ownerReferences).to.deep.equal([
      theirs,
      owner,
    ]);
  });
  it('has its primary as an owner beside the one that is its controller', () => {
    const first = { ...theirs, controller: true };
    const { controller: _, ...second } = owner;
    expect(metadataOf(part({ ownerReferences: [first] }), true).ownerReferences).to.deep.equal([
      first,
      second,
    ]);
  });
  it('has one owner reference to the primary, the right one', () => {
    const wrong = { ...owner, controller: false };
    expect(metadataOf(part({ ownerReferences: [wrong] }), true).ownerReferences).to.deep.equal([owner]);
  });
  it('may be in any namespace if its primary has none', () => {
    expect(metadataOf(part(), true, clusterScoped).ownerReferences).to.deep.equal([owner]);
  });
  for (const [title, namespace, where] of [
    [
      'in another namespace',
      'elsewhere',
      'Part p is in namespace elsewhere, so ns/a cannot own it; set gc: false',
    ],
    ['in no namespace', undefined, 'Part p is in no namespace, so ns/a cannot own it; set gc: false'],
  ] as const) {
    it(`cannot be ${title}, where the cluster would garbage collect it`, () => {
      expect(() => metadataOf(part({ namespace }), true)).to.throw(where);
    });
  }
});

describe('an object that its primary does not own', () => {
  it('names its primary in annotations, besides existing ones', () => {
    expect(metadataOf(part({ annotations: { a: '1' } }), false)).to.deep.equal({
      namespace: 'ns',
      name: 'p',
      annotations: { a: '1', ...annotations },
    });
  });
  it('names no namespace if its primary has none', () => {
    const { [`${PREFIX}/primary-namespace`]: _, ...rest } = annotations;
    expect(metadataOf(part(), false, clusterScoped).annotations).to.deep.equal(rest);
  });
  it('names a primary of the core group by its kind', () => {
    const kind: Kind<Widget> = { ...widgets, group: '' };
    const controller = { ...ctx.controller, kind };
    const { metadata } = withOwner(part(), mark(false), primary, { controller });
    expect(metadata.annotations?.[`${PREFIX}/primary-type`]).to.equal('Widget');
    expect(toPrimaryOf(kind, PREFIX)({ ...part(), metadata })).to.deep.equal(['ns/a']);
  });
});

describe('the primary of an object', () => {
  const of = (metadata: object) => toPrimaryOf(widgets, PREFIX)(part(metadata));
  const without = (name: string) => {
    const { [`${PREFIX}/${name}`]: _, ...rest } = annotations as Record<string, string>;
    return { annotations: rest };
  };
  const rows: [string, object, readonly string[]][] = [
    ['is its owner', { ownerReferences: [owner] }, ['ns/a']],
    ['is the one that its annotations name', { namespace: 'elsewhere', annotations }, ['ns/a']],
    ['is in no namespace if the annotations name none', without('primary-namespace'), ['a']],
    ['is unknown without annotations', {}, []],
    ['is unknown without its name', without('primary-name'), []],
    ['is unknown without its type', without('primary-type'), []],
    [
      'is of another kind if its type says so',
      { annotations: { ...annotations, [`${PREFIX}/primary-type`]: 'Widget.other.io' } },
      [],
    ],
    ['is named once if it owns the object as well', { ownerReferences: [owner], annotations }, ['ns/a']],
  ];
  for (const [title, metadata, keys] of rows) {
    it(title, () => {
      expect(of(metadata)).to.deep.equal(keys);
    });
  }
});
