/** What a controller remembers between and during reconciles. */
import { expect } from 'chai';
import { ActiveReconciles } from '../../../../src/runtime/controller/active-reconciles.ts';
import { measure } from '../../../../src/runtime/controller/measure.ts';
import { logFailure, reconcileFields } from '../../../../src/runtime/controller/reconcile-log.ts';
import { Slots } from '../../../../src/runtime/controller/slots.ts';
import type { ReconcileResult } from '../../../../src/runtime/controller/decide.ts';
import { apiErrorFrom } from '../../../../src/runtime/errors.ts';
import type { ControllerMetrics } from '../../../../src/observability/controller-metrics.ts';
import { FakeClock } from '../../../support/clock.ts';
import { recordingLogger } from '../../../support/recording-logger.ts';
import { objectOf } from '../support/source-host.ts';

describe('the slot of an object', () => {
  const fresh = { uid: 'u', attempt: 0, gone: false, dirty: false };

  it('is the same for the same object, and a fresh one for a namesake', () => {
    const slots = new Slots(undefined);
    const slot = slots.of('A/1', 'u');
    expect(slot).to.deep.equal(fresh);
    slot.attempt = 3;
    expect(slots.of('A/1', 'u')).to.equal(slot);
    expect(slots.of('A/1', 'v')).to.deep.equal({ ...fresh, uid: 'v' });
    expect(slots.size).to.equal(1);
  });

  it('recognizes a released object, but not a new object of the same name', () => {
    const slots = new Slots(undefined);
    expect(slots.isParked('A/1', undefined)).to.equal(false);
    slots.of('A/1', 'u');
    expect([slots.isParked('A/1', 'u'), slots.isParked('A/1', undefined)]).to.deep.equal([false, false]);
    slots.of('A/1', 'u').parkedUid = 'u';
    expect([
      slots.isParked('A/1', 'u'),
      slots.isParked('A/1', 'v'),
      slots.isParked('A/2', 'u'),
    ]).to.deep.equal([true, false, false]);
  });

  for (const [title, more, isKept] of [
    ['in which there is nothing', {}, false],
    ['with a failed attempt', { attempt: 1 }, true],
    ['with a retry', { retryAt: 5 }, true],
    ['of a released object', { parkedUid: 'u' }, true],
  ] as const)
    it(`is ${isKept ? 'kept' : 'forgotten'} after a reconcile: one ${title}`, () => {
      const slots = new Slots(undefined);
      Object.assign(slots.of('A/1', 'u'), more);
      slots.tidy('A/2');
      slots.tidy('A/1');
      expect(slots.size).to.equal(isKept ? 1 : 0);
    });

  it('is forgotten with everything that counts for it', () => {
    const forgotten: string[] = [];
    const slots = new Slots({ reconciles: 1, perMs: 1_000 }, (key) => forgotten.push(key));
    slots.of('A/1', 'u');
    expect([slots.limitedMs('A/1', 0), slots.limitedMs('A/1', 0)]).to.deep.equal([0, 1_000]);
    slots.forget('A/1');
    expect([slots.size, forgotten, slots.limitedMs('A/1', 0)]).to.deep.equal([0, ['A/1'], 0]);
  });

  it('limits nothing without a limit', () => {
    const slots = new Slots(undefined);
    expect([slots.limitedMs('A/1', 0), slots.limitedMs('A/1', 0)]).to.deep.equal([0, 0]);
    slots.forget('A/1');
    expect(slots.size).to.equal(0);
  });
});

describe('active reconciles', () => {
  const create = (timeoutMs?: number) => {
    const clock = new FakeClock();
    let timeouts = 0;
    const overdue: string[] = [];
    const active = new ActiveReconciles(clock, timeoutMs, {
      timedOut: () => timeouts++,
      overdue: (key, ms) => overdue.push(`${key} ${String(ms / 60_000)}`),
    });
    return { clock, active, overdue, timeouts: () => timeouts };
  };

  it('are those that have begun and not ended', async () => {
    const { clock, active } = create();
    const first = active.begin({ key: 'A/1', dirty: () => false });
    await clock.advance(2_000);
    const second = active.begin({ key: 'A/2', dirty: () => false });
    await clock.advance(500);
    expect([active.size, active.has('A/1'), active.has('A/3'), active.ages()]).to.deep.equal([
      2,
      true,
      false,
      [2.5, 0.5],
    ]);
    first.end();
    second.end();
    expect([active.size, active.has('A/1'), active.ages(), clock.pending]).to.deep.equal([0, false, [], 0]);
  });

  it('keep no timer when all are aborted, although one does not end', () => {
    const { clock, active } = create();
    const run = active.begin({ key: 'A/1', dirty: () => false });
    expect(clock.pending).to.equal(1);
    active.abortAll(new Error('stopped'));
    expect([run.signal.aborted, active.size, clock.pending]).to.deep.equal([true, 1, 0]);
  });

  it('are aborted when they take too long, and counted', async () => {
    const { clock, active, timeouts } = create(1_000);
    const run = active.begin({ key: 'A/1', dirty: () => false });
    await clock.advance(999);
    expect([run.signal.aborted, timeouts()]).to.deep.equal([false, 0]);
    await clock.advance(1);
    expect([run.signal.aborted, run.interrupt.aborted, timeouts()]).to.deep.equal([true, false, 1]);
    expect(String(run.signal.reason)).to.equal('Error: reconcile took longer than 1000 ms');
  });

  it('are reported once if they have not ended after ten minutes', async () => {
    const { clock, active, overdue } = create();
    const begin = (key: string) => active.begin({ key, dirty: () => false });
    const first = begin('A/1');
    await clock.advance(60_000);
    begin('A/2');
    const short = begin('A/3');
    await clock.advance(539_999);
    short.end();
    expect(overdue).to.deep.equal([]);
    await clock.advance(1);
    expect(overdue).to.deep.equal(['A/1 10']);
    first.end();
    await clock.advance(3_600_000);
    expect(overdue).to.deep.equal(['A/1 10', 'A/2 10']);
    expect(clock.pending).to.equal(0);
  });

  it('are aborted also if they ask for their signal later', async () => {
    const { clock, active } = create(1_000);
    const run = active.begin({ key: 'A/1', dirty: () => false });
    await clock.advance(1_000);
    expect(run.signal.aborted).to.equal(true);
    expect(run.signal).to.equal(run.signal);
  });

  it('may have any number of requests, without a warning of Node.js', async () => {
    const warnings: Error[] = [];
    const onWarning = (warning: Error): number => warnings.push(warning);
    process.on('warning', onWarning);
    const { active } = create();
    const { signal } = active.begin({ key: 'A/1', dirty: () => false });
    for (let i = 0; i < 20; i++) signal.addEventListener('abort', () => undefined);
    await new Promise((resolve) => setImmediate(resolve));
    process.off('warning', onWarning);
    expect(warnings).to.deep.equal([]);
  });

  it('are not aborted after their end', async () => {
    const { clock, active, timeouts } = create(1_000);
    active.begin({ key: 'A/1', dirty: () => false }).end();
    await clock.advance(5_000);
    expect([timeouts(), clock.pending]).to.deep.equal([0, 0]);
  });

  it('are all aborted when the process cannot wait', () => {
    const { active } = create();
    const runs = ['A/1', 'A/2'].map((key) => active.begin({ key, dirty: () => false }));
    const reason = new Error('stopping');
    active.abortAll(reason);
    expect(runs.map(({ signal }) => signal.reason as unknown)).to.deep.equal([reason, reason]);
  });

  it('are interrupted once, if there is a cause', () => {
    const { active } = create();
    const run = active.begin({ key: 'A/1', dirty: () => false });
    let asked = 0;
    const cause = (answer: boolean) => (): boolean => {
      asked++;
      return answer;
    };
    active.interrupt('A/2', cause(true));
    expect(asked).to.equal(0);
    active.interrupt('A/1', cause(false));
    expect([asked, run.interrupt.aborted]).to.deep.equal([1, false]);
    active.interrupt('A/1', cause(true));
    expect([asked, run.interrupt.aborted, run.signal.aborted]).to.deep.equal([2, true, false]);
    expect(String(run.interrupt.reason)).to.equal(
      'Error: A/1 has changed in a way that interrupts the reconcile',
    );
    active.interrupt('A/1', cause(true));
    expect(asked).to.equal(2);
  });
});

describe('the metrics of a reconcile', () => {
  const error = new Error('no');
  const rows: readonly (readonly [string, ReconcileResult, string, readonly string[]])[] = [
    ['a success', { ok: true }, 'success', ['run success 1.5']],
    ['a success that is repeated at once', { ok: true, requeueAfterMs: 0 }, 'requeue', ['run requeue 1.5']],
    [
      'a success that is repeated later',
      { ok: true, requeueAfterMs: 1 },
      'requeue_after',
      ['run requeue_after 1.5'],
    ],
    ['a failure', { ok: false, error, retry: true }, 'error', ['error', 'run error 1.5']],
    [
      'a final failure',
      { ok: false, error, retry: false, requeueAfterMs: 5 },
      'error',
      ['error', 'terminal', 'run error 1.5'],
    ],
  ];
  for (const [title, result, outcome, expected] of rows)
    it(`count ${title}`, () => {
      const counted: string[] = [];
      const metrics = {
        error: () => counted.push('error'),
        terminalError: () => counted.push('terminal'),
        run: (name: string, seconds: number) => counted.push(`run ${name} ${String(seconds)}`),
      } as unknown as ControllerMetrics;
      expect(measure(metrics, result, 1_500)).to.equal(outcome);
      expect(counted).to.deep.equal(expected);
    });
});

describe('the log of a reconcile', () => {
  it('has the fields of the primary and an id that stays the same', () => {
    const numbers = [0, 0.5];
    let asked = 0;
    const rng = { next: () => numbers[asked++] ?? 0 };
    const primary = objectOf('A/1', { uid: 'u', resourceVersion: '7', generation: 3 });
    const fields = reconcileFields('widgets', primary, rng);
    expect(asked).to.equal(0);
    const expected = {
      controller: 'widgets',
      reconcileID: '0000000080000000',
      'resource.apiVersion': 'example.io/v1',
      'resource.kind': 'Widget',
      'resource.namespace': 'A',
      'resource.name': '1',
      'resource.uid': 'u',
      'resource.resourceVersion': '7',
      'resource.generation': 3,
    };
    expect([fields(), fields()]).to.deep.equal([expected, expected]);
    expect(asked).to.equal(2);
  });

  it('has the fields that the controller adds', () => {
    const rng = { next: () => 0 };
    const fields = reconcileFields('widgets', objectOf('A/1', {}), rng, () => ({ tree: 'A/top' }));
    expect(fields()).to.include({ controller: 'widgets', tree: 'A/top' });
  });

  it('says that the fields of the controller cannot be read, and goes on', () => {
    const fields = reconcileFields('widgets', objectOf('A/1', {}), { next: () => 0 }, () => {
      throw new Error('no cache');
    });
    expect(fields()).to.include({ controller: 'widgets', logFields: 'failed: Error: no cache' });
  });

  const conflict = apiErrorFrom(409, {}, { verb: 'patch', kind: 'Widget' });
  const error = new Error('no');
  type Row = readonly [string, Parameters<typeof logFailure>[1], string, string, unknown];
  const failed = 'reconcile failed, retrying';
  const rows: readonly Row[] = [
    [
      'a conflict',
      { error: conflict, isHandled: true, willRetry: true, waitMs: 5 },
      ...(['info', 'object changed concurrently, retrying', conflict.message] as const),
    ],
    ['a failure', { error, isHandled: false, willRetry: true, waitMs: 5 }, 'warn', failed, 'no'],
    [
      'a handled failure',
      { error, isHandled: true, willRetry: true, waitMs: undefined },
      'debug',
      failed,
      'no',
    ],
    [
      'a thrown string',
      { error: 'text', isHandled: false, willRetry: true, waitMs: 5 },
      'warn',
      failed,
      'text',
    ],
    [
      'a final failure, with its stack',
      { error, isHandled: true, willRetry: false, waitMs: undefined },
      ...(['error', 'reconcile failed, not retrying', error] as const),
    ],
  ];
  it('reports a mistake of the program with its stack, even if it is handled', () => {
    const { log, lines } = recordingLogger();
    const mistake = new TypeError('x is undefined');
    const aggregate = new Error('a node failed: x is undefined', { cause: mistake });
    logFailure(log, { error: aggregate, isHandled: true, willRetry: true, waitMs: 5 });
    const [line] = lines;
    const { err } = line?.fields as { err: Error };
    expect([line?.level, err.message, err.stack]).to.deep.equal(['warn', aggregate.message, mistake.stack]);
  });

  it('reports a failed fetch without stack, although it is a TypeError', () => {
    const { log, lines } = recordingLogger();
    const fetching = new TypeError('fetch failed', { cause: new Error('ECONNREFUSED') });
    logFailure(log, { error: fetching, isHandled: false, willRetry: true, waitMs: 5 });
    expect(lines[0]?.fields).to.include({ err: 'fetch failed' });
  });

  for (const [title, failure, level, message, err] of rows)
    it(`reports ${title} at ${level}`, () => {
      const { log, lines } = recordingLogger();
      logFailure(log, failure);
      expect(lines).to.deep.equal([{ level, message, fields: { err, requeueAfterMs: failure.waitMs } }]);
    });
});
