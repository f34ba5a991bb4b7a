import { expect } from 'chai';
import { EchoFilter } from '../../../src/runtime/echo.ts';
import { ObjectStore } from '../../../src/runtime/store.ts';
import type { Change } from '../../../src/runtime/types.ts';
import { compareVersions } from '../../../src/runtime/versions.ts';
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
});
