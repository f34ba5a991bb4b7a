import { expect } from 'chai';
import { ShutdownError } from '../../../src/runtime/errors.ts';
import { createClientPool } from '../../../src/runtime/transport/client-pool.ts';
import type { Client } from '../../../src/runtime/types.ts';
import { FakeClock } from '../../support/clock.ts';
import { outcome } from '../../support/outcome.ts';

const MINUTE = 60_000;

function given() {
  const clock = new FakeClock();
  const opened: string[] = [];
  const closed: string[] = [];
  const pool = createClientPool(clock, (text) => {
    opened.push(text);
    if (text === 'broken') return Promise.reject(new Error('no kubeconfig'));
    return Promise.resolve({ close: () => Promise.resolve(void closed.push(text)) } as unknown as Client);
  });
  return { clock, pool, opened, closed };
}

describe('the pool of clients', () => {
  it('opens one client for equal credentials and another for others', async () => {
    const { pool, opened } = given();
    const [a, again, b] = await Promise.all([pool.open('a'), pool.open('a'), pool.open('b')]);
    expect(again).to.equal(a);
    expect(b).not.to.equal(a);
    expect(opened).to.deep.equal(['a', 'b']);
  });

  it('closes a client that was not used for ten minutes, and opens it again', async () => {
    const { clock, pool, opened, closed } = given();
    await pool.open('old');
    await clock.advance(6 * MINUTE);
    await pool.open('young');
    await clock.advance(5 * MINUTE);
    expect(closed).to.deep.equal(['old']);
    await pool.open('old');
    expect(opened).to.deep.equal(['old', 'young', 'old']);
  });

  it('keeps a client that is used every five minutes', async () => {
    const { clock, pool, closed } = given();
    for (let i = 0; i < 10; i++) {
      await pool.open('a');
      await clock.advance(5 * MINUTE);
    }
    expect(closed).to.deep.equal([]);
  });

  it('does not cache a failure', async () => {
    const { pool, opened } = given();
    for (let i = 0; i < 2; i++) {
      expect(await pool.open('broken').catch(String)).to.equal('Error: no kubeconfig');
    }
    expect(opened).to.have.length(2);
  });

  it('closes everything at the end, and leaves no timer behind', async () => {
    const { clock, pool, closed } = given();
    await pool.open('a');
    await pool.open('b');
    await pool.close();
    expect(closed).to.deep.equal(['a', 'b']);
    expect(clock.pending).to.equal(0);
  });

  it('opens nothing after the end, so that no timer keeps the process alive', async () => {
    const { clock, pool, opened } = given();
    await pool.close();
    expect(await outcome(pool.open('a'))).to.throw(ShutdownError);
    expect(opened).to.deep.equal([]);
    expect(clock.pending).to.equal(0);
  });
});
