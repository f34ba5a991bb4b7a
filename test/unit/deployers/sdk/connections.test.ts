/** The effect of a connection error on the job of an item. */
import { expect } from 'chai';
import { RetryError, problemOf } from '../../../../deployers/sdk/errors.ts';
import type { DeployItemStatus } from '../../../../deployers/sdk/kinds.ts';
import { done, retry } from '../../../../deployers/sdk/outcome.ts';
import { begun, settle, type Settled } from '../../../../deployers/sdk/status.ts';

const START = Date.UTC(2026, 0, 1);
const now = (seconds: number): string => new Date(START + seconds * 1000).toISOString().replace('.000Z', 'Z');
const place = { operation: 'reconcile', reason: 'Reconcile' };
const failure = (code: string): Error => new Error('no', { cause: Object.assign(new Error(code), { code }) });
const item: DeployItemStatus = { observedGeneration: 1, jobID: 'j1', phase: 'Progressing' };

const look = (status: DeployItemStatus, code: string, seconds: number): Settled =>
  settle(status, retry(problemOf(failure(code), place)), {
    direction: 'apply',
    metadata: {},
    now: now(seconds),
    isInPlugin: true,
  });
const types = ({ conditions = [] }: DeployItemStatus): string[] => conditions.map(({ type }) => type);

describe('a deploy item whose server cannot be reached', () => {
  for (const code of ['DEPTH_ZERO_SELF_SIGNED_CERT', 'ERR_SSL_WRONG_VERSION_NUMBER']) {
    it(`fails at once because of ${code}, also if a plugin wraps the error`, () => {
      expect(look(item, code, 0)).to.deep.include({ end: 'Failed' });
      const own = new RetryError({
        operation: 'Reconcile',
        reason: 'Template',
        message: 'no chart',
        cause: failure(code),
      });
      expect(problemOf(own, place)).to.deep.include({
        codes: ['ERR_CONFIGURATION_PROBLEM'],
        reason: 'Template',
      });
    });
  }

  it('is retried until its timeout if the server may recover', () => {
    for (const code of ['ECONNREFUSED', 'UND_ERR_CONNECT_TIMEOUT', 'EAI_AGAIN']) {
      const { end, status } = look(item, code, 0);
      expect([end, types(status)], code).to.deep.equal([undefined, []]);
    }
  });

  it('fails if the name of the server is not found for a minute, also across a restart', () => {
    const first = look(item, 'ENOTFOUND', 0);
    expect(first.end).to.equal(undefined);
    expect(types(first.status)).to.deep.equal(['RemoteUnavailable']);
    expect(look(first.status, 'ENOTFOUND', 59).end).to.equal(undefined);
    const last = look(first.status, 'ENOTFOUND', 60);
    expect([last.end, types(last.status)]).to.deep.equal(['Failed', []]);
    expect(last.status.lastError).to.deep.include({ codes: ['ERR_CONFIGURATION_PROBLEM'] });
    expect(last.status.lastError?.message).to.contain('check how it is spelt');
  });

  it('forgets the error when the server answers, and when another job begins', () => {
    const { status } = look(item, 'ENOTFOUND', 0);
    const end = settle(status, done(), { direction: 'apply', metadata: {}, now: now(1), isInPlugin: true });
    expect(types(end.status)).to.deep.equal([]);
    expect(types(look(status, 'ECONNREFUSED', 1).status)).to.deep.equal([]);
    const deployer = { identity: 'i', name: 'n', version: '1' };
    expect(types(begun({}, status, { now: now(9), deployer }))).to.deep.equal([]);
  });
});
