import { expect } from 'chai';
import { EchoFilter } from '../../../src/runtime/cache/echo.ts';
import { ObjectStore } from '../../../src/runtime/cache/store.ts';
import type { Change } from '../../../src/runtime/types.ts';
import { compareVersions, tellVersionsApart } from '../../../src/runtime/cache/versions.ts';
import { FakeClock } from '../../support/clock.ts';
import { widget, type Widget } from './support/world.ts';

describe('the memory of own writes', () => {
  let clock: FakeClock;
  let store: ObjectStore<Widget>;
  let filter: EchoFilter<Widget>;
  beforeEach(() => {
    clock = new FakeClock();
    store = new ObjectStore<Widget>(compareVersions);
    filter = new EchoFilter<Widget>(store, compareVersions, clock);
  });

  const KEY = 'A/1';
  const at = (version: string): Widget => {
    const one = widget(KEY);
    return { ...one, metadata: { ...one.metadata, resourceVersion: version } } as Widget;
  };
  const update = (from: string, to: string): Change<Widget> => ({
    type: 'update',
    old: at(from),
    obj: at(to),
    relisted: false,
  });
  const deletion = (version: string): Change<Widget> => ({
    type: 'delete',
    obj: at(version),
    finalStateUnknown: false,
  });
  const wrote = (version: string, isToCome = true): readonly Change<Widget>[] => {
    filter.begin(KEY);
    return filter.end(KEY, { key: KEY, version, isToCome });
  };
  const everything = (): boolean => true;

  it('never treats a deletion as an echo, even one with the version of an own write', () => {
    wrote('12');
    expect(filter.admit(deletion('12'), false)).to.deep.equal([deletion('12')]);
  });

  it('treats one event as the echo of a write, and no second one', () => {
    wrote('12');
    expect(filter.admit(update('11', '12'), false)).to.deep.equal([]);
    expect(filter.size).to.equal(0);
    wrote('12');
    filter.begin(KEY);
    filter.admit(update('11', '12'), false);
    filter.admit(update('11', '12'), false);
    expect(filter.end(KEY)).to.deep.equal([update('11', '12')]);
  });

  it('forgets a version at once if its event has already arrived', () => {
    expect(wrote('12', false)).to.deep.equal([]);
    expect(filter.size).to.equal(0);
  });

  it('forgets a version that the store has passed', () => {
    wrote('12');
    store.put(at('13'), 'event');
    expect(filter.admit(update('11', '13'), false)).to.deep.equal([update('11', '13')]);
    expect(filter.size).to.equal(0);
  });

  it('forgets versions that a complete list contains, and nothing else', () => {
    wrote('12');
    filter.relisted('11', everything);
    filter.relisted('12', () => false);
    expect(filter.size).to.equal(1);
    filter.relisted('12', everything);
    expect(filter.size).to.equal(0);
  });

  it('forgets a version whose event never arrives, after a while', async () => {
    wrote('12');
    await clock.advance(599_999);
    wrote('1', false);
    expect(filter.size).to.equal(1);
    await clock.advance(1);
    wrote('1', false);
    expect(filter.size).to.equal(0);
  });

  it('reports a deletion among the events it held back, and the events after it', () => {
    filter.begin(KEY);
    filter.admit(update('10', '11'), false);
    filter.admit(deletion('12'), false);
    expect(filter.end(KEY)).to.deep.equal([deletion('12')]);
    filter.begin(KEY);
    filter.admit(deletion('12'), false);
    filter.admit({ type: 'add', obj: at('13'), initial: false }, false);
    store.put(at('13'), 'event');
    expect(filter.end(KEY)).to.deep.equal([deletion('12'), { type: 'add', obj: at('13'), initial: false }]);
  });

  const OTHER = 'A/2';
  const added = (version: string, initial = false): Change<Widget> => ({
    type: 'add',
    obj: at(version),
    initial,
  });

  it('recognizes the echo of an object whose name the server generated', () => {
    filter.begin('A/');
    filter.end('A/', { key: KEY, version: '12', isToCome: true });
    expect(filter.admit(added('12'), false)).to.deep.equal([]);
    filter.begin('A/');
    filter.end('A/', { key: KEY, version: '14', isToCome: false });
    expect(filter.size).to.equal(0);
  });

  it('delivers events of other objects meanwhile', () => {
    filter.begin(OTHER);
    expect(filter.admit(update('11', '12'), false)).to.deep.equal([update('11', '12')]);
  });

  it('reports echoes, and nothing else, to its counter', () => {
    const echoes: Change<Widget>[] = [];
    filter = new EchoFilter<Widget>(store, compareVersions, clock, (change) => echoes.push(change));
    wrote('12');
    filter.admit(update('10', '11'), false);
    filter.admit(update('11', '12'), false);
    expect(echoes).to.deep.equal([update('11', '12')]);
  });

  describe('delivers of the events that it held back', () => {
    const relisted: Change<Widget> = { type: 'update', old: at('11'), obj: at('13'), relisted: true };
    type Row = readonly [string, readonly Change<Widget>[], string | undefined, readonly Change<Widget>[]];
    const rows: readonly Row[] = [
      ['nothing, if there was nothing', [], undefined, []],
      ['nothing, if it was the echo of the write', [update('11', '12')], '12', []],
      [
        'a single change unchanged, even if our write came after it',
        [update('10', '11'), update('11', '12')],
        '12',
        [update('10', '11')],
      ],
      [
        'one change to the stored object, for several',
        [update('9', '10'), update('10', '11'), update('11', '12')],
        '12',
        [update('9', '12')],
      ],
      ['one addition of the stored object', [added('10'), update('10', '11')], undefined, [added('11')]],
    ];
    for (const [title, changes, own, expected] of rows)
      it(title, () => {
        filter.begin(KEY);
        for (const change of changes) {
          store.put(change.obj, 'event');
          expect(filter.admit(change, false)).to.deep.equal([]);
        }
        const answered = own === undefined ? undefined : { key: KEY, version: own, isToCome: false };
        expect(filter.end(KEY, answered)).to.deep.equal(expected);
        expect(filter.size).to.equal(0);
      });

    it('all of it if a list contains the object, as one change found by a list', () => {
      filter.begin(KEY);
      filter.admit(update('10', '11'), false);
      store.put(at('13'), 'relist');
      expect(filter.admit(relisted, true)).to.deep.equal([{ ...relisted, old: at('10') }]);
      expect(filter.end(KEY)).to.deep.equal([]);
    });
  });

  it('delivers the objects of the first list unchanged', () => {
    filter.begin(KEY);
    expect(filter.admit(added('11', true), true)).to.deep.equal([added('11', true)]);
  });

  it('keeps holding events back if a list arrives during the write', () => {
    filter.begin(KEY);
    filter.relisted('11', everything);
    expect(filter.admit(update('11', '12'), false)).to.deep.equal([]);
  });

  it('forgets a version at the next list if versions cannot be compared', () => {
    filter = new EchoFilter<Widget>(store, tellVersionsApart, clock);
    wrote('12');
    filter.relisted('11', everything);
    expect(filter.size).to.equal(0);
  });

  it('forgets versions ten minutes after they were written, whatever else is written', async () => {
    const touchOther = (): void => {
      filter.begin(OTHER);
      filter.end(OTHER);
    };
    await clock.advance(300_000);
    wrote('12');
    await clock.advance(599_999);
    touchOther();
    expect(filter.size).to.equal(1);
    await clock.advance(600_000);
    touchOther();
    expect(filter.size).to.equal(0);
  });
});
