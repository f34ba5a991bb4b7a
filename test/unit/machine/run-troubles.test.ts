/** What the loop does for errors: failed writes, facts that cannot be determined, unknown phases. */
import { expect } from 'chai';
import { advance, PhaseError, wait } from '../../../src/machine/decision.ts';
import { RequeueError } from '../../../src/machine/run.ts';
import {
  InvalidObjectName,
  ResponseTooLarge,
  ShutdownError,
  TransportError,
} from '../../../src/runtime/errors.ts';
import { deleting, running } from '../../support/given.ts';
import { stackOverflow } from '../../support/nested.ts';
import { apiError, effects, ended, run, type Given } from './support/one-phase.ts';

describe('a temporary write error', () => {
  it('is reported, and retried', async () => {
    const error = apiError(500);
    const { end, last, names } = await run(() => advance('Done', { effects }), { refusal: error });
    expect(end).to.be.instanceOf(RequeueError).with.property('cause', error);
    expect(names).to.deep.equal(['stack']);
    expect(last.lastError).to.include({ operation: 'write', reason: 'WriteInstallation' });
  });

  it('repeats the reconcile if the object has changed, and stores nothing', async () => {
    const error = apiError(409, 'Conflict');
    const { end, writes } = await run(() => advance('Done', { effects }), { refusal: error });
    expect(end).to.equal(error);
    expect(writes).to.deep.equal([]);
  });
});

describe('a phase that cannot determine a fact', () => {
  class TryAgain extends PhaseError {
    override readonly outcome = 'retry';
  }
  const condition = { type: 'CreateExports', status: 'False', reason: 'r', message: 'm' } as const;
  const tooLarge = (isFinal: boolean) =>
    new ResponseTooLarge({ message: 'too large', excess: 'bytes', isFinal });
  const rows: readonly (readonly [string, unknown, 'ends' | 'retries', object])[] = [
    ['because of a permanent error', new PhaseError('o', 'r', 'm', ['ERR_TIMEOUT'], { conditions: [condition] }), 'ends', { operation: 'o', reason: 'r', message: 'm', codes: ['ERR_TIMEOUT'] }],
    ['because of a temporary error', new TryAgain('o', 'r', 'm'), 'retries', { operation: 'o', reason: 'r', message: 'm' }],
    ['from a response that is always too large', new Error('read', { cause: tooLarge(true) }), 'ends', { operation: 'reconcile', reason: 'ReadFailed', message: 'read' }],
    ['from a response that is too large by chance', tooLarge(false), 'retries', { reason: 'UnexpectedError', message: 'too large' }],
    ['that does not exist', new InvalidObjectName({ message: 'bad name' }), 'ends', { operation: 'reconcile', reason: 'InvalidReference', message: 'bad name', codes: ['ERR_CONFIGURATION_PROBLEM'] }],
    ['that is nested too deeply', stackOverflow(), 'ends', { operation: 'reconcile', reason: 'NestedTooDeeply', codes: ['ERR_CONFIGURATION_PROBLEM'] }],
    ['because the server rejects the request', apiError(500), 'retries', { operation: 'reconcile', reason: 'ReadFailed' }],
    ['because the server cannot be reached', new TransportError({ message: 'reset', safeToRepeat: true }), 'retries', { reason: 'ReadFailed', message: 'reset' }],
    ['for an unexpected reason', new Error('odd'), 'retries', { reason: 'UnexpectedError', message: 'odd' }],
    ['for a reason that is not an Error', 'odd', 'retries', { reason: 'UnexpectedError', message: 'odd' }],
  ]; // prettier-ignore
  for (const [title, error, outcome, lastError] of rows) {
    it(`${title} ${outcome === 'ends' ? 'ends the job' : 'is retried'}`, async () => {
      const { end, last } = await run(() => advance('Done'), {
        fact: () => {
          throw error;
        },
      });
      expect(last.lastError).to.deep.include(lastError);
      expect(last.conditions?.map(({ type }) => type)).to.deep.equal(
        title.endsWith('permanent error') ? ['CreateExports'] : undefined,
      );
      if (outcome === 'ends') expect(ended(end)).to.equal('finished');
      else expect(end).to.be.instanceOf(RequeueError);
      if (outcome === 'retries' && !(error instanceof PhaseError))
        expect(end).to.have.property('cause', error);
    });
  }

  for (const [title, error] of [
    ['the process stops', new ShutdownError({ message: 'over' })],
    ['the pass is cancelled', Object.assign(new Error('cancelled'), { name: 'AbortError' })],
  ] as const) {
    it(`because ${title} fails the reconcile, and the status does not show it`, async () => {
      const { end, writes } = await run(() => advance('Done'), {
        fact: () => {
          throw error;
        },
      });
      expect(end).to.equal(error);
      expect(writes).to.deep.equal([]);
    });
  }
});

describe('an unknown phase of an object', () => {
  const rows: readonly (readonly [string, Given, string, RegExp])[] = [
    ['ends the job of an object', {}, 'Failed', /^phase "One" is not valid for an object that is not being deleted: .*start another job$/],
    ['ends the deletion of an object', { meta: deleting }, 'DeleteFailed', /^phase "One" is not valid for an object that is being deleted: /],
  ]; // prettier-ignore
  for (const [title, given, phase, message] of rows) {
    it(title, async () => {
      const { last, events } = await run(() => wait(), { ...given, machine: { table: {} } });
      expect(last).to.include({ phase, jobIDFinished: 'j1' });
      expect(last.lastError).to.include({ operation: 'reconcile', reason: 'UnknownPhase' });
      expect(last.lastError?.message).to.match(message);
      expect(events).to.have.length(1);
    });
  }

  for (const phase of ['constructor', 'toString', '__proto__']) {
    it(`is one that every object of JavaScript has, such as ${phase}`, async () => {
      const { last } = await run(() => wait(), { stored: running('j1', phase), machine: { table: {} } });
      expect(last).to.include({ phase: 'Failed', jobIDFinished: 'j1' });
      expect(last.lastError).to.include({ reason: 'UnknownPhase' });
    });
  }

  it('may be a phase of deletions, for an object that is being deleted', async () => {
    const { end } = await run(() => wait(), { meta: deleting, row: { onFail: 'DeleteFailed' } });
    expect(ended(end)).to.equal('waiting');
  });
});
