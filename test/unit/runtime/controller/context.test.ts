import { expect } from 'chai';
import { createContext } from '../../../../src/runtime/controller/context.ts';
import type { EventFacts } from '../../../../src/runtime/controller/recorder.ts';
import { NotWatchedError } from '../../../../src/runtime/errors.ts';
import type { Kind, Obj, View } from '../../../../src/runtime/types.ts';
import { FakeClock } from '../../../support/clock.ts';
import { recordingLogger } from '../../../support/recording-logger.ts';
import { objectOf } from '../support/source-host.ts';
import { parts, widgets } from '../support/world.ts';

describe('the context of a reconcile', () => {
  const primary = objectOf('A/1', { labels: { a: 'b' } });
  const object = (name: string, uid?: string): View<Obj> =>
    objectOf(`A/${name}`, uid === undefined ? {} : { uid });
  const source = (name: string, kind: Kind | undefined, ...found: readonly View<Obj>[]) => ({
    source: { name, stage: 'normal', ...(kind && { kind }), attach: () => attached(found) } as const,
    attached: attached(found),
  });
  const attached = (found: readonly View<Obj>[]) => ({
    start: () => Promise.resolve(),
    of: (asked: View<Obj>) => (asked === primary ? found : []),
  });
  const create = (...sources: readonly ReturnType<typeof source>[]) => {
    const events: EventFacts[] = [];
    const [abort, interrupt] = [new AbortController(), new AbortController()];
    const asked: string[] = [];
    const reconcile = {
      get signal() {
        asked.push('signal');
        return abort.signal;
      },
      get interrupt() {
        asked.push('interrupt');
        return interrupt.signal;
      },
      hasNewEvents: false,
    };
    const ctx = createContext<Obj>({
      controller: { name: 'widgets', kind: widgets, fieldManager: 'me' },
      clock: new FakeClock(),
      live: {} as never,
      key: 'A/1',
      primary,
      reconcile,
      attempt: 2,
      lastAttempt: true,
      log: recordingLogger().log,
      write: (() => undefined) as never,
      recorder: { record: (facts) => events.push(facts), flush: () => Promise.resolve() },
      expectations: {} as never,
      sources: () => sources,
    });
    return { ctx, events, asked, abort, interrupt };
  };

  it('has a private copy of the primary', () => {
    const { ctx } = create();
    const draft = ctx.draft();
    draft.metadata.labels = {};
    expect(ctx.draft()).to.deep.equal(primary);
    expect(ctx.draft()).not.to.equal(primary);
    expect([ctx.key, ctx.attempt, ctx.lastAttempt]).to.deep.equal(['A/1', 2, true]);
  });

  it('asks for its signals when they are needed, and so does a copy of it', () => {
    const { ctx, asked, abort, interrupt } = create();
    expect(asked).to.deep.equal([]);
    expect([ctx.signal, ctx.interrupt]).to.deep.equal([abort.signal, interrupt.signal]);
    const copy = { ...ctx };
    expect([copy.signal, copy.interrupt]).to.deep.equal([abort.signal, interrupt.signal]);
  });

  it('finds the objects of a kind', () => {
    const [a, b] = [object('a', '1'), object('b', '2')];
    const { ctx } = create(
      source('parts', parts, a, b),
      source('others', { ...parts, kind: 'Other' }, object('c')),
    );
    expect([ctx.secondaries(parts), ctx.secondary(parts)]).to.deep.equal([[a, b], a]);
  });

  it('finds none where there are none', () => {
    const { ctx } = create(source('parts', parts));
    expect([ctx.secondaries(parts), ctx.secondary(parts)]).to.deep.equal([[], undefined]);
  });

  it('finds an object once that two sources have', () => {
    const [a, b, c] = [object('a', '1'), object('b', '2'), object('c')];
    const { ctx } = create(source('one', parts, a, b, c), source('two', parts, b, c, object('d')));
    expect(ctx.secondaries(parts).map(({ metadata }) => metadata.name)).to.deep.equal(['a', 'b', 'c', 'd']);
    expect(ctx.secondaries(parts, 'two').map(({ metadata }) => metadata.name)).to.deep.equal(['b', 'c', 'd']);
    expect(ctx.secondary(parts, 'two')?.metadata.name).to.equal('b');
  });

  const versions: readonly (readonly [string, string, string, string])[] = [
    ['the newest of the first source', '10', '9', '10'],
    ['the newest of the last source', '9', '10', '10'],
    ['the one of the last source if they cannot be compared', 'x', 'y', 'y'],
  ];
  for (const [title, first, second, expected] of versions)
    it(`finds of several versions ${title}`, () => {
      const at = (resourceVersion: string): Obj => ({
        apiVersion: 'v1',
        kind: 'Part',
        metadata: { name: 'a', uid: '1', resourceVersion },
      });
      const { ctx } = create(source('one', parts, at(first)), source('two', parts, at(second)));
      expect(ctx.secondaries(parts).map(({ metadata }) => metadata.resourceVersion)).to.deep.equal([
        expected,
      ]);
    });

  it('leaves the objects of one source as they are', () => {
    const { ctx } = create(source('one', parts, object('a', '1'), object('b', '1')));
    expect(ctx.secondaries(parts)).to.have.length(2);
  });

  it('finds the values of a source by its name', () => {
    const { ctx } = create(source('one', parts, object('a')), source('two', undefined, object('b')));
    expect(ctx.valuesOf('two')).to.deep.equal([object('b')]);
  });

  const failures: readonly (readonly [string, (ctx: ReturnType<typeof create>['ctx']) => unknown, string])[] =
    [
      ['of a kind', (ctx) => ctx.secondaries(widgets), 'controller widgets has no source for Widget'],
      [
        'of a kind and a name',
        (ctx) => ctx.secondaries(parts, 'x'),
        'controller widgets has no source named x for Part',
      ],
      ['of a name', (ctx) => ctx.valuesOf('x'), 'controller widgets has no source named x'],
    ];
  for (const [title, ask, message] of failures)
    it(`fails without a source ${title}`, () => {
      const { ctx } = create(source('parts', parts), source('values', undefined));
      expect(() => ask(ctx)).to.throw(NotWatchedError, message);
    });

  it('records events about the primary', () => {
    const { ctx, events } = create();
    ctx.event('Warning', 'Broken', 'It is broken.');
    expect(events).to.deep.equal([
      {
        regarding: primary,
        component: 'widgets',
        type: 'Warning',
        reason: 'Broken',
        note: 'It is broken.',
      },
    ]);
  });
});
