import { expect } from 'chai';
import type { Installation } from '../../../src/api/kinds/installation.ts';
import { API_VERSION } from '../../../src/api/labels.ts';
import { executionKind } from '../../../src/api/kinds/execution.ts';
import { MAX_OWNERS, ownerKeyOf, ownersOf, rootOf, withTreeInLog } from '../../../src/landscape/tree.ts';
import type { World } from '../../../src/landscape/world.ts';
import type { ControllerSpec } from '../../../src/runtime/controller/controller.ts';
import type { Obj } from '../../../src/runtime/types.ts';
import { child, execution, installation, item, running } from '../../support/given.ts';

/** Installations with the given owner for each name. */
function worldOf(owners: Readonly<Record<string, string | undefined>>) {
  const all = new Map<string, Installation>();
  for (const [name, owner] of Object.entries(owners)) {
    const ownerReferences = owner
      ? [
          {
            apiVersion: API_VERSION,
            kind: 'Installation',
            name: owner,
            uid: `uid-${owner}`,
            controller: true,
          },
        ]
      : [];
    all.set(`demo/${name}`, installation(name, { meta: { ownerReferences } }));
  }
  const world = { installations: { get: (key: string) => all.get(key) } } as unknown as World;
  const at = (name: string): Installation => {
    const found = all.get(`demo/${name}`);
    if (!found) throw new Error(name);
    return found;
  };
  const namesAbove = (name: string) => ownersOf(world, at(name)).map((o) => o.metadata.name);
  return { world, at, namesAbove };
}

describe('the owners of an installation', () => {
  it('are listed up to the root, the nearest first', () => {
    const { world, at, namesAbove } = worldOf({ root: undefined, middle: 'root', leaf: 'middle' });
    expect(namesAbove('leaf')).to.deep.equal(['middle', 'root']);
    expect(namesAbove('root')).to.deep.equal([]);
    expect(rootOf(world, at('leaf'))).to.equal('demo/root');
  });

  it('end if the caches lack one', () => {
    expect(worldOf({ middle: 'gone', leaf: 'middle' }).namesAbove('leaf')).to.deep.equal(['middle']);
  });

  it('appear once if they own each other', () => {
    expect(worldOf({ a: 'b', b: 'a' }).namesAbove('a')).to.deep.equal(['b']);
    expect(worldOf({ a: 'a' }).namesAbove('a')).to.deep.equal([]);
    expect(worldOf({ a: 'b', b: 'c', c: 'b' }).namesAbove('a')).to.deep.equal(['b', 'c']);
  });

  it('are followed up to the maximum depth of a tree', () => {
    const chain = Array.from({ length: MAX_OWNERS * 2 }, (_, i) => [`i${i}`, i ? `i${i - 1}` : undefined]);
    const { namesAbove } = worldOf(Object.fromEntries(chain) as Record<string, string | undefined>);
    expect(namesAbove(`i${MAX_OWNERS * 2 - 1}`)).to.have.length(MAX_OWNERS);
  });
});

describe('the owner of an object', () => {
  const reference = { apiVersion: API_VERSION, name: 'x', uid: 'uid-x' };
  const rows: readonly (readonly [string, object[] | undefined, object | undefined])[] = [
    ['is the installation that controls it', [{ ...reference, kind: 'Installation', controller: true }], { kind: 'Installation', key: 'demo/x', id: 'Installation/demo/x' }],
    ['is the execution that controls it', [{ ...reference, kind: 'Execution', controller: true }], { kind: 'Execution', key: 'demo/x', id: 'Execution/demo/x' }],
    ['does not include one that does not control it', [{ ...reference, kind: 'Installation' }], undefined],
    ['does not include one of another kind', [{ ...reference, kind: 'ConfigMap', controller: true }], undefined],
    ['does not exist without owner references', undefined, undefined],
  ]; // prettier-ignore
  for (const [title, ownerReferences, owner] of rows) {
    it(title, () => {
      const object = item('plan', 'a', {}, { ownerReferences: ownerReferences as never });
      expect(ownerKeyOf(object)).to.deep.equal(owner);
    });
  }

  it('is looked up among the objects of its kind', () => {
    const top = installation('top');
    const plan = { ...execution('top'), metadata: { ...child('top', 'a').metadata, name: 'top' } };
    const only = (object: Obj) => ({ get: (key: string) => (key === 'demo/top' ? object : undefined) });
    const world = { installations: only(top), executions: only(plan) } as unknown as World;
    expect(ownersOf(world, item('top', 'a')).map(({ kind }) => kind)).to.deep.equal([
      'Execution',
      'Installation',
    ]);
  });
});

describe('a controller whose log lines name the tree', () => {
  const spec: ControllerSpec<Obj> = {
    name: 'x',
    kind: executionKind,
    reconciler: { reconcile: () => Promise.resolve({ write: 'none' }) },
  };
  const world = { installations: new Map([['demo/top', installation('top')]]) } as unknown as World;
  const fieldsFor = (primary: Obj) => withTreeInLog(world, spec).logFields?.(primary);

  it('has the root and the job in each of them', () => {
    expect(fieldsFor(child('top', 'a', running('j1')))).to.deep.equal({ tree: 'demo/top', jobID: 'j1' });
    expect(withTreeInLog(world, spec)).to.include(spec);
  });

  it('has only the job if the process does not read trees', () => {
    const object = child('top', 'a', running('j1'));
    expect(withTreeInLog(undefined, spec).logFields?.(object)).to.deep.equal({ jobID: 'j1' });
  });

  it('has only the root if there is no job', () => {
    expect(fieldsFor(execution('plan'))).to.deep.equal({ tree: 'demo/plan' });
  });
});
