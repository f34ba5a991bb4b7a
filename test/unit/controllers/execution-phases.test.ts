/** The decisions of phases and of the rules before them, with exact messages where users or tools rely on them. */
import { expect } from 'chai';
import { intake, type Facts } from '../../../controllers/execution/intake.ts';
import { phases } from '../../../controllers/execution/phases.ts';
import type { Snapshot } from '../../../controllers/execution/snapshot.ts';
import type { DeployItem } from '../../../src/api/kinds/deployitem.ts';
import {
  readDeployItems,
  writeDeployItems,
  type DeployItemTemplate,
  type Execution,
} from '../../../src/api/kinds/execution.ts';
import { FINALIZER, annotations } from '../../../src/api/labels.ts';
import type { DataObject } from '../../../src/api/kinds/dataobject.ts';
import { executionExportObject } from '../../../src/dataflow/objects.ts';
import type { Decision } from '../../../src/machine/decision.ts';
import { ask, effectsOf } from '../../support/ask.ts';
import { NOW, deleting, done, execution, item, running, template } from '../../support/given.ts';
import { reservation } from '../../support/reservation.ts';

const JOB = 'j2';
const self = execution('plan', { status: running(JOB) });
const decide = (
  name: keyof typeof phases,
  templates: readonly DeployItemTemplate[],
  items: readonly DeployItem[],
  known: Partial<Snapshot> = {},
): Decision =>
  ask<Snapshot>(phases[name].phase, {
    self,
    now: NOW,
    templates,
    items,
    refusal: undefined,
    ancestors: [],
    reservation: reservation(),
    clusterNames: new Map(),
    itemsWithoutCluster: new Set(),
    missingDeployer: () => undefined,
    freshName: (prefix) => `${prefix}sfx`,
    ...known,
  });
const problemIn = (decision: Decision): unknown => (decision.do === 'fail' ? decision.problem : decision);
const bodies = ({ effects }: Pick<Decision, 'effects'>): unknown[] =>
  effects.map((effect) => (effect.do === 'patch' ? effect.body : effect.do));

describe('an execution whose templates are rejected', () => {
  it('fails with the reason and the error code for an invalid configuration', () => {
    expect(problemIn(decide('Init', [], [], { refusal: 'wrong' }))).to.deep.equal({
      operation: 'handleReconcilePhase',
      reason: 'ValidateExecution',
      message: 'wrong',
      codes: ['ERR_CONFIGURATION_PROBLEM'],
    });
    const full = decide('Init', [template('a')], [], { reservation: reservation({ isGranted: false }) });
    expect(problemIn(full)).to.have.property('operation', 'handleReconcilePhase');
  });
});

describe('the status of an execution that leaves Init', () => {
  const cacheOf = (items: readonly DeployItem[]) =>
    decide('Init', [template('a'), template('b')], items).status.set;

  it('lists the items of its templates, existing or not, and the time', () => {
    expect(cacheOf([item('plan', 'a')])).to.deep.equal({
      deployItemCache: {
        activeDIs: [
          { specName: 'a', objectName: 'plan-a-x' },
          { specName: 'b', objectName: 'plan-b-sfx' },
        ],
        orphanedDIs: null,
      },
      transitionTimes: { waitTime: NOW },
    });
  });

  it('lists the obsolete items', () => {
    expect(cacheOf([item('plan', 'old')])).to.have.deep.nested.property('deployItemCache.orphanedDIs', [
      'plan-old-x',
    ]);
  });

  it('needs no write to unchanged items', () => {
    const made = decide('Init', [template('a')], []).effects[0];
    const there = made?.do === 'create' ? (made.object as DeployItem) : item('plan', 'a');
    expect(decide('Init', [template('a')], [there]).effects).to.deep.equal([]);
  });
});

describe('an execution that is being deleted', () => {
  const forgotten = { annotations: { [annotations.deleteWithoutUninstall]: 'true' } };

  it('marks all its items for deletion that are not marked yet', () => {
    const decision = decide('InitDelete', [], [item('plan', 'a'), item('plan', 'b', {}, deleting)]);
    expect(effectsOf(decision)).to.deep.equal(['delete plan-a-x']);
    expect(decision).to.include({ do: 'advance', to: 'Deleting' });
  });

  it('passes on, before each deletion, that nothing is to be uninstalled', () => {
    const decision = decide(
      'InitDelete',
      [],
      [item('plan', 'a'), item('plan', 'b', {}, deleting), item('plan', 'c', {}, forgotten)],
      { self: execution('plan', { meta: { ...deleting, ...forgotten } }) },
    );
    expect(effectsOf(decision)).to.deep.equal([
      'patch plan-a-x',
      'delete plan-a-x',
      'patch plan-b-x',
      'delete plan-c-x',
    ]);
  });

  const going = (name: string, status: object): DeployItem => item('plan', name, status, deleting);

  it('names running items and the error of each failed item', () => {
    const lastError = {
      operation: 'o',
      reason: 'r',
      message: 'no',
      lastTransitionTime: NOW,
      lastUpdateTime: NOW,
    };
    const items = [
      going('a', { ...done(JOB, 'DeleteFailed'), lastError }),
      going('b', done(JOB, 'DeleteFailed')),
    ];
    expect(problemIn(decide('Deleting', [], items))).to.deep.equal({
      operation: 'handleReconcilePhase',
      reason: 'handlePhaseDeleting',
      message: 'has failed items: plan-a-x: no; plan-b-x: DeleteFailed',
      codes: ['ERR_FOR_INFO_ONLY'],
    });
    const waiting = decide('Deleting', [], [going('a', running(JOB))]);
    expect(waiting).to.have.nested.property('awaited.reason', 'DeletionPending');
  });
});

describe('an execution in Progressing', () => {
  const a = [template('a')];
  const orphan = (status: object = done('j1'), meta: object = deleting): DeployItem =>
    item('plan', 'old', status, meta);

  it('first deletes orphans that Init has not deleted', () => {
    const decision = decide('Progressing', a, [item('plan', 'a'), orphan(done('j1'), {}), orphan()]);
    expect(effectsOf(decision)).to.deep.equal(['delete plan-old-x']);
    expect(decision).to.deep.include({
      do: 'wait',
      awaited: {
        reason: 'DeletionPending',
        objects: ['deploy item plan-old-x', 'deploy item plan-old-x'],
      },
    });
  });

  it('reports what it waits for while orphans are deleted, and gives none of them its job twice', () => {
    const decision = decide('Progressing', a, [item('plan', 'a'), orphan(running(JOB))]);
    expect(effectsOf(decision)).to.deep.equal([]);
    expect(decision).to.have.nested.property('awaited.reason', 'DeletionPending');
    expect(decision).to.have.deep.nested.property('why.codes', [
      'ERR_UNFINISHED',
      'ERR_FOR_INFO_ONLY',
      'ERR_NO_RETRY',
    ]);
  });

  it('starts none of the others if an orphan could not be deleted, and fails when nothing is running', () => {
    const failed = item('plan', 'bad', done(JOB, 'DeleteFailed'), deleting);
    const both = decide('Progressing', a, [item('plan', 'a'), orphan(running(JOB)), failed]);
    expect(both).to.deep.include({ do: 'wait', effects: [] });
    const atWork = decide('Progressing', a, [item('plan', 'a', running(JOB)), failed]);
    expect(atWork).to.deep.include({ do: 'wait', effects: [] });
    const still = decide('Progressing', a, [item('plan', 'a'), orphan(), failed]);
    expect(problemIn(still)).to.deep.equal({
      operation: 'handleReconcilePhase',
      reason: 'handlePhaseProgressing',
      message: 'has failed or missing deploy items: bad: phase DeleteFailed',
      codes: ['ERR_FOR_INFO_ONLY'],
    });
  });

  it('leaves a duplicate that did its part in this job to the next job', () => {
    const first = item('plan', 'a', done(JOB), { creationTimestamp: '2026-01-01T00:00:00Z' });
    const second = item('plan', 'a', done(JOB), {
      creationTimestamp: '2026-01-01T00:00:01Z',
      name: 'double',
      ...deleting,
    });
    expect(decide('Progressing', a, [first, second])).to.include({ do: 'advance', to: 'Completing' });
    const others: readonly object[] = [
      done(JOB, 'Failed'),
      done('j1'),
      running(JOB),
      { ...done(JOB), jobIDFinished: 'j1' },
    ];
    for (const status of others) {
      const double = { ...second, status: { observedGeneration: 1, ...status } } as DeployItem;
      expect(decide('Progressing', a, [first, double]).do).not.to.equal('advance');
    }
  });

  it('names each item that failed or is missing', () => {
    const lastError = {
      operation: 'o',
      reason: 'r',
      message: 'no',
      lastTransitionTime: NOW,
      lastUpdateTime: NOW,
    };
    const items = [
      item('plan', 'a', { ...done(JOB, 'Failed'), lastError }),
      item('plan', 'b', done(JOB, 'Failed')),
      item('plan', 'd', done(JOB)),
    ];
    const templates = ['a', 'b', 'c', 'd'].map((name) => template(name));
    expect(problemIn(decide('Progressing', templates, items))).to.have.property(
      'message',
      'has failed or missing deploy items: a: no; b: phase Failed; c is missing',
    );
  });

  it('reports an orphan without template by the name of the object', () => {
    const nameless = item('plan', 'old', done(JOB, 'DeleteFailed'), { ...deleting, labels: {} });
    expect(problemIn(decide('Progressing', a, [item('plan', 'a'), nameless])))
      .to.have.property('message')
      .that.contains('plan-old-x: phase DeleteFailed');
  });

  it('reports cyclic dependencies, and dependencies on missing items', () => {
    const circle = [template('a', { dependsOn: ['b'] }), template('b', { dependsOn: ['a'] })];
    const decision = decide('Progressing', circle, [item('plan', 'a'), item('plan', 'b')]);
    expect(problemIn(decision)).to.deep.include({
      message: 'items could not be started: a, b wait for each other or for items that do not exist',
      codes: [],
    });
  });

  it('waits for items that were just started and for running ones', () => {
    const two = [template('a'), template('b')];
    expect(decide('Progressing', two, [item('plan', 'a', running(JOB)), item('plan', 'b')]))
      .to.have.property('awaited')
      .that.deep.equals({
        reason: 'JobsUnfinished',
        objects: ['deploy item plan-a-x', 'deploy item plan-b-x'],
      });
  });

  it('succeeds even if it was interrupted when no item was left to start', () => {
    const interrupted = execution('plan', {
      status: running(JOB),
      meta: { annotations: { [annotations.interruptedJob]: JOB } },
    });
    const decision = decide('Progressing', a, [item('plan', 'a', done(JOB))], { self: interrupted });
    expect(decision).to.include({ do: 'advance', to: 'Completing' });
  });
});

describe('an execution in Completing', () => {
  const exports = { a: { url: 'x' } };
  const wanted = executionExportObject(self, exports);
  const { metadata } = wanted;
  const complete = (exportObject?: DataObject): Decision =>
    decide('Completing', [], [], { exports, exportObject });

  it('creates the data object with the exports of its items, and stores its name', () => {
    const decision = complete();
    expect(decision).to.deep.include({ do: 'advance', to: 'Succeeded' });
    expect(decision.effects).to.have.length(1);
    expect(decision.effects[0]).to.deep.include({ do: 'create', object: wanted });
    expect(decision.status.set).to.deep.equal({
      exportRef: { name: metadata.name, namespace: 'demo' },
      deployItemCache: { orphanedDIs: null },
    });
  });

  it('writes changes, and nothing without changes', () => {
    expect(complete(wanted).effects).to.deep.equal([]);
    const old = {
      ...wanted,
      metadata: { ...metadata, labels: { ...metadata.labels, own: 'user' } },
      data: {},
    };
    expect(bodies(complete(old))).to.deep.equal([{ data: { a: { url: 'x' } } }]);
  });

  it('fails instead of overwriting an object of another owner', () => {
    const theirs = { ...wanted, metadata: { name: metadata.name, namespace: 'demo' } };
    const decision = complete(theirs);
    expect(decision.effects).to.deep.equal([]);
    expect(problemIn(decision)).to.deep.include({
      operation: 'handlePhaseCompleting',
      reason: 'CreateOrUpdateExports',
      codes: ['ERR_CONFIGURATION_PROBLEM'],
    });
  });
});

describe('an execution before its phases', () => {
  const before = (object: Execution, facts: Partial<Facts> = {}) =>
    intake(object, { items: [], now: NOW, isAbandoned: false, ...facts });

  it('is ignored without our finalizer if it is being deleted', () => {
    const gone = execution('plan', { meta: { ...deleting, finalizers: ['x.org/keep'] } });
    expect(before(gone)).to.deep.equal({ effects: [], then: 'stop' });
    expect(before(execution('plan', { meta: deleting }))).to.equal(undefined);
  });

  const finalizers = [FINALIZER];
  const packed = writeDeployItems([template('a')]);
  const plain = { deployItems: [template('b', { timeout: '90s' })] };
  const rows: readonly [string, object][] = [
    ['has none', {}],
    ['has an empty list', { deployItems: [] }],
    ['has compressed ones, which take precedence over uncompressed ones', { ...packed, ...plain }],
  ];
  for (const [title, spec] of rows) {
    it(`gets only the finalizer if it ${title}`, () => {
      const fresh = execution('plan', { meta: { finalizers: [] } });
      const answer = before({ ...fresh, spec: { context: 'default', ...spec } });
      expect(answer?.then).to.equal('continue');
      expect(bodies(answer ?? { effects: [] })).to.deep.equal([{ metadata: { finalizers } }]);
    });
  }

  it('gets the finalizer besides those of others, and its items compressed', () => {
    const fresh = execution('plan', { meta: { finalizers: ['x.org/keep'] } });
    const answer = before({ ...fresh, spec: { context: 'default', ...plain } });
    const [body] = bodies(answer ?? { effects: [] }) as [{ metadata: object; spec: Execution['spec'] }];
    expect(body.metadata).to.deep.equal({ finalizers: ['x.org/keep', FINALIZER] });
    expect(body.spec).to.have.property('deployItems', null);
    const { deployItemsCompressed = '' } = body.spec;
    expect(readDeployItems({ deployItemsCompressed })).to.deep.equal([template('b', { timeout: '1m30s' })]);
    const { finalizers: _, ...metadata } = fresh.metadata;
    expect(bodies(before({ ...fresh, metadata }) ?? { effects: [] })).to.deep.equal([
      { metadata: { finalizers } },
    ]);
  });

  it('continues after an interrupt, also without a job, when no item is ended', () => {
    const asked = execution('plan', { meta: { annotations: { [annotations.operation]: 'interrupt' } } });
    const answer = before(asked, { items: [item('plan', 'a')] });
    expect(answer?.then).to.equal('continue');
    expect(effectsOf(answer ?? { effects: [] })).to.deep.equal(['patch plan']);
  });

  it('reports without a job an item that has failed since, but not while it is running or being deleted', () => {
    const items = [item('plan', 'a', done('own', 'Failed'))];
    const told = (object: Execution) => before(object, { items })?.event?.reason;
    expect(told(execution('plan', { status: done(JOB) }))).to.equal('FailedAfterJob');
    expect(
      told(execution('plan', { status: { ...running(JOB, 'Succeeded'), jobIDFinished: 'j1' } })),
    ).to.equal(undefined);
    expect(told(execution('plan', { status: done(JOB), meta: deleting }))).to.equal(undefined);
  });
});
