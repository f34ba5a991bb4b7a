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
    ...{ type: 'update', old: at(from), obj: at(to), relisted: false },
  });
  const deletion = (version: string): Change<Widget> => ({
    ...{ type: 'delete', obj: at(version), finalStateUnknown: false },
  });
  const wrote = (version: string, isToCome = true): readonly Change<Widget>[] => {
    filter.begin(KEY);
    return filter.end(KEY, { key: KEY, version, isToCome });
  };
  const everything = (): boolean => true;

  it('never takes a deletion for an echo, even one with the version of an own write', () => {
    wrote('12');
    expect(filter.admit(deletion('12'), false)).to.deep.equal([deletion('12')]);
  });

  it('takes one event for the echo of a write, and no second one', () => {
    wrote('12');
    expect(filter.admit(update('11', '12'), false)).to.deep.equal([]);
    expect(filter.size).to.equal(0);
    wrote('12');
    filter.begin(KEY);
    filter.admit(update('11', '12'), false);
    filter.admit(update('11', '12'), false);
    expect(filter.end(KEY)).to.deep.equal([update('11', '12')]);
  });

  it('forgets a version at once when its event has come already', () => {
    expect(wrote('12', false)).to.deep.equal([]);
    expect(filter.size).to.equal(0);
  });

  it('forgets a version that the store has passed', () => {
    wrote('12');
    store.put(at('13'), 'event');
    expect(filter.admit(update('11', '13'), false)).to.deep.equal([update('11', '13')]);
    expect(filter.size).to.equal(0);
  });

  it('forgets what a complete list has covered, and nothing else', () => {
    wrote('12');
    filter.relisted('11', everything);
    filter.relisted('12', () => false);
    expect(filter.size).to.equal(1);
    filter.relisted('12', everything);
    expect(filter.size).to.equal(0);
  });

  it('forgets a version whose event never comes, after a while', async () => {
    wrote('12');
    await clock.advance(599_999);
    wrote('1', false);
    expect(filter.size).to.equal(1);
    await clock.advance(1);
    wrote('1', false);
    expect(filter.size).to.equal(0);
  });

  it('reports a deletion among the events it held back, and what came after it', () => {
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
    ...{ type: 'add', obj: at(version), initial },
  });

  it('knows the echo of an object that was given its name by the server', () => {
    filter.begin('A/');
    filter.end('A/', { key: KEY, version: '12', isToCome: true });
    expect(filter.admit(added('12'), false)).to.deep.equal([]);
    filter.begin('A/');
    filter.end('A/', { key: KEY, version: '14', isToCome: false });
    expect(filter.size).to.equal(0);
  });

  it('delivers what happens to other objects meanwhile', () => {
    filter.begin(OTHER);
    expect(filter.admit(update('11', '12'), false)).to.deep.equal([update('11', '12')]);
  });

  it('reports echoes, and nothing else, to whoever counts them', () => {
    const echoes: Change<Widget>[] = [];
    filter = new EchoFilter<Widget>(store, compareVersions, clock, (change) => echoes.push(change));
    wrote('12');
    filter.admit(update('10', '11'), false);
    filter.admit(update('11', '12'), false);
    expect(echoes).to.deep.equal([update('11', '12')]);
  });

  describe('delivers of what it held back', () => {
    const relisted: Change<Widget> = { type: 'update', old: at('11'), obj: at('13'), relisted: true };
    type Row = readonly [string, readonly Change<Widget>[], string | undefined, readonly Change<Widget>[]];
    const rows: readonly Row[] = [
      ['nothing, when there was nothing', [], undefined, []],
      ['nothing, when it was the echo of the write', [update('11', '12')], '12', []],
      [
        'a single change as it was, even if our write came after it',
        [update('10', '11'), update('11', '12')],
        '12',
        [update('10', '11')],
      ],
      [
        'one change to what is stored, for several',
        [update('9', '10'), update('10', '11'), update('11', '12')],
        '12',
        [update('9', '12')],
      ],
      ['one addition of what is stored', [added('10'), update('10', '11')], undefined, [added('11')]],
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

    it('all of it when a list shows the object, as one change that a list has found', () => {
      filter.begin(KEY);
      filter.admit(update('10', '11'), false);
      store.put(at('13'), 'relist');
      expect(filter.admit(relisted, true)).to.deep.equal([{ ...relisted, old: at('10') }]);
      expect(filter.end(KEY)).to.deep.equal([]);
    });
  });

  it('delivers what the first list shows as it is', () => {
    filter.begin(KEY);
    expect(filter.admit(added('11', true), true)).to.deep.equal([added('11', true)]);
  });

  it('goes on holding events back when a list comes during the write', () => {
    filter.begin(KEY);
    filter.relisted('11', everything);
    expect(filter.admit(update('11', '12'), false)).to.deep.equal([]);
  });

  it('forgets a version at the next list when versions cannot be compared', () => {
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
