/** Deploy items report objects of a cluster that several of them manage. */
import { expect } from 'chai';
import { deployItemController } from '../../../controllers/deployitem/index.ts';
import { isSharing, sharingChange } from '../../../controllers/deployitem/sharing.ts';
import { deployItemKind, type DeployItem } from '../../../src/api/kinds/deployitem.ts';
import { annotations } from '../../../src/api/labels.ts';
import { managedUids } from '../../../src/api/managed-objects.ts';
import type { View } from '../../../src/runtime/types.ts';
import { NOW, deleting, done, item, running } from '../../support/given.ts';
import { stage, type Stage } from './support/stage.ts';

const JOB = 'j2';

interface Resource {
  readonly uid: string;
  readonly kind?: string;
  readonly name?: string;
  readonly namespace?: string;
}
const managing = (resources: readonly Resource[], status: object = done('j1')) => ({
  ...status,
  providerStatus: {
    managedResources: resources.map((resource) => ({
      policy: 'manage',
      resource: { kind: 'ConfigMap', name: resource.uid, ...resource },
    })),
  },
});
const manager = (name: string, uids: readonly string[], meta: object = {}): DeployItem =>
  item('plan', name, managing(uids.map((uid) => ({ uid }))), meta);
const among =
  (...items: readonly DeployItem[]) =>
  (uid: string): readonly View<DeployItem>[] =>
    items.filter((each) => managedUids(each).includes(uid));
const CONDITION = {
  type: 'SharedObjects',
  status: 'True',
  reason: 'ManagedByOthers',
  lastTransitionTime: NOW,
  lastUpdateTime: NOW,
};

describe('the condition of a deploy item about shared objects', () => {
  const own = manager('a', ['u1', 'u2']);
  const message = (self: DeployItem, ...others: readonly DeployItem[]): string | undefined =>
    sharingChange(self, among(self, ...others), NOW)?.message;

  it('names each of them, and the items', () => {
    const self = item(
      'plan',
      'a',
      managing([
        { uid: 'u1', kind: 'Namespace', name: 'apps' },
        { uid: 'u2', kind: 'Secret', name: 's', namespace: 'apps' },
        { uid: 'u3', name: 'own' },
      ]),
    );
    const change = sharingChange(
      self,
      among(self, manager('c', ['u1', 'u2']), manager('b', ['u1'])),
      '2026-01-02T00:00:00Z',
    );
    const text =
      'other deploy items also manage objects of this item: Namespace apps (demo/plan-b-x, demo/plan-c-x), ' +
      'Secret apps/s (demo/plan-c-x); the last job overwrites their content, ' +
      'and an object is deleted only with the last of these items';
    const time = '2026-01-02T00:00:00Z';
    expect(change).to.deep.equal({
      conditions: [{ ...CONDITION, message: text, lastTransitionTime: time, lastUpdateTime: time }],
      reason: 'ManagedByOthers',
      message: text,
    });
  });

  it('names five, and counts the others', () => {
    const uids = ['u1', 'u2', 'u3', 'u4', 'u5', 'u6', 'u7'];
    const named = (count: number) =>
      message(manager('a', uids.slice(0, count)), manager('b', uids))?.match(/of this item: (.*);/)?.[1];
    expect(named(5)).to.match(/ConfigMap u5 \(demo\/plan-b-x\)$/);
    expect(named(7)).to.match(/ConfigMap u5 \(demo\/plan-b-x\) and 2 more$/);
  });

  it('is not set if each item has its own objects, or if the other item deletes nothing', () => {
    expect(message(own, manager('b', ['u3']))).to.equal(undefined);
    expect(message(own, manager('b', ['u1'], deleting))).to.equal(undefined);
  });

  it('is not set while the item is running or being deleted', () => {
    const other = manager('b', ['u1']);
    expect(message({ ...own, status: { ...own.status!, ...running(JOB) } }, other)).to.equal(undefined);
    expect(message(manager('a', ['u1'], deleting), other)).to.equal(undefined);
  });

  const known = (text: string): DeployItem =>
    ({
      ...own,
      status: {
        ...own.status!,
        conditions: [
          { ...CONDITION, type: 'Other' },
          { ...CONDITION, message: text },
        ],
      },
    }) as DeployItem;

  it('is written once', () => {
    const other = manager('b', ['u1']);
    expect(message(known(message(own, other) ?? ''), other)).to.equal(undefined);
  });

  it('is removed when it is over; other conditions stay', () => {
    expect(sharingChange(known('once'), among(own), NOW)).to.deep.equal({
      conditions: [{ ...CONDITION, type: 'Other' }],
      reason: 'NoSharedObjects',
      message: 'no other deploy item manages the objects of this item',
    });
  });

  it('costs a few reads for each object, however many items manage it', () => {
    const uids = Array.from({ length: 100 }, (_, i) => `u${String(i)}`);
    const others = Array.from({ length: 500 }, (_, i) => manager(`m${String(i)}`, ['u1']));
    let reads = 0;
    const all = function* (): Generator<View<DeployItem>> {
      for (const other of others) {
        reads++;
        yield other;
      }
    };
    const text = sharingChange(manager('a', uids), all, NOW)?.message;
    expect(text).to.match(/ConfigMap u0 \(demo\/plan-m0-x, .* and 15 more\).* and 95 more; /);
    expect(reads).to.be.below(uids.length + 5 * 25);
    reads = 0;
    isSharing(manager('a', uids), all);
    expect(reads).to.be.below(5);
  });

  it('also covers objects that stay on a cluster to which the target of an item no longer leads', () => {
    const providerStatus = managing([{ uid: 'u2' }]).providerStatus;
    const moved = item('plan', 'b', {
      ...done('j1'),
      providerStatus: {},
      leftBehind: [
        { cluster: { uid: 'c' }, providerStatus },
        { omitted: 3, clusters: 1 },
      ],
    });
    expect(message(own, moved)).to.contain('ConfigMap u2 (demo/plan-b-x)');
  });

  it('is checked for items that have it, or share objects with others', () => {
    const rows: readonly [DeployItem, readonly DeployItem[], boolean][] = [
      [own, [], false],
      [own, [manager('b', ['u3'])], false],
      [own, [manager('b', ['u2'])], true],
      [known('once'), [], true],
      [item('plan', 'a', { conditions: [{ ...CONDITION, type: 'Other', message: '' }] }), [], false],
      [{ ...own, status: undefined }, [], false],
    ];
    for (const [self, others, expected] of rows)
      expect(isSharing(self, among(self, ...others))).to.equal(expected);
  });
});

describe('the deploy item controller with shared objects', () => {
  let on: Stage;
  beforeEach(() => {
    on = stage((ports) => deployItemController({ ...ports, pickupTimeoutMs: 300_000 }));
  });
  afterEach(() => on.end());

  const put = (object: DeployItem): string => {
    const { metadata } = on.client.put(deployItemKind, object);
    return `${metadata.namespace ?? ''}/${metadata.name}`;
  };
  const stored = (key: string): DeployItem | undefined => on.client.read(deployItemKind, key);
  const shared = (key: string): string | undefined =>
    stored(key)?.status?.conditions?.find(({ type }) => type === 'SharedObjects')?.message;

  it('sets the condition of both items, and removes it when one of them is deleted', async () => {
    const a = put(manager('a', ['u1']));
    const b = put({ ...manager('b', ['u1']), metadata: { ...manager('b', []).metadata, finalizers: [] } });
    await on.start();
    expect(shared(a)).to.contain('ConfigMap u1 (demo/plan-b-x)');
    expect(shared(b)).to.contain('ConfigMap u1 (demo/plan-a-x)');
    expect(
      on.client.told.every((text) => text.startsWith('Normal ManagedByOthers: other deploy items')),
    ).to.equal(true);
    on.client.remove(deployItemKind, b);
    await on.settle();
    expect(shared(a)).to.equal(undefined);
    expect(stored(a)?.status).not.to.have.property('conditions');
    expect(on.client.told.at(-1)).to.match(/^Normal NoSharedObjects: /);
    expect(on.client.told).to.have.length(3);
  });

  it('informs the other item as soon as one starts or stops managing its object', async () => {
    const a = put(manager('a', ['u1']));
    const b = put(manager('b', ['u2']));
    await on.start();
    expect(on.client.changes).to.deep.equal([]);
    const manage = (uid: string) => {
      on.client.edit(deployItemKind, b, { status: managing([{ uid }]) }, 'status');
      return on.settle();
    };
    await manage('u1');
    expect([shared(a), shared(b)].map(Boolean)).to.deep.equal([true, true]);
    await manage('u2');
    expect([shared(a), shared(b)].map(Boolean)).to.deep.equal([false, false]);
  });

  it('informs the other item as soon as one is about to be uninstalled', async () => {
    const a = put(manager('a', ['u1']));
    const b = put(manager('b', ['u1']));
    await on.start();
    on.client.remove(deployItemKind, b);
    await on.settle();
    expect(stored(b)?.metadata.deletionTimestamp).not.to.equal(undefined);
    expect(shared(a)).to.equal(undefined);
  });

  it('keeps the condition if the other item is deleted without being uninstalled', async () => {
    const a = put(manager('a', ['u1']));
    const b = put(manager('b', ['u1'], { annotations: { [annotations.deleteWithoutUninstall]: 'true' } }));
    await on.start();
    on.client.remove(deployItemKind, b);
    await on.settle();
    expect(stored(b)?.metadata.deletionTimestamp).not.to.equal(undefined);
    expect(shared(a)).to.contain('plan-b-x');
  });

  it('reconciles an item once when it starts, and again only if there is something to do', async () => {
    const rest = put(item('plan', 'rest', done(JOB)));
    const a = put(manager('a', ['u1']));
    const b = put(manager('b', ['u2']));
    const work = put(item('plan', 'work', { ...running(JOB), lastReconcileTime: NOW }));
    await on.start();
    expect(on.runs.splice(0)).to.have.members([a, b]);
    for (const key of [rest, a, b, work])
      on.client.edit(deployItemKind, key, { metadata: { labels: { x: 'y' } } });
    await on.clock.advance(10_000);
    expect(on.runs).to.deep.equal([]);
  });

  it('reconciles an item once if it is created later and shares nothing', async () => {
    put(manager('a', ['u1']));
    await on.start();
    on.runs.splice(0);
    const b = put(manager('b', ['u2']));
    await on.settle();
    expect(on.runs).to.deep.equal([b]);
  });

  it('reconciles an item once if it shares an object and something else about it changes', async () => {
    const a = put(manager('a', ['u1']));
    put(manager('b', ['u1']));
    await on.start();
    await on.clock.advance(10_000);
    on.runs.length = 0;
    on.client.edit(deployItemKind, a, { metadata: { labels: { x: 'y' } } });
    await on.clock.advance(10_000);
    expect(on.runs).to.deep.equal([a]);
  });
});
