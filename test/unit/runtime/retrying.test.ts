import { expect } from 'chai';
import { apiErrorFrom, NoRetryError } from '../../../src/runtime/errors.ts';
import { exponential } from '../../../src/runtime/queue/retry.ts';
import type { Context } from '../../../src/runtime/types.ts';
import { settle } from '../../support/clock.ts';
import {
  createWorld,
  doubling,
  failing,
  noted,
  nothing,
  succeeding,
  widget,
  widgets,
  type Reconcile,
  type Widget,
  type World,
} from './support/world.ts';

const gradual3 = exponential({ initialMs: 2_000, factor: 1.5, maxMs: 300_000, maxAttempts: 3 });

describe('retries, errors and delays', () => {
  let world: World;
  let seen: Pick<Context<Widget>, 'attempt' | 'lastAttempt'>[];

  /** Records the context, then continues. */
  const watching =
    (reconcile: Reconcile): Reconcile =>
    (primary, ctx) => {
      seen.push({ attempt: ctx.attempt, lastAttempt: ctx.lastAttempt });
      return reconcile(primary, ctx);
    };
  const starts = (): number[] => world.runs.map((run) => Number(run.split(' ')[0]));

  beforeEach(() => {
    world = createWorld();
    seen = [];
  });
  afterEach(() => world.end());

  it('RUN-09: repeats a failing reconcile after 1, 2, 4 and 8 seconds', async () => {
    world.control(failing());
    world.cluster.put(widgets, widget('A/1'));
    await world.start();
    await world.clock.advance(20_000);
    expect(starts()).to.deep.equal([0, 1, 3, 7, 15]);
  });

  it('RUN-10: ends when the attempts are used up, and marks the last one', async () => {
    world.control(watching(failing()), { retry: gradual3 });
    world.cluster.put(widgets, widget('A/1'));
    await world.start();
    await world.clock.advance(3_600_000);
    expect(seen.map((ctx) => ctx.attempt)).to.deep.equal([0, 1, 2, 3]);
    expect(seen.map((ctx) => ctx.lastAttempt)).to.deep.equal([false, false, false, true]);
  });

  it('RUN-11: drops the pending retry if an event leads to success, and counts again', async () => {
    let isBroken = true;
    const controller = world.control(
      watching(() => (isBroken ? Promise.reject(new Error('no')) : Promise.resolve(nothing))),
      { retry: exponential({ initialMs: 2_000, factor: 3, maxMs: 300_000 }) },
    );
    world.cluster.put(widgets, widget('A/1'));
    await world.start();
    // Failed at 0 and 2, so that the retry is due at 8.
    await world.clock.advance(5_000);
    isBroken = false;
    controller.enqueue('A/1');
    await world.clock.advance(60_000);
    expect(starts()).to.deep.equal([0, 2, 5]);
    isBroken = true;
    controller.enqueue('A/1');
    await world.clock.advance(2_000);
    expect(starts().slice(3)).to.deep.equal([65, 67]);
    expect(seen.map((ctx) => ctx.attempt)).to.deep.equal([0, 1, 1, 0, 1]);
  });

  it('RUN-12: reconciles at once for an event without counting it, and keeps the time of the retry', async () => {
    const controller = world.control(watching(failing()), {
      retry: exponential({ initialMs: 5_000, factor: 3, maxMs: 300_000 }),
    });
    world.cluster.put(widgets, widget('A/1'));
    await world.start();
    await world.clock.advance(12_000);
    controller.enqueue('A/1');
    await world.clock.advance(10_000);
    expect(starts()).to.deep.equal([0, 5, 12, 20]);
    expect(seen.map((ctx) => ctx.attempt)).to.deep.equal([0, 1, 1, 2]);
  });

  it('RUN-13: reconciles for an event after exhaustion as a last attempt, and starts again after success', async () => {
    let isBroken = true;
    const controller = world.control(
      watching(() => (isBroken ? Promise.reject(new Error('no')) : Promise.resolve(nothing))),
      { retry: exponential({ initialMs: 1_000, factor: 2, maxMs: 9_000, maxAttempts: 1 }) },
    );
    world.cluster.put(widgets, widget('A/1'));
    await world.start();
    await world.clock.advance(10_000);
    controller.enqueue('A/1');
    await world.clock.advance(100_000);
    expect(starts()).to.deep.equal([0, 1, 10]);
    expect(seen[2]).to.deep.equal({ attempt: 1, lastAttempt: true });
    isBroken = false;
    controller.enqueue('A/1');
    await settle();
    isBroken = true;
    controller.enqueue('A/1');
    await world.clock.advance(10_000);
    expect(starts().slice(3)).to.deep.equal([110, 110, 111]);
    expect(seen[4]).to.deep.equal({ attempt: 0, lastAttempt: false });
  });

  it('RUN-14: leaves everything to events and the sync timer if retries are off', async () => {
    const errors: string[] = [];
    world.control(succeeding, {
      retry: 'none',
      syncPeriodMs: 3_600_000,
      reconciler: {
        reconcile: noted(world.runs, world.clock, watching(failing())),
        onError(_, ctx, error) {
          errors.push(`${(error as Error).message} ${String(ctx.lastAttempt)}`);
          return Promise.resolve('default');
        },
      },
    });
    world.cluster.put(widgets, widget('A/1'));
    await world.start();
    await world.clock.advance(3_600_000);
    expect(starts()).to.deep.equal([0, 3_600]);
    expect(errors).to.deep.equal(['no true', 'no true']);
  });

  describe('RUN-15: the error handler', () => {
    const handled = (more: object = {}): void => {
      world.control(succeeding, {
        reconciler: {
          reconcile: noted(world.runs, world.clock, watching(failing())),
          onError(_, ctx) {
            const status = ctx.draft();
            status.spec = { size: 99 };
            status.status = { phase: `failed at attempt ${String(ctx.attempt)}` };
            return Promise.resolve({ retry: true, status });
          },
        },
        ...more,
      });
    };

    it('writes the status and nothing else', async () => {
      handled();
      world.cluster.put(widgets, widget('A/1'));
      await world.start();
      expect(world.cluster.writes).to.deep.equal(['merge status Widget A/1']);
      const written = world.cluster.read(widgets, 'A/1');
      expect(written?.status).to.deep.equal({ phase: 'failed at attempt 0' });
      expect(written?.spec).to.deep.equal({ size: 1 });
    });

    it('writes the status on top of what another client wrote meanwhile', async () => {
      handled();
      world.cluster.put(widgets, widget('A/1'));
      let edits = 2;
      world.cluster.before = ({ verb }) => {
        if (verb === 'merge' && edits-- > 0)
          world.cluster.edit(widgets, 'A/1', { metadata: { labels: { edit: String(edits) } } });
        return undefined;
      };
      await world.start();
      const written = world.cluster.read(widgets, 'A/1');
      expect(written?.status).to.deep.equal({ phase: 'failed at attempt 0' });
      expect(written?.metadata.labels).to.deep.equal({ edit: '0' });
    });

    it('keeps the original error if its status cannot be written', async () => {
      world.cluster.fault = () => apiErrorFrom(500, {}, { verb: 'patch', kind: 'Widget' });
      handled();
      world.cluster.put(widgets, widget('A/1'));
      await world.start();
      await world.clock.advance(4_000);
      expect(starts()).to.deep.equal([0, 1, 3]);
    });

    it('is not called if cleanup fails', async () => {
      let calls = 0;
      world.control(succeeding, {
        reconciler: {
          reconcile: succeeding,
          cleanup: () => Promise.reject(new Error('no')),
          onError() {
            calls++;
            return Promise.resolve('default');
          },
        },
      });
      world.cluster.put(widgets, widget('A/1', { finalizers: ['widgets.example.io/finalizer'] }));
      world.cluster.remove(widgets, 'A/1');
      await world.start();
      await world.clock.advance(1_500);
      expect(calls).to.equal(0);
      expect(await world.metric('controller_runtime_reconcile_errors_total{controller="widgets"}')).to.equal(
        2,
      );
    });
  });

  it('RUN-16: does not repeat an error that is marked as final, and counts it', async () => {
    world.control(failing(new NoRetryError({ message: 'never' })));
    world.cluster.put(widgets, widget('A/1'));
    await world.start();
    await world.clock.advance(3_600_000);
    expect(starts()).to.deep.equal([0]);
    const line = 'controller_runtime_terminal_reconcile_errors_total{controller="widgets"}';
    expect(await world.metric(line)).to.equal(1);
  });

  it('RUN-16: lets the error handler choose a delay instead of a retry', async () => {
    world.control(succeeding, {
      reconciler: {
        reconcile: noted(world.runs, world.clock, watching(failing())),
        onError: () => Promise.resolve({ retry: false, requeueAfterMs: 30_000 }),
      },
    });
    world.cluster.put(widgets, widget('A/1'));
    await world.start();
    await world.clock.advance(31_000);
    expect(starts()).to.deep.equal([0, 30]);
    expect(seen.map((ctx) => ctx.attempt)).to.deep.equal([0, 0]);
  });

  it('prefers the back-off to a delay if a failed reconcile requests both', async () => {
    world.control(succeeding, {
      reconciler: {
        reconcile: noted(world.runs, world.clock, failing()),
        onError: () => Promise.resolve({ retry: true, requeueAfterMs: 30_000 }),
      },
    });
    world.cluster.put(widgets, widget('A/1'));
    await world.start();
    await world.clock.advance(2_000);
    expect(starts()).to.deep.equal([0, 1]);
  });

  it('RUN-17: retries after a conflict even if no event passes the filter, and sees the new state', async () => {
    const labels: unknown[] = [];
    world.control(
      (primary, ctx) => {
        labels.push(primary.metadata.labels);
        if (labels.length === 1) world.cluster.edit(widgets, 'A/1', { metadata: { labels: { by: 'user' } } });
        return Promise.resolve({ write: 'status', object: { ...ctx.draft(), status: { phase: 'Ready' } } });
      },
      { generation: 'memory' },
    );
    world.cluster.put(widgets, widget('A/1'));
    await world.start();
    expect(starts()).to.deep.equal([0]);
    await world.clock.advance(60_000);
    expect(starts()).to.deep.equal([0, 1]);
    expect(labels).to.deep.equal([undefined, { by: 'user' }]);
    expect(world.cluster.read(widgets, 'A/1')?.status).to.deep.equal({ phase: 'Ready' });
  });

  it('RUN-18: reconciles again after the requested delay', async () => {
    let requeueAfterMs: number | undefined = 10_000;
    world.control(() => {
      const control = requeueAfterMs === undefined ? nothing : ({ write: 'none', requeueAfterMs } as const);
      requeueAfterMs = undefined;
      return Promise.resolve(control);
    });
    world.cluster.put(widgets, widget('A/1'));
    await world.start();
    await world.clock.advance(60_000);
    expect(starts()).to.deep.equal([0, 10]);
  });

  it('RUN-18: replaces the delay by that of an earlier reconcile', async () => {
    let requeueAfterMs: number | undefined = 10_000;
    const controller = world.control(() => {
      const control = requeueAfterMs === undefined ? nothing : ({ write: 'none', requeueAfterMs } as const);
      requeueAfterMs = undefined;
      return Promise.resolve(control);
    });
    world.cluster.put(widgets, widget('A/1'));
    await world.start();
    await world.clock.advance(4_000);
    controller.enqueue('A/1');
    await world.clock.advance(60_000);
    expect(starts()).to.deep.equal([0, 4]);
  });

  for (const requeueAfterMs of [0, -1, NaN, Infinity, '5s' as unknown as number])
    it(`retries with growing delays instead of a loop if the delay is ${String(requeueAfterMs)}`, async () => {
      world.control(() => Promise.resolve({ write: 'none', requeueAfterMs }));
      world.cluster.put(widgets, widget('A/1'));
      await world.start();
      await world.clock.advance(60_000);
      expect(starts()).to.deep.equal([0, 1, 3, 7, 15, 31]);
    });

  it('RUN-19: reconciles again after the sync period, or never if it is 0', async () => {
    world.control(succeeding, { syncPeriodMs: 60_000 });
    world.cluster.put(widgets, widget('A/1'));
    await world.start();
    await world.clock.advance(60_000);
    expect(starts()).to.deep.equal([0, 60]);

    await world.end();
    world = createWorld();
    world.control(succeeding, { syncPeriodMs: 0 });
    world.cluster.put(widgets, widget('A/1'));
    await world.start();
    await world.clock.advance(600_000);
    expect(starts()).to.deep.equal([0]);
  });

  it('reconciles a failed key with an event meanwhile at once, and counts no attempt', async () => {
    let release: ((error: Error) => void) | undefined;
    const controller = world.control(
      watching(() => new Promise((_, reject) => (release = reject))),
      { retry: doubling },
    );
    world.cluster.put(widgets, widget('A/1'));
    await world.start();
    controller.enqueue('A/1');
    release?.(new Error('no'));
    await settle();
    expect(starts()).to.deep.equal([0, 0]);
    expect(seen.map((ctx) => ctx.attempt)).to.deep.equal([0, 0]);
    release?.(new Error('no'));
    await world.clock.advance(1_000);
    expect(starts()).to.deep.equal([0, 0, 1]);
    expect(seen[2]?.attempt).to.equal(1);
  });

  it('RUN-123: starts the first hundred retries at once and the rest at ten a second', async () => {
    world.control(failing(), {
      maxConcurrent: 200,
      retry: exponential({ initialMs: 1_000, factor: 100, maxMs: 1e9 }),
    });
    for (let i = 0; i < 150; i++) world.cluster.put(widgets, widget(`A/${String(i)}`));
    await world.start();
    expect(world.runs).to.have.length(150);
    await world.clock.advance(1_000);
    expect(world.runs).to.have.length(260);
    await world.clock.advance(4_000);
    expect(world.runs).to.have.length(300);
  });
});
