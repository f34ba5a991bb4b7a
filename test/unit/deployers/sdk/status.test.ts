/** From the result of a plugin to the status of the item. */
import { expect } from 'chai';
import { intake } from '../../../../deployers/sdk/intake.ts';
import type { DeployItem, DeployItemStatus } from '../../../../deployers/sdk/kinds.ts';
import { done, fail, retry, wait, type Outcome } from '../../../../deployers/sdk/outcome.ts';
import { begun, ended, failedWith, settle, targetMissing } from '../../../../deployers/sdk/status.ts';
import type { Problem } from '../../../../src/machine/decision.ts';
import type { View } from '../../../../src/runtime/types.ts';

const NOW = '2026-01-01T00:01:00Z';
const BEFORE = '2026-01-01T00:00:00Z';
const deleting = { deletionTimestamp: BEFORE };
const problem = (message: string, more: Partial<Problem> = {}): Problem => ({
  operation: 'Op',
  reason: 'Re',
  message,
  ...more,
});
const running: DeployItemStatus = { observedGeneration: 1, jobID: 'j1', phase: 'Progressing' };

interface At {
  readonly direction?: 'apply' | 'remove';
  readonly metadata?: object;
  readonly isInPlugin?: boolean;
}
const settled = (
  outcome: Outcome,
  { direction = 'apply', metadata = {}, isInPlugin = true }: At = {},
  status = running,
) => settle(status, outcome, { direction, metadata, now: NOW, isInPlugin });

describe('the status after a reconcile', () => {
  const ends: readonly (readonly [string, Outcome, At, string])[] = [
    ['everything has succeeded', done(), {}, 'Succeeded'],
    ['a plugin reports that it has failed', done({ phase: 'Failed' }), {}, 'Failed'],
    ['an error is permanent', fail(problem('no')), {}, 'Failed'],
    [
      'an error is permanent and the item is being deleted',
      fail(problem('no')),
      { metadata: deleting },
      'DeleteFailed',
    ],
    [
      'an error has a permanent code',
      retry(problem('no', { codes: ['ERR_CONFIGURATION_PROBLEM'] })),
      {},
      'Failed',
    ],
  ];
  for (const [title, outcome, at, phase] of ends) {
    it(`is that of a finished job if ${title}`, () => {
      const { end, status, isReleased } = settled(outcome, at);
      expect([end, isReleased]).to.deep.equal([phase, undefined]);
      expect(status).to.deep.include({ phase, jobID: 'j1', jobIDFinished: 'j1' });
      expect(status.transitionTimes).to.deep.equal({ finishedTime: NOW });
    });
  }

  it('removes the item when everything has been removed', () => {
    expect(settled(done(), { direction: 'remove', metadata: deleting })).to.deep.equal({
      status: running,
      isReleased: true,
    });
  });

  const goesOn: readonly (readonly [string, Outcome, At, string | undefined, string])[] = [
    ['an installation waits', wait(), {}, 'Progressing', 'Progressing'],
    ['a plugin names the phase in which it waits', wait({ phase: 'Init' }), {}, 'Progressing', 'Init'],
    ['a removal waits', wait(), { direction: 'remove' }, 'Progressing', 'InitDelete'],
    ['a removal waits that has reported a failure', wait(), { direction: 'remove' }, 'Deleting', 'Deleting'],
    ['an installation is retried', retry(problem('x')), {}, 'Init', 'Progressing'],
    ['a removal is retried', retry(problem('x')), { direction: 'remove' }, 'InitDelete', 'Deleting'],
    ['the plugin was not called', retry(problem('x')), { isInPlugin: false }, 'Init', 'Init'],
    [
      'the plugin was not called and no phase is known',
      retry(problem('x')),
      { isInPlugin: false },
      undefined,
      'Init',
    ],
    [
      'the plugin was not called in a deletion',
      retry(problem('x')),
      { isInPlugin: false, metadata: deleting },
      undefined,
      'InitDelete',
    ],
  ];
  for (const [title, outcome, at, before, phase] of goesOn) {
    it(`has phase ${phase} if ${title}`, () => {
      const { phase: _, ...rest } = running;
      const { end, status } = settled(outcome, at, {
        ...rest,
        ...(before !== undefined && { phase: before }),
      });
      expect([end, status.phase, status.jobIDFinished]).to.deep.equal([undefined, phase, undefined]);
    });
  }

  it('shows what it waits for, which is not an error, and removes it when there is nothing', () => {
    const waiting = settled(
      wait({ why: problem('w', { codes: ['ERR_UNFINISHED', 'ERR_NO_RETRY'] }) }),
    ).status;
    expect(waiting.lastError).to.deep.include({ operation: 'Op', reason: 'Re', message: 'w' });
    expect(waiting.lastError?.codes).to.deep.equal(['ERR_UNFINISHED', 'ERR_NO_RETRY', 'ERR_FOR_INFO_ONLY']);
    expect([waiting.firstError, waiting.lastErrors]).to.deep.equal([undefined, undefined]);
    expect(settled(wait(), {}, waiting).status.lastError).to.equal(undefined);
    expect(settled(done(), {}, waiting).status.lastError).to.equal(undefined);
  });

  it('shows the problem of a failure, and none otherwise', () => {
    const p = problem('x');
    expect([settled(retry(p)), settled(fail(p))].map((each) => each.problem)).to.deep.equal([p, p]);
    expect([settled(done()), settled(wait({ why: p }))].map((each) => each.problem)).to.deep.equal([
      undefined,
      undefined,
    ]);
  });

  it('keeps the provider status until the plugin has a new one', () => {
    const known = { ...running, providerStatus: { a: 1 } };
    for (const outcome of [done(), wait(), retry(problem('x'))])
      expect(settled(outcome, {}, known).status.providerStatus).to.deep.equal({ a: 1 });
    for (const outcome of [done({ status: { b: 2 } }), retry(problem('x'), { status: { b: 2 } })])
      expect(settled(outcome, {}, known).status.providerStatus).to.deep.equal({ b: 2 });
  });

  it('has the conditions of the plugin besides those of others', () => {
    const other = {
      type: 'Other',
      status: 'True',
      reason: 'R',
      message: 'm',
      lastTransitionTime: BEFORE,
      lastUpdateTime: BEFORE,
    };
    const conditions = [{ type: 'Mine', status: 'True', reason: 'R', message: 'm' }] as const;
    const { status } = settled(done({ conditions }), {}, { ...running, conditions: [other] });
    expect(status.conditions?.map(({ type }) => type)).to.deep.equal(['Other', 'Mine']);
    expect(settled(done({ conditions })).status.conditions).to.have.length(1);
  });
});

describe('the errors of a job', () => {
  const after = (...messages: string[]): DeployItemStatus =>
    messages.reduce(
      (status, message, i) => failedWith(status, problem(message), `2026-01-01T00:00:0${String(i)}Z`),
      running,
    );
  const listed = ({ lastErrors = [] }: DeployItemStatus): string[] =>
    lastErrors.map(({ message }) => message);

  it('are the first, the last and those between, without equal neighbours', () => {
    const status = after('a', 'a', 'b', 'a');
    expect(listed(status)).to.deep.equal(['a', 'b', 'a']);
    expect([status.firstError?.message, status.lastError?.message]).to.deep.equal(['a', 'a']);
    expect(status.firstError?.lastTransitionTime).to.equal('2026-01-01T00:00:00Z');
  });

  for (const field of ['operation', 'reason', 'message'] as const) {
    it(`are two if their ${field} differs`, () => {
      const first = failedWith(running, problem('a'), BEFORE);
      expect(failedWith(first, { ...problem('a'), [field]: 'other' }, NOW).lastErrors).to.have.length(2);
    });
  }

  it('get the codes of the attempt that ends the job, if it repeats the message', () => {
    const retried = failedWith(running, { ...problem('a'), codes: [] }, BEFORE);
    const codes = ['ERR_UNAUTHORIZED'] as const;
    const { firstError, lastErrors } = failedWith(retried, { ...problem('a'), codes }, NOW);
    expect(lastErrors).to.have.length(1);
    for (const error of [firstError, lastErrors?.[0]])
      expect(error).to.deep.include({ codes, lastTransitionTime: BEFORE });
  });

  it('are the latest five', () => {
    const status = after('a', 'b', 'c', 'd', 'e', 'f');
    expect(listed(status)).to.deep.equal(['b', 'c', 'd', 'e', 'f']);
    expect(status.firstError?.message).to.equal('a');
  });
});

describe('the status of a job that begins', () => {
  const stamp = { now: NOW, deployer: { identity: 'i', name: 'n', version: '1' } };

  it('has the times of this job, and no errors of the last one', () => {
    const before = {
      ...failedWith(running, problem('old'), BEFORE),
      phase: 'Failed',
      jobIDFinished: 'j0',
      providerStatus: { a: 1 },
      transitionTimes: { triggerTime: BEFORE, finishedTime: BEFORE },
    };
    expect(begun({ generation: 3 }, before, stamp)).to.deep.equal({
      phase: 'Init',
      jobID: 'j1',
      jobIDFinished: 'j0',
      providerStatus: { a: 1 },
      observedGeneration: 3,
      lastReconcileTime: NOW,
      deployer: stamp.deployer,
      transitionTimes: { triggerTime: BEFORE, initTime: NOW },
    });
  });

  it('exists also for an item without a status', () => {
    expect(begun(deleting, undefined, stamp)).to.deep.equal({
      phase: 'InitDelete',
      observedGeneration: 0,
      lastReconcileTime: NOW,
      deployer: stamp.deployer,
      transitionTimes: { initTime: NOW },
    });
  });

  it('ends without a job id if there is none', () => {
    const status = { observedGeneration: 1 };
    expect(ended(status, 'Failed', NOW)).to.deep.equal({
      observedGeneration: 1,
      phase: 'Failed',
      transitionTimes: { finishedTime: NOW },
    });
  });
});

const itemOf = (
  status: object | undefined,
  more: { metadata?: object; spec?: object } = {},
): View<DeployItem> =>
  ({
    apiVersion: 'landscaper.gardener.cloud/v1alpha1',
    kind: 'DeployItem',
    metadata: { name: 'web', namespace: 'proj', generation: 1, ...more.metadata },
    spec: { type: 'x/y', target: { name: 'cluster-a', namespace: 'proj' }, ...more.spec },
    ...(status && { status }),
  }) as View<DeployItem>;

describe('an item whose target does not exist', () => {
  it('is reported as upstream does; a deletion gets a remedy', () => {
    expect(targetMissing(itemOf(undefined)).message).to.equal(
      'setting deploy item to failed due to missing target: target proj/cluster-a does not exist; create it, or correct the reference to it, and start another job of the root installation',
    );
    const { operation, reason, message } = targetMissing(itemOf(undefined, { metadata: deleting }));
    expect([operation, reason]).to.deep.equal(['reconcilePrivate', 'NoTargetFound']);
    expect(message)
      .to.match(/^target proj\/cluster-a does not exist/)
      .and.contain('landscaper.gardener.cloud/delete-without-uninstall=true')
      .and.contain('landscaper.gardener.cloud/operation=reconcile');
  });
});

describe('what a deployer has to do for an item', () => {
  const open = { observedGeneration: 1, jobID: 'j2', jobIDFinished: 'j1' };
  const begunAt = { transitionTimes: { initTime: BEFORE } };
  const work = (direction: string, isNew: boolean) => ({ do: 'work', direction, isNew });
  const onChange = { spec: { updateOnChangeOnly: true } };
  const gone = { metadata: deleting };
  const lastError = {
    operation: 'o',
    reason: 'r',
    message: 'm',
    lastTransitionTime: NOW,
    lastUpdateTime: NOW,
  };
  const testing = { metadata: { annotations: { 'landscaper.gardener.cloud/operation': 'test-reconcile' } } };

  const rows: readonly (readonly [string, object | undefined, object, object])[] = [
    ['a finished job', { ...open, jobIDFinished: 'j2' }, {}, { do: 'nothing' }],
    ['no status', undefined, {}, { do: 'nothing' }],
    ['test-reconcile', { ...open, jobIDFinished: 'j2' }, testing, { do: 'testReconcile' }],
    ['a job without a phase', open, {}, work('apply', true)],
    ['a job after a finished one', { ...open, phase: 'Succeeded', ...begunAt }, {}, work('apply', true)],
    ['a job whose start is not recorded', { ...open, phase: 'Progressing' }, {}, work('apply', true)],
    ['a job that was started', { ...open, phase: 'Progressing', ...begunAt }, {}, work('apply', false)],
    ['a job of an item that did not change', { ...open, phase: 'Succeeded' }, onChange, { do: 'shortcut' }],
    [
      'a job of an item that changed',
      { ...open, phase: 'Succeeded', observedGeneration: 0 },
      onChange,
      work('apply', true),
    ],
    ['a job of an item that failed', { ...open, phase: 'Failed' }, onChange, work('apply', true)],
    ['a job of an item that always needs one', { ...open, phase: 'Succeeded' }, {}, work('apply', true)],
    [
      'a started job of an item that did not change',
      { ...open, phase: 'Progressing', ...begunAt },
      onChange,
      work('apply', false),
    ],
    [
      'a deletion of an item that did not change',
      { ...open, phase: 'Succeeded' },
      { ...onChange, ...gone },
      work('remove', true),
    ],
    ['a deletion', { ...open, phase: 'Succeeded', ...begunAt }, gone, work('remove', true)],
    [
      'a deletion that was started',
      { ...open, phase: 'InitDelete', ...begunAt },
      gone,
      work('remove', false),
    ],
    [
      'a deletion that has reported a failure',
      { ...open, phase: 'Deleting', ...begunAt },
      gone,
      work('remove', false),
    ],
    [
      'a deletion while the job is running',
      { ...open, phase: 'Progressing', ...begunAt },
      gone,
      work('apply', false),
    ],
    [
      'a deletion while the job waits',
      { ...open, phase: 'Progressing', ...begunAt, lastError: { ...lastError, codes: ['ERR_UNFINISHED'] } },
      gone,
      work('apply', false),
    ],
    [
      'a deletion while the job repeats a failure',
      { ...open, phase: 'Progressing', ...begunAt, lastError },
      gone,
      work('remove', false),
    ],
  ];
  for (const [title, status, more, expected] of rows) {
    it(`is determined for ${title}`, () => {
      expect(intake(itemOf(status, more))).to.deep.equal(expected);
    });
  }
});
