/** The transitions of the phases of an installation, and what they store in its status. */
import { expect } from 'chai';
import { phases } from '../../../../controllers/installation/phases.ts';
import type { Snapshot } from '../../../../controllers/installation/snapshot.ts';
import { createdBelowDeleted } from '../../../../controllers/installation/phases/creation-checks.ts';
import { annotations } from '../../../../src/api/labels.ts';
import { installationKind } from '../../../../src/api/kinds/installation.ts';
import { PhaseError, create, remove, type Decision } from '../../../../src/machine/decision.ts';
import { effectsOf } from '../../../support/ask.ts';
import {
  NOW,
  child,
  deleting,
  done,
  execution,
  installation,
  running,
  template,
} from '../../../support/given.ts';
import { reservation } from '../../../support/reservation.ts';
import {
  JOB,
  dataObject,
  decide,
  nothing,
  ownExecution,
  problemOf,
  reasonOf,
  self,
  trading,
  wanted,
} from './given.ts';

type Phase = keyof typeof phases;

const completing = (more: object = {}) =>
  installation('stack', { status: { ...running(JOB, 'Completing'), importsHash: 'hash', ...more } });
const typesOf = (decision: Decision) =>
  decision.status.conditions?.map(({ type, status }) => `${type} ${status}`);

describe('a finished phase', () => {
  const rows: readonly (readonly [Phase, next: string, Partial<Snapshot>])[] = [
    ['Init', 'CleanupOrphaned', {}],
    ['CleanupOrphaned', 'ObjectsCreated', {}],
    ['ObjectsCreated', 'Progressing', {}],
    ['Progressing', 'Completing', {}],
    ['Completing', 'Succeeded', { self: completing() }],
    ['InitDelete', 'TriggerDelete', {}],
    ['TriggerDelete', 'Deleting', {}],
  ];
  for (const [phase, next, snapshot] of rows) {
    it(`leads from ${phase} to ${next}, which the phase announces`, () => {
      const decision = decide(phase, snapshot);
      expect(decision).to.include({ do: 'advance', to: next });
      expect(phases[phase].phase.next).to.deep.equal([next]);
    });
  }
  it('is never followed by another one after Deleting, which fails or ends with the object', () => {
    expect(phases.Deleting.phase.next).to.deep.equal(['DeleteFailed']);
  });
});

describe('objects without a status', () => {
  const bare = installation('stack');
  const others = {
    children: [child('stack', 'a', undefined)],
    siblings: [installation('sibling')],
    predecessors: [installation('sibling')],
    execution: ownExecution(),
  };
  const without = <T extends { status?: unknown }>({ status: _, ...rest }: T): T => rest as T;
  const snapshot: Partial<Snapshot> = {
    ...others,
    children: others.children.map(without),
    execution: without(others.execution),
  };
  const expected: Readonly<Record<Phase, string | undefined>> = {
    Init: 'AllPredecessorsSucceeded',
    CleanupOrphaned: undefined,
    ObjectsCreated: undefined,
    Progressing: 'children failed',
    Completing: 'AllPredecessorsSucceeded',
    InitDelete: undefined,
    TriggerDelete: undefined,
    Deleting: 'UndeletedSubobjects',
  };
  for (const phase of Object.keys(expected) as Phase[]) {
    it(`do not block ${phase}`, () => {
      expect(reasonOf(decide(phase, { ...snapshot, self: bare }))).to.equal(expected[phase]);
    });
  }
  it('do not block Init if there is nothing to wait for', () => {
    expect(decide('Init', { self: bare }).do).to.equal('advance');
    expect(reasonOf(decide('Init', { self: bare, execution: ownExecution({}, deleting) }))).to.equal(
      'ReconcileExecution',
    );
  });
  it('do not block Completing, where a job without a hash has changed imports', () => {
    expect(reasonOf(decide('Completing', { self: bare }))).to.equal('CheckImportsHash');
  });
  it('do not hide a spec that was never observed in Completing', () => {
    const decision = decide('Completing', { self: bare, importsHash: undefined as unknown as string });
    expect(reasonOf(decision)).to.equal('CheckObservedGeneration');
  });
  it('are orphans like others in CleanupOrphaned', () => {
    const orphan = without(child('stack', 'a', undefined, deleting));
    expect(effectsOf(decide('CleanupOrphaned', { self, children: [orphan] }))).to.deep.equal([
      'patch a-x',
      'job a-x',
    ]);
    expect(reasonOf(decide('CleanupOrphaned', { self: bare, children: [orphan] }))).to.equal(
      'OrphanedSubinstsStillDeleting',
    );
  });
  it('are siblings like others in InitDelete', () => {
    const exporter = installation('stack', { spec: trading({ gives: ['link'] }), meta: deleting });
    const user = installation('user', { spec: trading({ takes: ['link'] }) });
    const going = installation('user', { spec: trading({ takes: ['link'] }), meta: deleting });
    expect(reasonOf(decide('InitDelete', { self: exporter, siblings: [user] }))).to.equal(
      'SiblingDeleteError',
    );
    expect(reasonOf(decide('InitDelete', { self: exporter, siblings: [going] }))).to.equal('SiblingImport');
  });
  it('are predecessors that may be under deletion', () => {
    const going = installation('producer', { meta: deleting });
    expect(problemOf(decide('Init', { self, predecessors: [going] }))?.message).to.contain('not succeeded');
  });
});

describe('the status of a job', () => {
  it('after Init: the hash of the imports', () => {
    expect(decide('Init').status.set).to.include({ importsHash: 'hash' });
  });

  it('after Init: neither children nor execution if there are none', () => {
    expect(decide('Init').status.set).to.deep.include({
      subInstCache: { activeSubs: null, orphanedSubs: null },
      executionRef: null,
    });
  });

  it('after Init: its execution, in the namespace of the installation', () => {
    const decision = decide('Init', { rendered: { ...nothing, items: [template('a')] } });
    expect(decision.status.set).to.deep.include({ executionRef: { name: 'stack', namespace: 'demo' } });
    expect(effectsOf(decision)).to.deep.equal(['create stack']);
  });

  it('after Init that fails because of its items: the created children', () => {
    const items = new PhaseError('handlePhaseInit', 'CreateImportsAndSubobjects', 'line 1');
    const decision = decide('Init', { rendered: { ...nothing, children: [wanted('a')], items } });
    expect(decision.status.set).to.deep.equal({
      subInstCache: { activeSubs: [{ specName: 'a', objectName: 'a-sfx' }], orphanedSubs: null },
    });
  });

  it('after CleanupOrphaned: that no orphans are left', () => {
    expect(decide('CleanupOrphaned').status).to.deep.equal({ set: { subInstCache: { orphanedSubs: null } } });
  });

  for (const phase of ['ObjectsCreated', 'TriggerDelete'] as const) {
    it(`in ${phase}: since when it waits`, () => {
      expect(decide(phase).status).to.deep.equal({ set: { transitionTimes: { waitTime: NOW } } });
    });
  }
});

describe('the conditions after Init', () => {
  const overwritten = {
    type: 'ComponentReferenceOverwrite',
    status: 'True',
    reason: 'FoundOverwrite',
    message: 'm',
  } as const;
  const component = { view: undefined, condition: overwritten };
  const blueprintWarnings = { all: ['line 3: the key is misspelt'], unknownFields: ['line 3'] };
  const mistakes = {
    type: 'ValidateBlueprint',
    status: 'False',
    reason: 'BlueprintHasMistakes',
    message: 'line 3: the key is misspelt',
  };
  const installed = {
    type: 'EnsureSubInstallations',
    status: 'True',
    reason: 'InstallationsInstalled',
    message: 'All Installations are successfully installed',
  };
  const broken = new PhaseError('handlePhaseInit', 'CreateImportsAndSubobjects', 'line 1', ['ERR_TIMEOUT'], {
    conditions: [{ type: 'CreateExports', status: 'False', reason: 'r', message: 'm' }],
  });

  it('report the children, and clear those that only failures set', () => {
    expect(decide('Init').status).to.deep.include({
      conditions: [installed],
      settled: ['ValidateImports', 'CreateImports', 'ValidateBlueprint'],
    });
  });
  it('report the component, and the warnings about the blueprint', () => {
    const { status } = decide('Init', { component, blueprintWarnings });
    expect(status).to.deep.include({
      conditions: [overwritten, mistakes, installed],
      settled: ['ValidateImports', 'CreateImports'],
    });
  });
  it('and unknown fields end the job before anything is created, if the configuration is strict', () => {
    const decision = decide('Init', {
      blueprintWarnings,
      isStrict: true,
      rendered: { ...nothing, items: [template('i')] },
    });
    expect(decision).to.deep.include({ do: 'fail', effects: [] });
    expect(typesOf(decision)).to.deep.equal(['ValidateBlueprint False']);
    expect(problemOf(decision)).to.deep.equal({
      operation: 'InitPrerequisites',
      reason: 'ValidateBlueprint',
      message: 'the blueprint has unknown fields, which strict: true in the configuration refuses:\nline 3',
      codes: ['ERR_CONFIGURATION_PROBLEM'],
    });
  });
  it('report unknown fields in the results of executions after them', () => {
    const { status } = decide('Init', {
      rendered: { ...nothing, unknownFields: ['result: x'] },
      blueprintWarnings,
    });
    expect(status.conditions).to.deep.include({
      ...mistakes,
      message: 'line 3: the key is misspelt\nresult: x',
    });
  });
  it('and other warnings do not, although it is strict', () => {
    const warnings = { ...blueprintWarnings, unknownFields: [] };
    expect(decide('Init', { blueprintWarnings: warnings, isStrict: true }).do).to.equal('advance');
  });
  it('report them as well if children cannot be rendered, and nothing is created then', () => {
    const decision = decide('Init', {
      component,
      blueprintWarnings,
      rendered: { ...nothing, children: broken },
    });
    expect(typesOf(decision)).to.deep.equal([
      'ComponentReferenceOverwrite True',
      'ValidateBlueprint False',
      'CreateExports False',
    ]);
    expect(decision).to.deep.include({ do: 'fail', effects: [] });
    expect(problemOf(decision)).to.deep.equal({
      operation: 'handlePhaseInit',
      reason: 'CreateImportsAndSubobjects',
      message: 'line 1',
      codes: ['ERR_TIMEOUT'],
    });
  });
  it('report them as well if deploy items cannot be rendered', () => {
    const decision = decide('Init', {
      component,
      blueprintWarnings,
      rendered: { ...nothing, items: broken },
    });
    expect(typesOf(decision)).to.deep.equal([
      'ComponentReferenceOverwrite True',
      'ValidateBlueprint False',
      'EnsureSubInstallations True',
      'CreateExports False',
    ]);
  });
});

describe('an installation that reads its Context', () => {
  const atWork = (initTime?: string, context?: string) =>
    installation('stack', {
      spec: { ...(context !== undefined && { context }) },
      status: { ...running(JOB, 'Init'), ...(initTime !== undefined && { transitionTimes: { initTime } }) },
    });
  const rows: readonly (readonly [title: string, Snapshot['self'], answer: string])[] = [
    ['retries for the default one at once', atWork(), 'retry'],
    ['retries less than 5 s after it began', atWork('2025-12-31T23:59:56Z'), 'retry'],
    ['does not retry after 5 s', atWork('2025-12-31T23:59:55Z'), 'fail'],
    ['does not retry for another one', atWork(undefined, 'special'), 'fail'],
    ['needs no status for that', installation('stack'), 'retry'],
  ];
  for (const [title, it_, answer] of rows) {
    it(title, () => {
      expect(decide('Init', { self: it_, context: undefined }).do).to.equal(answer);
    });
  }
  it('uses the one called default if it names none', () => {
    const { context: _, ...spec } = self.spec;
    const decision = decide('Init', { self: { ...self, spec }, context: undefined });
    expect(problemOf(decision)?.message).to.equal('context "default" does not exist in namespace "demo"');
  });
  it('reports where it searched, also without a namespace', () => {
    const { namespace: _, ...metadata } = self.metadata;
    const decision = decide('Init', { self: { ...self, metadata }, context: undefined });
    expect(problemOf(decision)?.message).to.equal('context "default" does not exist in namespace ""');
  });

  const place = { type: 'OCIRegistry', baseUrl: 'x.org' };
  const context = (more: object) =>
    ({ apiVersion: 'v1', kind: 'Context', metadata: { name: 'default' }, ...more }) as Snapshot['context'];
  const asking = (ref: object = {}) =>
    installation('stack', {
      status: running(JOB, 'Init'),
      spec: { componentDescriptor: { ref: { componentName: 'x.org/c', version: '1.0.0', ...ref } } },
    });
  const places: readonly (readonly [who: string, Snapshot['self'], Snapshot['context']])[] = [
    ['the installation', asking({ repositoryContext: place }), context({})],
    ['the Context', asking(), context({ repositoryContext: place })],
    ['the OCM configuration of the Context', asking(), context({ ocmConfig: { name: 'ocm' } })],
  ];
  for (const [who, given, found] of places) {
    it(`continues if ${who} names the repository of the component`, () => {
      expect(decide('Init', { self: given, context: found }).do).to.equal('advance');
    });
  }
});

describe('siblings that export the same', () => {
  const siblings = ['one', 'two'].map((name) => installation(name, { spec: trading({ gives: ['a'] }) }));
  it('do not block an installation that says it imports nothing from siblings', () => {
    const free = installation('stack', {
      status: running(JOB, 'Init'),
      spec: { ...trading({ takes: ['a'] }), optimization: { hasNoSiblingImports: true } },
    });
    expect(decide('Init', { self: free, siblings }).do).to.equal('advance');
  });
  it('do not block one that does not import it', () => {
    const other = installation('stack', {
      status: running(JOB, 'Init'),
      spec: trading({ takes: ['b'] }),
    });
    expect(decide('Init', { self: other, siblings }).do).to.equal('advance');
  });
});

describe('cyclic imports', () => {
  const spec = trading({ takes: ['a'], gives: ['b'] });
  const siblings = [installation('other', { spec: trading({ takes: ['b'], gives: ['a'] }) })];
  it('do not block below a root: the parent has rejected them before', () => {
    const below = child('p', 'a', running(JOB, 'Init'));
    expect(decide('Init', { self: { ...below, spec: { ...below.spec, ...spec } }, siblings }).do).to.equal(
      'advance',
    );
  });
  it('are not searched if the spec says that nothing is imported from siblings', () => {
    const free = installation('stack', {
      status: running(JOB, 'Init'),
      spec: { ...spec, optimization: { hasNoSiblingImports: true } },
    });
    expect(decide('Init', { self: free, siblings }).do).to.equal('advance');
  });
});

describe('a predecessor', () => {
  const gone = installation('stack', { status: running(JOB, 'Init'), meta: deleting });
  const suspendedAndAsked = installation('producer', {
    status: done('p1'),
    meta: { annotations: { [annotations.operation]: 'reconcile', [annotations.suspended]: 'true' } },
  });
  const rows: readonly (readonly [title: string, Partial<Snapshot>, answer: string, what?: string])[] = [
    [
      'that is suspended is not waited for, even if it has a requested job',
      { predecessors: [suspendedAndAsked] },
      'advance',
    ],
    [
      'whose deletion has not begun is waited for like any other',
      { predecessors: [installation('producer', { status: running('p2'), meta: deleting })] },
      'wait',
    ],
    [
      'that is under deletion without a job does not block',
      { predecessors: [installation('producer', { status: done('p1'), meta: deleting })] },
      'advance',
    ],
    [
      'is waited for if it has not finished its job, which is named',
      { self: child('p', 'b', running(JOB)), predecessors: [child('p', 'a', done('j1'))] },
      'wait',
      'not finished current job "j2"',
    ],
    [
      'that ended without success ends a job, also that of a root under deletion',
      { self: gone, predecessors: [installation('producer', { status: done('p1', 'Failed') })] },
      'fail',
      'is not succeeded',
    ],
    [
      'that is running ends the job of a root that was deleted meanwhile',
      { self: gone, predecessors: [installation('producer', { status: running('p2') })] },
      'fail',
      'not finished current job "j2"',
    ],
    [
      'that has finished does not block a root under deletion',
      { self: gone, predecessors: [installation('producer', { status: done('p1') })] },
      'advance',
    ],
    [
      'that is running delays a child, even if the child is being deleted',
      { self: child('p', 'b', running(JOB), deleting), predecessors: [child('p', 'a', running(JOB))] },
      'wait',
    ],
  ];
  for (const [title, snapshot, answer, what] of rows) {
    it(title, () => {
      const decision = decide('Init', snapshot);
      expect(decision.do).to.equal(answer);
      if (what !== undefined) expect(problemOf(decision)?.message).to.contain(what);
    });
  }
});

describe('an execution that was deleted by hand', () => {
  it('receives the job, so that it is uninstalled', () => {
    const decision = decide('Init', { execution: ownExecution(done('j1'), deleting) });
    expect(effectsOf(decision)).to.deep.equal(['job stack']);
  });
  it('is waited for while it has the job and has not finished it', () => {
    const decision = decide('Init', { execution: ownExecution(running(JOB, 'Deleting'), deleting) });
    expect(decision.do).to.equal('wait');
    expect(effectsOf(decision)).to.deep.equal([]);
  });
  it('ends the job if it finished it and still exists', () => {
    expect(decide('Init', { execution: ownExecution(done(JOB, 'DeleteFailed'), deleting) }).do).to.equal(
      'fail',
    );
  });
  it('is waited for if it finished this job and has another one', () => {
    const again = { jobID: 'j3', jobIDFinished: JOB, phase: 'Deleting' };
    expect(decide('Init', { execution: ownExecution(again, deleting) }).do).to.equal('wait');
  });
  it('is an ordinary execution if it is not under deletion', () => {
    expect(decide('Init', { execution: ownExecution(done(JOB)) }).do).to.equal('advance');
  });
});

describe('a tree that reached a limit', () => {
  const deep = (ancestors: Snapshot['ancestors'], given = self) =>
    problemOf(decide('Init', { self: given, ancestors, treeDepth: 0 }));

  it('is reported at the root, too', () => {
    expect(deep([])).to.deep.equal({
      operation: 'InitPrerequisites',
      reason: 'TreeTooDeep',
      message:
        'installation "demo/stack" is at level 1 of the tree below "stack", and at most 0 levels are allowed; ' +
        'check whether a blueprint renders itself as its own sub-installation, or raise limits.treeDepth in the configuration',
      codes: ['ERR_CONFIGURATION_PROBLEM'],
    });
  });
  it('is reported for an installation without a namespace', () => {
    const { namespace: _, ...metadata } = self.metadata;
    expect(deep([], { ...self, metadata })?.message).to.match(/^installation "\/stack" is at level 1 /);
  });
  it('is reported for a blueprint that renders itself', () => {
    const others = [{ ref: { resourceName: 'another' } }, { ref: { resourceName: 'another' } }];
    const above = (blueprints: readonly object[], more = {}) =>
      blueprints.map((blueprint) => ({
        ...self,
        spec: { ...self.spec, blueprint, ...more },
      })) as Snapshot['ancestors'];
    const twice = above([self.spec.blueprint, ...others, structuredClone(self.spec.blueprint)]);
    expect(decide('Init', { ancestors: twice, treeRecursion: 2 }).do).to.equal('advance');
    const elsewhere = above([self.spec.blueprint, self.spec.blueprint], {
      componentDescriptor: { ref: { componentName: 'example.org/another', version: '1' } },
    });
    expect(decide('Init', { ancestors: elsewhere, treeRecursion: 1 }).do).to.equal('advance');
    expect(problemOf(decide('Init', { ancestors: twice, treeRecursion: 1 }))).to.deep.equal({
      operation: 'InitPrerequisites',
      reason: 'TreeTooDeep',
      message:
        'installation "demo/stack" has the same blueprint as 2 installations above it, and at most 1 are allowed; ' +
        'check whether a blueprint renders itself as its own sub-installation, or raise limits.treeRecursion in the configuration',
      codes: ['ERR_CONFIGURATION_PROBLEM'],
    });
  });
  it('is reported if it has too many objects', () => {
    const problem = problemOf(decide('Init', { reservation: reservation({ isGranted: false }) }));
    expect(problem).to.include({ operation: 'InitPrerequisites', reason: 'TreeTooLarge' });
  });

  describe('below an installation that is being deleted', () => {
    const ancestors = [installation('parent'), installation('top', { meta: deleting })];
    const effects = [
      remove(installationKind, installation('b')),
      create(installationKind, installation('a')),
      remove(installationKind, installation('c')),
    ];
    it('counts only objects that would be created', () => {
      expect(createdBelowDeleted({ self, ancestors }, effects)).to.deep.equal({
        operation: 'handlePhaseInit',
        reason: 'AncestorBeingDeleted',
        message:
          'installation "demo/stack" does not create its sub-installations (1 new): installation "top" above it is being deleted; ' +
          'its deletion continues when this job has ended',
        codes: ['ERR_FOR_INFO_ONLY'],
      });
    });
    it('names an installation without a namespace', () => {
      const { namespace: _, ...metadata } = self.metadata;
      expect(createdBelowDeleted({ self: { ...self, metadata }, ancestors }, effects)?.message).to.match(
        /^installation "\/stack" does not create/,
      );
    });
    it('is not reported if nothing is created', () => {
      expect(createdBelowDeleted({ self, ancestors }, [effects[0]!])).to.equal(undefined);
    });
    it('is not reported if nothing above is being deleted', () => {
      expect(createdBelowDeleted({ self, ancestors: [installation('parent')] }, effects)).to.equal(undefined);
    });
  });
});

describe('an interrupted job', () => {
  const meta = { annotations: { [annotations.interruptedJob]: JOB } };
  const interrupted = installation('stack', { status: running(JOB), meta });
  it('waits for all orphans that received it, and ends if one did not', () => {
    const cleaning = (...children: Snapshot['children']) =>
      decide('CleanupOrphaned', { self: interrupted, children }).do;
    const told = child('stack', 'a', running(JOB, 'Deleting'), deleting);
    const untold = child('stack', 'b', done('j1'), deleting);
    expect(cleaning(told)).to.equal('wait');
    expect(cleaning(told, untold)).to.equal('fail');
  });
  it('is judged like others if everything below has finished it', () => {
    const children = [child('stack', 'a', done(JOB))];
    expect(decide('Progressing', { self: interrupted, children }).do).to.equal('advance');
    const bad = [child('stack', 'a', done(JOB, 'Failed'))];
    expect(reasonOf(decide('Progressing', { self: interrupted, children: bad }))).to.equal('children failed');
  });
});

describe('the orphans of an installation', () => {
  it('are waited for if all have finished the job and one of them did not fail', () => {
    const children = [
      child('stack', 'a', done(JOB, 'DeleteFailed'), deleting),
      child('stack', 'b', done(JOB, 'Succeeded'), deleting),
    ];
    expect(decide('CleanupOrphaned', { children }).do).to.equal('wait');
  });
});

describe('an execution of another owner', () => {
  const foreign = execution('stack', { status: done('x', 'Failed') });
  const withRef = installation('stack', {
    status: { ...running(JOB), executionRef: { name: 'stack', namespace: 'demo' } },
  });
  it('does not replace its own one that is missing', () => {
    const decision = decide('Progressing', { self: withRef, execution: foreign });
    expect(problemOf(decision)?.message).to.equal('Execution is missing');
  });
  it('is distinguished from its own one among several owners', () => {
    const owners = [
      { apiVersion: 'v1', kind: 'Other', name: 'o', uid: 'uid-o' },
      { apiVersion: self.apiVersion, kind: 'Installation', name: 'stack', uid: 'uid-stack' },
    ];
    const own = execution('stack', { status: done(JOB, 'Failed'), meta: { ownerReferences: owners } });
    expect(problemOf(decide('Progressing', { execution: own }))?.message).to.equal('Execution is failed');
    const theirs = execution('stack', {
      status: done(JOB, 'Failed'),
      meta: { ownerReferences: owners.slice(0, 1) },
    });
    expect(decide('Progressing', { execution: theirs }).do).to.equal('advance');
  });
});

describe('the exports published in Completing', () => {
  it('are reported by a condition', () => {
    expect(decide('Completing', { self: completing() }).status).to.deep.equal({
      conditions: [
        {
          type: 'CreateExports',
          status: 'True',
          reason: 'DataObjectsCreated',
          message: 'DataObjects successfully created',
        },
      ],
    });
  });
  it('include its own existing objects', () => {
    const labels = {
      'data.landscaper.gardener.cloud/source': 'Inst.stack',
      'data.landscaper.gardener.cloud/sourceType': 'export',
    };
    const decision = decide('Completing', {
      self: completing(),
      exportUpserts: [{ wanted: dataObject('x', { labels }, 2), existing: dataObject('x', { labels }, 1) }],
    });
    expect(effectsOf(decision)).to.deep.equal(['patch x']);
  });
});
