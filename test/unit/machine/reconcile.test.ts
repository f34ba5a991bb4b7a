import { expect } from 'chai';
import { installationKind, type Installation } from '../../../src/api/kinds/installation.ts';
import { startedStatus } from '../../../src/landscape/job-start.ts';
import {
  advance,
  amend,
  fail,
  patchStatus,
  release,
  wait,
  type Decision,
} from '../../../src/machine/decision.ts';
import { phaseOf } from '../../../src/machine/phase.ts';
import { jobReconciler, type Intake, type JobController } from '../../../src/machine/reconcile.ts';
import { silentLogger } from '../../../src/observability/log.ts';
import { Conflict, NotFound } from '../../../src/runtime/errors.ts';
import type { Context, Obj, View, Write } from '../../../src/runtime/types.ts';
import { FakeClock } from '../../support/clock.ts';
import { NOW, done, installation, running } from '../../support/given.ts';

interface Snapshot {
  readonly self: View<Installation>;
  readonly now: string;
}

interface Given {
  readonly intake?: (self: View<Installation>, now: string) => Intake | undefined;
  readonly decide?: (snapshot: Snapshot) => Decision<'Succeeded'>;
  readonly restMs?: () => number | undefined;
  /** What the API server does instead of executing a write. */
  readonly refusal?: Error;
  /** How often; default: always. */
  readonly refusals?: number;
  /** Whether the cache still has the object after the first write; default: true. */
  readonly isKept?: boolean;
}

const ends = (): Decision<'Succeeded'> => advance('Succeeded');
const rule = (set: object, then: Intake['then'] = 'continue'): Intake => ({
  effects: [patchStatus(installationKind, installation('web'), set)],
  then,
});

/** One reconcile of `self`, whose writes are in the cache at once. */
async function pass(self: Installation, given: Given = {}) {
  const { intake = () => undefined, decide = ends, restMs, refusal, isKept = true } = given;
  let { refusals = Infinity } = given;
  const writes: object[] = [];
  const latest = { ...self, metadata: { ...self.metadata, resourceVersion: '9' } };
  const events: string[] = [];
  const entered: string[] = [];
  let there: Installation | undefined = self;
  const write = (sent: Write): Promise<Obj> => {
    if (refusal && refusals-- > 0) return Promise.reject(refusal);
    const { status } = (sent as unknown as { body: { status: object } }).body;
    writes.push(status);
    const next = { ...(there ?? self), status: { ...there?.status, ...status } } as Installation;
    there = isKept ? next : undefined;
    return Promise.resolve(next);
  };
  const phase = phaseOf<Snapshot>()({ needs: [], next: ['Succeeded'], decide });
  const controller: JobController<Installation, Snapshot> = {
    cache: { get: () => there } as never,
    client: { get: () => Promise.resolve(latest) } as never,
    clock: new FakeClock(NOW),
    machine: {
      kind: installationKind,
      table: { Init: { phase, onFail: 'Failed' } },
      gather: (picture, now) => ({ self: () => picture, now: () => now }),
      always: ['self', 'now'],
      reportsJobs: () => true,
    },
    intake,
    begin: startedStatus,
    ...(restMs && { restMs }),
    entered: (to, from) => entered.push(`${from ?? ''} → ${to}`),
  };
  const ctx = {
    key: 'demo/web',
    log: silentLogger,
    write,
    event: (...event: readonly string[]) => events.push(event.join(': ')),
  } as unknown as Context<Installation>;
  const end = await jobReconciler(controller)
    .reconcile(self, ctx)
    .catch((error: unknown) => error);
  return { end, writes, events, entered };
}

const atWork = installation('web', { status: running('j1', 'Init') });
const atRest = installation('web', { status: done('j1') });
const atAwait = (requeueAfterMs?: number) =>
  wait({ operation: 'wait', reason: 'Why', message: 'for b' }, { requeueAfterMs });

describe('one reconcile of an object that takes part in jobs', () => {
  it('applies the rules until none decides, before any phase', async () => {
    const { writes, end } = await pass(atWork, {
      intake: ({ status }) =>
        status?.['automaticReconcileStatus'] ? undefined : rule({ automaticReconcileStatus: {} }),
    });
    expect(writes).to.have.length(2);
    expect(writes[0]).to.deep.equal({ automaticReconcileStatus: {} });
    expect(writes[1]).to.include({ phase: 'Succeeded', jobIDFinished: 'j1' });
    expect(end).to.deep.equal({ write: 'none' });
  });

  it('runs no phase if a rule ends it', async () => {
    const { writes, end } = await pass(atWork, { intake: () => rule({ jobID: 'j1' }, 'stop') });
    expect(writes).to.deep.equal([{ jobID: 'j1' }]);
    expect(end).to.deep.equal({ write: 'none' });
  });

  it('warns with the message of the rule, after its effects', async () => {
    const event = { reason: 'Drifted', note: 'an item failed' };
    const given = { intake: () => ({ ...rule({}, 'stop'), event }) };
    expect((await pass(atWork, given)).events).to.deep.equal(['Warning: Drifted: an item failed']);
    const refused = await pass(atWork, { ...given, refusal: new Error('no') });
    expect(refused.events).to.deep.equal([]);
  });

  it('passes the time to the rules, in whole seconds', async () => {
    const times: string[] = [];
    await pass(atRest, { intake: (_, now) => void times.push(now) });
    expect(times).to.deep.equal([NOW]);
  });

  it('reads an object again if a rule amends its metadata and it has changed', async () => {
    const conflict = new Conflict({
      message: 'changed',
      status: 409,
      reason: 'Conflict',
      ref: { verb: 'patch', kind: 'Installation' },
    });
    const self = installation('web', { meta: { annotations: { a: 'b' } } });
    const effects = [amend(installationKind, self, { dropAnnotations: { a: 'b' } })];
    const { end, writes } = await pass(self, {
      intake: () => ({ effects, then: 'stop' }),
      refusal: conflict,
      refusals: 1,
    });
    expect(end).to.deep.equal({ write: 'none' });
    expect(writes).to.have.length(1);
  });

  it('fails if a rule does not have the promised effect, instead of repeating it forever', async () => {
    const { end, writes } = await pass(atWork, { intake: () => rule({}) });
    expect(end).to.be.instanceOf(Error).with.property('message').that.contains('demo/web');
    expect(writes).to.have.length(20);
  });

  it('begins a job that was handed down, and continues a running one', async () => {
    const handedDown = installation('web', { status: { ...done('j1'), jobID: 'j2' } });
    const seen: unknown[] = [];
    const decide = ({ self }: Snapshot) => {
      seen.push(self.status?.phase);
      return ends();
    };
    await pass(handedDown, { decide });
    await pass(installation('web', { status: { ...running('j2', 'Init'), importsHash: 'h' } }), {
      decide: ({ self }) => {
        seen.push(self.status?.importsHash);
        return ends();
      },
    });
    expect(seen).to.deep.equal(['Init', 'h']);
  });

  it('logs entered phases, and sends an event at the end of the job', async () => {
    const { entered, events } = await pass(atWork);
    expect(entered).to.deep.equal(['Init → Succeeded']);
    expect(events).to.deep.equal(['Normal: Succeeded: job j1 has finished']);
  });

  const rests: readonly (readonly [string, Installation, Given, object])[] = [
    ['an object at rest is not reconciled again', atRest, {}, { write: 'none' }],
    ['an object at rest is reconciled when its rules say', atRest, { restMs: () => 7 }, { write: 'none', requeueAfterMs: 7 }],
    ['an object at rest without rules that say so is not', atRest, { restMs: () => undefined }, { write: 'none' }],
    ['a wait ends after five minutes, in case an event was lost', atWork, { decide: () => atAwait() }, { write: 'none', requeueAfterMs: 300_000 }],
    ['a wait ends earlier if the phase wants it', atWork, { decide: () => atAwait(60_000) }, { write: 'none', requeueAfterMs: 60_000 }],
    ['a wait never ends later than that', atWork, { decide: () => atAwait(900_000) }, { write: 'none', requeueAfterMs: 300_000 }],
    ['an object that is no longer ours is left alone', atWork, { decide: () => release([]) }, { write: 'none' }],
    ['an object that has left the cache is left alone', atWork, { isKept: false }, { write: 'none' }],
  ]; // prettier-ignore
  for (const [title, self, given, answer] of rests) {
    it(title, async () => {
      expect((await pass(self, given)).end).to.deep.equal(answer);
    });
  }

  it('reconciles what follows the end of a job at once', async () => {
    const { writes, end } = await pass(atWork, {
      decide: () => fail({ operation: 'o', reason: 'r', message: 'm' }),
      intake: ({ status }) => (status?.phase === 'Failed' ? rule({ jobID: 'j2' }, 'stop') : undefined),
    });
    expect(writes).to.have.length(2);
    expect(writes[1]).to.deep.equal({ jobID: 'j2' });
    expect(end).to.deep.equal({ write: 'none' });
  });

  describe('if a write returns not found', () => {
    const gone = (kind: string, name: string): Error =>
      new NotFound({ message: 'gone', status: 404, reason: 'NotFound', ref: { verb: 'patch', kind, name } });
    const rows: readonly (readonly [string, Error, boolean])[] = [
      ['ends if the object itself is gone', gone('Installation', 'web'), true],
      ['is repeated if it is another object', gone('Installation', 'other'), false],
      ['is repeated if it is an object of another kind', gone('Execution', 'web'), false],
      ['is repeated after any other error', new Error('broken'), false],
    ];
    for (const [title, refusal, isOver] of rows) {
      it(title, async () => {
        const { end } = await pass(atWork, { intake: () => rule({}, 'stop'), refusal });
        expect(end).to.deep.equal(isOver ? { write: 'none' } : refusal);
      });
    }
  });
});
