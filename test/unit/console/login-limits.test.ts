/** One tenant does not lock others out of the console in the cluster. */
import { expect } from 'chai';
import {
  createLoginLimit,
  MAX_FAILURES_OF_ADDRESS,
} from '../../../src/cli/console/in-cluster/login-limit.ts';
import {
  createSessionStore,
  MAX_SESSIONS,
  MAX_SESSIONS_OF_NAMESPACE,
} from '../../../src/cli/console/in-cluster/sessions.ts';
import { FakeClock } from '../../support/clock.ts';

describe('the limit of failed logins', () => {
  it('lets an address wait until its oldest failure is a minute old', async () => {
    const clock = new FakeClock();
    const limit = createLoginLimit(clock);
    for (let i = 0; i < MAX_FAILURES_OF_ADDRESS; i++) {
      expect(limit.waitMs('a')).to.equal(0);
      limit.failed('a');
      await clock.advance(1_000);
    }
    expect(limit.waitMs('a')).to.equal(60_000 - MAX_FAILURES_OF_ADDRESS * 1_000);
    expect(limit.waitMs('b')).to.equal(0);
    await clock.advance(60_000 - MAX_FAILURES_OF_ADDRESS * 1_000 - 1);
    expect(limit.waitMs('a')).to.equal(1);
    await clock.advance(1);
    expect(limit.waitMs('a')).to.equal(0);
    limit.failed('a');
    expect(limit.waitMs('a')).to.equal(1_000);
  });

  it('lets every address that has failed wait after 200 failures of all, and no other', () => {
    const limit = createLoginLimit(new FakeClock());
    for (let i = 0; i < 199; i++) limit.failed(`address-${String(i)}`);
    expect(limit.waitMs('address-0')).to.equal(0);
    limit.failed('the-last');
    expect(limit.waitMs('address-0')).to.equal(60_000);
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
