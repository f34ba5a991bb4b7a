/** The recorded information about created objects. */
import { expect } from 'chai';
import { CodecError } from '../../../../deployers/sdk/codec.ts';
import { decodeEntry, decodeInventory } from '../../../../deployers/objects/manifests/inventory-codec.ts';
import {
  entryOf,
  removalFor,
  intended,
  entriesMissingIn,
  union,
} from '../../../../deployers/objects/manifests/inventory.ts';
import type { ManagedResource, Manifest, Policy } from '../../../../deployers/objects/manifests/model.ts';
import { sorted, type ResolvedManifest } from '../../../../deployers/objects/manifests/order.ts';
import { configMap } from '../bench.ts';

const at = (name: string, more: object = {}): ManagedResource => ({
  resource: { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'app', name, ...more },
});
const placed = (name: string, policy: Policy = 'manage', more: Partial<Manifest> = {}): ResolvedManifest => ({
  policy,
  object: configMap(name),
  kind: { group: '', version: 'v1', kind: 'ConfigMap', plural: 'configmaps', namespaced: true },
  ...more,
});

describe('the inventory', () => {
  it('has everything about each object that its deletion needs', () => {
    const hooks = { annotateBeforeDelete: { a: 'b' }, patchBeforeDelete: { spec: {} } };
    const resource = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'app', name: 'one' };
    expect(entryOf(placed('one', 'keep', hooks), 'u')).to.deep.equal({
      policy: 'keep',
      resource: { ...resource, uid: 'u' },
      ...hooks,
    });
    expect(entryOf(placed('one'), undefined)).to.deep.equal({ policy: 'manage', resource });
  });

  const rows: readonly (readonly [string, ManagedResource, ManagedResource, boolean])[] = [
    ['the same object', at('one'), at('one'), true],
    [
      'the same object in another version of its API',
      at('one', { apiVersion: 'g/v1' }),
      at('one', { apiVersion: 'g/v2' }),
      true,
    ],
    ['another name', at('one'), at('two'), false],
    ['another namespace', at('one'), at('one', { namespace: 'late' }), false],
    ['another kind', at('one'), at('one', { kind: 'Secret' }), false],
    ['another group', at('one'), at('one', { apiVersion: 'g/v1' }), false],
    ['one uid for two kinds', at('one', { uid: 'u' }), at('one', { kind: 'Other', uid: 'u' }), true],
    ['no uid for two kinds', at('one', { uid: '' }), at('one', { kind: 'Other', uid: '' }), false],
  ];
  for (const [title, old, current, isSame] of rows) {
    it(`${isSame ? 'drops' : 'keeps'} an old entry if the new one has ${title}`, () => {
      expect(entriesMissingIn([old], [current])).to.deep.equal(isSame ? [] : [old]);
      expect(union([old], [current])).to.deep.equal(isSame ? [current] : [current, old]);
    });
  }

  it('lists before an apply the objects that may be created, and keeps known uids', () => {
    const old = [at('known', { uid: 'u' }), at('gone', { uid: 'v' })];
    const members = [
      placed('new'),
      placed('known', 'keep'),
      placed('ignored', 'ignore'),
      placed('ensured', 'ensure'),
    ];
    const listed = intended(old, members).map(({ policy, resource: { name, uid } }) => [policy, name, uid]);
    expect(listed).to.deep.equal([
      ['keep', 'known', 'u'],
      ['manage', 'new', ''],
      [undefined, 'gone', 'v'],
    ]);
  });

  for (const [policy, fate] of [
    ['manage', 'delete'],
    ['immutable', 'delete'],
    [undefined, 'delete'],
    ['fallback', 'deleteIfOwned'],
    ['keep', 'leave'],
    ['ignore', 'leave'],
  ] as const) {
    it(`deletes an object with policy ${String(policy)}: ${fate}`, () => {
      expect(removalFor({ ...at('one'), ...(policy && { policy }) })).to.equal(fate);
    });
  }

  it('is sorted by kind, namespace and name', () => {
    const order = [
      at('b', { kind: 'A' }),
      at('b', { namespace: undefined }),
      at('a'),
      at('b'),
      at('a', { namespace: 'b' }),
    ];
    expect(sorted([...order].reverse())).to.deep.equal(order);
  });
});

describe('the inventory in a provider status', () => {
  it('is empty if there is none', () => {
    expect(decodeInventory({})).to.deep.equal([]);
  });

  it('is read with all fields of an object', () => {
    const whole = {
      policy: 'keep',
      annotateBeforeDelete: { a: 'b' },
      patchBeforeDelete: { spec: {} },
      resource: { apiVersion: 'v1', kind: 'ConfigMap', name: 'one', namespace: 'app', uid: '' },
    };
    expect(decodeInventory({ managedResources: [whole] })).to.deep.equal([whole]);
    expect(decodeEntry({ policy: '' }, 'e')).to.deep.equal({
      resource: { apiVersion: '', kind: '', name: '' },
    });
    const resource = { apiVersion: 'v1', kind: 'Namespace', name: 'n', namespace: '' };
    expect(decodeEntry({ resource }, 'e').resource).to.not.have.any.keys('namespace', 'uid');
  });

  const texts = ['apiVersion', 'kind', 'name', 'namespace', 'uid'];
  const wrong: readonly (readonly [unknown, string])[] = [
    ['one', 'managedResources[0]: expected an object'],
    [{ resource: 'one' }, 'managedResources[0].resource: expected an object'],
    ...texts.map(
      (field) =>
        [{ resource: { [field]: 1 } }, `managedResources[0].resource.${field}: expected a string`] as const,
    ),
    [{ policy: 1 }, 'managedResources[0].policy: expected a string'],
    [{ annotateBeforeDelete: { a: 1 } }, 'managedResources[0].annotateBeforeDelete.a: expected a string'],
    [{ patchBeforeDelete: [] }, 'managedResources[0].patchBeforeDelete: expected an object'],
  ];
  for (const [entry, message] of wrong) {
    it(`is rejected: ${message}`, () => {
      expect(() => decodeInventory({ managedResources: [entry] })).to.throw(CodecError, message);
    });
  }
  it('is rejected: managedResources: expected a list', () => {
    expect(() => decodeInventory({ managedResources: {} })).to.throw(
      CodecError,
      'managedResources: expected a list',
    );
  });
});
