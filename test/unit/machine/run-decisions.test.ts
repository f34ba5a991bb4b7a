/**
 * What the loop does for each decision of a phase: the writes and their order, the status, and the end of the
 * reconcile.
 */
import { expect } from 'chai';
import { installationKind, type Installation } from '../../../src/api/kinds/installation.ts';
import {
  advance,
  fail,
  release,
  remove,
  retry,
  wait,
  type Decision,
  type Problem,
} from '../../../src/machine/decision.ts';
import { RequeueError, type Machine } from '../../../src/machine/run.ts';
import { NOW, child, done, running } from '../../support/given.ts';
import {
  EARLIER,
  effects,
  ended,
  noRight,
  problem,
  run,
  told,
  type Row,
  type Snapshot,
} from './support/one-phase.ts';

describe('a phase that waits', () => {
  const awaited = { reason: 'JobsUnfinished', objects: ['deploy item a'] } as const;

  it('stores the reason before it starts anything, and the reconcile ends', async () => {
    const { end, names, writes } = await run(() =>
      wait(problem, { effects, awaited, requeueAfterMs: 7, status: { set: { importsHash: 'h' } } }),
    );
    expect(names).to.deep.equal(['stack', 'a-x']);
    expect(writes[0]?.[1]).to.deep.include({ lastError: told, importsHash: 'h' });
    expect(writes[0]?.[1].conditions?.[0]).to.include({
      type: 'Waiting',
      message: 'waits for deploy item a',
    });
    expect(end).to.include({ end: 'waiting', requeueAfterMs: 7 });
  });

  it('ends the job if the objects it starts are rejected permanently', async () => {
    const { end, last } = await run(() => wait(problem, { effects }), { refusal: noRight });
    expect(ended(end)).to.equal('finished');
    expect(last).to.include({ phase: 'Failed', jobIDFinished: 'j1' });
    expect(last.lastError).to.include({ reason: 'WriteInstallation' });
  });

  const earlier = { ...problem, lastTransitionTime: EARLIER, lastUpdateTime: EARLIER };
  const rows: readonly (readonly [string, Decision, boolean])[] = [
    ['is not written again', wait(problem), false],
    [
      'is not written again if only the message differs',
      wait({ ...problem, message: 'it is still so' }),
      false,
    ],
    ['is written for another reason', wait({ ...problem, reason: 'Other' }), true],
    ['is written for another operation', wait({ ...problem, operation: 'other' }), true],
    ['is written with other awaited objects', wait(problem, { awaited }), true],
    ['is removed if there is no problem any more', wait(), true],
  ];
  for (const [title, decision, isWritten] of rows) {
    it(`for the same reason as before ${title}`, async () => {
      const stored = { ...running('j1', 'One'), lastError: earlier };
      expect((await run(() => decision, { stored })).writes).to.have.length(isWritten ? 1 : 0);
    });
  }

  describe('whose awaited objects change', () => {
    const waitingSince = (time: string) => ({
      ...running('j1', 'One'),
      phaseTransitionTime: EARLIER,
      lastError: earlier,
      conditions: [
        {
          type: 'Waiting',
          status: 'True',
          reason: 'JobsUnfinished',
          message: 'waits for deploy item a, deploy item b',
          lastTransitionTime: EARLIER,
          lastUpdateTime: time,
        },
      ],
    });
    const fewer = wait(problem, { awaited, effects, requeueAfterMs: 60_000 });

    it('starts what is due and stores the new list two seconds after the last one', async () => {
      const { end, names } = await run(() => fewer, { stored: waitingSince(NOW) });
      expect(names).to.deep.equal(['a-x']);
      expect(end).to.include({ end: 'waiting', requeueAfterMs: 2_000 });
    });

    it('stores the new list at once if the last one is older', async () => {
      const { end, names } = await run(() => fewer, { stored: waitingSince(EARLIER) });
      expect(names).to.deep.equal(['stack', 'a-x']);
      expect(end).to.include({ requeueAfterMs: 60_000 });
    });

    it('stores the new list at once together with any other change', async () => {
      const more = { awaited, status: { set: { importsHash: 'h' } } };
      const { names, end } = await run(() => wait(problem, more), { stored: waitingSince(NOW) });
      expect(names).to.deep.equal(['stack']);
      expect(end).not.to.have.property('requeueAfterMs');
    });

    it('is not shown at all if it is over within two seconds, unless its phase has to be stored', async () => {
      const fresh = { ...running('j1', 'One'), phaseTransitionTime: NOW };
      const begun = await run(() => wait(problem, { awaited }), { stored: fresh });
      expect(begun.names).to.deep.equal([]);
      expect(begun.end).to.include({ requeueAfterMs: 2_000 });
      const entered = await run(() => wait(problem, { awaited }), { stored: { ...fresh, phase: 'Earlier' } });
      expect(entered.names).to.deep.equal(['stack']);
    });
  });

  describe('for an object that is held up below', () => {
    const obstacle = (message: string) => ({ reason: 'ReconcileError', message }) as const;
    const showing = (time: string) => ({
      ...running('j1', 'One'),
      phaseTransitionTime: EARLIER,
      lastError: earlier,
      conditions: [
        {
          type: 'Waiting',
          status: 'True',
          ...obstacle('item a: one'),
          lastTransitionTime: EARLIER,
          lastUpdateTime: time,
        },
      ],
    });
    const changes: readonly (readonly [string, Decision])[] = [
      ['another error', wait(problem, { awaited: obstacle('item a: two') })],
      ['a list of objects', wait(problem, { awaited })],
    ];
    for (const [what, decision] of changes)
      it(`shows an error for ten seconds before it stores ${what}`, async () => {
        const early = await run(() => decision, { stored: showing(NOW) });
        expect(early.names).to.deep.equal([]);
        expect(early.end).to.include({ requeueAfterMs: 10_000 });
        expect((await run(() => decision, { stored: showing(EARLIER) })).names).to.deep.equal(['stack']);
      });

    it('writes nothing while the error is the same', async () => {
      const same = wait(problem, { awaited: obstacle('item a: one') });
      expect((await run(() => same, { stored: showing(EARLIER) })).names).to.deep.equal([]);
    });

    const reporting = { reportsJobs: () => true };
    const inProgress = { reason: 'InProgress', message: 'item a: 0 of 1 ready' } as const;
    const events: readonly (readonly [string, Decision, Parameters<typeof run>[1], readonly string[]])[] = [
      ['an error', wait(problem, { awaited: obstacle('item a: two') }), { machine: reporting, stored: showing(EARLIER) }, ['Warning ReconcileError item a: two']],
      ['no error that is known', wait(problem, { awaited: obstacle('item a: one') }), { machine: reporting, stored: showing(EARLIER) }, []],
      ['no wait', wait(problem, { awaited: inProgress }), { machine: reporting }, []],
      ['no error that is not stored yet', wait(problem, { awaited: obstacle('item a: two') }), { machine: reporting, stored: showing(NOW) }, []],
      ['nothing below a root', wait(problem, { awaited: obstacle('item a: two') }), {}, []],
    ]; // prettier-ignore
    for (const [what, decision, given, expected] of events)
      it(`reports ${what} in an event`, async () => {
        expect((await run(() => decision, given)).events).to.deep.equal(expected);
      });
  });

  it('has another message if the awaited objects differ', async () => {
    const stored = { ...running('j1', 'One'), lastError: earlier };
    const { last } = await run(() => wait({ ...problem, message: 'now' }, { awaited }), { stored });
    expect(last.lastError).to.include({ message: 'now' });
  });
});

describe('a phase that retries', () => {
  const cause = new Error('why');

  it('stores the problem before it starts anything, and fails the reconcile', async () => {
    const waiting = { type: 'Waiting', status: 'True', reason: 'r', message: 'm', lastTransitionTime: NOW, lastUpdateTime: NOW }; // prettier-ignore
    const { end, names, writes } = await run(
      () => ({ ...retry(problem, { effects, status: { set: { importsHash: 'h' } } }), cause }),
      { stored: { ...running('j1', 'One'), conditions: [waiting] } },
    );
    expect(end).to.be.instanceOf(RequeueError).and.include({ problem, cause, message: 'it is so' });
    expect(names).to.deep.equal(['stack', 'a-x']);
    expect(writes[0]?.[1]).to.deep.include({ lastError: told, importsHash: 'h', conditions: null });
  });

  const attempts: readonly (readonly [string, number, object, readonly string[]])[] = [
    ['not the first time', 0, {}, []],
    ['when a retry has not helped', 1, { lastError: told }, ['Warning Why it is so']],
    ['not again while it stays the same', 2, { lastError: told }, []],
    ['again when it changes', 2, { lastError: { ...told, message: 'before' } }, ['Warning Why it is so']],
  ];
  for (const [title, attempt, status, expected] of attempts)
    it(`reports the problem in an event ${title}`, async () => {
      const stored = { ...running('j1', 'One'), ...status };
      expect((await run(() => retry(problem), { attempt, stored })).events).to.deep.equal(expected);
    });

  it('ends the job if the objects it starts are rejected permanently', async () => {
    const { end, last } = await run(() => retry(problem, { effects }), { refusal: noRight });
    expect(ended(end)).to.equal('finished');
    expect(last.lastError).to.include({ reason: 'WriteInstallation' });
  });

  const conditions = [{ type: 'CreateExports', status: 'False', reason: 'r', message: 'm' }] as const;
  const remote = { ...problem, remote: 'ServerUnavailable' } as const;
  const since = (time: string) => ({
    type: 'RemoteUnavailable',
    status: 'True',
    reason: 'ServerUnavailable',
    message: 'm',
    lastTransitionTime: time,
    lastUpdateTime: time,
  });

  it('records since when an external server cannot be used, besides what the phase records', async () => {
    const { end, last } = await run(() => retry(remote, { status: { conditions } }));
    expect(end).to.be.instanceOf(RequeueError);
    expect(last.conditions?.map(({ type }) => type)).to.deep.equal(['CreateExports', 'RemoteUnavailable']);
    expect(last.lastError).to.deep.equal(told);
  });

  const limits: readonly (readonly [string, number | undefined, Problem, boolean])[] = [
    ['ends the job if the server could not be used for ten minutes', undefined, remote, true],
    ['continues if the configuration allows longer', 900_000, remote, false],
    ['continues if no external server is the cause', undefined, problem, false],
  ];
  for (const [title, remoteRetryMs, why, isOver] of limits) {
    it(title, async () => {
      const { end, last, names } = await run(() => retry(why, { effects, status: { conditions } }), {
        stored: { ...running('j1', 'One'), conditions: [since(EARLIER)] },
        machine: remoteRetryMs === undefined ? {} : { remoteRetryMs },
      });
      expect(names).to.include('a-x');
      if (!isOver) return expect(end).to.be.instanceOf(RequeueError);
      expect(ended(end)).to.equal('finished');
      expect(last.lastError?.message).to.match(/^it is so; gave up after 10m0s/);
      return expect(last.conditions?.map(({ type }) => type)).to.include('CreateExports');
    });
  }
});

describe('a phase that advances', () => {
  const waiting = { lastError: told, conditions: [{ ...told, type: 'Waiting', status: 'True' }] };

  it('ends the job in one write, and removes the reason of its wait', async () => {
    const { end, last, writes, entered } = await run(
      () => advance('Done', { status: { set: { importsHash: 'h' } } }),
      { stored: { ...running('j1', 'One'), ...waiting } },
    );
    expect(ended(end)).to.equal('finished');
    expect(writes).to.have.length(1);
    expect(last).to.deep.include({ phase: 'Done', jobIDFinished: 'j1', lastError: null, importsHash: 'h' });
    expect(last.conditions).to.equal(null);
    expect(entered).to.deep.equal(['One → Done']);
  });

  it('continues in the next phase without a write, and without an end of the job', async () => {
    const seen: object[] = [];
    const { writes } = await run(() => advance('Two'), {
      stored: { ...running('j1', 'One'), ...waiting },
      others: {
        Two: ({ self: { status } }) => {
          seen.push(status ?? {});
          return advance('Done');
        },
      },
    });
    expect(seen).to.have.length(1);
    expect(seen[0]).to.include({ phase: 'Two' }).and.not.have.any.keys('lastError', 'jobIDFinished');
    expect(writes).to.have.length(1);
  });

  const seenRows: readonly (readonly [string, Row, string, boolean, readonly string[]])[] = [
    ['is not stored before it is left', {}, 'Zero', true, ['a-x', 'stack']],
    ['is stored before it is left if others watch for it', { seen: 'always' }, 'Zero', false, ['stack', 'stack']],
    ['is stored before its effects if others watch for it', { seen: 'always' }, 'Zero', true, ['stack', 'a-x', 'stack']],
    ['is stored before its effects if these must not be repeated', { seen: 'before-effects' }, 'Zero', true, ['stack', 'a-x', 'stack']],
    ['is not stored for effects that it does not have', { seen: 'before-effects' }, 'Zero', false, ['stack']],
    ['is not stored twice', { seen: 'always' }, 'One', true, ['a-x', 'stack']],
  ]; // prettier-ignore
  for (const [title, row, stored, hasEffects, order] of seenRows) {
    it(title, async () => {
      const { names, writes } = await run(() => advance('Done', { effects: hasEffects ? effects : [] }), {
        row,
        stored: { ...running('j1', stored), lastError: told },
      });
      expect(names).to.deep.equal(order);
      if (names.length > 2 || order[1] === 'stack')
        if (order[0] === 'stack') expect(writes[0]?.[1]).to.include({ phase: 'One', lastError: null });
    });
  }

  it('is stored before it is left if the stored phase is of another job', async () => {
    const { names } = await run(() => advance('Done', { effects }), {
      row: { seen: 'always' },
      stored: { ...done('j0'), phase: 'One' },
      heading: { jobID: 'j1' },
    });
    expect(names).to.deep.equal(['stack', 'a-x', 'stack']);
  });

  it('decides again if a fact has changed while it was used', async () => {
    const facts = ['before', 'after'];
    const { end, last } = await run(({ fact }) => advance('Done', { effects, confirm: { fact } }), {
      fact: () => facts.shift() ?? '',
    });
    expect(end).to.be.instanceOf(RequeueError);
    expect(last.lastError).to.deep.include({
      operation: 'confirm',
      reason: 'fact',
      message: 'fact changed while they were in use',
      codes: ['ERR_FOR_INFO_ONLY'],
    });
    expect(last).not.to.have.property('phase');
  });

  it('ends if the facts are still the same', async () => {
    const { end } = await run(({ fact }) => advance('Done', { confirm: { fact } }));
    expect(ended(end)).to.equal('finished');
  });

  it('passes deleted objects to the code that adds to the end of a job, and nothing else', async () => {
    const gone: string[] = [];
    const other = child('stack', 'b');
    const { last } = await run(
      () => advance('Done', { effects: [remove(installationKind, other), ...effects] }),
      {
        machine: {
          completeStatus: (_, status, removed) => {
            gone.push(...removed);
            return { ...status, triggered: true };
          },
        },
      },
    );
    expect(gone).to.deep.equal(['uid-b-x']);
    expect(last).to.include({ triggered: true, phase: 'Done' });
  });

  const events: readonly (readonly [string, Partial<Machine<Installation, Snapshot>>, readonly string[]])[] =
    [
      [
        'is reported if the machine reports successes',
        { reportsJobs: () => true },
        ['Normal Done job j1 has finished'],
      ],
      ['is not reported if it does not', { reportsJobs: () => false }, []],
      ['is not reported by default', {}, []],
    ];
  for (const [title, machine, told] of events) {
    it(`to a success, which ${title}`, async () => {
      expect((await run(() => advance('Done'), { machine })).events).to.deep.equal(told);
    });
  }
});

describe('a phase that fails', () => {
  it('ends the job after its effects, and warns', async () => {
    const { end, names, last, events } = await run(() =>
      fail(problem, { effects, status: { set: { importsHash: 'h' } } }),
    );
    expect(ended(end)).to.equal('finished');
    expect(names).to.deep.equal(['a-x', 'stack']);
    expect(last).to.deep.include({ phase: 'Failed', jobIDFinished: 'j1', lastError: told, importsHash: 'h' });
    expect(events).to.deep.equal(['Warning Why it is so']);
  });

  it('leads to another phase if the table says so, which sees the problem', async () => {
    let seen: unknown;
    const { writes } = await run(() => fail(problem), {
      row: { onFail: 'Two' },
      others: {
        Two: ({ self }) => {
          seen = self.status?.lastError;
          return advance('Done');
        },
      },
    });
    expect(seen).to.deep.equal(told);
    expect(writes).to.have.length(1);
  });

  it('uses the message and the codes of the phase if a write is rejected', async () => {
    const condition = { type: 'CreateExports', status: 'False', reason: 'Refused', message: 'no' } as const;
    const ifRefused = { ...problem, codes: ['ERR_FOR_INFO_ONLY', 'ERR_TIMEOUT'] as const, condition };
    const { last } = await run(
      () => advance('Done', { effects: effects.map((effect) => ({ ...effect, ifRefused })) }),
      { refusal: noRight },
    );
    // A job that has failed is not for information only.
    expect(last.lastError).to.deep.include({ reason: 'Why', codes: ['ERR_TIMEOUT'] });
  });
});

describe('a phase that releases its object', () => {
  it('does so after its effects, and stores nothing', async () => {
    const { end, names } = await run(() => release(effects));
    expect(end).to.deep.equal({ end: 'released' });
    expect(names).to.deep.equal(['a-x']);
  });

  it('keeps it if a write is rejected, and ends the job', async () => {
    const { end, last } = await run(() => release(effects), { refusal: noRight });
    expect(ended(end)).to.equal('finished');
    expect(last).to.include({ phase: 'Failed' });
  });
});
