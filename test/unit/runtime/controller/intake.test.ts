/** Which events become reconciles, and with what priority. */
import { expect } from 'chai';
import { ActiveReconciles } from '../../../../src/runtime/controller/active-reconciles.ts';
import { Intake } from '../../../../src/runtime/controller/intake.ts';
import { Slots } from '../../../../src/runtime/controller/slots.ts';
import { settingsOf, type ControllerSpec } from '../../../../src/runtime/controller/spec.ts';
import type { ControllerMetrics } from '../../../../src/observability/controller-metrics.ts';
import { createQueue, INITIAL_PRIORITY } from '../../../../src/runtime/queue/queue.ts';
import type { Expectations } from '../../../../src/runtime/controller/expectations.ts';
import type { Change, View } from '../../../../src/runtime/types.ts';
import { FakeClock } from '../../../support/clock.ts';
import { recordingLogger } from '../../../support/recording-logger.ts';
import { FakeCache, objectOf } from '../support/source-host.ts';
import { noChance, nothing, widgets, type Widget } from '../support/world.ts';

function createIntake(spec: Partial<ControllerSpec<Widget>> = {}) {
  const clock = new FakeClock();
  const cache = new FakeCache();
  cache.isSynced = true;
  const queue = createQueue(clock);
  const slots = new Slots(undefined);
  const active = new ActiveReconciles(clock, undefined, {
    timedOut: () => undefined,
    overdue: () => undefined,
  });
  const { log, lines } = recordingLogger();
  const events: string[] = [];
  const gone: View<Widget>[] = [];
  const reconciler = { reconcile: () => Promise.resolve(nothing) };
  const settings = settingsOf<Widget>({
    name: 'w',
    kind: widgets,
    reconciler,
    generation: 'off',
    syncPeriodMs: 1_000,
    ...spec,
  });
  const metrics = {
    event: (source: string, action: string, outcome: string) => events.push(`${source} ${action} ${outcome}`),
  } as unknown as ControllerMetrics;
  const intake = new Intake<Widget>({
    settings,
    cache: cache.asCache<Widget>(),
    queue,
    slots,
    active,
    expectations: { size: 0, check: () => undefined } as unknown as Expectations<Widget>,
    metrics,
    clock,
    rng: noChance,
    log,
    handles: () => true,
    onGone: (primary) => gone.push(primary),
  });
  /** The keys that are ready, with their priorities. */
  const ready = (): unknown => Object.fromEntries([...queue.depths()].filter(([, depth]) => depth > 0));
  return { intake, clock, cache, queue, slots, active, lines, events, gone, ready };
}

const object = objectOf('A/1', { uid: 'u' }) as View<Widget>;
const added = (initial = false): Change<Widget> => ({ type: 'add', obj: object, initial });
const updated: Change<Widget> = { type: 'update', old: object, obj: object, relisted: false };
const deleted: Change<Widget> = { type: 'delete', obj: object, finalStateUnknown: false };

describe('an event of a primary', () => {
  const rows: readonly (readonly [string, Change<Widget>, string, object])[] = [
    ['that is added', added(), 'primary add queued', { 0: 1 }],
    ['that was there before', added(true), 'primary add queued', { [INITIAL_PRIORITY]: 1 }],
    ['that is updated', updated, 'primary update queued', { 0: 1 }],
  ];
  for (const [title, change, event, ready] of rows)
    it(`becomes a reconcile: one ${title}`, () => {
      const scene = createIntake();
      scene.intake.onPrimary(change);
      expect([scene.events, scene.ready()]).to.deep.equal([[event], ready]);
    });

  it('is merged with one that waits', () => {
    const scene = createIntake();
    scene.intake.onPrimary(updated);
    scene.intake.onPrimary(updated);
    expect(scene.events).to.deep.equal(['primary update queued', 'primary update merged']);
  });

  it('is traced', () => {
    const scene = createIntake();
    scene.intake.onPrimary(updated);
    expect(scene.lines).to.deep.equal([
      {
        level: 'trace',
        message: 'event',
        fields: {
          controller: 'w',
          key: 'A/1',
          'eventsource.name': 'primary',
          'eventsource.event.action': 'update',
        },
      },
    ]);
  });

  it('is left out if it does not matter; an object that is seen first gets its sync period', async () => {
    const never = { add: () => false, update: () => false };
    const scene = createIntake({ filter: never });
    scene.intake.onPrimary(updated);
    expect([scene.events, scene.queue.timerOf('A/1')]).to.deep.equal([
      ['primary update filtered'],
      undefined,
    ]);
    scene.intake.onPrimary(added());
    expect(scene.events.at(-1)).to.equal('primary add filtered');
    expect(scene.queue.timerOf('A/1')).to.deep.include({ kind: 'sync', when: 1_000 });
    await scene.clock.advance(500);
    scene.intake.onPrimary(added());
    expect(scene.queue.timerOf('A/1')).to.deep.include({ kind: 'sync', when: 1_000 });
    await scene.clock.advance(500);
    expect(scene.ready()).to.deep.equal({ 0: 1 });
  });

  it('starts no sync period that is switched off', () => {
    const scene = createIntake({ filter: { add: () => false }, syncPeriodMs: 0 });
    scene.intake.onPrimary(added());
    expect([scene.queue.timerOf('A/1'), scene.clock.pending]).to.deep.equal([undefined, 0]);
  });

  it('is left out if the filter fails, which is logged', () => {
    const error = new Error('no');
    const scene = createIntake({
      filter: {
        update: () => {
          throw error;
        },
      },
    });
    scene.intake.onPrimary(updated);
    expect(scene.events).to.deep.equal(['filter failed filtered', 'primary update filtered']);
    expect(scene.lines).to.deep.equal([
      {
        level: 'error',
        message: 'event handler failed, event ignored',
        fields: { controller: 'w', what: 'filter', err: error },
      },
    ]);
  });

  it('has no effect after the object was released, except on a new object of the same name', () => {
    const scene = createIntake();
    scene.slots.of('A/1', 'u').parkedUid = 'u';
    scene.intake.onPrimary(updated);
    expect([scene.events, scene.ready()]).to.deep.equal([[], {}]);
    const namesake = objectOf('A/1', { uid: 'v' }) as View<Widget>;
    scene.intake.onPrimary({ type: 'add', obj: namesake, initial: false });
    expect(scene.ready()).to.deep.equal({ 0: 1 });
  });

  it('that is deleted ends everything about it', () => {
    const scene = createIntake();
    scene.slots.of('A/1', 'u').attempt = 1;
    scene.intake.onPrimary(updated);
    scene.intake.onPrimary(deleted);
    expect([scene.events.at(-1), scene.ready(), scene.slots.size, scene.gone]).to.deep.equal([
      'primary delete filtered',
      {},
      0,
      [object],
    ]);
  });

  it('that is deleted during its reconcile is left to the end of that', () => {
    const scene = createIntake();
    scene.slots.of('A/1', 'u');
    scene.active.begin({ key: 'A/1', dirty: () => false });
    scene.intake.onPrimary(deleted);
    expect([scene.slots.size, scene.gone]).to.deep.equal([1, []]);
  });

  describe('interrupts its reconcile', () => {
    const interrupted = (spec: Partial<ControllerSpec<Widget>>, change: Change<Widget>) => {
      const scene = createIntake(spec);
      const run = scene.active.begin({ key: 'A/1', dirty: () => false });
      scene.intake.onPrimary(change);
      return { ...scene, isInterrupted: run.interrupt.aborted };
    };
    const isDeletion = ({ type }: Change<Widget>): boolean => type === 'delete';

    for (const [title, spec, change, expected] of [
      ['if the author says so', { interruptWhen: isDeletion }, deleted, true],
      ['not for another change', { interruptWhen: isDeletion }, updated, false],
      ['not if the author says nothing', {}, deleted, false],
    ] as const)
      it(title, () => {
        expect(interrupted(spec, change).isInterrupted).to.equal(expected);
      });

    it('not if the condition fails', () => {
      const fail = (): never => {
        throw new Error('no');
      };
      const { isInterrupted, events } = interrupted({ interruptWhen: fail }, updated);
      expect([isInterrupted, events[0]]).to.deep.equal([false, 'interrupt condition failed filtered']);
    });
  });
});

describe('an event of a source', () => {
  const cause = { source: 'parts', action: 'delete' } as const;

  it('becomes a reconcile of a primary that is there', () => {
    const scene = createIntake();
    scene.cache.objects.set('A/1', object);
    scene.intake.host.emit('A/1', cause);
    scene.intake.host.emit('A/2', cause);
    expect([scene.events, scene.ready()]).to.deep.equal([
      ['parts delete queued', 'parts delete filtered'],
      { 0: 1 },
    ]);
  });

  it('becomes a reconcile of any primary before the first list is complete', () => {
    const scene = createIntake();
    scene.cache.isSynced = false;
    scene.intake.host.emit('A/2', cause);
    expect(scene.events).to.deep.equal(['parts delete queued']);
  });

  for (const [title, filter, outcome] of [
    ['is left out if the filter of such events refuses it', { generic: () => false }, 'filtered'],
    ['is taken if the filter of such events admits it', { generic: () => true }, 'queued'],
    ['is taken if there is another filter', { update: () => false }, 'queued'],
  ] as const)
    it(title, () => {
      const scene = createIntake({ filter });
      scene.cache.objects.set('A/1', object);
      scene.intake.host.emit('A/1', cause);
      expect(scene.events).to.deep.equal([`parts delete ${outcome}`]);
    });

  it('is taken if the filter fails', () => {
    const scene = createIntake({
      filter: {
        generic: () => {
          throw new Error('no');
        },
      },
    });
    scene.cache.objects.set('A/1', object);
    scene.intake.host.emit('A/1', cause);
    expect(scene.events).to.deep.equal(['generic filter failed filtered', 'parts delete queued']);
  });

  it('is counted when it concerns no primary, and when it is an echo', () => {
    const { intake, events } = createIntake();
    intake.host.ignored(cause);
    intake.host.echoed(cause);
    expect(events).to.deep.equal(['parts delete filtered', 'parts delete echo']);
  });

  it('comes through the controller that its source is attached to', () => {
    const { intake, cache } = createIntake({ ownEvents: 'deliver' });
    expect([intake.host.controller, intake.host.ownEvents, intake.host.primaries as unknown]).to.deep.equal([
      'w',
      'deliver',
      cache,
    ]);
    expect(intake.host.guard('x', () => 1, 2)).to.equal(1);
  });
});

describe('a request for a reconcile', () => {
  it('is traced with its reason, and ignored without the object', () => {
    const scene = createIntake();
    scene.intake.enqueue('A/2', 'somebody asked');
    expect(scene.events).to.deep.equal(['enqueue generic filtered']);
    expect(scene.lines).to.deep.equal([
      {
        level: 'trace',
        message: 'enqueued',
        fields: { controller: 'w', key: 'A/2', why: 'somebody asked' },
      },
    ]);
    scene.cache.objects.set('A/1', object);
    scene.intake.enqueue('A/1', 'somebody asked');
    expect(scene.events.at(-1)).to.equal('enqueue generic queued');
  });
});
