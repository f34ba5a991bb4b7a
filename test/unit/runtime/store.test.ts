import { expect } from 'chai';
import { ObjectStore, type Origin } from '../../../src/runtime/cache/store.ts';
import type { Change } from '../../../src/runtime/types.ts';
import { compareVersions, tellVersionsApart } from '../../../src/runtime/cache/versions.ts';
import { thing, type Thing } from '../../support/scripted-api.ts';
import { told } from './harness.ts';

const at = (version: number, uid?: string): Thing =>
  thing('a', { resourceVersion: String(version), ...(uid !== undefined && { uid }) });
const heard = (changes: readonly Change<Thing>[]): string[] => changes.map((change) => told(change));

describe('the store of watched objects', () => {
  let store: ObjectStore<Thing>;
  beforeEach(() => {
    store = new ObjectStore<Thing>(compareVersions);
  });
  const stored = (): string | undefined => store.get('ns/a')?.metadata.resourceVersion;

  describe('with version 5', () => {
    type Row = readonly [
      title: string,
      obj: Thing,
      origin: Origin,
      changes: readonly string[],
      version: string,
    ];
    const rows: readonly Row[] = [
      ['a newer version by an event', at(6), 'event', ['update ns/a 5→6'], '6'],
      ['a newer version in a list', at(6), 'relist', ['update ns/a 5→6 relisted'], '6'],
      ['a newer version in a fresh list', at(6), 'relist-older', ['update ns/a 5→6 relisted'], '6'],
      ['the same version', at(5), 'event', [], '5'],
      ['the same version in a fresh list', at(5), 'relist-older', [], '5'],
      ['an older version', at(4), 'event', [], '5'],
      ['an older version in a list', at(4), 'relist', [], '5'],
      ['an older version in a fresh list', at(4), 'relist-older', ['update ns/a 5→4 relisted'], '4'],
      ['another object', at(6, 'new'), 'event', ['delete ns/a 5 unknown', 'add ns/a 6'], '6'],
      [
        'another object in the first list',
        at(6, 'new'),
        'first-list',
        ['delete ns/a 5 unknown', 'add ns/a 6 initial'],
        '6',
      ],
      [
        'another object of the same version',
        at(5, 'new'),
        'event',
        ['delete ns/a 5 unknown', 'add ns/a 5'],
        '5',
      ],
      ['another object that is older', at(4, 'new'), 'event', [], '5'],
    ];
    for (const [title, obj, origin, changes, version] of rows)
      it(`receives ${title}`, () => {
        store.put(at(5), 'event');
        expect(heard(store.put(obj, origin))).to.deep.equal(changes);
        expect(stored()).to.equal(version);
      });

    const deletions: readonly (readonly [string, Thing, readonly string[]])[] = [
      ['with its version', at(5), ['delete ns/a 5']],
      ['with a newer version', at(6), ['delete ns/a 6']],
      ['with an older version', at(4), []],
      ['of another object', at(6, 'old'), []],
    ];
    for (const [title, obj, changes] of deletions)
      it(`receives its deletion ${title}`, () => {
        store.put(at(5), 'event');
        expect(heard(store.delete(obj))).to.deep.equal(changes);
        expect(store.size).to.equal(changes.length > 0 ? 0 : 1);
      });
  });

  it('accepts versions that cannot be compared', () => {
    store = new ObjectStore<Thing>(tellVersionsApart);
    store.put(at(5), 'event');
    expect(heard(store.put(at(4), 'event'))).to.deep.equal(['update ns/a 5→4']);
    expect(heard(store.delete(at(3)))).to.deep.equal(['delete ns/a 3']);
  });

  it('reports what is new, and whether it was in the first list', () => {
    expect(heard(store.put(at(5), 'first-list'))).to.deep.equal(['add ns/a 5 initial']);
    expect(heard(store.forget('ns/a'))).to.deep.equal(['delete ns/a 5 unknown']);
    expect(heard(store.put(at(6), 'relist'))).to.deep.equal(['add ns/a 6']);
  });

  it('reports nothing for the deletion of an unknown object', () => {
    expect([store.forget('ns/a'), store.delete(at(5))]).to.deep.equal([[], []]);
  });

  it('knows which versions it has reached', () => {
    expect(store.hasReached('ns/a', '5')).to.equal(false);
    store.put(at(5), 'event');
    expect(['4', '5', '6', undefined].map((version) => store.hasReached('ns/a', version))).to.deep.equal([
      true,
      true,
      false,
      false,
    ]);
  });

  it('finds current objects by namespace and by index', () => {
    const names = (objects: Iterable<{ metadata: { name: string } }>): string[] =>
      [...objects].map(({ metadata }) => metadata.name);
    const other = thing('b', { namespace: 'other', resourceVersion: '5' });
    const without = { ...thing('c'), metadata: { name: 'c', resourceVersion: '5' } };
    store.index('name', ({ metadata }) => [metadata.name]);
    for (const obj of [at(5), other, without]) store.put(obj, 'event');
    expect([names(store.list()), names(store.list('ns')), names(store.list(''))]).to.deep.equal([
      ['a', 'b', 'c'],
      ['a'],
      ['c'],
    ]);
    store.put(thing('d', { resourceVersion: '6' }), 'event');
    store.delete(at(6));
    store.forget('other/b');
    expect([names(store.list('ns')), names(store.list('other'))]).to.deep.equal([['d'], []]);
    expect([names(store.byIndex('name', 'a')), names(store.byIndex('name', 'd'))]).to.deep.equal([[], ['d']]);
    expect([...store.keys()]).to.deep.equal(['c', 'ns/d']);
  });
});
