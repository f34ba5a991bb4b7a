/** One tenant does not lock others out of the console in the cluster. */
import { expect } from 'chai';
import {
  createLoginLimit,
  MAX_FAILURES,
  MAX_FAILURES_OF_ADDRESS,
} from '../../../src/cli/console/in-cluster/login-limit.ts';
import {
  createSessionStore,
  MAX_SESSIONS,
  MAX_SESSIONS_OF_NAMESPACE,
} from '../../../src/cli/console/in-cluster/sessions.ts';
import { FakeClock } from '../../support/clock.ts';

describe('failed logins', () => {
  it('of one address do not delay others, and are forgotten after a minute', async () => {
    const clock = new FakeClock();
    const limit = createLoginLimit(clock);
    for (let i = 0; i < MAX_FAILURES_OF_ADDRESS; i++) limit.failed('a');
    expect(limit.waitMs('a')).to.equal(60_000);
    expect(limit.waitMs('b')).to.equal(0);
    await clock.advance(60_000);
    expect(limit.waitMs('a')).to.equal(0);
  });

  it('of many addresses delay each that has failed, and no other', () => {
    const limit = createLoginLimit(new FakeClock());
    for (let i = 0; i < MAX_FAILURES; i++) limit.failed(`address ${String(i)}`);
    expect(limit.waitMs('address 0')).to.equal(60_000);
    expect(limit.waitMs('another')).to.equal(0);
  });
});

describe('the sessions of the service accounts of a namespace', () => {
  it('replace each other, so that other users can log in', () => {
    const ended: string[] = [];
    const store = createSessionStore<string>(new FakeClock(), (value, reason) => {
      ended.push(`${value}: ${reason}`);
    });
    expect(store.add('admin', 'admin')).to.be.a('string');
    for (let i = 0; i < MAX_SESSIONS + 1; i++) store.add(`account ${String(i)}`, String(i), 'shop');
    expect(store.values()).to.have.length(1 + MAX_SESSIONS_OF_NAMESPACE);
    expect(ended[0]).to.equal('0: replaced');
    expect(store.add('other', 'other')).to.be.a('string');
    expect(store.values()).to.include('admin').and.to.include('other');
  });
});
