import { expect } from 'chai';
import { createMetrics } from '../../../../src/observability/metrics.ts';
import { recordingLogger } from '../../../support/recording-logger.ts';
import { silentLogger } from '../../../../src/observability/log.ts';
import { sourcesCheck, watchLoopLag } from '../../../../src/runtime/manager/probes.ts';
import type { Caches } from '../../../../src/runtime/types.ts';
import { FakeClock } from '../../../support/clock.ts';

describe('the check of the caches', () => {
  interface Row {
    readonly name: string;
    readonly isSynced: boolean;
    readonly problem?: string;
  }
  const good: Row = { name: 'pods', isSynced: true };
  const rows: readonly (readonly [string, readonly Row[], string | undefined])[] = [
    ['is content without caches', [], undefined],
    ['is content when all have their first list and a watch', [good, good], undefined],
    ['names one without its first list', [good, { name: 'jobs', isSynced: false }], 'jobs is not synced'],
    [
      'says why one has no first list',
      [{ name: 'jobs', isSynced: false, problem: 'forbidden' }],
      'jobs is not synced: forbidden',
    ],
    ['names one whose watch fails', [{ ...good, problem: 'no answer' }], 'pods: no answer'],
    [
      'names all that are in problem',
      [
        { name: 'jobs', isSynced: false },
        { ...good, problem: 'no answer' },
      ],
      'jobs is not synced; pods: no answer',
    ],
  ];
  for (const [title, caches, expected] of rows)
    it(title, () => {
      const check = sourcesCheck({ all: () => caches } as unknown as Caches);
      expect(check.problem()).to.equal(expected);
      expect([check.name, check.probe]).to.deep.equal(['sources', 'ready']);
    });
});

describe('the check of the event loop', () => {
  let clock: FakeClock;
  let blockedMs: number;
  beforeEach(() => {
    clock = new FakeClock();
    blockedMs = 0;
    const now = clock.now.bind(clock);
    // The loop stands still: time passes, but no timer fires.
    clock.now = () => now() + blockedMs;
  });

  it('complains when a timer is more than 5 s late', () => {
    const { check } = watchLoopLag(clock, createMetrics(), silentLogger);
    blockedMs = 500 + 5_000;
    expect(check.problem()).to.equal(undefined);
    blockedMs++;
    expect(check.problem()).to.equal('the event loop was blocked for 5001 ms');
    expect([check.name, check.probe]).to.deep.equal(['event-loop', 'live']);
  });

  it('rounds to milliseconds', () => {
    const { check } = watchLoopLag(clock, createMetrics(), silentLogger, 1_000);
    blockedMs = 500 + 1_000.6;
    expect(check.problem()).to.equal('the event loop was blocked for 1001 ms');
  });

  it('remembers the last block until a timer was on time', async () => {
    const { check } = watchLoopLag(clock, createMetrics(), silentLogger, 1_000);
    blockedMs = 2_000;
    await clock.advance(500);
    expect(check.problem()).to.contain('2000 ms');
    blockedMs = 0;
    await clock.advance(2_499);
    expect(check.problem()).to.contain('2000 ms');
    await clock.advance(1);
    expect(check.problem()).to.equal(undefined);
  });

  it('is in the log if it takes a second', async () => {
    const { log, lines } = recordingLogger();
    watchLoopLag(clock, createMetrics(), log);
    blockedMs = 999;
    await clock.advance(500);
    expect(lines).to.deep.equal([]);
    blockedMs = 0;
    await clock.advance(1_499);
    blockedMs = 1_000.4;
    await clock.advance(500);
    expect(lines).to.have.length(1);
    expect(lines[0]).to.deep.include({ level: 'warn', fields: { blockedMs: 1000 } });
  });

  it('shows the delay in seconds, and none while there is none', async () => {
    const metrics = createMetrics();
    const { stop } = watchLoopLag(clock, metrics, silentLogger);
    const shown = async () => /^espalier_event_loop_lag_seconds (.*)$/m.exec(await metrics.text())?.[1];
    expect(await shown()).to.equal('0');
    blockedMs = 3_000;
    expect(await shown()).to.equal('2.5');
    stop();
    expect(clock.pending).to.equal(0);
  });
});
