import { expect } from 'chai';
import { installationKind, type Installation } from '../../../src/api/kinds/installation.ts';
import { advance, fail, patchStatus, wait, type Decision } from '../../../src/machine/decision.ts';
import { phaseOf, type PhaseRow } from '../../../src/machine/phase.ts';
import { RequeueError, runPhases, type Machine } from '../../../src/machine/run.ts';
import { silentLogger } from '../../../src/observability/log.ts';
import { Conflict, Forbidden, InvalidObjectName } from '../../../src/runtime/errors.ts';
import type { Obj, View, Write } from '../../../src/runtime/types.ts';
import { NOW, child, installation, running } from '../../support/given.ts';

interface Snapshot {
  readonly self: View<Installation>;
  readonly now: string;
}
const phase = phaseOf<Snapshot>();
const self = installation('stack', { status: running('j1', 'One'), meta: { generation: 2 } });
const touchesChild = () => [patchStatus(installationKind, child('stack', 'a'), { jobID: 'j1' })];

const noRight = (): Error =>
  new Forbidden({
    message: 'no',
    status: 403,
    reason: 'Forbidden',
    ref: { verb: 'patch', kind: 'Installation' },
  });

function run(
  table: Record<string, PhaseRow<Snapshot, string>>,
  refuses: (write: Write) => boolean,
  more: Partial<Pick<Machine<Installation, Snapshot>, 'isChildAtWork' | 'fence'>> = {},
  refusal: () => Error = noRight,
  lookUp: () => Promise<string> = () => Promise.resolve(NOW),
) {
  const writes: object[] = [];
  const write = (w: Write): Promise<Obj> => {
    if (refuses(w)) return Promise.reject(refusal());
    const status = (w as { body?: { status?: object } }).body?.status ?? {};
    writes.push(status);
    return Promise.resolve({ ...self, status: { ...self.status, ...status } } as unknown as Obj);
  };
  const ports = {
    write: write as never,
    read: () => Promise.reject(new Error('nothing is read here')),
    now: () => NOW,
    log: silentLogger,
    attempt: 0,
    event: () => undefined,
  };
  const gather = (picture: View<Installation>) => ({ self: () => picture, now: lookUp });
  const machine = { kind: installationKind, table, gather, always: ['self', 'now'] as const, ...more };
  return { writes, end: runPhases(machine, self, { ...running('j1', 'One'), observedGeneration: 1 }, ports) };
}

const isOfChild = (write: Write): boolean => 'key' in write && write.key.endsWith('/a-x');
const handsDown = phase({
  needs: [],
  next: ['Done'],
  decide: () => advance('Done', { effects: touchesChild() }),
});

describe('the loop over phases', () => {
  it('ends the job if a write is rejected permanently', async () => {
    const { writes, end } = run({ One: { phase: handsDown, onFail: 'Failed' } }, isOfChild);
    expect((await end).end).to.equal('finished');
    expect(writes.at(-1)).to.include({ phase: 'Failed', jobIDFinished: 'j1' });
  });

  it('notes the generation of a spec that the phase reads, even if reading ends the job', async () => {
    const succeeds = () => Promise.resolve(NOW);
    const breaks = () => Promise.reject(new InvalidObjectName({ message: '"a/b" cannot be a name' }));
    for (const lookUp of [succeeds, breaks]) {
      const of = (row: Partial<PhaseRow<Snapshot, string>>) =>
        run({ One: { phase: handsDown, onFail: 'Failed', ...row } }, () => false, {}, noRight, lookUp);
      const reading = of({ readsSpec: true });
      await reading.end;
      expect(reading.writes.at(-1)).to.include({ jobIDFinished: 'j1', observedGeneration: 2 });
      const another = of({});
      await another.end;
      expect(another.writes.at(-1)).to.not.have.property('observedGeneration');
    }
  });

  it('reports a rejected write with the message of the phase', async () => {
    const condition = { type: 'CreateExports', status: 'False', reason: 'Refused', message: 'no' } as const;
    const ifRefused = { operation: 'tell', reason: 'Told', message: 'unable to tell a', condition };
    const tells = phase({
      needs: [],
      next: ['Done'],
      decide: () => advance('Done', { effects: touchesChild().map((effect) => ({ ...effect, ifRefused })) }),
    });
    const { writes, end } = run({ One: { phase: tells, onFail: 'Failed' } }, isOfChild);
    await end;
    expect(writes.at(-1)).to.have.nested.property('lastError.message').that.equals('unable to tell a: no');
    expect(writes.at(-1)).to.have.nested.property('conditions[0].reason', 'Refused');
  });

  it('ends the job if a reference of a user can never be resolved, and retries if the error is temporary', async () => {
    const table = { One: { phase: handsDown, onFail: 'Failed' } };
    const looksUp = (error: Error) =>
      run(
        table,
        () => false,
        {},
        noRight,
        () => Promise.reject(error),
      );
    const { writes, end } = looksUp(
      new InvalidObjectName({ message: '"a/b" cannot be the name of a Secret' }),
    );
    expect((await end).end).to.equal('finished');
    expect(writes.at(-1)).to.include({ phase: 'Failed', jobIDFinished: 'j1' });
    expect(writes.at(-1))
      .to.have.nested.property('lastError.codes')
      .that.deep.equals(['ERR_CONFIGURATION_PROBLEM']);
    const passing = await looksUp(new Error('connection reset')).end.catch((error: unknown) => error);
    expect(passing).to.be.instanceOf(RequeueError);
  });

  it('ends a job with an unknown phase, or with one that does not accept the object', async () => {
    const deletes = phase({ needs: [], next: [], decide: () => wait() });
    for (const table of [{}, { One: { phase: deletes, onFail: 'DeleteFailed' } }] as const) {
      const { writes, end } = run(table, () => false);
      expect((await end).end).to.equal('finished');
      expect(writes.at(-1)).to.include({ phase: 'Failed', jobIDFinished: 'j1' });
      expect(writes.at(-1)).to.have.nested.property('lastError.reason', 'UnknownPhase');
    }
  });

  it('does not end a failed job while something below is running for it, but shows the problem', async () => {
    const fails = phase({
      needs: [],
      next: ['Done'],
      decide: () => fail({ operation: 'x', reason: 'Broken', message: 'no' }),
    });
    const table = { One: { phase: fails, onFail: 'Failed' } };
    const busy = run(table, () => false, { isChildAtWork: () => true });
    expect((await busy.end).end).to.equal('waiting');
    expect(busy.writes).to.have.length(1);
    expect(busy.writes[0]).to.have.nested.property('lastError.reason', 'Broken');
    expect(busy.writes[0]).not.to.have.property('jobIDFinished');
    const idle = run(table, () => false, { isChildAtWork: () => false });
    expect((await idle.end).end).to.equal('finished');
  });

  describe('before it ends a failed job', () => {
    const fails = phase({
      needs: [],
      next: ['Done'],
      decide: () => fail({ operation: 'x', reason: 'Broken', message: 'no' }),
    });
    const table = { One: { phase: fails, onFail: 'Failed' } };
    const fence = () => [patchStatus(installationKind, child('stack', 'a'), { phase: 'fenced' })];

    it('protects objects that may still receive the job by a late write', async () => {
      const { writes, end } = run(table, () => false, { fence });
      await end;
      expect(writes).to.have.length(2);
      expect(writes[0]).to.deep.equal({ phase: 'fenced' });
      expect(writes[1]).to.include({ phase: 'Failed', jobIDFinished: 'j1' });
    });

    it('notices that the write has arrived after all, and does not end the job', async () => {
      const outdated = () =>
        new Conflict({
          message: 'no',
          status: 409,
          reason: 'Conflict',
          ref: { verb: 'patch', kind: 'Installation' },
        });
      const { writes, end } = run(table, isOfChild, { fence }, outdated);
      const error = await end.catch((e: unknown) => e);
      expect(error).to.be.instanceOf(Conflict);
      expect(writes).to.deep.equal([]);
    });

    it('continues if it may not write: every job ends', async () => {
      const { writes, end } = run(table, isOfChild, { fence });
      expect((await end).end).to.equal('finished');
      expect(writes.at(-1)).to.include({ phase: 'Failed', jobIDFinished: 'j1' });
      expect(writes.at(-1)).to.have.nested.property('lastError.reason', 'Broken');
    });
  });

  it('protects nothing for a job that succeeds', async () => {
    const succeeds = phase({ needs: [], next: ['Done'], decide: () => advance('Done') });
    const fence = () => [patchStatus(installationKind, child('stack', 'a'), { phase: 'fenced' })];
    const { writes, end } = run({ One: { phase: succeeds, onFail: 'Failed' } }, () => false, { fence });
    await end;
    expect(writes).to.have.length(1);
    expect(writes[0]).to.include({ phase: 'Done' });
  });

  it('ends a job that succeeds whatever is running below', async () => {
    const succeeds = phase({ needs: [], next: ['Done'], decide: () => advance('Done') });
    const table = { One: { phase: succeeds, onFail: 'Failed' } };
    const { end } = run(table, () => false, { isChildAtWork: () => true });
    expect((await end).end).to.equal('finished');
  });

  it('does not end it while others may be running already, and reports why it does not continue', async () => {
    const { writes, end } = run(
      { One: { phase: handsDown, onFail: 'Failed', onRefusal: 'retry' } },
      isOfChild,
    );
    const error: unknown = await end.catch((e: unknown) => e);
    expect(error).to.be.instanceOf(RequeueError);
    expect(writes).to.have.length(1);
    expect(writes[0]).to.have.nested.property('lastError.reason', 'WriteInstallation');
    expect(writes[0]).not.to.have.property('jobIDFinished');
  });

  it('passes facts of earlier phases of the same reconcile to a phase, stored or not', async () => {
    const seen: unknown[] = [];
    const one = phase({
      needs: [],
      next: ['Two'],
      decide: () => advance('Two', { status: { set: { importsHash: 'new' } } }),
    });
    const two = phase({
      needs: [],
      next: ['Done'],
      decide({ self: me }): Decision<'Done'> {
        seen.push(me.status?.importsHash);
        return advance('Done');
      },
    });
    const table = { One: { phase: one, onFail: 'Failed' }, Two: { phase: two, onFail: 'Failed' } };
    await run(table, () => false).end;
    expect(seen).to.deep.equal(['new']);
  });
});
