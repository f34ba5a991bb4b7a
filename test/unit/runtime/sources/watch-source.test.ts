import { expect } from 'chai';
import { DefinitionError } from '../../../../src/runtime/errors.ts';
import { SourceSet } from '../../../../src/runtime/sources/source-set.ts';
import { watchSource, type Source } from '../../../../src/runtime/sources/sources.ts';
import type { Obj, View } from '../../../../src/runtime/types.ts';
import { settle } from '../../../support/clock.ts';
import { createHost, FakeCache, objectOf, type TestHost } from '../support/source-host.ts';

/** A part, and the widgets that it belongs to. */
const partOf = (name: string, ...owners: readonly string[]): View<Obj> =>
  objectOf(`A/${name}`, { annotations: { owners: owners.join(',') } });
const ownersOf = ({ metadata }: View<Obj>): readonly string[] =>
  (metadata.annotations?.['owners'] ?? '').split(',').filter(Boolean);

describe('a source that watches a kind', () => {
  let test: TestHost;
  let parts: FakeCache;
  let stop: AbortController;
  beforeEach(() => {
    test = createHost();
    parts = new FakeCache();
    stop = new AbortController();
  });
  const attach = (spec: Partial<Parameters<typeof watchSource<Obj>>[0]> = {}) =>
    watchSource<Obj>({ name: 'parts', cache: parts.asCache(), toPrimary: ownersOf, ...spec }).attach(
      test.host,
    );

  it('has the name and the kind of its cache by default', () => {
    const source = watchSource<Obj>({ cache: parts.asCache(), toPrimary: ownersOf });
    expect([source.name, source.kind, source.cache, source.stage]).to.deep.equal([
      'widgets',
      parts.kind,
      parts,
      'normal',
    ]);
    const other = watchSource<Obj>({
      name: 'x',
      cache: parts.asCache(),
      toPrimary: ownersOf,
      stage: 'state',
    });
    expect([other.name, other.stage]).to.deep.equal(['x', 'state']);
  });

  it('needs a mapper', () => {
    expect(() => watchSource<Obj>({ cache: parts.asCache() })).to.throw(
      DefinitionError,
      'source widgets needs toPrimary or toSecondary',
    );
  });

  it('starts its cache, and listens until its controller stops', async () => {
    const attached = attach();
    await attached.start(stop.signal);
    expect([parts.starts, parts.subscribers.size]).to.deep.equal([1, 1]);
    stop.abort(new Error('stop'));
    expect(parts.subscribers.size).to.equal(0);
  });

  describe('raises events', () => {
    it('for the primaries of what is added, changed or deleted', () => {
      attach();
      parts.add(partOf('p', 'A/1', 'A/2'));
      expect(test.taken()).to.deep.equal(['A/1: parts add', 'A/2: parts add']);
      parts.change({ type: 'update', old: partOf('p', 'A/1'), obj: partOf('p', 'A/2'), relisted: false });
      expect(test.taken()).to.have.members(['A/1: parts update', 'A/2: parts update']);
      parts.change({ type: 'update', old: partOf('p', 'A/1'), obj: partOf('p', 'A/1'), relisted: false });
      expect(test.taken()).to.deep.equal(['A/1: parts update']);
      parts.remove(partOf('p', 'A/2'));
      expect(test.taken()).to.deep.equal(['A/2: parts delete']);
    });

    for (const [how, isSynced, indices] of [
      ['by an index', false, ['widgets/primaries by parts']],
      ['by looking through primaries that were listed before', true, []],
    ] as const)
      it(`for the primaries that name the object, ${how}`, () => {
        test.primaries.isSynced = isSynced;
        const source = watchSource<Obj>({
          name: 'parts',
          cache: parts.asCache(),
          toSecondary: ({ metadata }) => [`A/${metadata.annotations?.['part'] ?? ''}`],
        });
        source.attach(test.host);
        test.primaries.add(objectOf('A/1', { annotations: { part: 'p' } }));
        test.primaries.add(objectOf('A/2', { annotations: { part: 'p' } }));
        test.primaries.add(objectOf('A/3', { annotations: { part: 'q' } }));
        parts.add(objectOf('A/p'));
        parts.add(objectOf('A/r'));
        expect(test.taken()).to.deep.equal(['A/1: parts add', 'A/2: parts add', 'ignored: parts add']);
        expect([...test.primaries.indices.keys()]).to.deep.equal(indices);
      });

    it('not for what was there before', () => {
      attach();
      parts.change({ type: 'add', obj: partOf('p', 'A/1'), initial: true });
      expect(test.taken()).to.deep.equal([]);
    });

    it('not for what concerns no primary, which is counted', () => {
      attach();
      parts.add(partOf('p'));
      expect(test.taken()).to.deep.equal(['ignored: parts add']);
    });

    it('not for what the filter refuses, which is counted', () => {
      attach({ filter: { add: ({ metadata }) => metadata.name !== 'p' } });
      parts.add(partOf('p', 'A/1'));
      parts.add(partOf('q', 'A/1'));
      expect(test.taken()).to.deep.equal(['ignored: parts add', 'A/1: parts add']);
    });

    const fail = (): never => {
      throw new Error('no');
    };
    it('not when the filter fails', () => {
      attach({ filter: { add: fail } });
      parts.add(partOf('p', 'A/1'));
      expect(test.taken()).to.deep.equal(['failed: filter of source parts', 'ignored: parts add']);
    });

    it('not when the mapper fails', () => {
      attach({ toPrimary: fail });
      parts.add(partOf('p', 'A/1'));
      expect(test.taken()).to.deep.equal(['failed: mapper of source parts', 'ignored: parts add']);
    });

    it('not for echoes of own writes, which are counted', () => {
      attach();
      const [subscriber] = parts.subscribers;
      subscriber?.onEcho?.({ type: 'delete', obj: partOf('p', 'A/1'), finalStateUnknown: false });
      expect(test.taken()).to.deep.equal(['echoed: parts delete']);
      expect(subscriber).to.deep.include({ name: 'widgets', ownEvents: 'filter' });
    });
  });

  for (const [title, controller, source, expected] of [
    ['as its controller says', 'deliver', undefined, 'deliver'],
    ['as it says itself', 'deliver', 'filter', 'filter'],
  ] as const)
    it(`treats echoes of own writes ${title}`, () => {
      test = createHost(controller);
      attach({ ...(source && { ownEvents: source }) });
      expect([...parts.subscribers][0]?.ownEvents).to.equal(expected);
    });

  describe('knows what belongs to a primary', () => {
    const names = (found: readonly unknown[]): readonly string[] =>
      found.map((obj) => (obj as View<Obj>).metadata.name);
    const fill = (): void => {
      parts.add(partOf('p', 'A/1'));
      parts.add(partOf('q', 'A/1', 'A/2'));
      parts.add(partOf('r', 'A/3'));
    };

    it('by an index, which it adds before the first list', () => {
      const attached = attach();
      expect([...parts.indices.keys()]).to.deep.equal(['widgets/parts']);
      fill();
      parts.list = () => [];
      expect([names(attached.of(objectOf('A/1'))), names(attached.of(objectOf('A/2')))]).to.deep.equal([
        ['p', 'q'],
        ['q'],
      ]);
    });

    it('by looking through a cache that had its first list before', () => {
      parts.isSynced = true;
      const attached = attach();
      fill();
      expect(parts.indices.size).to.equal(0);
      expect(names(attached.of(objectOf('A/1')))).to.deep.equal(['p', 'q']);
    });

    it('by the keys that the primary names, as far as they are there', () => {
      const attached = attach({ toSecondary: () => ['A/r', 'A/none', 'A/p'] });
      fill();
      expect(parts.indices.size).to.equal(0);
      expect(names(attached.of(objectOf('A/1')))).to.deep.equal(['r', 'p']);
    });
  });
});

describe('the sources of a controller', () => {
  const stop = new AbortController();
  /** A source that notes when it starts and ends, and is in step when a test says so. */
  const noting = (name: string, stage: Source['stage'], notes: string[]) => {
    let ready: () => void = () => undefined;
    const source: Source = {
      name,
      stage,
      attach: () => ({
        start(signal) {
          notes.push(`${name} starts`);
          signal.addEventListener('abort', () => notes.push(`${name}: ${String(signal.reason)}`));
          return new Promise((resolve) => (ready = resolve));
        },
        of: () => [],
      }),
    };
    return { source, ready: () => ready() };
  };

  it('start together, after those that load state are in step', async () => {
    const notes: string[] = [];
    const set = new SourceSet(createHost().host);
    const [normal, state, other] = [
      noting('normal', 'normal', notes),
      noting('state', 'state', notes),
      noting('other', 'state', notes),
    ];
    for (const { source } of [normal, state, other]) set.attach(source);
    const started = set.start(stop.signal).then(() => notes.push('all in step'));
    await settle();
    expect(notes).to.deep.equal(['state starts', 'other starts']);
    state.ready();
    await settle();
    expect(notes).to.have.length(2);
    other.ready();
    await settle();
    expect(notes.at(-1)).to.equal('normal starts');
    normal.ready();
    await started;
    expect(notes.at(-1)).to.equal('all in step');
  });

  it('begin to work when they are added to a running controller', async () => {
    const notes: string[] = [];
    const set = new SourceSet(createHost().host);
    await set.start(stop.signal);
    const { source, ready } = noting('late', 'normal', notes);
    const added = set.add(source);
    expect(notes).to.deep.equal(['late starts']);
    ready();
    await added;
    await set.add(source);
    expect(notes).to.have.length(1);
  });

  it('wait for the start of a controller that has not started', async () => {
    const notes: string[] = [];
    const set = new SourceSet(createHost().host);
    const { source, ready } = noting('early', 'normal', notes);
    await set.add(source);
    expect([notes, set.has('early')]).to.deep.equal([[], true]);
    const started = set.start(stop.signal);
    await settle();
    expect(notes).to.deep.equal(['early starts']);
    ready();
    await started;
  });

  it('end when they are removed', async () => {
    const notes: string[] = [];
    const set = new SourceSet(createHost().host);
    const { source, ready } = noting('x', 'normal', notes);
    set.attach(source);
    const started = set.start(stop.signal);
    await settle();
    ready();
    await started;
    set.remove('y');
    set.remove('x');
    expect(notes).to.deep.equal(['x starts', 'x: Error: source x was removed']);
    expect([set.has('x'), [...set.values()]]).to.deep.equal([false, []]);
  });

  it('end when the controller stops', async () => {
    const notes: string[] = [];
    const end = new AbortController();
    const set = new SourceSet(createHost().host);
    set.attach(noting('x', 'normal', notes).source);
    void set.start(end.signal);
    await settle();
    end.abort(new Error('stop'));
    await settle();
    expect(notes).to.deep.equal(['x starts', 'x: Error: stop']);
  });
});
