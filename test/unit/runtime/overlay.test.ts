import { expect } from 'chai';
import { Overlay } from '../../../src/runtime/cache/overlay.ts';
import { ObjectStore } from '../../../src/runtime/cache/store.ts';
import {
  compareVersions,
  tellVersionsApart,
  type CompareVersions,
} from '../../../src/runtime/cache/versions.ts';
import { thing, type Thing } from '../../support/scripted-api.ts';

const KEY = 'ns/a';
const at = (version: number, name = 'a', uid = `uid-${name}`): Thing =>
  thing(name, { resourceVersion: String(version), uid });
const everything = (): boolean => true;

describe('own writes on top of watched objects', () => {
  let store: ObjectStore<Thing>;
  let overlay: Overlay<Thing>;
  const start = (compare: CompareVersions): void => {
    store = new ObjectStore<Thing>(compare);
    overlay = new Overlay<Thing>(store, compare);
  };
  beforeEach(() => {
    start(compareVersions);
  });

  const event = (obj: Thing): void => {
    for (const change of store.put(obj, 'event')) overlay.observe(change);
  };
  const deletion = (obj: Thing): void => {
    overlay.observe({ type: 'delete', obj, finalStateUnknown: false });
  };
  const shown = (key = KEY): string | undefined => overlay.get(key)?.obj?.metadata.resourceVersion;
  const found = (value: string): string[] =>
    [...overlay.byIndex('name', value)].map(({ metadata }) => metadata.resourceVersion ?? '');

  interface Row {
    readonly title: string;
    /** Between the start of the write and its response. */
    readonly meanwhile?: () => void;
    readonly answer?: Thing;
    readonly isSelected?: boolean;
    readonly isToCome: boolean;
    /** The version that is shown. */
    readonly shown: string | undefined;
  }
  const rows: readonly Row[] = [
    { title: 'a response before its event is shown', isToCome: true, shown: '12' },
    { title: 'a response after an older event is shown', meanwhile: () => { event(at(11)); }, isToCome: true, shown: '12' },
    { title: 'a response after its event is not', meanwhile: () => { event(at(12)); }, isToCome: false, shown: undefined },
    { title: 'a response after a newer event is not', meanwhile: () => { event(at(13)); }, isToCome: false, shown: undefined },
    { title: 'a response about a deleted object is not', meanwhile: () => { deletion(at(13)); }, isToCome: false, shown: undefined },
    { title: 'a response about a recreated object is shown', meanwhile: () => { deletion(at(11, 'a', 'old')); }, isToCome: true, shown: '12' },
    { title: 'a response after an older list is shown', meanwhile: () => { overlay.relisted('11', everything); }, isToCome: true, shown: '12' },
    { title: 'a response after a list of its version is not', meanwhile: () => { overlay.relisted('12', everything); }, isToCome: false, shown: undefined },
    { title: 'a response after a newer list of something else is shown', meanwhile: () => { overlay.relisted('13', () => false); }, isToCome: true, shown: '12' },
    { title: 'a response that is older than another is not', meanwhile: () => { overlay.put(KEY, at(13), true); }, isToCome: true, shown: '13' },
    { title: 'a response that is newer than another is', meanwhile: () => { overlay.put(KEY, at(11), true); }, isToCome: true, shown: '12' },
    { title: 'a response that does not match the selector is not', isSelected: false, isToCome: false, shown: undefined },
  ]; // prettier-ignore
  for (const { title, meanwhile, answer = at(12), isSelected = true, isToCome, shown: version } of rows)
    it(title, () => {
      overlay.begin(KEY);
      meanwhile?.();
      expect(overlay.put(KEY, answer, isSelected)).to.equal(isToCome);
      overlay.end(KEY);
      expect(shown()).to.equal(version);
      expect(overlay.size).to.equal(version === undefined ? 0 : 1);
    });

  for (const [title, before] of [
    [
      'was stored',
      () => {
        event(at(11));
      },
    ],
    ['was written before', () => void overlay.put(KEY, at(11), true)],
  ] as const)
    // prettier-ignore
    it(`a response that no longer matches the selector hides an object that ${title} until the watch confirms it`, () => {
      overlay.begin(KEY);
      before();
      expect(overlay.put(KEY, at(12), false)).to.equal(true);
      overlay.end(KEY);
      expect(overlay.get(KEY)).to.deep.equal({ key: KEY, uid: 'uid-a', version: '12', obj: undefined });
      deletion(at(12));
      expect(overlay.get(KEY)).to.equal(undefined);
    });

  it('remembers a deletion until the last of several writes has ended, and no longer', () => {
    overlay.begin(KEY);
    overlay.begin(KEY);
    deletion(at(11));
    overlay.end(KEY);
    expect(overlay.put(KEY, at(12), true)).to.equal(false);
    overlay.end(KEY);
    expect(overlay.put(KEY, at(12), true)).to.equal(true);
  });

  it('shows an object whose name the server generated', () => {
    overlay.begin('ns/');
    expect(overlay.put('ns/', at(12), true)).to.equal(true);
    overlay.end('ns/');
    expect(shown()).to.equal('12');
  });

  for (const [title, change, version] of [
    [
      'an older event',
      () => {
        event(at(11));
      },
      '12',
    ],
    [
      'its event',
      () => {
        event(at(12));
      },
      undefined,
    ],
    [
      'a newer event',
      () => {
        event(at(13));
      },
      undefined,
    ],
    [
      'its deletion',
      () => {
        deletion(at(13));
      },
      undefined,
    ],
    [
      'the deletion of a predecessor',
      () => {
        deletion(at(13, 'a', 'old'));
      },
      '12',
    ],
    [
      'an event of another',
      () => {
        event(at(13, 'b'));
      },
      '12',
    ],
  ] as const)
    // prettier-ignore
    it(`is ${version === undefined ? 'dropped' : 'kept'} by ${title}`, () => {
      overlay.put(KEY, at(12), true);
      change();
      expect(shown()).to.equal(version);
    });

  it('is dropped by any event if versions cannot be compared', () => {
    start(tellVersionsApart);
    overlay.put(KEY, at(12), true);
    event(at(11));
    expect(shown()).to.equal(undefined);
  });

  it('is dropped by a list that must contain it, which reports deleted objects', () => {
    for (const [name, version] of [['a', 12], ['b', 13], ['c', 14], ['d', 12]] as const)
      overlay.put(`ns/${name}`, at(version, name), true); // prettier-ignore
    store.put(at(13, 'b'), 'relist');
    const gone = overlay.relisted('13', (key) => key !== 'ns/d');
    expect(gone.map(({ metadata }) => metadata.name)).to.deep.equal(['a']);
    expect([...overlay.entries()].map(({ key }) => key)).to.deep.equal(['ns/c', 'ns/d']);
  });

  it('reports no hidden object when a list arrives', () => {
    event(at(11));
    overlay.put(KEY, at(12), false);
    store.forget(KEY);
    expect(overlay.relisted('13', everything)).to.deep.equal([]);
    expect(overlay.size).to.equal(0);
  });

  it('is forgotten if the history of the server has been reset', () => {
    for (const name of ['a', 'b']) overlay.put(`ns/${name}`, at(12, name), true);
    overlay.clear((key) => key === KEY);
    expect([shown(), shown('ns/b')]).to.deep.equal([undefined, '12']);
  });

  it('is found by an index, whether that was added before or after the write', () => {
    event(at(10, 'hidden'));
    overlay.put(KEY, at(12), true);
    overlay.put('ns/hidden', at(12, 'hidden'), false);
    overlay.index('name', ({ metadata }) => [metadata.name]);
    overlay.put('ns/b', at(12, 'b'), true);
    expect([found('a'), found('b'), found('hidden')]).to.deep.equal([['12'], ['12'], []]);
    overlay.put(KEY, at(13), true);
    event(at(12, 'b'));
    expect([found('a'), found('b')]).to.deep.equal([['13'], []]);
  });
});
