/** The garbage collector: which requests it sends for the objects in the store, and their preconditions. */
import { expect } from 'chai';
import type { World } from '../../../src/apiserver/api.ts';
import { GarbageCollector } from '../../../src/apiserver/controllers/garbage.ts';
import type { InternalClient } from '../../../src/apiserver/internal.ts';
import { createRegistry } from '../../../src/apiserver/kinds/registry.ts';
import type { KubeObject, OwnerReference } from '../../../src/apiserver/types.ts';
import { seededRng } from '../../../src/lib/rng.ts';
import { silentLogger } from '../../../src/observability/log.ts';
import { FakeClock, settle } from '../../support/clock.ts';

type Meta = Partial<KubeObject['metadata']>;

const registry = createRegistry();
const object = (kind: 'ConfigMap' | 'Node', name: string, more: Meta = {}): KubeObject => ({
  apiVersion: 'v1',
  kind,
  metadata: {
    name,
    uid: `uid-${name}`,
    resourceVersion: '7',
    ...(kind === 'ConfigMap' && { namespace: 'a' }),
    ...more,
  },
});
const ownedBy = (name: string, more: Partial<OwnerReference> = {}): OwnerReference => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  name,
  uid: `uid-${name}`,
  ...more,
});

/** Requests that the collector sends at its start, when the store has these objects. */
async function requestsFor(...objects: readonly KubeObject[]): Promise<unknown[][]> {
  const entries = objects.map((obj) => {
    const resource = registry.findByGroupKind('', obj.kind)?.resource ?? '';
    const { namespace, name } = obj.metadata;
    return { resource, key: namespace === undefined ? name : `${namespace}/${name}`, obj };
  });
  const store = {
    listeners: new Set(),
    resources: () =>
      [...new Set(entries.map(({ resource }) => resource))].map((id) => ({
        id,
        entries: new Map(entries.filter(({ resource }) => resource === id).map((each) => [each.key, each])),
      })),
    get: (resource: string, key: string) =>
      entries.find((each) => each.resource === resource && each.key === key),
    byUid: (uid: string) => entries.find(({ obj }) => obj.metadata.uid === uid),
    byOwner: (uid: string) =>
      entries.filter(({ obj }) => obj.metadata.ownerReferences?.some((owner) => owner.uid === uid)),
  };
  const world = { store, registry, clock: new FakeClock(), rng: seededRng(1), log: silentLogger };
  const sent: unknown[][] = [];
  const send =
    (verb: string) =>
    (_: unknown, { metadata }: KubeObject, body: unknown) => {
      sent.push([verb, metadata.name, body]);
      return Promise.resolve({ code: 200, body: {} });
    };
  const client = {
    delete: send('delete'),
    mergePatch: send('patch'),
    request: (method: string, url: string, { reason }: { reason: string }) => {
      sent.push([method, url, reason]);
      return Promise.resolve({ code: 201, body: {} });
    },
  };
  const collector = new GarbageCollector(world as unknown as World, client as unknown as InternalClient);
  await settle();
  collector.stop();
  expect(store.listeners.size, 'listeners after the stop').to.equal(0);
  return sent;
}
const deleted = (name: string, propagationPolicy = 'Background') => [
  'delete',
  name,
  { propagationPolicy, preconditions: { uid: `uid-${name}` } },
];
const dying = (...finalizers: string[]): Meta => ({ deletionTimestamp: '2026-01-01T00:00:00Z', finalizers });

describe('the garbage collector', () => {
  const owner = object('ConfigMap', 'owner');
  const dependent = (...ownerReferences: OwnerReference[]) => object('ConfigMap', 'd', { ownerReferences });
  const blocking = { blockOwnerDeletion: true };
  const rows: readonly [title: string, objects: readonly KubeObject[], sent: readonly unknown[]][] = [
    ['leaves a dependent of a present owner alone', [owner, dependent(ownedBy('owner'))], []],
    [
      'deletes a dependent of an absent owner, and no later object of its name',
      [dependent(ownedBy('owner'))],
      [deleted('d')],
    ],
    [
      'deletes a dependent whose owner was created again',
      [owner, dependent(ownedBy('owner', { uid: 'before' }))],
      [deleted('d')],
    ],
    [
      'removes the reference to an absent owner beside a present one, from this object only',
      [owner, dependent(ownedBy('owner'), ownedBy('gone'))],
      [['patch', 'd', { metadata: { uid: 'uid-d', ownerReferences: [ownedBy('owner')] } }]],
    ],
    [
      'keeps a dependent of an unknown kind, whatever else is absent',
      [dependent(ownedBy('gone'), ownedBy('x', { kind: 'Unknown' }))],
      [],
    ],
    [
      'keeps an object without namespace that names an owner with one',
      [object('Node', 'n', { ownerReferences: [ownedBy('gone')] })],
      [],
    ],
    [
      'deletes a dependent of an owner in another namespace, with a warning',
      [object('ConfigMap', 'owner', { namespace: 'b' }), dependent(ownedBy('owner'))],
      [['POST', '/api/v1/namespaces/a/events', 'OwnerRefInvalidNamespace'], deleted('d')],
    ],
    [
      'keeps a dependent of an owner without namespace',
      [object('Node', 'n'), dependent(ownedBy('n', { kind: 'Node' }))],
      [],
    ],
    [
      'keeps the propagation that the finalizers of a dependent ask for',
      [
        {
          ...dependent(ownedBy('gone')),
          metadata: { ...dependent(ownedBy('gone')).metadata, finalizers: ['orphan'] },
        },
      ],
      [deleted('d', 'Orphan')],
    ],
    [
      'deletes the dependents of an owner that waits for them',
      [object('ConfigMap', 'owner', dying('foregroundDeletion')), dependent(ownedBy('owner', blocking))],
      [deleted('d')],
    ],
    [
      'deletes dependents that are blocked themselves from the bottom up',
      [
        object('ConfigMap', 'owner', dying('foregroundDeletion')),
        dependent(ownedBy('owner', blocking)),
        object('ConfigMap', 'e', { ownerReferences: [ownedBy('d', blocking)] }),
      ],
      [deleted('d', 'Foreground')],
    ],
    [
      'releases an owner that waits when no dependent blocks it, in the version that was read',
      [object('ConfigMap', 'owner', dying('foregroundDeletion', 'x')), dependent(ownedBy('owner'))],
      [
        ['patch', 'owner', { metadata: { uid: 'uid-owner', resourceVersion: '7', finalizers: ['x'] } }],
        deleted('d'),
      ],
    ],
    [
      'does not wait for a dependent in another namespace',
      [
        object('ConfigMap', 'owner', { ...dying('foregroundDeletion'), namespace: 'b' }),
        dependent(ownedBy('owner', blocking)),
      ],
      [
        ['patch', 'owner', { metadata: { uid: 'uid-owner', resourceVersion: '7', finalizers: null } }],
        ['POST', '/api/v1/namespaces/a/events', 'OwnerRefInvalidNamespace'],
        deleted('d'),
      ],
    ],
    [
      'removes the references of orphans before it releases their owner',
      [
        object('ConfigMap', 'owner', dying('orphan')),
        dependent(ownedBy('owner'), ownedBy('gone')),
        object('ConfigMap', 'e', { ...dying('x'), ownerReferences: [ownedBy('owner')] }),
      ],
      [
        ['patch', 'd', { metadata: { uid: 'uid-d', ownerReferences: [ownedBy('gone')] } }],
        ['patch', 'e', { metadata: { uid: 'uid-e', ownerReferences: null } }],
        ['patch', 'owner', { metadata: { uid: 'uid-owner', resourceVersion: '7', finalizers: null } }],
        ['patch', 'd', { metadata: { uid: 'uid-d', ownerReferences: [ownedBy('owner')] } }],
      ],
    ],
    ['leaves an object that is being deleted to its finalizers', [object('ConfigMap', 'd', dying('x'))], []],
  ];
  for (const [title, objects, sent] of rows)
    it(title, async () => {
      expect(await requestsFor(...objects)).to.deep.equal(sent);
    });
});
