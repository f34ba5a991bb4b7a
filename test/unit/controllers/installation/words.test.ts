/**
 * The messages of the phases of an installation: users and tools read these problems, reasons and codes in the
 * status.
 */
import { expect } from 'chai';
import type { phases } from '../../../../controllers/installation/phases.ts';
import type { Snapshot } from '../../../../controllers/installation/snapshot.ts';
import { annotations } from '../../../../src/api/labels.ts';
import type { Awaited, Problem } from '../../../../src/machine/decision.ts';
import { child, deleting, done, execution, installation, running } from '../../../support/given.ts';
import {
  JOB,
  awaitedOf,
  dataObject,
  decide,
  lastErrorOf,
  ownExecution,
  problemOf,
  self,
  trading,
} from './given.ts';

type Phase = keyof typeof phases;

const INFO = ['ERR_FOR_INFO_ONLY'] as const;
const CONFIGURATION = ['ERR_CONFIGURATION_PROBLEM'] as const;
const going = (name: string, status: object) => child('stack', name, status, deleting);
const ofSpec = (spec: object, name = 'stack') => installation(name, { status: running(JOB, 'Init'), spec });
const importer = ofSpec(trading({ takes: ['a', 'b'] }));
const completing = (more: object = {}, meta: object = {}) =>
  installation('stack', { status: { ...running(JOB, 'Completing'), importsHash: 'hash', ...more }, meta });
const component = (more: object = {}) => ({ ref: { componentName: 'x.org/c', version: '1', ...more } });
const failed = done(JOB, 'Failed');
const undeleted = done(JOB, 'DeleteFailed');
const exporter = (meta: object = deleting) =>
  installation('stack', { status: running(JOB, 'InitDelete'), spec: trading({ gives: ['link'] }), meta });
const user = (status: object, meta: object = {}) =>
  installation('user', { status, meta, spec: trading({ takes: ['link'] }) });
const upstream = (inner: string) =>
  `Op: NotCompletedDependents - Reason: NotCompletedDependents - Message: ${inner}`;
const predecessor = (status: object, meta: object = {}) => installation('producer', { status, meta });

describe('the problem that an installation reports', () => {
  const rows: readonly (readonly [title: string, Phase, Partial<Snapshot>, Problem])[] = [
    [
      'if a webhook would have rejected it',
      'Init',
      { self: ofSpec(trading({ takes: ['a', 'a'] })) },
      {
        operation: 'InitPrerequisites',
        reason: 'ValidateInstallation',
        message: 'spec.imports.data[1]: Duplicate value: "a"',
        codes: CONFIGURATION,
      },
    ],
    [
      'about a Context that does not exist',
      'Init',
      { self: ofSpec({ context: 'special' }), context: undefined },
      {
        operation: 'InitPrerequisites',
        reason: 'CalculateContext',
        message: 'context "special" does not exist in namespace "demo"',
      },
    ],
    [
      'about a component without repository',
      'Init',
      { self: ofSpec({ componentDescriptor: component() }) },
      {
        operation: 'InitPrerequisites',
        reason: 'CalculateContext',
        message:
          'RepositoryContextMissing: neither the installation nor context "default" has a repository context for component x.org/c',
      },
    ],
    [
      'about an import that two siblings export',
      'Init',
      {
        self: importer,
        siblings: [ofSpec(trading({ gives: ['a'] }), 'one'), ofSpec(trading({ gives: ['a'] }), 'two')],
      },
      {
        operation: 'init',
        reason: 'FetchPredecessors',
        message:
          "the following exports are exported by multiple nested installations:\n'a' is exported by [one, two]",
        codes: CONFIGURATION,
      },
    ],
    [
      'about roots that import from each other',
      'Init',
      {
        self: ofSpec(trading({ takes: ['a'], gives: ['b'] })),
        siblings: [ofSpec(trading({ takes: ['b'], gives: ['a'] }), 'other')],
      },
      {
        operation: 'init',
        reason: 'FetchPredecessors',
        message:
          'installations import from each other in a cycle: stack -{depends_on}-> other -{depends_on}-> stack; remove one of the imports',
        codes: ['ERR_CYCLIC_DEPENDENCIES'],
      },
    ],
    [
      'about a running predecessor',
      'Init',
      { predecessors: [predecessor(running('p2'))] },
      {
        operation: 'init',
        reason: 'AllPredecessorsFinished',
        message: upstream('depending on installation "demo/producer" which not finished current job "j2"'),
        codes: INFO,
      },
    ],
    [
      'about a predecessor with a requested job',
      'Init',
      { predecessors: [predecessor(done('p1'), { annotations: { [annotations.operation]: 'reconcile' } })] },
      {
        operation: 'init',
        reason: 'AllPredecessorsFinished',
        message: upstream('depending on installation "demo/producer" which has reconcile annotation'),
        codes: INFO,
      },
    ],
    [
      'about a predecessor under deletion',
      'Init',
      { predecessors: [predecessor(running('p2', 'InitDelete'), deleting)] },
      {
        operation: 'init',
        reason: 'AllPredecessorsSucceeded',
        message: upstream('depending on installation "demo/producer" which is being deleted'),
        codes: INFO,
      },
    ],
    [
      'about a predecessor that failed',
      'Init',
      { predecessors: [predecessor(done('p1')), predecessor(done('p1', 'Failed'))] },
      {
        operation: 'init',
        reason: 'AllPredecessorsSucceeded',
        message: upstream('depending on installation "demo/producer" which is not succeeded'),
        codes: INFO,
      },
    ],
    [
      'about a predecessor without namespace',
      'Init',
      { predecessors: [predecessor(done('p1', 'Failed'), { namespace: undefined })] },
      {
        operation: 'init',
        reason: 'AllPredecessorsSucceeded',
        message: upstream('depending on installation "/producer" which is not succeeded'),
        codes: INFO,
      },
    ],
    [
      'about a missing import',
      'Init',
      { imports: { imports: {} as never, missing: [{ import: 'x', message: 'no x' }] } },
      { operation: 'init', reason: 'ImportsSatisfied', message: 'no x (import "x")' },
    ],
    [
      'about an execution of another owner',
      'Init',
      { execution: execution('stack') },
      {
        operation: 'handlePhaseInit',
        reason: 'ReconcileExecution',
        message: 'execution demo/stack belongs to another owner; rename the execution or the installation',
      },
    ],
    [
      'while its deleted execution is uninstalled',
      'Init',
      { execution: ownExecution(done('j1'), deleting) },
      {
        operation: 'handlePhaseInit',
        reason: 'ReconcileExecution',
        message: 'execution stack was deleted; it is uninstalled before it is created again',
      },
    ],
    [
      'if its deleted execution cannot be uninstalled in this job',
      'Init',
      { execution: ownExecution({ ...undeleted, ...lastErrorOf('disk full') }, deleting) },
      {
        operation: 'handlePhaseInit',
        reason: 'ReconcileExecution',
        message: 'execution stack was deleted and cannot be uninstalled: disk full',
      },
    ],
    [
      'if its deleted execution cannot be uninstalled and reports no reason',
      'Init',
      { execution: ownExecution(undeleted, deleting) },
      {
        operation: 'handlePhaseInit',
        reason: 'ReconcileExecution',
        message: 'execution stack was deleted and cannot be uninstalled: ',
      },
    ],
    [
      'if all orphans failed',
      'CleanupOrphaned',
      { children: [going('b', undeleted), going('c', undeleted)] },
      {
        operation: 'handlePhaseCleanupOrphaned',
        reason: 'AllOrphanedSubinstallationsFailed',
        message: 'all orphaned subinstallations failed: b-x, c-x',
      },
    ],
    [
      'while orphans are deleted',
      'CleanupOrphaned',
      { children: [going('b', undeleted), going('c', running(JOB, 'Deleting')), child('stack', 'a')] },
      {
        operation: 'handlePhaseCleanupOrphaned',
        reason: 'OrphanedSubinstsStillDeleting',
        message: 'sub-installations that are no longer part of the blueprint are being deleted: b-x, c-x',
      },
    ],
    [
      'while a sub-installation is running',
      'Progressing',
      { children: [child('stack', 'a', running(JOB))] },
      {
        operation: 'handlePhaseProgressing',
        reason: 'JobIDFinished',
        message: 'installation demo / a-x is not finished yet',
        codes: ['ERR_UNFINISHED', 'ERR_FOR_INFO_ONLY', 'ERR_NO_RETRY'],
      },
    ],
    [
      'while an execution without namespace is running',
      'Progressing',
      { execution: ownExecution(running(JOB), { namespace: undefined }) },
      {
        operation: 'handlePhaseProgressing',
        reason: 'JobIDFinished',
        message: 'execution  / stack is not finished yet',
        codes: ['ERR_UNFINISHED', 'ERR_FOR_INFO_ONLY', 'ERR_NO_RETRY'],
      },
    ],
    [
      'if something below failed, with the causes it reports',
      'Progressing',
      {
        children: [
          child('stack', 'a', { ...failed, ...lastErrorOf('disk full') }),
          child('stack', 'b', failed),
          child('stack', 'c', done(JOB)),
        ],
        execution: ownExecution({ ...failed, ...lastErrorOf('no memory') }),
      },
      {
        operation: 'buildErrorIfFailedChild',
        reason: 'children failed',
        message:
          'Failed sub-installation(s): a-x, b-x (a-x: disk full); Execution is failed (stack: no memory)',
      },
    ],
    [
      'if sub-installations are missing, without those that exist',
      'Progressing',
      {
        self: installation('stack', {
          status: {
            ...running(JOB),
            subInstCache: {
              activeSubs: [
                { specName: 'a', objectName: 'a-x' },
                { specName: 'b', objectName: 'b-x' },
              ],
            },
          },
        }),
        children: [child('stack', 'a', done(JOB))],
      },
      {
        operation: 'buildErrorIfFailedChild',
        reason: 'children failed',
        message: 'Missing sub-installation(s): b-x',
      },
    ],
    [
      'if imports changed',
      'Completing',
      { self: completing({ importsHash: 'other' }) },
      { operation: 'handlePhaseCompleting', reason: 'CheckImportsHash', message: 'imports have changed' },
    ],
    [
      'if imported targets were replaced, even if the hash is the same',
      'Completing',
      { self: completing(), replacedTargets: ['cluster'] },
      { operation: 'handlePhaseCompleting', reason: 'CheckImportsHash', message: 'imports have changed' },
    ],
    [
      'if the spec was changed',
      'Completing',
      { self: completing({}, { generation: 2 }) },
      {
        operation: 'handlePhaseCompleting',
        reason: 'CheckObservedGeneration',
        message: 'installation spec has been changed',
        codes: INFO,
      },
    ],
    [
      'if a sibling that imports from it could not be deleted in the same job',
      'InitDelete',
      { self: exporter(), siblings: [user(undeleted, deleting)] },
      {
        operation: 'CheckSuccessorSibling',
        reason: 'SiblingDeleteError',
        message: 'deletion of a sibling failed: user',
        codes: INFO,
      },
    ],
    [
      'if a sibling that imports from it finished the job and stays',
      'InitDelete',
      { self: exporter(), siblings: [user(done(JOB))] },
      {
        operation: 'CheckSuccessorSibling',
        reason: 'SiblingDeleteError',
        message: 'a sibling that is not being deleted imports the exports: user',
        codes: INFO,
      },
    ],
    [
      'while a sibling imports from it that is not being deleted',
      'InitDelete',
      { self: exporter(), siblings: [user(done('j1'))] },
      {
        operation: 'CheckSuccessorSibling',
        reason: 'SiblingImport',
        message:
          'a sibling still imports some of the exports: user; delete it too, or annotate this installation with landscaper.gardener.cloud/delete-ignore-successors=true',
        codes: INFO,
      },
    ],
    [
      'while several siblings import from it',
      'InitDelete',
      {
        self: exporter(),
        siblings: [
          user(done('j1')),
          { ...user(done('j1')), metadata: { ...user(done('j1')).metadata, name: 'other' } },
        ],
      },
      {
        operation: 'CheckSuccessorSibling',
        reason: 'SiblingImport',
        message:
          'a sibling still imports some of the exports: user (delete it too), other (delete it too), or annotate this installation with landscaper.gardener.cloud/delete-ignore-successors=true',
        codes: INFO,
      },
    ],
    [
      'while something below is being deleted',
      'Deleting',
      { children: [going('a', running(JOB, 'Deleting'))] },
      {
        operation: 'handleReconcilePhase',
        reason: 'PendingSubobjects',
        message: 'deletion of some sub objects pending',
        codes: INFO,
      },
    ],
    [
      'if something below cannot be deleted, with the causes',
      'Deleting',
      {
        children: [going('a', { ...undeleted, ...lastErrorOf('disk full') }), going('b', undeleted)],
        execution: ownExecution({ ...undeleted, ...lastErrorOf('no memory') }, deleting),
      },
      {
        operation: 'handleReconcilePhase',
        reason: 'UndeletedSubobjects',
        message:
          'not all sub objects were deleted: Installation a-x: disk full; Installation b-x: ; Execution stack: no memory',
        codes: INFO,
      },
    ],
  ];
  for (const [title, phase, snapshot, problem] of rows) {
    it(`${title} (${phase})`, () => {
      expect(problemOf(decide(phase, snapshot))).to.deep.equal(problem);
    });
  }
});

describe('the objects that an installation waits for', () => {
  const stuck = 'no deployer serves type x';
  const waiting = {
    type: 'Waiting',
    status: 'True' as const,
    reason: 'NotTakenUp',
    message: stuck,
    lastTransitionTime: '2026-01-01T00:00:00Z',
    lastUpdateTime: '2026-01-01T00:00:00Z',
  };
  const sibling = (template: string, status: object) => child('p', template, status);
  const rows: readonly (readonly [title: string, Phase, Partial<Snapshot>, Awaited])[] = [
    [
      'include the uninstallation of its deleted execution',
      'Init',
      { execution: ownExecution(done('j1'), deleting) },
      { reason: 'DeletionPending', objects: ['execution stack'] },
    ],
    [
      'include roots with a running or requested job, not those at rest',
      'Init',
      {
        predecessors: [
          installation('rests', { status: done('p1') }),
          installation('works', { status: running('p1') }),
          installation('asked', {
            status: done('p1'),
            meta: { annotations: { [annotations.operation]: 'reconcile' } },
          }),
        ],
      },
      { reason: 'PredecessorsUnfinished', objects: ['installation works', 'installation asked'] },
    ],
    [
      'include a root with a requested job',
      'Init',
      {
        predecessors: [
          installation('rests', { status: done('p1') }),
          installation('asked', {
            status: done('p1'),
            meta: { annotations: { [annotations.operation]: 'reconcile' } },
          }),
        ],
      },
      { reason: 'PredecessorsUnfinished', objects: ['installation asked'] },
    ],
    [
      'include siblings of the same parent that have not finished its job, with or without another one',
      'Init',
      {
        self: sibling('c', running(JOB, 'Init')),
        predecessors: [sibling('a', done(JOB)), sibling('b', done('j1')), sibling('d', running(JOB))],
      },
      { reason: 'PredecessorsUnfinished', objects: ['installation b-x', 'installation d-x'] },
    ],
    [
      'include the cause for which such a sibling waits, word for word',
      'Init',
      {
        self: sibling('c', running(JOB, 'Init')),
        predecessors: [sibling('b', running(JOB)), sibling('d', { ...running(JOB), conditions: [waiting] })],
      },
      { reason: 'NotTakenUp', message: stuck },
    ],
    [
      'include the cause for which a root with a running job waits',
      'Init',
      { predecessors: [installation('works', { status: { ...running('p1'), conditions: [waiting] } })] },
      { reason: 'NotTakenUp', message: stuck },
    ],
    [
      'include no cause of an earlier job',
      'Init',
      {
        self: sibling('c', running(JOB, 'Init')),
        predecessors: [sibling('b', { ...done('j1', 'Failed'), conditions: [waiting] })],
      },
      { reason: 'PredecessorsUnfinished', objects: ['installation b-x'] },
    ],
    [
      'include its orphans',
      'CleanupOrphaned',
      { children: [going('b', running(JOB, 'Deleting')), child('stack', 'a')] },
      { reason: 'DeletionPending', objects: ['installation b-x'] },
    ],
    [
      'include objects below that have not finished the job',
      'Progressing',
      {
        children: [child('stack', 'a', running(JOB)), child('stack', 'b', done(JOB))],
        execution: ownExecution(running(JOB)),
      },
      { reason: 'JobsUnfinished', objects: ['installation a-x', 'execution stack'] },
    ],
    [
      'include a deployer, as the execution below reports',
      'Progressing',
      {
        children: [child('stack', 'a', running(JOB))],
        execution: ownExecution({ ...running(JOB), conditions: [waiting] }),
      },
      { reason: 'NotTakenUp', message: stuck },
    ],
    [
      'include siblings that import from it, and no others',
      'InitDelete',
      { self: exporter(), siblings: [user(done('j1')), installation('other')] },
      { reason: 'SuccessorsExist', objects: ['installation user'] },
    ],
    [
      'include all siblings that import from it',
      'InitDelete',
      {
        self: exporter(),
        siblings: [user(done('j1')), installation('more', { spec: trading({ takes: ['link'] }) })],
      },
      { reason: 'SuccessorsExist', objects: ['installation user', 'installation more'] },
    ],
    [
      'include everything left below',
      'Deleting',
      { children: [going('a', running(JOB, 'Deleting'))], execution: ownExecution(undeleted, deleting) },
      { reason: 'DeletionPending', objects: ['installation a-x', 'execution stack'] },
    ],
  ];
  for (const [title, phase, snapshot, awaited] of rows) {
    it(`${title} (${phase})`, () => {
      expect(awaitedOf(decide(phase, snapshot))).to.deep.equal(awaited);
    });
  }
});

describe('an installation whose exports a sibling imports', () => {
  const rows: readonly (readonly [title: string, status: object, meta: object, advice: string])[] = [
    ['has not been deleted', done('j1'), {}, 'delete it too'],
    ['is being deleted', running('j1', 'Deleting'), deleting, 'it is being deleted'],
    [
      'could not be deleted, and retries',
      { ...running('j9', 'DeleteFailed') },
      deleting,
      'it is being deleted',
    ],
    ['is about to be deleted', done('j1'), deleting, 'it is being deleted'],
    [
      'could not be deleted',
      { ...done('j1', 'DeleteFailed'), ...lastErrorOf('disk full') },
      deleting,
      'its deletion failed (disk full); repeat the deletion',
    ],
    [
      'could not be deleted and reports no reason',
      done('j1', 'DeleteFailed'),
      deleting,
      'its deletion failed (); repeat the deletion',
    ],
  ];
  for (const [title, status, meta, advice] of rows) {
    it(`shows the advice "${advice}" if the sibling ${title}`, () => {
      const message = problemOf(
        decide('InitDelete', { self: exporter(), siblings: [user(status, meta)] }),
      )?.message;
      expect(message).to.equal(
        `a sibling still imports some of the exports: user; ${advice}, or annotate this installation with landscaper.gardener.cloud/delete-ignore-successors=true`,
      );
    });
  }

  it('keeps waiting while a sibling of the same job is being deleted', () => {
    const siblings = [user(done(JOB, 'Failed'), deleting)];
    expect(problemOf(decide('InitDelete', { self: exporter(), siblings }))?.reason).to.equal('SiblingImport');
  });
});

describe('an installation with exports that must not be overwritten', () => {
  const owned = dataObject('greeting', {
    ownerReferences: [
      {
        apiVersion: self.apiVersion,
        kind: 'Installation',
        name: 'other',
        uid: 'uid-other',
        controller: true,
      },
    ],
    labels: { 'data.landscaper.gardener.cloud/key': 'theirs' },
  });
  const wanted = dataObject('greeting', { labels: { 'data.landscaper.gardener.cloud/key': 'mine' } });

  it('fails with the owner of the existing object, writes nothing, and reports it in its condition', () => {
    const decision = decide('Completing', {
      self: completing(),
      staleObjects: [dataObject('old')],
      exportUpserts: [
        { wanted: dataObject('fine'), existing: undefined },
        { wanted, existing: owned },
      ],
    });
    const problem = problemOf(decision);
    expect(decision.do).to.equal('fail');
    expect(decision.effects).to.deep.equal([]);
    expect(problem).to.include({ operation: 'handlePhaseCompleting', reason: 'CreateOrUpdateExports' });
    expect(problem?.message).to.match(
      /^unable to create or update data object greeting for export mine: .*other/,
    );
    expect(problem).to.not.have.property('condition');
    expect(decision.status.conditions).to.deep.equal([
      {
        type: 'CreateExports',
        status: 'False',
        reason: 'CreateDataObjects',
        message: 'unable to create data object for export mine',
      },
    ]);
  });
});
