/**
 * Sixty trees over a bad connection, in real time: some minutes, so it runs separately (`make test-faults`). The
 * faults are drawn from SEED, default 1; the order of requests is not, so two runs differ in detail.
 */
import { expect } from 'chai';
import { patience } from '../support/patience.ts';
import { playTrial, weather } from './bad-connection.ts';

const TREES = 60;
const LIMIT_MS = patience(300_000);
/** Share of the time for which a source may be without a watch. */
const MOST_WAITING = 0.05;

describe('controllers behind a bad connection', () => {
  it('create and delete sixty trees in time, with one job each, and keep their watches open', async () => {
    const seed = Number(process.env['SEED'] ?? 1) || 1;
    const { createMs, deleteMs, left, waiting, jobs, counts } = await playTrial(
      TREES,
      weather(seed),
      LIMIT_MS,
    );
    const seconds = (ms: number | undefined): string =>
      ms === undefined ? 'not in time' : `${(ms / 1_000).toFixed(0)} s`;
    console.log(
      `      seed ${String(seed)}: created ${seconds(createMs)}, deleted ${seconds(deleteMs)}, ` +
        `without a watch ${(100 * waiting).toFixed(1)} % of the time; ${JSON.stringify(counts)}`,
    );
    expect(left).to.deep.equal([]);
    expect((createMs ?? Infinity) + (deleteMs ?? Infinity)).to.be.below(LIMIT_MS);
    expect(jobs).to.deep.equal(jobs.map(() => 1));
    expect(waiting).to.be.below(MOST_WAITING);
    for (const trouble of ['409', '410', '429', '500', '503', 'reset', 'lost', 'delayed', 'watches cut']) {
      expect(counts[trouble] ?? 0, `how often the connection met ${trouble}`).to.be.greaterThan(10);
    }
  }).timeout(LIMIT_MS + 60_000);
});
