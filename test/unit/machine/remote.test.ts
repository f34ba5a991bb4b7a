/** How long a job retries a server: computed from its status, so that no state is in the memory of a process. */
import { expect } from 'chai';
import { judgeRemote, NAME_NOT_FOUND_MS, remoteTroubleOf } from '../../../src/machine/remote.ts';
import { changed, waitingFor, withoutWait, type Status } from '../../../src/machine/status.ts';

const START = Date.UTC(2026, 0, 1);
const LIMIT_MS = 10 * 60_000;
const at = (seconds: number): string => new Date(START + seconds * 1000).toISOString().replace('.000Z', 'Z');

type Trouble = 'NameNotFound' | 'ServerUnavailable';
const problem = (remote: Trouble) => ({ operation: 'op', reason: 'why', message: 'cannot reach it', remote });

/** The status after an attempt, or the message that ends the job. */
function attempt(status: Status, remote: Trouble, seconds: number, limitMs = LIMIT_MS): Status | string {
  const judged = judgeRemote(status, problem(remote), at(seconds), limitMs);
  if (judged.isOver) return judged.problem.message;
  return changed(status, { conditions: [judged.condition] }, at(seconds));
}

/** Attempts at these seconds, until one ends the job; returns the second it ended at, and why. */
function attempts(list: readonly (readonly [number, Trouble])[], limitMs = LIMIT_MS): string {
  let status: Status = {};
  for (const [seconds, remote] of list) {
    const next = attempt(status, remote, seconds, limitMs);
    if (typeof next === 'string') return `${seconds}: ${next}`;
    status = JSON.parse(JSON.stringify(next)) as Status; // as after a restart
  }
  return 'goes on';
}

const A: Trouble = 'ServerUnavailable';
const N: Trouble = 'NameNotFound';

describe('a server that cannot be used', () => {
  it('is retried until the limit, counted from the first attempt', () => {
    expect(attempts([[0, A], [1, A], [300, A], [599, A]])).to.equal('goes on'); // prettier-ignore
    expect(attempts([[0, A], [599, A], [600, A]])).to.match(
      /^600: cannot reach it; gave up after 10m0s \(limits\.remoteRetryTimeout in the configuration\)/,
    ); // prettier-ignore
  });

  it('is given up at the limit although the reason has changed since the first attempt', () => {
    expect(attempts([[0, A], [590, N], [599, A], [600, A]])).to.match(/^600: .*gave up after 10m0s/); // prettier-ignore
    expect(attempts([[0, N], [30, A], [599, A], [600, A]])).to.match(/^600: .*gave up after 10m0s/); // prettier-ignore
  });

  it('is retried without end if there is no limit', () => {
    expect(attempts([[0, A], [1e6, A], [2e6, A]], Infinity)).to.equal('goes on'); // prettier-ignore
  });

  it('is given up with the first attempt if no time is allowed', () => {
    expect(attempts([[0, A]], 0)).to.match(/^0: cannot reach it; gave up/);
  });

  it('is given up after a minute if its name is not found for so long', () => {
    expect(NAME_NOT_FOUND_MS).to.equal(60_000);
    expect(attempts([[0, N], [30, N], [59, N]])).to.equal('goes on'); // prettier-ignore
    expect(attempts([[0, N], [59, N], [60, N]])).to.match(/^60: cannot reach it; the name has not been found for 1m0s/); // prettier-ignore
    expect(attempts([[0, N], [60, N]], Infinity)).to.match(/^60: /); // prettier-ignore
    expect(attempts([[0, N], [10, N]], 10_000)).to.match(/^10: .*not been found for 10s/); // prettier-ignore
  });

  it('is not given up for a short failure of the name server in a longer outage', () => {
    expect(attempts([[0, A], [300, N], [301, A], [400, N], [459, N]])).to.equal('goes on'); // prettier-ignore
    expect(attempts([[0, N], [59, N], [61, A]])).to.equal('goes on'); // prettier-ignore
    expect(attempts([[0, N], [30, A], [70, N], [129, N], [130, N]])).to.match(/^130: .*name/); // prettier-ignore
  });

  it('is reported in a condition besides others', () => {
    const other = { type: 'CreateExports', status: 'True', reason: 'r', message: 'm' } as const;
    const status = changed({}, { conditions: [other] }, at(-3_600));
    const next = attempt(status, A, 0) as Status;
    expect(next.conditions?.map(({ type }) => type)).to.deep.equal(['CreateExports', 'RemoteUnavailable']);
    expect(next.conditions?.[1]).to.include({ status: 'True', reason: A, lastTransitionTime: at(0) });
  });

  it('does not count for a job that has continued since', () => {
    const status = attempt({}, A, 0) as Status;
    expect(withoutWait(status, at(1)).conditions).to.have.length(1);
    expect(waitingFor(status, undefined, at(1)).conditions).to.equal(undefined);
    const waiting = waitingFor(status, { reason: 'JobsUnfinished', objects: ['a'] }, at(1));
    expect(waiting.conditions?.map(({ type }) => type)).to.deep.equal(['Waiting']);
  });
});

describe('the error of a server', () => {
  const failed = (code: string): Error =>
    new Error('failed', { cause: Object.assign(new Error(code), { code }) });
  const rows: readonly (readonly [string, unknown, Trouble])[] = [
    ['its name is not found', failed('ENOTFOUND'), 'NameNotFound'],
    ['it refuses connections', failed('ECONNREFUSED'), 'ServerUnavailable'],
    ['it fails', new Error('said 503'), 'ServerUnavailable'],
  ];
  for (const [title, error, trouble] of rows) {
    it(`is that ${title}`, () => {
      expect(remoteTroubleOf(error)).to.equal(trouble);
    });
  }
});
