/** What happens after a dispatch; what is to happen is in decide.test.ts. */
import { expect } from 'chai';
import type { Dispatched } from '../../../../src/runtime/controller/dispatch.ts';
import type { ReconcileResult } from '../../../../src/runtime/controller/decide.ts';
import { OutcomeHandler } from '../../../../src/runtime/controller/outcome-handler.ts';
import { Slots, type KeySlot } from '../../../../src/runtime/controller/slots.ts';
import { settingsOf } from '../../../../src/runtime/controller/spec.ts';
import type { ControllerMetrics } from '../../../../src/observability/controller-metrics.ts';
import type { ObjectMetrics } from '../../../../src/observability/object-metrics.ts';
import { createQueue, type WorkItem } from '../../../../src/runtime/queue/queue.ts';
import { FakeClock } from '../../../support/clock.ts';
import { recordingLogger } from '../../../support/recording-logger.ts';
import { FakeCache, objectOf } from '../support/source-host.ts';
import { doubling, noChance, nothing, widgets, type Widget } from '../support/world.ts';

const error = new Error('no');

async function createScene(priority = -100) {
  const clock = new FakeClock();
  const cache = new FakeCache();
  cache.objects.set('A/1', objectOf('A/1', { uid: 'u' }));
  const queue = createQueue(clock);
  const slots = new Slots(undefined);
  const { log, lines } = recordingLogger();
  const counted: string[] = [];
  const metrics = {
    run: (outcome: string, seconds: number) => counted.push(`${outcome} ${String(seconds)}`),
    error: () => undefined,
    terminalError: () => undefined,
  } as unknown as ControllerMetrics;
  const objects = {
    ran: (key: string, outcome: string, attempt: number) =>
      counted.push(`${key} ${outcome} ${String(attempt)}`),
  } as unknown as ObjectMetrics;
  const settings = settingsOf<Widget>({
    name: 'w',
    kind: widgets,
    reconciler: { reconcile: () => Promise.resolve(nothing) },
    retry: doubling,
    syncPeriodMs: 60_000,
  });
  const outcomeHandler = new OutcomeHandler<Widget>({
    settings,
    cache: cache.asCache<Widget>(),
    queue,
    slots,
    metrics,
    objects,
    clock,
    rng: noChance,
    log,
  });
  const begin = async (key: string): Promise<{ item: WorkItem; slot: KeySlot; failed: () => boolean }> => {
    queue.add(key, priority);
    const taken = (await queue.take()) as WorkItem;
    let isFailed = false;
    const item: WorkItem = {
      ...taken,
      failed: () => {
        isFailed = true;
        taken.failed();
      },
    };
    return { item, slot: slots.of(key, 'u'), failed: () => isFailed };
  };
  const { item, slot, failed } = await begin('A/1');
  const ran = (result: ReconcileResult, isHandled = false): void => {
    outcomeHandler.on({ type: 'ran', result, isHandled }, slot, item, 0);
  };
  return { clock, cache, queue, slots, lines, counted, outcomeHandler, item, slot, failed, begin, ran };
}
const timer = ({ queue }: Awaited<ReturnType<typeof createScene>>): unknown => {
  const found = queue.timerOf('A/1');
  return found && [found.kind, found.when, 'priority' in found ? found.priority : undefined];
};

describe('after a dispatch without a reconcile', () => {
  const after = async (outcome: Dispatched, isGone = false) => {
    const scene = await createScene();
    if (isGone) scene.cache.objects.clear();
    scene.outcomeHandler.on(outcome, scene.slot, scene.item, 0);
    return scene;
  };

  it('that added the finalizer, the object is reconciled with the priority that it had', async () => {
    const { item, counted, queue } = await after({ type: 'prepared' });
    expect([item.dirty(), counted]).to.deep.equal([true, []]);
    item.end();
    expect([...queue.depths()].filter(([, depth]) => depth > 0)).to.deep.equal([[-100, 1]]);
  });

  for (const [title, outcome, isGone, slots] of [
    ['an object that is gone is forgotten', { type: 'idle' }, true, 0],
    ['an object that is there is not', { type: 'idle' }, false, 1],
    ['an object that got its finalizer is not', { type: 'prepared' }, true, 1],
  ] as const)
    it(title, async () => {
      const scene = await after(outcome, isGone);
      expect([scene.slots.size, scene.counted, timer(scene)]).to.deep.equal([slots, [], undefined]);
    });
});

describe('after a reconcile', () => {
  it('its time and its outcome are counted', async () => {
    const scene = await createScene();
    scene.slot.attempt = 2;
    await scene.clock.advance(1_500);
    scene.ran({ ok: true });
    expect(scene.counted).to.deep.equal(['success 1.5', 'A/1 success 2']);
  });

  const rows: readonly (readonly [string, ReconcileResult, unknown])[] = [
    ['that succeeded, the sync period begins', { ok: true }, ['sync', 60_000, 0]],
    ['that asked for a delay, it begins', { ok: true, requeueAfterMs: 5_000 }, ['requeue', 5_000, 0]],
    [
      'that failed, the back-off begins, and the key keeps its priority',
      { ok: false, error, retry: true },
      ['retry', 1_000, -100],
    ],
    ['that failed for good, the sync period begins', { ok: false, error, retry: false }, ['sync', 60_000, 0]],
  ];
  for (const [title, result, expected] of rows)
    it(title, async () => {
      const scene = await createScene();
      scene.ran(result);
      expect(timer(scene)).to.deep.equal(expected);
    });

  it('that is repeated at once, the key keeps its priority', async () => {
    const { ran, item, queue } = await createScene();
    ran({ ok: true, requeueAfterMs: 0 });
    item.end();
    expect([...queue.depths()].filter(([, depth]) => depth > 0)).to.deep.equal([[-100, 1]]);
  });

  it('that had an event meanwhile, nothing is scheduled, for the queue repeats it', async () => {
    const scene = await createScene();
    scene.queue.add('A/1');
    scene.ran({ ok: true, requeueAfterMs: 5_000 });
    expect([timer(scene), scene.slot.dirty]).to.deep.equal([undefined, true]);
  });

  it('of an object that is gone, everything is forgotten', async () => {
    const scene = await createScene();
    scene.cache.objects.clear();
    scene.queue.add('A/1');
    scene.ran({ ok: true });
    expect([scene.slots.size, scene.item.dirty(), timer(scene)]).to.deep.equal([0, false, undefined]);
  });

  describe('that let the object go', () => {
    it('its remaining events mean nothing', async () => {
      const scene = await createScene();
      scene.queue.add('A/1');
      scene.ran({ ok: true, removed: 'u' });
      expect([scene.slot.parkedUid, scene.item.dirty()]).to.deep.equal(['u', false]);
    });

    it('those of a namesake mean something', async () => {
      const scene = await createScene();
      scene.cache.objects.set('A/1', objectOf('A/1', { uid: 'v' }));
      scene.queue.add('A/1');
      scene.ran({ ok: true, removed: 'u' });
      expect(scene.item.dirty()).to.equal(true);
    });
  });

  it('that succeeded, its namespace is not charged with a failure and nothing is logged', async () => {
    const { ran, failed, lines } = await createScene();
    ran({ ok: true });
    expect([failed(), lines]).to.deep.equal([false, []]);
  });

  const failures: readonly (readonly [string, ReconcileResult & { ok: false }, boolean, string, object])[] = [
    [
      'with its next time',
      { ok: false, error, retry: true },
      false,
      'warn',
      { err: 'no', requeueAfterMs: 1_000 },
    ],
    [
      'that was handled',
      { ok: false, error, retry: true },
      true,
      'debug',
      { err: 'no', requeueAfterMs: 1_000 },
    ],
    ['for good', { ok: false, error, retry: false }, false, 'error', { err: error, requeueAfterMs: 60_000 }],
    [
      'for good, with a delay',
      { ok: false, error, retry: false, requeueAfterMs: 5 },
      false,
      'error',
      { err: error, requeueAfterMs: 5 },
    ],
  ];
  for (const [title, result, isHandled, level, fields] of failures)
    it(`that failed, this is logged and charged: one ${title}`, async () => {
      const { ran, failed, lines } = await createScene();
      ran(result, isHandled);
      expect(failed()).to.equal(true);
      expect(lines.map((line) => [line.level, line.fields])).to.deep.equal([[level, fields]]);
    });

  it('that failed and had an event meanwhile, it is logged as one that is retried', async () => {
    const { ran, queue, lines } = await createScene();
    queue.add('A/1');
    ran({ ok: false, error, retry: true });
    expect(lines.map((line) => [line.level, line.fields])).to.deep.equal([
      ['warn', { err: 'no', requeueAfterMs: undefined }],
    ]);
  });
});

describe('the retries of a namespace', () => {
  it('stand in line once there are more than 100 at a time, ten a second', async () => {
    const scene = await createScene();
    const waits: number[] = [];
    for (let i = 0; i < 130; i++) {
      const key = `A/x${String(i)}`;
      scene.cache.objects.set(key, objectOf(key, { uid: 'u' }));
      const { item, slot } = await scene.begin(key);
      scene.outcomeHandler.on(
        { type: 'ran', result: { ok: false, error, retry: true }, isHandled: false },
        slot,
        item,
        0,
      );
      waits.push(scene.queue.timerOf(key)?.when ?? 0);
    }
    expect(waits.slice(0, 110)).to.deep.equal(Array(110).fill(1_000));
    expect(waits.slice(110, 113).map(Math.round)).to.deep.equal([1_100, 1_200, 1_300]);
    const key = 'B/1';
    scene.cache.objects.set(key, objectOf(key, { uid: 'u' }));
    const other = await scene.begin(key);
    scene.outcomeHandler.on(
      { type: 'ran', result: { ok: false, error, retry: true }, isHandled: false },
      ...([other.slot, other.item, 0] as const),
    );
    expect(scene.queue.timerOf(key)?.when).to.equal(1_000);
  });

  it('keep their time when the object fails once more before', async () => {
    const scene = await createScene();
    scene.ran({ ok: false, error, retry: true });
    expect(scene.slot.retryAt).to.equal(1_000);
    await scene.clock.advance(400);
    scene.ran({ ok: false, error, retry: true });
    expect([scene.slot.retryAt, timer(scene)]).to.deep.equal([1_000, ['retry', 1_000, -100]]);
  });
});
