import { expect } from 'chai';
import { API_VERSION, labels } from '../../../src/api/labels.ts';
import { createWorld, index } from '../../../src/landscape/world.ts';
import type { Caches, Kind, Obj, View } from '../../../src/runtime/types.ts';
import { child, execution, installation, item } from '../../support/given.ts';

/** The index keys of an object in its cache. */
function indexesOf(object: Obj): Record<string, readonly string[]> {
  const entries: Record<string, readonly string[]> = {};
  const caches = {
    of: ({ kind }: Kind) => ({
      index(name: string, keysOf: (obj: View<Obj>) => readonly string[]) {
        if (kind === object.kind) entries[name] = keysOf(object);
      },
    }),
  } as unknown as Caches;
  createWorld(caches);
  return entries;
}

const owners = [
  { apiVersion: API_VERSION, kind: 'Installation', name: 'top', uid: 'uid-top', controller: true },
  { apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: 'uid-x' },
];
const of = { [labels.dataContext]: 'Inst.web', [labels.dataSource]: 'Inst.db' };
const data = (kind: string, meta: object): Obj => ({
  apiVersion: API_VERSION,
  kind,
  metadata: { name: 'x', namespace: 'demo', ...meta },
});

const trader = <T extends { readonly spec: object }>(object: T): T => ({
  ...object,
  spec: {
    ...object.spec,
    imports: { data: [{ name: 'in', dataRef: 'in' }], targets: [{ name: 'to', target: 'to' }] },
    exports: { data: [{ name: 'out', dataRef: 'out' }] },
  },
});

describe('the index of a cache', () => {
  const rows: readonly (readonly [string, Obj, Record<string, readonly string[]>])[] = [
    ['has a root by its exports and imports in its namespace', trader(installation('top')), { [index.owner]: [], [index.exports]: ['demo/data/out'], [index.imports]: ['demo/data/in', 'demo/target/to'] }],
    ['has a sub-installation by its owner, and by its exports and imports below that owner', trader(child('top', 'a')), { [index.owner]: ['uid-top'], [index.exports]: ['uid-top/data/out'], [index.imports]: ['uid-top/data/in', 'uid-top/target/to'] }],
    ['has no installation by exports and imports without any', installation('alone'), { [index.owner]: [], [index.exports]: [], [index.imports]: [] }],
    ['has an execution by the owner that controls it, and no other', execution('top', { meta: { ownerReferences: owners } }), { [index.owner]: ['uid-top'] }],
    ['has no execution without an owner', execution('plan'), { [index.owner]: [] }],
    ['has a deploy item by its execution', item('plan', 'a'), { [index.managedBy]: ['demo/plan'], [index.pickedUpType]: [] }],
    ['has a deploy item by its type once a deployer has picked it up', item('plan', 'a', { deployer: { name: 'fake', identity: 'x', version: '1' } }), { [index.managedBy]: ['demo/plan'], [index.pickedUpType]: [item('plan', 'a').spec.type] }],
    ['has a data object by its scope and its writer', data('DataObject', { labels: of }), { [index.context]: ['demo/Inst.web'], [index.source]: ['demo/Inst.db'] }],
    ['has a target by its scope and its writer', data('Target', { labels: of }), { [index.context]: ['demo/Inst.web'], [index.source]: ['demo/Inst.db'] }],
    ['has a data object of a user in the scope of roots, with other labels', data('DataObject', { labels: { mine: 'yes' } }), { [index.context]: ['demo/'], [index.source]: [] }],
    ['has a data object of a user in the scope of roots, without labels', data('DataObject', {}), { [index.context]: ['demo/'], [index.source]: [] }],
  ]; // prettier-ignore
  for (const [title, object, entries] of rows) {
    it(title, () => {
      expect(indexesOf(object)).to.deep.equal(entries);
    });
  }
});

describe('the world of a process that needs only some kinds', () => {
  it('opens no other cache, and using one is a bug', () => {
    const opened: string[] = [];
    const of = ({ kind }: Kind) => {
      opened.push(kind);
      return { index: () => undefined };
    };
    const world = createWorld({ of } as unknown as Caches, {}, ['contexts', 'targets']);
    expect(opened).to.deep.equal(['Target', 'Context']);
    expect(world.targets).not.to.equal(undefined);
    expect(() => world.installations).to.throw('this process does not read installations');
  });
});
