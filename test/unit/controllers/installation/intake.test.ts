/**
 * The rules before the phases of an installation: which one decides, what it writes, and whether the reconcile
 * continues.
 */
import { expect } from 'chai';
import { withoutExports } from '../../../../controllers/installation/failed-status.ts';
import { intake, isWaitingForUs, type Facts } from '../../../../controllers/installation/intake.ts';
import type { Inst } from '../../../../controllers/installation/related-objects.ts';
import { FINALIZER, annotations } from '../../../../src/api/labels.ts';
import type { Status } from '../../../../src/machine/status.ts';
import { effectsOf } from '../../../support/ask.ts';
import { NOW, child, deleting, done, execution, installation, running } from '../../../support/given.ts';
import { lastErrorOf } from './given.ts';

const facts: Facts = {
  now: NOW,
  newJobID: 'new',
  dependents: () => [],
  below: () => [],
  hasExports: () => false,
  isAbandoned: false,
};
type Options = NonNullable<Parameters<typeof installation>[1]>;
const asked = (operation: string, { meta, ...rest }: Options = {}, more: Record<string, string> = {}): Inst =>
  installation('web', {
    ...rest,
    meta: { ...meta, annotations: { ...more, [annotations.operation]: operation } },
  });
const answers = (self: Inst, more: Partial<Facts> = {}) => {
  const answer = intake(self, { ...facts, ...more });
  return answer && { effects: effectsOf(answer), then: answer.then };
};
const RECONCILE = { [annotations.operation]: 'reconcile', [annotations.reconcileReason]: 'retry' };
const OURS = { addFinalizer: FINALIZER, specDefaults: { context: 'default' } };

describe('before the phases, an installation', () => {
  const rows: readonly (readonly [
    title: string,
    Inst,
    Partial<Facts>,
    { readonly effects: readonly string[]; readonly then: string } | undefined,
  ])[] = [
    [
      'is left alone if it is under deletion and only finalizers of others are left',
      asked('reconcile', { meta: { ...deleting, finalizers: ['x.org/other'] } }),
      {},
      { effects: [], then: 'stop' },
    ],
    [
      'is released if it is abandoned',
      child('stack', 'a', {}, deleting),
      { isAbandoned: true },
      { effects: ['strip a-x'], then: 'stop' },
    ],
    ['is ours with finalizer and context', installation('web'), {}, undefined],
    [
      'gets a missing finalizer',
      installation('web', { meta: { finalizers: [] } }),
      {},
      { effects: ['amend web'], then: 'continue' },
    ],
    [
      'gets a missing context',
      installation('web', { spec: { context: '' } }),
      {},
      { effects: ['amend web'], then: 'continue' },
    ],
    [
      'gets neither under deletion',
      installation('web', { spec: { context: '' }, meta: deleting, status: done('j', 'DeleteFailed') }),
      {},
      undefined,
    ],
    [
      'starts a job on request',
      asked('reconcile'),
      {},
      { effects: ['job web', 'amend web'], then: 'continue' },
    ],
    [
      'starts none while it is suspended',
      asked('reconcile', { status: done('j') }, { [annotations.suspended]: 'true' }),
      {},
      undefined,
    ],
    [
      'starts none by itself after a change of its spec',
      installation('web', { status: done('j'), meta: { generation: 2 } }),
      {},
      undefined,
    ],
    [
      'starts none with reconcile-if-changed if nothing has changed',
      installation('web', {
        status: done('j'),
        meta: { annotations: { [annotations.reconcileIfChanged]: 'true' } },
      }),
      {},
      undefined,
    ],
    [
      'starts none for a change while a job runs',
      installation('web', {
        status: running('j'),
        meta: { generation: 2, annotations: { [annotations.reconcileIfChanged]: 'true' } },
      }),
      {},
      undefined,
    ],
    [
      'starts none for a change after a failed deletion',
      installation('web', {
        status: done('j', 'DeleteFailed'),
        meta: { ...deleting, generation: 2, annotations: { [annotations.reconcileIfChanged]: 'true' } },
      }),
      {},
      undefined,
    ],
    [
      'starts a job for a change that was never observed, without any status',
      installation('web', { meta: { annotations: { [annotations.reconcileIfChanged]: 'true' } } }),
      {},
      { effects: ['job web', 'amend web'], then: 'continue' },
    ],
    [
      'below the root loses the request for a job, finished or not',
      child('stack', 'a', running('j'), { annotations: { [annotations.operation]: 'reconcile' } }),
      {},
      { effects: ['amend a-x'], then: 'continue' },
    ],
    ['below the root continues without a request', child('stack', 'a', running('j', 'Init')), {}, undefined],
    [
      'whose job has just begun treats a request as one for this job',
      asked('reconcile', { status: running('j', 'Init') }),
      {},
      { effects: ['amend web'], then: 'continue' },
    ],
    [
      'whose job has an id and no phase yet does so, too',
      asked('reconcile', { status: { jobID: 'j' } }),
      {},
      { effects: ['amend web'], then: 'continue' },
    ],
    [
      'whose job has just begun continues without another request',
      installation('web', { status: running('j', 'Init') }),
      {},
      undefined,
    ],
    [
      'under deletion treats the request as one for the deletion that has just begun',
      asked('reconcile', { status: running('j', 'InitDelete'), meta: deleting }),
      {},
      { effects: ['amend web'], then: 'continue' },
    ],
    [
      'under deletion keeps the request while the job before the deletion has just begun',
      asked('reconcile', { status: running('j', 'Init'), meta: deleting }),
      {},
      undefined,
    ],
    [
      'keeps the request while a job is in a later phase',
      asked('reconcile', { status: running('j', 'Progressing') }),
      {},
      undefined,
    ],
    [
      'removes an interrupt if nothing is below and no job runs',
      asked('interrupt', { status: done('j') }),
      {},
      { effects: ['patch web'], then: 'continue' },
    ],
    [
      'removes an interrupt also without any status',
      asked('interrupt'),
      {},
      { effects: ['patch web'], then: 'continue' },
    ],
    [
      'does not end its own job by an interrupt in a later phase',
      asked('interrupt', { status: running('j', 'Progressing') }),
      {},
      { effects: ['patch web'], then: 'continue' },
    ],
    [
      'ends a job without phase by an interrupt',
      asked('interrupt', { status: { jobID: 'j' } }),
      {},
      { effects: ['status web', 'patch web'], then: 'continue' },
    ],
    [
      'ends its deletion by an interrupt before anything has begun',
      asked('interrupt', { status: running('j', 'InitDelete'), meta: deleting }),
      {},
      { effects: ['status web', 'patch web'], then: 'continue' },
    ],
    [
      'passes an interrupt only to objects that do not have it yet',
      asked('interrupt', { status: running('j') }),
      {
        below: () => [
          child('web', 'a', running('j'), { annotations: { [annotations.operation]: 'interrupt' } }),
          execution('web', { status: running('j') }),
        ],
      },
      { effects: ['patch web', 'patch web'], then: 'continue' },
    ],
  ];
  for (const [title, self, more, expected] of rows) {
    it(title, () => {
      expect(answers(self, more)).to.deep.equal(expected);
    });
  }
});

describe('the write with which an installation', () => {
  const first = (self: Inst, more: Partial<Facts> = {}) => intake(self, { ...facts, ...more })?.effects[0];
  const last = (self: Inst, more: Partial<Facts> = {}) => intake(self, { ...facts, ...more })?.effects.at(-1);

  it('starts a requested job removes the request, and adds finalizer and context', () => {
    const change = { dropAnnotations: RECONCILE, ...OURS };
    expect(last(asked('reconcile'))).to.deep.include({ do: 'amend', change });
    expect(last(asked('reconcile', { status: running('j', 'Init') }))).to.deep.include({ change });
  });
  it('starts a requested deletion removes the request, and nothing else', () => {
    const gone = asked('reconcile', { meta: deleting, status: done('j') });
    expect(last(gone)).to.deep.include({ change: { dropAnnotations: RECONCILE } });
  });
  it('removes the request for a job below the root changes nothing else', () => {
    const below = child('stack', 'a', done('j'), { annotations: { [annotations.operation]: 'reconcile' } });
    expect(last(below)).to.deep.include({ do: 'amend', change: { dropAnnotations: RECONCILE } });
  });
  it('starts a job resets the count of repetitions, unless it was started automatically', () => {
    const status = { ...done('j'), automaticReconcileStatus: { generation: 1 } };
    const path = 'body.status.automaticReconcileStatus';
    expect(first(asked('reconcile', { status }))).to.have.nested.property(path, null);
    const byMachine = asked('reconcile', { status }, { [annotations.reconcileReason]: 'retry' });
    expect(first(byMachine)).to.have.nested.property('body.status.jobID', 'new');
    expect(first(byMachine)).to.not.have.nested.property(path);
    const byWord = asked('reconcile', { status }, { [annotations.reconcileReason]: 'x' });
    expect(first(byWord)).to.have.nested.property(path, null);
  });
  it('passes an interrupt down uses the kind of each object', () => {
    const below = () => [child('web', 'a'), execution('web')];
    const { effects } = intake(asked('interrupt'), { ...facts, below }) ?? { effects: [] };
    const body = { metadata: { annotations: { [annotations.operation]: 'interrupt' } } };
    expect(
      effects.slice(0, 2).map((e) => e.do === 'patch' && { kind: e.kind.kind, body: e.body }),
    ).to.deep.equal([
      { kind: 'Installation', body },
      { kind: 'Execution', body },
    ]);
  });
  it('ends an interrupted job is the whole end of the job', () => {
    const waiting = asked('interrupt', { status: running('j', 'Init') });
    expect(first(waiting)).to.have.deep.nested.property('body.status', {
      phase: 'Failed',
      phaseTransitionTime: NOW,
      jobIDFinished: 'j',
      transitionTimes: { finishedTime: NOW },
      conditions: null,
      lastError: {
        operation: 'InterruptOperation',
        reason: 'InterruptOperation',
        message: 'operation was interrupted',
        codes: ['ERR_FOR_INFO_ONLY'],
        lastTransitionTime: NOW,
        lastUpdateTime: NOW,
      },
    });
    const gone = asked('interrupt', { status: running('j', 'InitDelete'), meta: deleting });
    expect(first(gone)).to.have.nested.property('body.status.phase', 'DeleteFailed');
  });
});

describe('an installation that starts a job in spite of the annotation ignore', () => {
  const event = (more: Record<string, string>) => intake(asked('reconcile', {}, more), facts)?.event;
  it('reports that it has no effect, and what holds jobs back', () => {
    expect(event({ [annotations.ignore]: 'true' })).to.deep.equal({
      reason: 'IgnoreHasNoEffect',
      note: 'a job was started although landscaper.gardener.cloud/ignore is set: the annotation has no effect; use espalier.dev/suspended=true to hold jobs back',
    });
  });
  it('reports nothing without that annotation', () => {
    expect(intake(asked('reconcile'), facts)).to.not.have.property('event');
    expect(intake(asked('reconcile'), facts)).to.have.all.keys('effects', 'then');
  });
});

describe('a root that has roots to start', () => {
  const producer = installation('producer', {
    status: { ...done('p1'), dependentsToTrigger: [{ name: 'consumer' }] },
  });
  const starts = (...siblings: Inst[]) => answers(producer, { dependents: () => siblings })?.effects;

  it('forgets them in the same reconcile, which continues', () => {
    const answer = intake(producer, facts);
    expect(answer?.then).to.equal('continue');
    expect(answer?.effects[0]).to.have.deep.nested.property('body.status', { dependentsToTrigger: null });
  });
  it('starts them by the annotation', () => {
    const answer = intake(producer, { ...facts, dependents: () => [installation('consumer')] });
    expect(answer?.effects[0]).to.have.deep.nested.property('body.metadata.annotations', {
      [annotations.operation]: 'reconcile',
    });
  });
  it('starts no others', () => {
    expect(starts(installation('other'), installation('consumer'))).to.deep.equal([
      'patch consumer',
      'status producer',
    ]);
  });
  it('starts none that has got a parent meanwhile', () => {
    const owned = child('stack', 'a', done('c1'), { name: 'consumer' });
    expect(starts(owned)).to.deep.equal(['status producer']);
  });
  it('starts none with a requested job', () => {
    const waiting = installation('consumer', {
      meta: { annotations: { [annotations.operation]: 'reconcile' } },
    });
    expect(starts(waiting)).to.deep.equal(['status producer']);
  });

  const waiting: readonly (readonly [title: string, object | undefined, boolean])[] = [
    ['in Init', running('c', 'Init'), true],
    ['in a later phase, because it has read its imports', running('c', 'Progressing'), false],
    ['without a running job, although it stopped in Init', done('c', 'Init'), false],
    ['without a status', undefined, false],
    ['with a job that has no phase yet', { jobID: 'c' }, false],
  ];
  for (const [title, status, expected] of waiting) {
    it(`treats a successor ${expected ? 'as' : 'not as'} one that waits for it ${title}`, () => {
      expect(isWaitingForUs(installation('consumer', status && { status }))).to.equal(expected);
    });
  }
});

describe('an installation without a running job', () => {
  const wish = { automaticReconcile: { failedReconcile: { interval: '1h' } } };
  const changed = (status: object = done('j', 'Failed'), meta: object = {}) =>
    installation('web', { spec: wish, status, meta: { generation: 2, ...meta } });
  const condition = {
    type: 'AutomaticReconcile',
    status: 'False',
    reason: 'SpecChanged',
    message:
      'no scheduled job is started because the spec has changed since the last job; ' +
      'start one with landscaper.gardener.cloud/operation=reconcile, or start one after every change with ' +
      'landscaper.gardener.cloud/reconcile-if-changed=true',
    lastTransitionTime: NOW,
    lastUpdateTime: NOW,
  };

  it('reports that no job is scheduled because the spec has changed', () => {
    const answer = intake(changed(), facts);
    expect(answer?.effects[0]).to.have.deep.nested.property('body.status.conditions', [condition]);
    expect(answer?.event?.reason).to.equal('SpecChanged');
  });
  it('reports that only once', () => {
    expect(intake(changed({ ...done('j', 'Failed'), conditions: [condition] }), facts)).to.equal(undefined);
  });
  it('no longer reports it when jobs are scheduled again', () => {
    const back = installation('web', { status: { ...done('j'), conditions: [condition] } });
    expect(intake(back, facts)?.effects[0]).to.have.deep.nested.property('body.status.conditions', null);
  });
  it('changes no condition while a job runs, or under deletion', () => {
    const conditions = [condition];
    expect(intake(installation('web', { status: { ...running('j'), conditions } }), facts)).to.equal(
      undefined,
    );
    const gone = installation('web', {
      status: { ...done('j', 'DeleteFailed'), conditions },
      meta: deleting,
    });
    expect(intake(gone, facts)).to.equal(undefined);
  });
  it('reports drift below it since its job', () => {
    const drifted = { ...condition, type: 'Drifted', status: 'True', reason: 'FailedAfterJob', message: 'm' };
    const below = () => [execution('web', { status: { ...done('j'), conditions: [drifted] } })];
    const answer = intake(installation('web', { status: done('j') }), { ...facts, below });
    expect(answer?.effects[0]).to.have.nested.property(
      'body.status.conditions[0].message',
      'execution web: m',
    );
  });
  it('stores the time from which the schedule counts, and starts no job with it', () => {
    const self = installation('web', {
      spec: { automaticReconcile: { succeededReconcile: {} } },
      status: done('j'),
    });
    const answer = intake(self, facts);
    expect(answer && { effects: effectsOf(answer), then: answer.then }).to.deep.equal({
      effects: ['status web'],
      then: 'continue',
    });
    expect(answer?.effects[0]).to.have.deep.nested.property('body.status', {
      automaticReconcileStatus: { generation: 1, lastReconcileTime: NOW },
    });
  });
});

describe('the exports in the status of a failed job', () => {
  const times = { lastTransitionTime: '2025-01-01T00:00:00Z', lastUpdateTime: '2025-01-01T00:00:00Z' };
  const condition = (type: string, status: string) => ({ type, status, reason: 'r', message: 'm', ...times });
  const failed = (...conditions: Status['conditions'] & object): Status => ({
    phase: 'Failed',
    ...lastErrorOf('x'),
    conditions,
  });
  const claim = condition('CreateExports', 'True');

  it('are removed, and other conditions stay', () => {
    const other = condition('CreateImports', 'True');
    expect(withoutExports(failed(claim, other), NOW).conditions).to.deep.equal([
      {
        type: 'CreateExports',
        status: 'False',
        reason: 'JobFailed',
        message: 'the job failed before it wrote exports',
        lastTransitionTime: NOW,
        lastUpdateTime: NOW,
      },
      other,
    ]);
  });
  const unchanged: readonly (readonly [string, Status])[] = [
    ['if the job succeeded', { ...failed(claim), phase: 'Succeeded' }],
    ['if there are none', failed(condition('CreateExports', 'False'))],
    ['if the condition has another reason', failed(condition('CreateImports', 'True'))],
    ['if there is no condition', { phase: 'Failed' }],
  ];
  for (const [title, status] of unchanged) {
    it(`stay as they are ${title}`, () => {
      expect(withoutExports(status, NOW)).to.equal(status);
    });
  }
});
