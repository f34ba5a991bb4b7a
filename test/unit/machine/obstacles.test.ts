/** What the objects above show of an error or a wait below, and when. */
import { expect } from 'chai';
import {
  notPickedUpMessage,
  obstacleAmong,
  obstacleAt,
  obstacleBelow,
  problemOf,
} from '../../../src/machine/obstacles.ts';
import type { Status } from '../../../src/machine/status.ts';
import { NOW, child, done, item, running } from '../../support/given.ts';

/** Milliseconds before NOW. */
const ago = (ms: number): string => new Date(Date.parse(NOW) - ms).toISOString();
const errorOf = (message: string, ms: number, codes?: readonly string[]) => ({
  lastError: {
    operation: 'o',
    reason: 'R',
    message,
    lastTransitionTime: ago(ms),
    lastUpdateTime: NOW,
    ...(codes && { codes: [...codes] }),
  },
});
const WAIT = ['ERR_UNFINISHED', 'ERR_FOR_INFO_ONLY'];
const waitingFor = (reason: string, message: string) => ({
  conditions: [
    {
      type: 'Waiting',
      status: 'True' as const,
      reason,
      message,
      lastTransitionTime: NOW,
      lastUpdateTime: NOW,
    },
  ],
});
const app = (status: object, name = 'app') => item('plan', name, { ...running('j1'), ...status });

describe('the problem of an unfinished job', () => {
  const rows: readonly (readonly [string, Status, string | undefined])[] = [
    ['is an error that it retries', errorOf('no chart', 0), 'ReconcileError'],
    ['is what its deployer waits for', errorOf('0 of 1 ready', 0, WAIT), 'InProgress'],
    ['is not a message for information', errorOf('a sibling runs', 0, ['ERR_FOR_INFO_ONLY']), undefined],
    ['is not its wait for others', { ...errorOf('not finished', 0), ...waitingFor('JobsUnfinished', 'm') }, undefined],
    ['does not exist without an error', {}, undefined],
  ]; // prettier-ignore
  for (const [title, status, reason] of rows)
    it(title, () => {
      expect(problemOf(status)?.reason).to.equal(reason);
    });
});

describe('what the objects above show', () => {
  it('is the object and its error, and nothing after the end of the job', () => {
    expect(obstacleAt(app(errorOf('no chart', 0)))?.message).to.equal('deploy item plan-app-x: no chart');
    expect(obstacleAt(item('plan', 'app', { ...done('j1'), ...errorOf('no chart', 0) }))).to.equal(undefined);
  });

  it('is the message of the innermost object word for word', () => {
    const sub = child('stack', 'a', {
      ...running('j1'),
      ...waitingFor('ReconcileError', 'deploy item x: no'),
    });
    expect(obstacleAt(sub)).to.deep.equal({ reason: 'ReconcileError', message: 'deploy item x: no' });
  });

  it('is not a list of objects', () => {
    expect(obstacleAt(child('stack', 'a', { ...running('j1'), ...waitingFor('JobsUnfinished', 'waits for b') }))).to.equal(undefined); // prettier-ignore
    expect(obstacleBelow(waitingFor('PredecessorsUnfinished', 'waits for b'))).to.equal(undefined);
  });

  it('has a limited length, with the end of the message', () => {
    const { message = '' } = obstacleAt(app(errorOf(`${'x'.repeat(5000)} the way out`, 0))) ?? {};
    expect(message)
      .to.have.length.below(1100)
      .and.match(/^deploy item plan-app-x: .* the way out$/s);
  });

  const ages: readonly (readonly [string, number, readonly string[] | undefined, object])[] = [
    ['an error of the last two seconds is not shown yet', 500, undefined, { requeueAfterMs: 1500 }],
    ['an older error is shown', 2000, undefined, { obstacle: { reason: 'ReconcileError', message: 'deploy item plan-app-x: m' } }],
    ['a wait of the last 15 seconds is not shown yet', 14_000, WAIT, { requeueAfterMs: 1000 }],
    ['a longer wait is shown', 15_000, WAIT, { obstacle: { reason: 'InProgress', message: 'deploy item plan-app-x: m' } }],
  ]; // prettier-ignore
  for (const [title, ms, codes, expected] of ages)
    it(title, () => {
      expect(obstacleAmong([app(errorOf('m', ms, codes))], {}, NOW)).to.deep.equal(expected);
    });

  it('an error without a time is shown at once', () => {
    const { lastTransitionTime: _, ...lastError } = errorOf('m', 0).lastError;
    expect(obstacleAmong([app({ lastError })], {}, NOW)).to.have.nested.property(
      'obstacle.reason',
      'ReconcileError',
    );
  });

  it('is an error rather than a wait, and a missing deployer rather than both', () => {
    const wait = app(errorOf('not ready', 60_000, WAIT), 'a');
    const error = app(errorOf('no chart', 60_000), 'b');
    const lost = child('stack', 'c', { ...running('j1'), ...waitingFor('NotTakenUp', 'no deployer') });
    const shown = (...objects: Parameters<typeof obstacleAmong>[0]) => obstacleAmong(objects, {}, NOW).obstacle?.message;
    expect(shown(wait, error)).to.equal('deploy item plan-b-x: no chart');
    expect(shown(wait, error, lost)).to.equal('no deployer');
  }); // prettier-ignore

  it('stays the same while its error exists, although others appear before it', () => {
    const [a, b] = [app(errorOf('one', 9000), 'a'), app(errorOf('two', 9000), 'b')];
    const shown = waitingFor('ReconcileError', 'deploy item plan-b-x: two');
    expect(obstacleAmong([a, b], shown, NOW).obstacle?.message).to.equal('deploy item plan-b-x: two');
    expect(obstacleAmong([a, b], {}, NOW).obstacle?.message).to.equal('deploy item plan-a-x: one');
  });

  it('is nothing if all goes well', () => {
    expect(obstacleAmong([app({})], {}, NOW)).to.deep.equal({});
  });
});

describe('the message about a deploy item without a deployer', () => {
  it('is that of the condition with this reason', () => {
    expect(notPickedUpMessage(waitingFor('NotTakenUp', 'no deployer'))).to.equal('no deployer');
    expect(notPickedUpMessage(waitingFor('ReconcileError', 'no chart'))).to.equal(undefined);
    expect(notPickedUpMessage()).to.equal(undefined);
  });
});
