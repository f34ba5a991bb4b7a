/** Timeouts and intervals of jobs. */
import { expect } from 'chai';
import { CodecError } from '../../../../deployers/sdk/codec.ts';
import { decodeContinuous, nextDueTime } from '../../../../deployers/sdk/continuous.ts';
import { TimeoutError } from '../../../../deployers/sdk/errors.ts';
import { createMemories, retryMs, waitMs } from '../../../../deployers/sdk/memory.ts';
import { isExecutionRunning, nextDue, scheduleOf } from '../../../../deployers/sdk/schedule.ts';
import type { DeployerPlugin } from '../../../../deployers/sdk/deployer.ts';
import type { DeployItem, ExecutionObject } from '../../../../deployers/sdk/kinds.ts';
import {
  failAt,
  remainingMs,
  standardTimeouts,
  timeoutAt,
  timeoutMsOf,
  explained,
} from '../../../../deployers/sdk/timeout.ts';
import { done } from '../../../../deployers/sdk/outcome.ts';
import type { View } from '../../../../src/runtime/types.ts';
import { item, running } from '../../../support/given.ts';
import { LS } from '../bench.ts';

const START = '2026-01-01T00:00:00Z';
const ms = Date.parse(START);

describe('the timeout of a job', () => {
  for (const [timeout, expected] of [
    [undefined, 600_000],
    ['', 600_000],
    ['1m30s', 90_000],
    ['none', Infinity],
    ['0s', Infinity],
  ] as const) {
    it(`is ${String(expected)} ms with timeout ${String(timeout)}`, () => {
      expect(timeoutMsOf(timeout)).to.equal(expected);
    });
  }

  it('starts with the job', () => {
    expect(remainingMs('1m', START, ms + 20_000)).to.equal(40_000);
    expect(remainingMs('1m', START, ms + 70_000)).to.equal(-10_000);
    expect(remainingMs('1m', undefined, ms)).to.equal(60_000);
  });

  it('ends at the first checkpoint with no time left', () => {
    expect(standardTimeouts.check('here', 1)).to.equal(1);
    for (const left of [0, -1])
      expect(() => standardTimeouts.check('here', left))
        .to.throw(TimeoutError, 'timeout at: "here"')
        .with.deep.property('problem', timeoutAt('here'));
    expect(timeoutAt('here')).to.deep.equal({
      operation: 'StandardTimeoutChecker.TimeoutExceeded',
      reason: 'ProgressingTimeout',
      message: 'timeout at: "here"',
      codes: ['ERR_TIMEOUT'],
    });
  });

  it('may pass at one checkpoint only, for tests', () => {
    const policy = failAt('there');
    expect(policy.check('here', -5)).to.equal(-5);
    expect(() => policy.check('there', 100)).to.throw(TimeoutError, 'there');
  });

  it('is reported with its length and the problem that led to it', () => {
    const message = (last?: string, timeout?: string): string =>
      explained(timeoutAt('here'), timeout, last).message;
    const reached = 'timeout at: "here"\nthe job has reached its timeout of 10m0s';
    expect(message('no namespace')).to.equal(`${reached}; last problem: no namespace`);
    for (const last of [undefined, '', 'timeout at: "there"']) expect(message(last)).to.equal(reached);
    expect(message('', '90s')).to.equal('timeout at: "here"\nthe job has reached its timeout of 1m30s');
    expect(message('why', 'none')).to.equal('timeout at: "here"\nlast problem: why');
    expect(message('', 'none')).to.equal('timeout at: "here"');
  });
});

describe('the time until the next reconcile', () => {
  for (const [waited, expected] of [
    [0, 500],
    [3000, 500],
    [6000, 1000],
    [60_000, 10_000],
    [90_000, 15_000],
    [600_000, 15_000],
  ] as const) {
    it(`is ${String(expected)} ms after ${String(waited)} ms of waiting`, () => {
      expect(waitMs(waited)).to.equal(expected);
    });
  }

  it('is a second after the first failure, and five after those that follow', () => {
    expect([0, 1, 2, 3, 100].map(retryMs)).to.deep.equal([1000, 1000, 5000, 5000, 5000]);
  });
});

describe('the memory of a job', () => {
  const one = item('plan', 'one', running('j1'));
  const withMore = (metadata: object, status: object = {}): View<DeployItem> =>
    ({
      ...one,
      metadata: { ...one.metadata, ...metadata },
      status: { ...one.status, ...status },
    }) as View<DeployItem>;

  for (const [title, other, direction] of [
    ['another job', withMore({}, { jobID: 'j2' }), 'apply'],
    ['another generation', withMore({ generation: 99 }), 'apply'],
    ['another item of the name', withMore({ uid: 'other' }), 'apply'],
    ['deletion instead of installation', one, 'remove'],
  ] as const) {
    it(`is not used for ${title}`, () => {
      const memories = createMemories(() => true);
      const memory = memories.of('demo/one', one, 'apply');
      memory.scratch.set('a', 1);
      expect(memories.of('demo/one', one, 'apply')).to.equal(memory);
      const fresh = memories.of('demo/one', other, direction);
      expect([fresh.failures, fresh.scratch.size]).to.deep.equal([0, 0]);
      expect(fresh).to.not.equal(memory);
      expect(memories.size).to.equal(1);
    });
  }

  it('is forgotten when asked', () => {
    const memories = createMemories(() => true);
    const memory = memories.of('demo/one', one, 'apply');
    memories.forget('demo/one');
    expect(memories.size).to.equal(0);
    expect(memories.of('demo/one', one, 'apply')).to.not.equal(memory);
  });
});

describe('the schedule of an item', () => {
  const finished = {
    apiVersion: `${LS}/v1alpha1`,
    kind: 'DeployItem',
    metadata: { name: 'web', namespace: 'proj' },
    spec: { type: 'x/y', config: { every: '10m' } },
    status: { observedGeneration: 1, phase: 'Succeeded', lastReconcileTime: START },
  } as unknown as View<DeployItem>;
  const plugin: DeployerPlugin = {
    type: 'x/y',
    name: 'n',
    version: '1',
    config: { decode: (config) => config },
    apply: () => Promise.resolve(done()),
    remove: () => Promise.resolve(done()),
    schedule: (config) => config as { every: string },
  };
  const { schedule: _, ...unscheduled } = plugin;
  const refusing = (error: Error): DeployerPlugin => ({
    ...plugin,
    config: {
      decode: () => {
        throw error;
      },
    },
  });
  const changed = (metadata: object, status: object = {}): View<DeployItem> =>
    ({
      ...finished,
      metadata: { ...finished.metadata, ...metadata },
      status: { ...finished.status, ...status },
    }) as View<DeployItem>;
  const active = (value: string) =>
    changed({ annotations: { 'continuousreconcile.extensions.landscaper.gardener.cloud/active': value } });

  const rows: readonly (readonly [string, View<DeployItem>, DeployerPlugin, boolean])[] = [
    ['has succeeded', finished, plugin, true],
    ['is active', active('true'), plugin, true],
    ['is suspended', active('false'), plugin, false],
    ['has failed', changed({}, { phase: 'Failed' }), plugin, false],
    ['is being deleted', changed({ deletionTimestamp: START }), plugin, false],
    ['has a deployer without schedules', finished, unscheduled, false],
    ['cannot be read', finished, refusing(new CodecError({ step: 'decode', message: 'no' })), false],
  ];
  for (const [title, each, by, isDue] of rows) {
    it(`is ${isDue ? '' : 'not '}followed if the item ${title}`, () => {
      expect(scheduleOf(each, by)).to.deep.equal(isDue ? { every: '10m' } : undefined);
      expect(nextDue(each, by)).to.equal(isDue ? ms + 600_000 : undefined);
    });
  }

  it('does not hide an error of the deployer', () => {
    expect(() => scheduleOf(finished, refusing(new TypeError('bug')))).to.throw(TypeError, 'bug');
  });

  const times: readonly (readonly [object | undefined, string | undefined, number | undefined])[] = [
    [{ every: '1500ms' }, START, 1000],
    [{ every: '1ms' }, START, 1000],
    [{ every: '2500ms' }, '2026-01-01T00:00:00.900Z', 2000],
    [{ cron: '0 1 * * *' }, START, 3_600_000],
    [{ every: '10m' }, 'yesterday', undefined],
    [undefined, START, undefined],
  ];
  for (const [schedule, last, expected] of times) {
    it(`${JSON.stringify(schedule)} after ${String(last)} is due after ${String(expected)} ms`, () => {
      const due = nextDueTime(schedule, last);
      expect(due === undefined ? undefined : due - ms).to.equal(expected);
    });
  }

  const read: readonly (readonly [unknown, unknown])[] = [
    [undefined, undefined],
    [null, undefined],
    [{}, {}],
    [{ cron: '', every: '' }, 'continuousReconcile.every must be a duration such as "1h30m"'],
    [{ cron: '@daily' }, { cron: '@daily' }],
    [{ every: '1h', cron: '' }, { every: '1h' }],
    ['x', 'continuousReconcile must be an object'],
    [{ cron: 1 }, 'continuousReconcile.cron must be a string'],
    [{ every: 1 }, 'continuousReconcile.every must be a duration such as "1h30m"'],
    [{ every: '-1s' }, 'continuousReconcile.every: specified duration has to be greater than zero'],
    [{ every: '1h', cron: '@daily' }, 'exactly one of [Cron, Every] must be set'],
    [{ cron: 'x' }, 'continuousReconcile.cron: Invalid value: "x": '],
  ];
  for (const [value, expected] of read) {
    it(`${JSON.stringify(value)} is read as ${JSON.stringify(expected)}`, () => {
      if (typeof expected === 'string') expect(() => decodeContinuous(value)).to.throw(CodecError, expected);
      else expect(decodeContinuous(value)).to.deep.equal(expected);
    });
  }

  it('waits for the execution that the item belongs to', () => {
    const owned = changed({ labels: { [`execution.${LS}/managed-by`]: 'exec' } });
    const executions = (status?: object) => ({
      get: (key: string) =>
        key === 'proj/exec' && status ? ({ status } as unknown as View<ExecutionObject>) : undefined,
    });
    expect(isExecutionRunning(owned, executions({ jobID: 'j2', jobIDFinished: 'j1' }))).to.equal(true);
    expect(isExecutionRunning(owned, executions({ jobID: 'j2', jobIDFinished: 'j2' }))).to.equal(false);
    expect(isExecutionRunning(owned, executions())).to.equal(false);
    expect(isExecutionRunning(finished, executions({ jobID: 'j2' }))).to.equal(false);
  });
});
