import { expect } from 'chai';
import type { Secret } from '../../../src/landscape/world.ts';
import type { View } from '../../../src/runtime/types.ts';
import { intake, type Facts } from '../../../controllers/installation/intake.ts';
import { fence } from '../../../controllers/installation/job.ts';
import type { Snapshot } from '../../../controllers/installation/snapshot.ts';
import type { Installation } from '../../../src/api/kinds/installation.ts';
import { annotations } from '../../../src/api/labels.ts';
import { API_VERSION, FINALIZER } from '../../../src/api/labels.ts';
import { PhaseError, type Decision } from '../../../src/machine/decision.ts';
import { effectsOf } from '../../support/ask.ts';
import { reservation } from '../../support/reservation.ts';
import { NOW, child, deleting, done, execution, installation, running } from '../../support/given.ts';
import { JOB, decide, nothing, ownExecution, reasonOf, self, wanted } from './installation/given.ts';

describe('an installation in Init', () => {
  const rows: { title: string; snapshot: Partial<Snapshot>; answer: string; reason?: string }[] = [
    {
      title: 'CORE-23: fails without its context',
      snapshot: { self: installation('stack', { spec: { context: 'special' } }), context: undefined },
      answer: 'fail',
      reason: 'CalculateContext',
    },
    {
      title: 'retries for a default context, which may not exist yet',
      snapshot: { context: undefined },
      answer: 'retry',
      reason: 'CalculateContext',
    },
    {
      title: 'CORE-23: fails if the default context is not created',
      snapshot: {
        self: installation('stack', { status: { transitionTimes: { initTime: '2025-01-01T00:00:00Z' } } }),
        context: undefined,
      },
      answer: 'fail',
      reason: 'CalculateContext',
    },
    {
      title: 'CORE-24: fails if neither context nor installation names a repository for the component',
      snapshot: {
        self: installation('stack', {
          spec: { componentDescriptor: { ref: { componentName: 'x.org/c', version: '1.0.0' } } },
        }),
      },
      answer: 'fail',
      reason: 'CalculateContext',
    },
    {
      title: 'CORE-19: waits for a sibling that has not finished the job of the parent',
      snapshot: { self: child('p', 'b', running(JOB)), predecessors: [child('p', 'a', done('old'))] },
      answer: 'wait',
      reason: 'AllPredecessorsFinished',
    },
    {
      title: 'CORE-20: fails if a sibling failed',
      snapshot: { self: child('p', 'b', running(JOB)), predecessors: [child('p', 'a', done(JOB, 'Failed'))] },
      answer: 'fail',
      reason: 'AllPredecessorsSucceeded',
    },
    {
      title: 'CORE-17: waits for a running root',
      snapshot: {
        predecessors: [installation('producer', { status: { ...running('p2'), jobIDFinished: 'p1' } })],
      },
      answer: 'wait',
      reason: 'AllPredecessorsFinished',
    },
    {
      title: 'CORE-18: waits for a root with a requested job',
      snapshot: {
        predecessors: [
          installation('producer', {
            status: done('p1'),
            meta: { annotations: { [annotations.operation]: 'reconcile' } },
          }),
        ],
      },
      answer: 'wait',
      reason: 'AllPredecessorsFinished',
    },
    {
      title: 'CORE-16: fails if a root it imports from has never run',
      snapshot: { predecessors: [installation('producer')] },
      answer: 'fail',
      reason: 'AllPredecessorsSucceeded',
    },
    {
      title: 'CORE-22: fails if an import is missing',
      snapshot: { imports: { imports: {} as never, missing: [{ import: 'x', message: 'no x' }] } },
      answer: 'fail',
      reason: 'ImportsSatisfied',
    },
    {
      title: 'fails if its execution has another owner',
      snapshot: { execution: execution('stack') },
      answer: 'fail',
      reason: 'ReconcileExecution',
    },
    {
      title: 'CORE-46b: waits until an execution that a user deleted is uninstalled',
      snapshot: { execution: ownExecution(done('j1'), deleting) },
      answer: 'wait',
      reason: 'ReconcileExecution',
    },
    { title: 'continues if everything exists', snapshot: {}, answer: 'advance' },
  ];
  for (const { title, snapshot, answer, reason } of rows) {
    it(title, () => {
      const decision = decide('Init', snapshot);
      expect(decision.do).to.equal(answer);
      expect(reasonOf(decision)).to.equal(reason);
    });
  }

  it('names all missing imports, the first with the reason', () => {
    const missing = [
      { import: 'x', message: 'secrets "no" not found' },
      { import: 'y', message: 'no y' },
      { import: 'z', message: 'no z' },
    ];
    expect(decide('Init', { imports: { imports: {} as never, missing } })).to.have.nested.property(
      'problem.message',
      'secrets "no" not found (import "x"); not satisfied either: "y", "z"',
    );
  });

  const below = (levels: number) =>
    Array.from({ length: levels }, (_, i) => installation(`level-${levels - i}`));

  it('creates children at the deepest permitted level', () => {
    const rendered = { ...nothing, children: [wanted('a')] };
    const decision = decide('Init', { ancestors: below(2), treeDepth: 3, rendered });
    expect(decision.do).to.equal('advance');
    expect(effectsOf(decision)).to.include('create a-sfx');
  });

  it('fails below that level, creates nothing, and names the level, the limit and the key', () => {
    const rendered = { ...nothing, children: [wanted('a')] };
    const decision = decide('Init', { ancestors: below(3), treeDepth: 3, rendered });
    if (decision.do !== 'fail') throw new Error(decision.do);
    expect(decision.problem.message)
      .to.contain('"demo/stack"')
      .and.contain('"level-1"')
      .and.contain('level 4')
      .and.contain('at most 3 levels')
      .and.contain('limits.treeDepth');
    expect(decision.problem.codes).to.deep.equal(['ERR_CONFIGURATION_PROBLEM']);
    expect(decision.effects).to.deep.equal([]);
    expect(decision.status.set).to.equal(undefined);
  });

  it('creates nothing beyond the limit of its tree, and names the numbers and the key', () => {
    const rendered = { ...nothing, children: [wanted('a')], items: [] };
    const refused = reservation({ present: 10_000, limit: 10_000, isGranted: false });
    const decision = decide('Init', { rendered, reservation: refused });
    if (decision.do !== 'fail') throw new Error(decision.do);
    expect(decision.problem.message)
      .to.contain('installation "demo/stack" would create 1 objects')
      .and.contain('the tree below "top" has 10000, and at most 10000 are allowed')
      .and.contain('limits.treeObjects');
    expect(decision.problem.codes).to.deep.equal(['ERR_CONFIGURATION_PROBLEM']);
    expect(decision.effects).to.deep.equal([]);
  });

  describe('with an interrupted job', () => {
    const interrupted = { [annotations.interruptedJob]: JOB };
    const asked = { [annotations.operation]: 'interrupt' };
    const above = (meta: object, jobID = JOB) => [
      installation('parent', { status: running(jobID) }),
      installation('grandparent', { status: running(jobID), meta: { annotations: meta as never } }),
    ];
    const rows: readonly (readonly [string, Partial<Snapshot>])[] = [
      ['above', { ancestors: above(interrupted) }],
      ['above, a moment ago', { ancestors: above(asked) }],
      [
        'directly',
        { self: installation('stack', { status: running(JOB, 'Init'), meta: { annotations: interrupted } }) },
      ],
    ];
    for (const [where, snapshot] of rows) {
      it(`creates and starts nothing if it was interrupted ${where}`, () => {
        const children = [child('stack', 'a'), child('stack', 'b', {}, deleting)];
        const rendered = { ...nothing, children: [wanted('a'), wanted('b')] };
        for (const name of ['Init', 'CleanupOrphaned', 'ObjectsCreated'] as const) {
          const decision = decide(name, { ...snapshot, rendered, children });
          expect(decision, name).to.deep.include({ do: 'fail', effects: [] });
          expect(decision).to.have.nested.property('problem.reason', 'InterruptOperation');
        }
      });

      it(`waits for the running children, starts no others, and then fails if it was interrupted ${where}`, () => {
        const children = [child('stack', 'a', running(JOB)), child('stack', 'b', done('j1'))];
        expect(decide('Progressing', { ...snapshot, children })).to.deep.include({ do: 'wait', effects: [] });
        const left = [child('stack', 'a', done(JOB)), child('stack', 'b', done('j1'))];
        const decision = decide('Progressing', { ...snapshot, children: left });
        expect(decision).to.have.nested.property('problem.reason', 'InterruptOperation');
      });
    }

    it('continues if an earlier job was interrupted, or the one above has another job', () => {
      const rendered = { ...nothing, children: [wanted('a')] };
      const earlier = { [annotations.interruptedJob]: 'j1' };
      expect(decide('Init', { ancestors: above(earlier), rendered }).do).to.equal('advance');
      expect(decide('Init', { ancestors: above(asked, 'j1'), rendered }).do).to.equal('advance');
    });
  });

  const belowDeleted = [installation('parent'), installation('grandparent', { meta: deleting })];

  it('creates no children while an installation above it is being deleted', () => {
    const rendered = { ...nothing, children: [wanted('a'), wanted('b')] };
    const decision = decide('Init', { ancestors: belowDeleted, rendered });
    if (decision.do !== 'fail') throw new Error(decision.do);
    expect(decision.problem.message)
      .to.contain('"demo/stack"')
      .and.contain('2 new')
      .and.contain('"grandparent" above it is being deleted');
    expect(decision.effects).to.deep.equal([]);
  });

  it('continues with its existing children while an installation above it is being deleted', () => {
    const rendered = { ...nothing, children: [wanted('a')] };
    const children = [child('stack', 'a')];
    expect(decide('Init', { ancestors: belowDeleted, rendered, children }).do).to.equal('advance');
  });

  it('CORE-29: creates the children and starts none', () => {
    const decision = decide('Init', { rendered: { ...nothing, children: [wanted('a'), wanted('b')] } });
    expect(effectsOf(decision)).to.deep.equal(['create a-sfx', 'create b-sfx']);
    expect(decision.status.set).to.have.deep.nested.property('subInstCache.activeSubs', [
      { specName: 'a', objectName: 'a-sfx' },
      { specName: 'b', objectName: 'b-sfx' },
    ]);
  });

  it('CORE-36: deletes a child that is no longer wanted, without a job', () => {
    const decision = decide('Init', { children: [child('stack', 'b', done('j1'))] });
    expect(effectsOf(decision)).to.deep.equal(['patch b-x', 'delete b-x']);
    expect(decision.status.set).to.have.deep.nested.property('subInstCache.orphanedSubs', ['b-x']);
  });

  it('CORE-66: recreates a child that a user deleted', () => {
    const decision = decide('Init', {
      rendered: { ...nothing, children: [wanted('a')] },
      children: [child('stack', 'a', done('j1'), deleting)],
    });
    expect(effectsOf(decision)).to.deep.equal(['patch a-x', 'create a-sfx']);
  });

  it('keeps one of two children for the same template, and deletes the other', () => {
    const first = child('stack', 'a', done('j1'));
    const second = child('stack', 'a', done('j1'), { name: 'a-y', uid: 'uid-a-y' });
    second.metadata.annotations = { [annotations.subinstallationName]: 'a' };
    const decision = decide('Init', {
      rendered: { ...nothing, children: [wanted('a')] },
      children: [first, second],
    });
    expect(effectsOf(decision).filter((effect) => effect.startsWith('delete'))).to.deep.equal(['delete a-y']);
    expect(decision.status.set).to.have.deep.property('subInstCache', {
      activeSubs: [{ specName: 'a', objectName: 'a-x' }],
      orphanedSubs: ['a-y'],
    });
  });

  it('CORE-35: keeps the annotations of a user on a child', () => {
    const existing = child('stack', 'a', done('j1'), {
      annotations: { team: 'x', [annotations.subinstallationName]: 'a' },
    });
    expect(
      effectsOf(decide('Init', { rendered: { ...nothing, children: [wanted('a')] }, children: [existing] })),
    ).to.deep.equal([]);
  });

  it('CORE-28: fails with the condition of the step that failed, after the children were created', () => {
    const error = new PhaseError('handlePhaseInit', 'CreateImportsAndSubobjects', 'line 1', [], {
      conditions: [
        { type: 'ReconcileExecution', status: 'False', reason: 'TemplatingFailed', message: 'line 1' },
      ],
    });
    const decision = decide('Init', { rendered: { ...nothing, children: [wanted('a')], items: error } });
    expect(decision.do).to.equal('fail');
    expect(effectsOf(decision)).to.deep.equal(['create a-sfx']);
    expect(decision.status.conditions?.map((c) => [c.type, c.status])).to.deep.equal([
      ['EnsureSubInstallations', 'True'],
      ['ReconcileExecution', 'False'],
    ]);
  });

  it('DF-80: stores the state of executions before anything that depends on it, also if one of them fails', () => {
    const update = { secretName: 'hash', state: { pw: 'gen' }, format: 'yaml' } as const;
    const stateUpserts = [{ update, existing: undefined }];
    const rendered = { ...nothing, children: [wanted('a')] };
    expect(effectsOf(decide('Init', { rendered, stateUpserts }))).to.deep.equal([
      'create hash',
      'create a-sfx',
    ]);
    const error = new PhaseError('handlePhaseInit', 'CreateImportsAndSubobjects', 'line 1');
    const failed = decide('Init', { rendered: { ...rendered, items: error }, stateUpserts });
    expect(effectsOf(failed)).to.deep.equal(['create hash', 'create a-sfx']);
  });

  it('does not write unchanged state', () => {
    const update = { secretName: 'hash', state: { n: 1 } };
    const stored = (text: string): View<Secret> => ({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'hash', namespace: 'demo' },
      data: { config: Buffer.from(text).toString('base64'), other: 'x' },
    });
    const effects = (text: string): readonly string[] =>
      effectsOf(decide('Init', { stateUpserts: [{ update, existing: stored(text) }] }));
    expect(effects('{"n":1}')).to.deep.equal([]);
    expect(effects('{"n":0}')).to.deep.equal(['patch hash']);
  });

  it('clears the error about items if there are none any more', () => {
    const complaint = {
      type: 'ReconcileExecution',
      status: 'False',
      reason: 'TemplatingFailed',
      message: 'line 1',
      lastTransitionTime: NOW,
      lastUpdateTime: NOW,
    };
    const failed = installation('stack', { status: { ...running(JOB, 'Init'), conditions: [complaint] } });
    const conditions = (decision: Decision) => decision.status.conditions?.map((c) => [c.type, c.status]);
    expect(conditions(decide('Init', { self: failed }))).to.deep.include(['ReconcileExecution', 'True']);
    expect(conditions(decide('Init'))).to.deep.equal([['EnsureSubInstallations', 'True']]);
  });

  it('CORE-27: removes the exports of the last job even if it has to wait', () => {
    const old = {
      apiVersion: API_VERSION,
      kind: 'DataObject',
      metadata: { name: 'greeting', namespace: 'demo' },
      data: 1,
    };
    const decision = decide('Init', {
      predecessors: [installation('producer', { status: running('p') })],
      oldExports: [old],
    });
    expect(decision.do).to.equal('wait');
    expect(effectsOf(decision)).to.deep.equal(['delete greeting']);
  });

  it('CORE-27: removes them before it creates anything', () => {
    const old = {
      apiVersion: API_VERSION,
      kind: 'DataObject',
      metadata: { name: 'greeting', namespace: 'demo' },
      data: 1,
    };
    const rendered = { ...nothing, children: [wanted('a')] };
    expect(effectsOf(decide('Init', { oldExports: [old], rendered }))).to.deep.equal([
      'delete greeting',
      'create a-sfx',
    ]);
  });

  it('CORE-25: confirms that no predecessor has started meanwhile', () => {
    const decision = decide('Init', { predecessorJobs: { producer: 'p1' } });
    expect(decision).to.have.deep.property('confirm', {
      predecessorJobs: { producer: 'p1' },
      importsHash: 'hash',
    });
  });
});

describe('roots that import from each other', () => {
  const circular = (
    name: string,
    gives: string,
    takes: string,
    more: Parameters<typeof installation>[1] = {},
  ) =>
    installation(name, {
      status: running(JOB, 'Init'),
      spec: {
        imports: { data: [{ name: 'in', dataRef: takes }] },
        exports: { data: [{ name: 'out', dataRef: gives }] },
      },
      ...more,
    });
  const east = circular('east', 'e', 'w');
  const west = circular('west', 'w', 'e');

  it('fail at once, with the cycle, and remove nothing', () => {
    const old = {
      apiVersion: API_VERSION,
      kind: 'DataObject',
      metadata: { name: 'e', namespace: 'demo' },
      data: 1,
    };
    const decision = decide('Init', {
      self: east,
      siblings: [west],
      predecessors: [west],
      oldExports: [old],
    });
    expect(decision).to.deep.nested.include({
      do: 'fail',
      'problem.codes': ['ERR_CYCLIC_DEPENDENCIES'],
      effects: [],
    });
    expect(decision)
      .to.have.nested.property('problem.message')
      .that.includes('east -{depends_on}-> west -{depends_on}-> east');
  });
  it('do not wait for each other if they are deleted', () => {
    const going = circular('east', 'e', 'w', { status: running(JOB, 'InitDelete'), meta: deleting });
    expect(decide('InitDelete', { self: going, siblings: [west] }).do).to.equal('advance');
  });
  it('exclude those that only import from one', () => {
    const behind = circular('behind', 'x', 'e');
    const decision = decide('Init', { self: behind, siblings: [east, west], predecessors: [east] });
    expect(decision.do).to.equal('wait');
  });
  it('end their wait if they are deleted before anything has begun', () => {
    const producer = installation('producer', { status: running('p2') });
    const gone = installation('consumer', { status: running(JOB, 'Init'), meta: deleting });
    expect(decide('Init', { self: gone, predecessors: [producer] }).do).to.equal('fail');
  });
});

describe('an installation in CleanupOrphaned', () => {
  const orphan = (name: string, status: object = {}) =>
    child('stack', name, status, {
      ...deleting,
      annotations: {
        [annotations.subinstallationName]: name,
        [annotations.deleteIgnoreSuccessors]: 'true',
      },
    });

  it('continues if no child is being deleted', () => {
    expect(decide('CleanupOrphaned', { children: [child('stack', 'a')] })).to.include({ do: 'advance' });
  });
  it('CORE-37: gives its job to the orphans and waits', () => {
    const decision = decide('CleanupOrphaned', { children: [orphan('b')] });
    expect(decision.do).to.equal('wait');
    expect(effectsOf(decision)).to.deep.equal(['job b-x']);
  });
  it('resets the times of the orphan, not its own', () => {
    const decision = decide('CleanupOrphaned', { children: [orphan('b')] });
    expect(decision.effects).to.have.length(1);
    expect(decision.effects[0]).to.have.nested.property('target.metadata.name', 'b-x');
    expect(decision.effects[0]).to.have.deep.nested.property('body.status.transitionTimes', {
      triggerTime: NOW,
      initTime: NOW,
      waitTime: null,
      finishedTime: null,
    });
    expect(decision.status).to.deep.equal({});
  });
  it('CORE-38: waits while one of them is still running', () => {
    const children = [orphan('b', done(JOB, 'DeleteFailed')), orphan('c', running(JOB, 'Deleting'))];
    expect(decide('CleanupOrphaned', { children }).do).to.equal('wait');
  });
  it('CORE-39: fails if all of them have failed', () => {
    const children = [orphan('b', done(JOB, 'DeleteFailed')), orphan('c', done(JOB, 'DeleteFailed'))];
    expect(reasonOf(decide('CleanupOrphaned', { children }))).to.equal('AllOrphanedSubinstallationsFailed');
  });
  it('CORE-40: retries an orphan that failed in an earlier job', () => {
    const decision = decide('CleanupOrphaned', { children: [orphan('b', done('j1', 'DeleteFailed'))] });
    expect(effectsOf(decision)).to.deep.equal(['job b-x']);
  });
});

describe('an installation in ObjectsCreated', () => {
  it('CORE-42: hands its job to those that do not have it yet', () => {
    const decision = decide('ObjectsCreated', {
      children: [child('stack', 'a', running(JOB)), child('stack', 'b', done('j1'))],
      execution: ownExecution(done('j1')),
    });
    expect(effectsOf(decision)).to.deep.equal(['job b-x', 'job stack']);
  });
});

describe('an installation whose job fails', () => {
  it('writes to objects under deletion that may receive the job by a late write, and to nothing else', () => {
    const going = ownExecution(done('j1'), deleting);
    const living = child('stack', 'a', done('j1'));
    const told = child('stack', 'b', running(JOB, 'InitDelete'), deleting);
    expect(effectsOf({ effects: fence(self, [going, living, told]) })).to.deep.equal(['patch stack']);
  });
});

describe('an installation with changes by a user', () => {
  it('also hands its job to a child that was deleted just before', () => {
    const decision = decide('ObjectsCreated', { children: [child('stack', 'a', done('j1'), deleting)] });
    expect(effectsOf(decision)).to.deep.equal(['job a-x']);
  });

  it('gives its job to a child that was created too late to get it', () => {
    const decision = decide('Progressing', {
      children: [child('stack', 'a', done(JOB)), child('stack', 'b', done('j1'))],
    });
    expect(decision.do).to.equal('wait');
    expect(effectsOf(decision)).to.deep.equal(['job b-x']);
  });

  it('does not wait for an execution of another owner', () => {
    const decision = decide('Progressing', { execution: execution('stack', { status: running('x') }) });
    expect(decision.do).to.equal('advance');
  });

  it('deletes objects created after its own deletion was triggered', () => {
    const going = installation('stack', { status: running(JOB, 'Deleting'), meta: deleting });
    const decision = decide('Deleting', { self: going, children: [child('stack', 'a', done('j1'))] });
    expect(decision.do).to.equal('wait');
    expect(effectsOf(decision)).to.deep.equal(['delete a-x', 'job a-x']);
  });

  it('cannot be deleted if a sibling that imports from it has finished the job and stays', () => {
    const exports = { data: [{ name: 'out', dataRef: 'link' }] };
    const imports = { data: [{ name: 'in', dataRef: 'link' }] };
    const going = child('stack', 'a', running(JOB, 'InitDelete'), deleting);
    const sibling = child('stack', 'b', done(JOB, 'Failed'));
    const decision = decide('InitDelete', {
      self: { ...going, spec: { ...going.spec, exports } },
      siblings: [{ ...sibling, spec: { ...sibling.spec, imports } }],
    });
    expect(decision.do).to.equal('fail');
    expect(reasonOf(decision)).to.equal('SiblingDeleteError');
  });

  it('also releases an orphan that a user deleted', () => {
    const orphan = child('stack', 'a', done('j1'), deleting);
    expect(effectsOf(decide('CleanupOrphaned', { children: [orphan] }))).to.deep.equal([
      'patch a-x',
      'job a-x',
    ]);
  });

  it('does not wait for the next job of a root that is being deleted', () => {
    const going = installation('producer', {
      status: running('x', 'InitDelete'),
      meta: { ...deleting, annotations: { [annotations.operation]: 'reconcile' } },
    });
    expect(decide('Init', { predecessors: [going] }).do).to.equal('fail');
  });

  for (const [title, predecessor] of [
    ['has started its deletion', child('stack', 'a', running(JOB, 'InitDelete'), deleting)],
    [
      'is about to start it',
      child('stack', 'a', { ...running(JOB, 'Succeeded'), jobIDFinished: 'j1' }, deleting),
    ],
  ] as const) {
    it(`fails instead of waiting for a predecessor that ${title}`, () => {
      const own = child('stack', 'b', running(JOB, 'Init'));
      const decision = decide('Init', { self: own, predecessors: [predecessor] });
      expect(decision.do).to.equal('fail');
      expect(reasonOf(decision)).to.equal('AllPredecessorsSucceeded');
    });
  }
});

describe('an installation in Progressing', () => {
  const rows: { title: string; snapshot: Partial<Snapshot>; answer: string; message?: RegExp }[] = [
    {
      title: 'CORE-43: waits for the child that has not finished the job',
      snapshot: { children: [child('stack', 'a', done(JOB)), child('stack', 'b', running(JOB))] },
      answer: 'wait',
    },
    {
      title: 'waits for a child that finished another job',
      snapshot: { children: [child('stack', 'a', done('j1'))] },
      answer: 'wait',
    },
    {
      title: 'continues when all have succeeded',
      snapshot: { children: [child('stack', 'a', done(JOB))], execution: ownExecution(done(JOB)) },
      answer: 'advance',
    },
    {
      title: 'CORE-44: fails if a child failed, and names it',
      snapshot: { children: [child('stack', 'a', done(JOB)), child('stack', 'b', done(JOB, 'Failed'))] },
      answer: 'fail',
      message: /^Failed sub-installation\(s\): b-x$/,
    },
    {
      title: 'CORE-45: names failed child and execution, separated',
      snapshot: {
        children: [child('stack', 'a', done(JOB, 'Failed'))],
        execution: ownExecution(done(JOB, 'Failed')),
      },
      answer: 'fail',
      message: /^Failed sub-installation\(s\): a-x; Execution is failed$/,
    },
    {
      title: 'CORE-46: fails if its execution is missing',
      snapshot: {
        self: installation('stack', { status: { ...running(JOB), executionRef: { name: 'stack' } } }),
      },
      answer: 'fail',
      message: /^Execution is missing$/,
    },
    {
      title: 'fails if a child is missing',
      snapshot: {
        self: installation('stack', {
          status: { ...running(JOB), subInstCache: { activeSubs: [{ specName: 'a', objectName: 'a-x' }] } },
        }),
      },
      answer: 'fail',
      message: /^Missing sub-installation\(s\): a-x$/,
    },
  ];
  for (const { title, snapshot, answer, message } of rows) {
    it(title, () => {
      const decision = decide('Progressing', snapshot);
      expect(decision.do).to.equal(answer);
      if (message) expect(decision).to.have.nested.property('problem.message').that.matches(message);
    });
  }

  it('passes the cause up from the leaf', () => {
    const lastError = {
      operation: 'o',
      reason: 'r',
      message: 'disk full',
      lastTransitionTime: NOW,
      lastUpdateTime: NOW,
    };
    const decision = decide('Progressing', {
      children: [child('stack', 'a', { ...done(JOB, 'Failed'), lastError })],
    });
    expect(decision).to.have.nested.property('problem.message').that.includes('a-x: disk full');
  });
});

describe('an installation in Completing', () => {
  const completing = (status: object = {}, meta: object = {}) =>
    installation('stack', {
      status: { ...running(JOB, 'Completing'), importsHash: 'hash', ...status },
      meta,
    });

  it('CORE-47: publishes its exports', () => {
    const object = {
      apiVersion: API_VERSION,
      kind: 'DataObject',
      metadata: { name: 'greeting', namespace: 'demo' },
      data: 1,
    };
    const decision = decide('Completing', {
      self: completing(),
      exportUpserts: [{ wanted: object, existing: undefined }],
    });
    expect(decision).to.include({ do: 'advance', to: 'Succeeded' });
    expect(effectsOf(decision)).to.deep.equal(['create greeting']);
  });
  it('stores the state of export executions, then removes old exports, then writes the new ones', () => {
    const object = (name: string) => ({
      apiVersion: API_VERSION,
      kind: 'DataObject',
      metadata: { name, namespace: 'demo' },
      data: 1,
    });
    const update = { secretName: 'hash', state: { pw: 'gen' }, format: 'yaml' } as const;
    const decision = decide('Completing', {
      self: completing(),
      exportStateUpserts: [{ update, existing: undefined }],
      staleObjects: [object('old')],
      exportUpserts: [{ wanted: object('new'), existing: undefined }],
    });
    expect(effectsOf(decision)).to.deep.equal(['create hash', 'delete old', 'create new']);
  });
  it('CORE-48: fails if the spec was changed meanwhile', () => {
    expect(reasonOf(decide('Completing', { self: completing({}, { generation: 2 }) }))).to.equal(
      'CheckObservedGeneration',
    );
  });
  it('CORE-81: does not mistake a deletion for a change', () => {
    const decision = decide('Completing', { self: completing({}, { generation: 2, ...deleting }) });
    expect(decision.do).to.equal('advance');
  });
  it('CORE-49: fails if the imports changed meanwhile', () => {
    expect(reasonOf(decide('Completing', { self: completing({ importsHash: 'other' }) }))).to.equal(
      'CheckImportsHash',
    );
  });
  it('CORE-50: waits for a predecessor that runs again', () => {
    const predecessors = [installation('producer', { status: running('p2') })];
    expect(decide('Completing', { self: completing(), predecessors }).do).to.equal('wait');
  });
});

describe('an installation that is being deleted', () => {
  const importer = (status: object = {}): Installation => child('p', 'b', status, {});
  const exporter = installation('a', {
    status: running(JOB, 'InitDelete'),
    spec: { exports: { data: [{ name: 'out', dataRef: 'link' }] } },
    meta: deleting,
  });
  const sibling = (status: object): Installation => ({
    ...importer(status),
    spec: { ...importer().spec, imports: { data: [{ name: 'in', dataRef: 'link' }] } },
  });

  it('CORE-83: waits for a sibling that still imports its exports', () => {
    expect(reasonOf(decide('InitDelete', { self: exporter, siblings: [sibling(done('j1'))] }))).to.equal(
      'SiblingImport',
    );
  });
  it('CORE-86: fails if the deletion of such a sibling failed in the same job', () => {
    const siblings = [sibling(done(JOB, 'DeleteFailed'))];
    expect(reasonOf(decide('InitDelete', { self: exporter, siblings }))).to.equal('SiblingDeleteError');
  });
  it('CORE-83: reports why a root that imports from it could not be deleted', () => {
    const lastError = {
      operation: 'x',
      reason: 'x',
      message: 'the disk is on fire',
      lastTransitionTime: NOW,
      lastUpdateTime: NOW,
    };
    const stuck = { ...done('j1', 'DeleteFailed'), lastError };
    const going = (status: object): Installation => {
      const one = sibling(status);
      return { ...one, metadata: { ...one.metadata, ...deleting } };
    };
    const told = (status: object): string => {
      const decision = decide('InitDelete', { self: exporter, siblings: [going(status)] });
      return (decision.do === 'wait' && decision.why?.message) || '';
    };
    expect(told(stuck)).to.contain('its deletion failed (the disk is on fire)');
    expect(told(running('j1', 'Deleting'))).to.contain('it is being deleted');
  });
  it('CORE-85: does not wait with the annotation to ignore successors', () => {
    const told: Installation = {
      ...exporter,
      metadata: { ...exporter.metadata, annotations: { [annotations.deleteIgnoreSuccessors]: 'true' } },
    };
    expect(decide('InitDelete', { self: told, siblings: [sibling(done('j1'))] }).do).to.equal('advance');
  });
  it('does not search for importers if its spec says that no sibling imports from it', () => {
    const optimised: Installation = {
      ...exporter,
      spec: { ...exporter.spec, optimization: { hasNoSiblingExports: true } },
    };
    expect(decide('InitDelete', { self: optimised, siblings: [sibling(done('j1'))] }).do).to.equal('advance');
  });
  it('CORE-80: deletes execution and children', () => {
    const decision = decide('InitDelete', { children: [child('stack', 'a')], execution: ownExecution() });
    expect(effectsOf(decision)).to.deep.equal(['delete stack', 'delete a-x']);
  });
  it('CORE-99: passes the annotation not to uninstall down', () => {
    const told = installation('stack', {
      meta: { ...deleting, annotations: { [annotations.deleteWithoutUninstall]: 'true' } },
    });
    const decision = decide('InitDelete', { self: told, children: [child('stack', 'a')] });
    expect(effectsOf(decision)).to.deep.equal(['patch a-x', 'delete a-x']);
  });
  it('hands the deletion job down', () => {
    const decision = decide('TriggerDelete', { children: [child('stack', 'a', done('j1'), deleting)] });
    expect(effectsOf(decision)).to.deep.equal(['job a-x']);
  });
  it('CORE-87: waits while one below is still running', () => {
    const children = [
      child('stack', 'a', done(JOB, 'DeleteFailed')),
      child('stack', 'b', running(JOB, 'Deleting')),
    ];
    expect(decide('Deleting', { children }).do).to.equal('wait');
  });
  it('does nothing to those below that are being deleted with the job already', () => {
    const children = [
      child('stack', 'a', running(JOB, 'Deleting'), deleting),
      child('stack', 'b', running('j1', 'Progressing'), deleting),
      child('stack', 'c', running(JOB, 'Progressing')),
    ];
    expect(effectsOf(decide('Deleting', { children }))).to.deep.equal(['delete c-x', 'job b-x']);
  });
  it('CORE-99: passes the annotation not to uninstall to late objects, and not to those under deletion', () => {
    const told = installation('stack', {
      status: running(JOB, 'Deleting'),
      meta: { ...deleting, annotations: { [annotations.deleteWithoutUninstall]: 'true' } },
    });
    const children = [
      child('stack', 'a', running(JOB, 'Deleting'), deleting),
      child('stack', 'b', running(JOB, 'Progressing')),
    ];
    expect(effectsOf(decide('Deleting', { self: told, children }))).to.deep.equal([
      'patch b-x',
      'delete b-x',
    ]);
  });
  it('waits for its execution as for its children', () => {
    const own = ownExecution(running(JOB, 'Deleting'), deleting);
    expect(decide('Deleting', { execution: own }).do).to.equal('wait');
    expect(decide('Deleting', { execution: execution('stack', { status: running(JOB) }) }).do).to.equal(
      'release',
    );
  });
  it('removes its own finalizer, and leaves those of others', () => {
    const [effect] = decide('Deleting', {
      self: installation('stack', { meta: { ...deleting, finalizers: ['x.org/keep', FINALIZER] } }),
    }).effects;
    expect(effect).to.have.deep.nested.property('body.metadata.finalizers', ['x.org/keep']);
  });
  it('fails if none is running any more and some are left', () => {
    expect(
      reasonOf(decide('Deleting', { children: [child('stack', 'a', done(JOB, 'DeleteFailed'))] })),
    ).to.equal('UndeletedSubobjects');
  });
  it('finishes when nothing is left', () => {
    expect(decide('Deleting').do).to.equal('release');
  });
  it('deletes its exports as well if its parent no longer wants it', () => {
    const object = {
      apiVersion: API_VERSION,
      kind: 'DataObject',
      metadata: { name: 'x', namespace: 'demo' },
      data: 1,
    };
    const orphan = child('stack', 'a', running(JOB, 'Deleting'), {
      ...deleting,
      annotations: { [annotations.deleteIgnoreSuccessors]: 'true' },
    });
    expect(effectsOf(decide('Deleting', { self: orphan, ownExports: [object] }))).to.deep.equal([
      'delete x',
      'strip a-x',
    ]);
    const wantedChild = child('stack', 'a', running(JOB, 'Deleting'), deleting);
    expect(effectsOf(decide('Deleting', { self: wantedChild, ownExports: [object] }))).to.deep.equal([
      'strip a-x',
    ]);
    const root = installation('stack', {
      meta: { ...deleting, annotations: { [annotations.deleteIgnoreSuccessors]: 'true' } },
    });
    expect(effectsOf(decide('Deleting', { self: root, ownExports: [object] }))).to.deep.equal([
      'strip stack',
    ]);
    expect(effectsOf(decide('Deleting', { ownExports: [object] }))).to.deep.equal(['strip stack']);
  });
});

describe('an installation before its phases', () => {
  const facts: Facts = {
    now: NOW,
    newJobID: 'new',
    dependents: () => [],
    below: () => [],
    hasExports: () => false,
    isAbandoned: false,
  };
  const annotated = (operation: string, options: Parameters<typeof installation>[1] = {}) =>
    installation('web', {
      ...options,
      meta: { ...options.meta, annotations: { [annotations.operation]: operation } },
    });

  it('is released if its parent is gone, so that it would never get a job', () => {
    const late = child('stack', 'a', {}, deleting);
    expect(effectsOf(intake(late, { ...facts, isAbandoned: true })!)).to.deep.equal(['strip a-x']);
    const busy = { ...facts, isAbandoned: true, below: () => [execution('a-x')] };
    expect(intake(late, busy)?.effects ?? []).to.deep.equal([]);
  });

  it('CORE-01: gets finalizer and context, and no job', () => {
    const fresh = installation('web', { meta: { finalizers: [] }, spec: { context: '' } });
    const answer = intake(fresh, facts);
    expect(answer?.effects).to.have.length(1);
    expect(answer?.effects[0]).to.deep.include({
      do: 'amend',
      change: { addFinalizer: 'finalizer.landscaper.gardener.cloud', specDefaults: { context: 'default' } },
    });
  });
  it('CORE-02: gets a job id, then loses the annotation', () => {
    const answer = intake(annotated('reconcile'), facts);
    expect(answer && effectsOf(answer)).to.deep.equal(['job web', 'amend web']);
  });
  it('CORE-06: keeps the annotation while a job runs', () => {
    expect(intake(annotated('reconcile', { status: running('j1') }), facts)).to.equal(undefined);
  });
  it('treats a second request as one for the job that has just begun, unless the job has met a problem', () => {
    const lastError = {
      operation: 'x',
      reason: 'x',
      message: 'x',
      lastTransitionTime: NOW,
      lastUpdateTime: NOW,
    };
    const asked = (more: object) =>
      intake(annotated('reconcile', { status: { ...running('j1', 'Init'), ...more } }), facts);
    expect(effectsOf(asked({})!)).to.deep.equal(['amend web']);
    expect(asked({ lastError })).to.equal(undefined);
  });
  it('CORE-05: is left alone if it has finished and has no annotation', () => {
    expect(intake(installation('web', { status: done('j1') }), facts)).to.equal(undefined);
  });
  it('CORE-07: a child loses the annotation and gets no job', () => {
    const answer = intake(
      child('stack', 'a', done('j1'), { annotations: { [annotations.operation]: 'reconcile' } }),
      facts,
    );
    expect(answer && effectsOf(answer)).to.deep.equal(['amend a-x']);
  });
  it('CORE-09: starts a job for a change with the annotation reconcile-if-changed', () => {
    const changed = installation('web', {
      status: done('j1'),
      meta: { generation: 2, annotations: { [annotations.reconcileIfChanged]: 'true' } },
    });
    const answer = intake(changed, facts);
    expect(answer && effectsOf(answer)).to.deep.equal(['job web', 'amend web']);
  });
  it('CORE-12: counts as a root if its owner is not an installation', () => {
    const owned = annotated('reconcile', {
      meta: { ownerReferences: [{ apiVersion: 'v1', kind: 'Secret', name: 's', uid: 'u' }] },
    });
    expect(intake(owned, facts)?.effects).to.have.length(2);
  });
  it('CORE-80: a deletion is a job without a request', () => {
    const gone = installation('web', { status: done('j1'), meta: deleting });
    const [effect] = intake(gone, facts)?.effects ?? [];
    expect(effect).to.have.nested.property('body.status.phase', 'InitDelete');
  });
  it('CORE-89: a failed deletion is not retried by itself', () => {
    expect(
      intake(installation('web', { status: done('j2', 'DeleteFailed'), meta: deleting }), facts),
    ).to.equal(undefined);
  });
  it('CORE-88: a failed deletion is retried on request', () => {
    expect(
      intake(annotated('reconcile', { status: done('j2', 'DeleteFailed'), meta: deleting }), facts)?.effects,
    ).to.have.length(2);
  });
  it('CORE-95: an interrupt is passed down before it is removed', () => {
    const answer = intake(annotated('interrupt'), { ...facts, below: () => [child('web', 'a')] });
    expect(answer && effectsOf(answer)).to.deep.equal(['patch a-x', 'patch web']);
  });
  it('an interrupt of a job is stored with the job', () => {
    const answer = intake(annotated('interrupt', { status: running('j1', 'Init') }), facts);
    expect(answer?.effects.at(-1))
      .to.have.nested.property('body.metadata.annotations')
      .that.deep.equals({
        [annotations.operation]: null,
        [annotations.interruptedJob]: 'j1',
      });
  });
  it('ends its own job if interrupted while it waits with nothing below', () => {
    const waiting = annotated('interrupt', { status: running('j1', 'Init') });
    const answer = intake(waiting, facts);
    expect(answer && effectsOf(answer)).to.deep.equal(['status web', 'patch web']);
    expect(answer?.effects[0]).to.deep.nested.include({
      'body.status.phase': 'Failed',
      'body.status.jobIDFinished': 'j1',
    });
  });
  it('then writes to objects under deletion that could still receive the job', () => {
    const waiting = annotated('interrupt', { status: running('j1', 'Init') });
    const told = { [annotations.operation]: 'interrupt' };
    const below = () => [
      child('web', 'a', done('j0'), { ...deleting, annotations: told }),
      child('web', 'b', done('j0'), deleting),
      child('web', 'c', done('j0'), { annotations: told }),
    ];
    const answer = intake(waiting, { ...facts, below });
    expect(answer && effectsOf(answer)).to.deep.equal(['patch b-x', 'patch a-x', 'status web', 'patch web']);
  });
  it('then lists only exports as its own that still exist', () => {
    const times = { lastTransitionTime: NOW, lastUpdateTime: NOW };
    const claim = { type: 'CreateExports', status: 'True', reason: 'r', message: 'm', ...times } as const;
    const wait = { ...claim, type: 'Waiting' };
    const said = (phase: string, given: Partial<Facts>, meta = {}) => {
      const waiting = annotated('interrupt', {
        status: { ...running('j1', phase), conditions: [claim, wait] },
        meta,
      });
      const [effect] = intake(waiting, { ...facts, ...given })?.effects ?? [];
      const { status } = (effect as unknown as { body: { status: { conditions: (typeof claim)[] } } }).body;
      return status.conditions.map((c) => [c.type, c.status, c.reason]);
    };
    expect(said('Init', {})).to.deep.equal([['CreateExports', 'False', 'JobFailed']]);
    expect(said('Init', { hasExports: () => true })).to.deep.equal([['CreateExports', 'True', 'r']]);
    expect(said('InitDelete', {}, deleting)).to.deep.equal([['CreateExports', 'True', 'r']]);
  });
  it('leaves the end of its job to the running objects below', () => {
    const waiting = annotated('interrupt', { status: running('j1', 'Init') });
    const answer = intake(waiting, { ...facts, below: () => [child('web', 'a', running('j1'))] });
    expect(answer && effectsOf(answer)).to.deep.equal(['patch a-x', 'patch web']);
  });
  it('CORE-53: starts the roots that import from it, then forgets them', () => {
    const finished = installation('producer', {
      status: { ...done('p1'), dependentsToTrigger: [{ name: 'consumer' }] },
    });
    const answer = intake(finished, {
      ...facts,
      dependents: () => [installation('consumer', { status: done('c1') })],
    });
    expect(answer && effectsOf(answer)).to.deep.equal(['patch consumer', 'status producer']);
  });
  it('CORE-58: forgets a root that is gone', () => {
    const finished = installation('producer', {
      status: { ...done('p1'), dependentsToTrigger: [{ name: 'consumer' }] },
    });
    expect(effectsOf(intake(finished, facts) ?? { effects: [] })).to.deep.equal(['status producer']);
  });
  it('does not start a root again that already waits for it', () => {
    const finished = installation('producer', {
      status: { ...done('p1'), dependentsToTrigger: [{ name: 'consumer' }] },
    });
    const waiting = installation('consumer', { status: running('c1', 'Init') });
    expect(
      effectsOf(intake(finished, { ...facts, dependents: () => [waiting] }) ?? { effects: [] }),
    ).to.deep.equal(['status producer']);
  });
});
