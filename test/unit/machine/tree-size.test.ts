import { expect } from 'chai';
import type { DeployItem } from '../../../src/api/kinds/deployitem.ts';
import type { Execution } from '../../../src/api/kinds/execution.ts';
import type { Installation } from '../../../src/api/kinds/installation.ts';
import { createTreeSizes } from '../../../src/landscape/tree-size.ts';
import type { World } from '../../../src/landscape/world.ts';
import { keyOf } from '../../../src/runtime/keys.ts';
import type { Cache, Change, Obj, Subscriber } from '../../../src/runtime/types.ts';
import { child, done, execution, installation, item, running } from '../../support/given.ts';

/** A cache with given objects that notifies its listeners. */
class FakeCache<T extends Obj> {
  readonly objects = new Map<string, T>();
  reads = 0;
  #on: (change: Change<T>) => void = () => undefined;

  get(key: string): T | undefined {
    this.reads++;
    return this.objects.get(key);
  }

  subscribe({ on }: Subscriber<T>): () => void {
    this.#on = on;
    return () => undefined;
  }

  put(...objects: readonly T[]): void {
    for (const obj of objects) {
      const key = keyOf(obj);
      const old = this.objects.get(key);
      this.objects.set(key, obj);
      this.#on(
        (old
          ? { type: 'update', old, obj, relisted: false }
          : { type: 'add', obj, initial: false }) as Change<T>,
      );
    }
  }

  /** An event of an object that has changed since. */
  tell(obj: T): void {
    this.#on({ type: 'update', old: obj, obj, relisted: false } as Change<T>);
  }

  drop(obj: T): void {
    this.objects.delete(keyOf(obj));
    this.#on({ type: 'delete', obj, finalStateUnknown: false } as unknown as Change<T>);
  }
}

function setUp(limit?: number) {
  const installations = new FakeCache<Installation>();
  const executions = new FakeCache<Execution>();
  const deployItems = new FakeCache<DeployItem>();
  const all = { installations, executions, deployItems } as unknown as Record<keyof World, Cache<Obj>>;
  const trees = createTreeSizes(all as unknown as World, limit);
  const present = (self: Installation): number => trees.reserve(self, 0).present;
  return { installations, executions, deployItems, trees, present };
}

const executionOf = (name: string): Execution =>
  execution(name, { meta: { ownerReferences: [ownerOf(name)] } });
const ownerOf = (name: string) => ({
  apiVersion: 'landscaper.gardener.cloud/v1alpha1',
  kind: 'Installation',
  name,
  uid: `uid-${name}`,
  controller: true,
});

const top = installation('top', { status: running('j1') });
const other = installation('other');
const a = child('top', 'a', running('j1'));
const b = child('a-x', 'b', running('j1'));

describe('the size of a tree', () => {
  it('counts installations, executions and deploy items below the root, and no other tree', () => {
    const { installations, executions, deployItems, present } = setUp();
    installations.put(top, a, b, other);
    executions.put(executionOf('b-x'));
    deployItems.put(item('b-x', 'one'), item('b-x', 'two'));
    expect(present(b)).to.equal(6);
    expect(present(top)).to.equal(6);
    expect(present(other)).to.equal(1);
  });

  it('is the same for any order and repetition of events', () => {
    const { installations, executions, deployItems, present } = setUp();
    deployItems.put(item('b-x', 'one'), item('b-x', 'two'), item('b-x', 'two'));
    installations.put(b, a);
    executions.put(executionOf('b-x'), executionOf('b-x'));
    installations.put(top, a, b);
    expect(present(top)).to.equal(6);
  });

  it('shrinks with deleted objects, even if the middle is deleted first', () => {
    const { installations, executions, deployItems, present } = setUp();
    installations.put(top, a, b);
    executions.put(executionOf('b-x'));
    deployItems.put(item('b-x', 'one'));
    installations.drop(a);
    expect(present(top)).to.equal(4);
    deployItems.drop(item('b-x', 'one'));
    executions.drop(executionOf('b-x'));
    installations.drop(b);
    expect(present(top)).to.equal(1);
  });

  it('follows an object that gets another owner', () => {
    const { installations, present } = setUp();
    installations.put(top, other, a, b);
    installations.put({ ...a, metadata: { ...a.metadata, ownerReferences: [ownerOf('other')] } });
    expect([present(top), present(other)]).to.deep.equal([1, 3]);
  });

  it('includes an object again that is deleted and recreated', () => {
    const { installations, present } = setUp();
    installations.put(top, a, b);
    for (let i = 0; i < 3; i++) {
      installations.drop(b);
      expect(present(top)).to.equal(2);
      installations.put(b);
    }
    expect(present(top)).to.equal(3);
  });

  it('is unchanged by the deletion of an unknown object', () => {
    const { installations, present } = setUp();
    installations.put(top, a);
    installations.drop(b);
    installations.drop(b);
    expect(present(top)).to.equal(2);
    installations.put(b);
    installations.drop(b);
    installations.drop(b);
    expect(present(top)).to.equal(2);
  });

  it('is one for a root that is not in the caches yet', () => {
    const { installations, present } = setUp();
    expect(present(top)).to.equal(0);
    installations.put(a);
    expect(present(top)).to.equal(1);
  });

  it('loses a branch whose object has no owner any more', () => {
    const { installations, present } = setUp();
    installations.put(top, a, b);
    const free = { ...a, metadata: { ...a.metadata, ownerReferences: [] } };
    installations.put(free);
    expect([present(top), present(free)]).to.deep.equal([1, 2]);
  });

  it('ends with cyclic owners', () => {
    const { installations, present } = setUp();
    const one = installation('one', { meta: { ownerReferences: [ownerOf('two')] } });
    const two = installation('two', { meta: { ownerReferences: [ownerOf('one')] } });
    installations.put(one, two);
    expect(present(one)).to.be.at.least(1);
    installations.drop(one);
    installations.drop(two);
  });

  it('is computed without reading other objects', () => {
    const { installations, present } = setUp();
    installations.put(top, a, ...Array.from({ length: 1000 }, (_, i) => child('top', `c${i}`)));
    installations.reads = 0;
    expect(present(a)).to.equal(1002);
    expect(installations.reads, 'the owner').to.be.at.most(2);
  });
});

describe('a reservation for objects of a tree', () => {
  it('is granted up to the limit, and denied beyond it', () => {
    const { installations, trees } = setUp(5);
    installations.put(top, a);
    expect(trees.reserve(a, 3)).to.deep.equal({
      root: 'top',
      present: 2,
      reserved: 0,
      added: 3,
      limit: 5,
      isGranted: true,
    });
    expect(trees.reserve(a, 4)).to.include({ isGranted: false, present: 2, reserved: 0 });
  });

  it('includes objects that others have reserved and not created yet', () => {
    const { installations, trees } = setUp(10);
    installations.put(top, a, child('top', 'c', running('j1')));
    expect(trees.reserve(a, 4).isGranted).to.equal(true);
    expect(trees.reserve(child('top', 'c'), 4)).to.include({ isGranted: false, present: 3, reserved: 4 });
    expect(trees.reserve(child('top', 'c'), 3).isGranted).to.equal(true);
  });

  it('replaces the previous one, so that a retry reserves nothing twice', () => {
    const { installations, trees } = setUp(6);
    installations.put(top, a);
    for (let attempt = 0; attempt < 3; attempt++) expect(trees.reserve(a, 4).isGranted).to.equal(true);
  });

  it('shrinks as the objects arrive, including those of the execution of the same name', () => {
    const { installations, executions, deployItems, trees } = setUp(10);
    const c = child('top', 'c', running('j1'));
    installations.put(top, a, c);
    trees.reserve(a, 4);
    const reserved = () => trees.reserve(c, 0).reserved;
    expect(reserved()).to.equal(4);
    installations.put(b);
    executions.put(executionOf('a-x'));
    expect(reserved()).to.equal(2);
    deployItems.put(item('a-x', 'one'), item('a-x', 'two'));
    expect(reserved()).to.equal(0);
    expect(trees.reserve(c, 0).present).to.equal(7);
  });

  it('that is denied takes no room', () => {
    const { installations, trees } = setUp(5);
    const c = child('top', 'c', running('j1'));
    installations.put(top, a, c);
    expect(trees.reserve(a, 9).isGranted).to.equal(false);
    expect(trees.reserve(c, 2)).to.include({ isGranted: true, reserved: 0 });
  });

  it('does not shrink for a deleted object, or for a repeated event', () => {
    const { installations, trees } = setUp(10);
    const c = child('top', 'c', running('j1'));
    installations.put(top, a, c);
    trees.reserve(a, 4);
    const reserved = () => trees.reserve(c, 0).reserved;
    installations.put(b);
    installations.put(b);
    installations.drop(b);
    expect(reserved()).to.equal(3);
  });

  it('is over when its objects have arrived, and further ones do not reduce the reservations of others', () => {
    const { installations, trees } = setUp(20);
    const c = child('top', 'c', running('j1'));
    installations.put(top, a, c);
    trees.reserve(c, 5);
    trees.reserve(a, 1);
    installations.put(b, child('a-x', 'd', running('j1')), child('a-x', 'e', running('j1')));
    expect(trees.reserve(a, 0).reserved).to.equal(5);
  });

  it('stays while the job of the installation runs, whatever events arrive', () => {
    const { installations, trees } = setUp(10);
    const c = child('top', 'c', running('j1'));
    installations.put(top, a, c);
    trees.reserve(a, 4);
    installations.put(child('top', 'a', running('j1', 'Completing')));
    expect(trees.reserve(c, 0).reserved).to.equal(4);
  });

  it('follows the cached installation, not an outdated event', () => {
    const { installations, trees } = setUp(10);
    const c = child('top', 'c', running('j1'));
    installations.put(top, a, c);
    trees.reserve(a, 4);
    installations.tell(child('top', 'a', done('j0')));
    expect(trees.reserve(c, 0).reserved).to.equal(4);
  });

  it('ends with the job of the installation, and with the installation', () => {
    const { installations, trees } = setUp(10);
    const c = child('top', 'c', running('j1'));
    installations.put(top, a, c);
    trees.reserve(a, 4);
    installations.put(child('top', 'a', done('j1', 'Failed')));
    expect(trees.reserve(c, 0).reserved).to.equal(0);
    trees.reserve(a, 4);
    installations.drop(a);
    expect(trees.reserve(c, 0).reserved).to.equal(0);
  });

  it('for nothing is granted in a tree that is already too large', () => {
    const { installations, trees } = setUp(1);
    installations.put(top, a, b);
    expect(trees.reserve(a, 0).isGranted).to.equal(true);
  });
});
