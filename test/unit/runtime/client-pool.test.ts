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
  const users: string[] = [];
  const pool = createClientPool(clock, (text, namespace) => {
    opened.push(text);
    users.push(namespace);
    if (text === 'broken') return Promise.reject(new Error('no kubeconfig'));
    return Promise.resolve({ close: () => Promise.resolve(void closed.push(text)) } as unknown as Client);
  });
  return { clock, pool, opened, closed, users };
}

describe('the pool of clients', () => {
  it('opens one client for equal credentials and another for others', async () => {
    const { pool, opened } = given();
    const [a, again, b] = await Promise.all([
      pool.open('a', 'demo'),
      pool.open('a', 'demo'),
      pool.open('b', 'demo'),
    ]);
    expect(again).to.equal(a);
    expect(b).not.to.equal(a);
    expect(opened).to.deep.equal(['a', 'b']);
  });

  it('creates a client for the namespace that needs it first', async () => {
    const { pool, users } = given();
    await pool.open('a', 'team-a');
    await pool.open('a', 'team-b');
    expect(users).to.deep.equal(['team-a']);
  });

  it('closes a client that was not used for ten minutes, and opens it again', async () => {
    const { clock, pool, opened, closed } = given();
    await pool.open('old', 'demo');
    await clock.advance(6 * MINUTE);
    await pool.open('young', 'demo');
    await clock.advance(5 * MINUTE);
    expect(closed).to.deep.equal(['old']);
    await pool.open('old', 'demo');
    expect(opened).to.deep.equal(['old', 'young', 'old']);
  });

  it('keeps a client that is used every five minutes', async () => {
    const { clock, pool, closed } = given();
    for (let i = 0; i < 10; i++) {
      await pool.open('a', 'demo');
      await clock.advance(5 * MINUTE);
    }
    expect(closed).to.deep.equal([]);
  });

  it('does not cache a failure', async () => {
    const { pool, opened } = given();
    for (let i = 0; i < 2; i++) {
      expect(await pool.open('broken', 'demo').catch(String)).to.equal('Error: no kubeconfig');
    }
    expect(opened).to.have.length(2);
  });

  it('keeps a limited number of clients for each namespace, and does not close those that are in use', async () => {
    const { pool, opened, closed } = given();
    const kubeconfigs = Array.from({ length: 40 }, (_, i) => String(i).padEnd(2 ** 20, 'x'));
    await pool.open('of another', 'team-b');
    for (const kubeconfig of kubeconfigs) await pool.open(kubeconfig, 'team-a');
    expect(opened).to.have.length(41);
    await pool.open('of another', 'team-b');
    await pool.open(kubeconfigs.at(-1) ?? '', 'team-a');
    expect(opened, 'kept').to.have.length(41);
    await pool.open(kubeconfigs[0] ?? '', 'team-a');
    expect(opened, 'opened again').to.have.length(42);
    expect(closed).to.deep.equal([]);
  });

  it('closes everything at the end, and leaves no timer behind', async () => {
    const { clock, pool, closed } = given();
    await pool.open('a', 'demo');
    await pool.open('b', 'demo');
    await pool.close();
    expect(closed).to.deep.equal(['a', 'b']);
    expect(clock.pending).to.equal(0);
  });

  it('opens nothing after the end, so that no timer keeps the process alive', async () => {
    const { clock, pool, opened } = given();
    await pool.close();
    expect(await outcome(pool.open('a', 'demo'))).to.throw(ShutdownError);
    expect(opened).to.deep.equal([]);
    expect(clock.pending).to.equal(0);
  });
});
