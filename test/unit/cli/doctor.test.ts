import { expect } from 'chai';
import type { DeployItem } from '../../../src/api/kinds/deployitem.ts';
import type { Installation } from '../../../src/api/kinds/installation.ts';
import type { SyncObject } from '../../../src/api/kinds/syncobject.ts';
import { checks, diagnose } from '../../../src/cli/doctor/checks.ts';
import type { Findable } from '../../../src/cli/doctor/findable.ts';
import { needsSecondLook } from '../../../src/cli/doctor/fleets.ts';
import type { Deployment } from '../../../src/runtime/core-kinds.ts';
import type { LeaseObject } from '../../../src/runtime/manager/lease.ts';
import type { Obj } from '../../../src/runtime/types.ts';
import { collected, execution, installation, item } from './given.ts';
import { selfCommand } from '../../../src/cli/self-command.ts';

const NOW = Date.parse('2026-01-01T01:00:00Z');
type Objects = Parameters<typeof collected>;
const given = (objects: Objects, ...data: Obj[]): Findable => ({ ...collected(...objects), data, now: NOW });

const withMeta = <T extends Obj>(object: T, more: object): T => ({
  ...object,
  metadata: { ...object.metadata, ...more },
});
const data = (more: object): Obj => ({
  apiVersion: 'landscaper.gardener.cloud/v1alpha1',
  kind: 'DataObject',
  metadata: { name: 'url', namespace: 'proj', ...more },
});
const lock = (name: string): SyncObject => ({
  apiVersion: 'landscaper.gardener.cloud/v1alpha1',
  kind: 'SyncObject',
  metadata: { name, namespace: 'proj' },
  spec: {
    podName: 'landscaper-0',
    kind: 'Installation',
    name: 'app',
    lastUpdateTime: '2026-01-01T00:00:00Z',
    prefix: 'installations',
  },
});
const ownedBy = (uid: string): object => ({
  ownerReferences: [{ apiVersion: 'x/v1', kind: 'Installation', name: 'app', uid }],
});
const writtenBy = (source: string): object => ({
  labels: { 'data.landscaper.gardener.cloud/source': source },
});
const FINALIZER = 'finalizer.landscaper.gardener.cloud';
const deletedAt = (time: string, finalizer = FINALIZER): Findable =>
  given([
    withMeta(installation('app', { phase: 'Deleting' }), {
      deletionTimestamp: time,
      finalizers: [finalizer, 'foregroundDeletion'],
      managedFields: [
        {
          manager: 'backup',
          time,
          fieldsV1: { 'f:metadata': { 'f:finalizers': { 'v:"example.org/backup"': {} } } },
        },
      ],
    }),
  ]);
/** A Lease of the fleet `espalier`. */
const lease = (role: string, holder: string | undefined, renewTime: string): LeaseObject => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: {
    name: `espalier-${role === 'member' ? `member-${holder ?? ''}` : `shard-${role}`}`,
    namespace: 'ls-system',
    labels: { 'espalier.dev/fleet': 'espalier', 'espalier.dev/role': role },
  },
  spec: { ...(holder !== undefined && { holderIdentity: holder }), leaseDurationSeconds: 15, renewTime },
});
const withParts = (one: LeaseObject, parts: string): LeaseObject => ({
  ...one,
  metadata: { ...one.metadata, annotations: { 'espalier.dev/parts': parts } },
});
const LONG_AGO = '2026-01-01T00:00:00Z';
const JUST_NOW = '2026-01-01T00:59:55Z';
const deployment = (readyReplicas: number): Deployment =>
  ({ metadata: { name: 'espalier', namespace: 'ls-system' }, status: { readyReplicas } }) as Deployment;
const requestedAt = (time: string): Findable =>
  given([
    withMeta(installation('app', { phase: 'Succeeded' }), {
      annotations: { 'landscaper.gardener.cloud/operation': 'reconcile' },
      managedFields: [
        { time: LONG_AGO },
        {
          time,
          fieldsV1: { 'f:metadata': { 'f:annotations': { 'f:landscaper.gardener.cloud/operation': {} } } },
        },
      ],
    }),
  ]);
const definition = (more: object) => ({
  metadata: { name: 'deployitems.landscaper.gardener.cloud', ...more },
});
const rivalry = (name: string, message: string) => ({
  apiVersion: 'v1',
  kind: 'Event',
  metadata: { name, namespace: 'proj' },
  involvedObject: { kind: 'DeployItem', name },
  message,
});
const NOT_PICKED_UP = 'deploy item i is not picked up: no deployer of type t runs';
const waiting = (finished?: string): Findable => {
  const plan = execution('app', {
    phase: 'Progressing',
    waits: NOT_PICKED_UP,
    ...(finished !== undefined && { finished }),
  });
  const conditions = (plan.status?.conditions ?? []).map((c) => ({ ...c, reason: 'NotTakenUp' }));
  return given([
    { ...plan, status: { ...plan.status, conditions } },
    item('i', { execution: 'app', phase: 'Init' }),
  ]);
};
const DELETED = { deletionTimestamp: LONG_AGO, finalizers: [FINALIZER] };
const suspended = (more: object): Findable =>
  given([
    withMeta(installation('app', { phase: 'Succeeded' }), {
      annotations: { 'landscaper.gardener.cloud/operation': 'reconcile', ...more },
    }),
  ]);
const leftBehind = (count: number): Findable => {
  const one = item('i', { execution: 'app', phase: 'Succeeded' });
  const entries = Array.from({ length: count }, () => ({ cluster: { uid: '4711' }, omitted: 2 }));
  return given([{ ...one, status: { observedGeneration: 1, ...one.status, leftBehind: entries } }]);
};

/** For each check: objects with the problem, the evidence, and similar objects without it. */
const cases: Readonly<Record<string, readonly [found: Findable, evidence: string, sound: Findable]>> = {
  'controllers-not-running': [
    { ...given([installation('app', { phase: 'Progressing' })]), leases: [lease('member', 'a', LONG_AGO)] },
    `no replica of "espalier" has renewed its Lease since ${LONG_AGO}; 1 object waits for them: Installation proj/app`,
    { ...given([installation('app', { phase: 'Progressing' })]), leases: [lease('member', 'a', JUST_NOW)] },
  ],
  'definition-in-deletion': [
    {
      ...given([withMeta(item('i', { execution: 'app' }), { deletionTimestamp: LONG_AGO })]),
      definitions: [definition({}) as never],
      storedDefinitions: [definition({ deletionTimestamp: LONG_AGO })],
    },
    `it was deleted at ${LONG_AGO}, which cannot be undone; objects of the kind are being deleted, and jobs wait because none can be created`,
    { ...given([]), definitions: [definition({}) as never], storedDefinitions: [definition({})] },
  ],
  'outdated-definition': [
    { ...given([]), definitions: [definition({}) as never], storedDefinitions: [] },
    'it does not exist',
    { ...given([]), definitions: [definition({}) as never], storedDefinitions: [definition({})] },
  ],
  'another-deployer': [
    { ...given([]), rivalries: [rivalry('b', 'a and b'), rivalry('c', 'a and b'), rivalry('b', 'a and b')] },
    'a and b; also seen at DeployItem proj/c',
    given([]),
  ],
  'job-not-begun': [
    requestedAt('2026-01-01T00:59:20Z'),
    '"reconcile" was requested at 2026-01-01T00:59:20Z, and no controller has begun it',
    requestedAt('2026-01-01T00:59:40Z'),
  ],
  'deleted-below-root': [
    given([
      withMeta(installation('app', { phase: 'Succeeded' }), { uid: 'u' }),
      withMeta(installation('db', { phase: 'Succeeded', parent: 'app' }), DELETED),
    ]),
    `it was deleted at ${LONG_AGO}, but no job of its root "app" has begun since`,
    given([
      withMeta(installation('app', { phase: 'Succeeded' }), { uid: 'u' }),
      withMeta(installation('db', { phase: 'Progressing', parent: 'app' }), {
        ...DELETED,
        deletionTimestamp: JUST_NOW,
      }),
    ]),
  ],
  'held-request': [
    suspended({ 'espalier.dev/suspended': 'true' }),
    'a job was requested, but the annotation espalier.dev/suspended holds jobs back',
    suspended({}),
  ],
  'left-behind': [leftBehind(1), '2 objects stay on cluster 4711: 2 more', leftBehind(0)],
  'phase-without-job': [
    given([execution('app', { phase: 'Progressing', finished: 'r' })]),
    'phase is "Progressing", but jobIDFinished equals jobID "r"',
    given([execution('app', { phase: 'Progressing' }), installation('app', { phase: 'Failed' })]),
  ],
  'not-taken-up': [waiting(), NOT_PICKED_UP, given([item('i', { execution: 'app', phase: 'Init' })])],
  'stuck-deletion': [
    deletedAt('2026-01-01T00:00:00Z'),
    `deleted at 2026-01-01T00:00:00Z, and still has the finalizers ${FINALIZER}, foregroundDeletion`,
    deletedAt('2026-01-01T00:59:00Z'),
  ],
  'unserved-finalizer': [
    deletedAt(LONG_AGO, 'example.org/backup'),
    'it has the finalizer example.org/backup, which neither Espalier nor Kubernetes removes; "backup" set it at 2026-01-01T00:00:00Z',
    deletedAt('2026-01-01T00:55:00Z', 'example.org/backup'),
  ],
  'different-parts': [
    {
      ...given([]),
      leases: [
        withParts(lease('member', 'a', JUST_NOW), 'controllers installation; deployers none'),
        withParts(lease('member', 'b', JUST_NOW), 'controllers none; deployers helm'),
      ],
    },
    'replicas with the same lease "espalier" run different parts: replica "a" runs controllers installation; deployers none; replica "b" runs controllers none; deployers helm',
    {
      ...given([]),
      leases: [
        withParts(lease('member', 'a', JUST_NOW), 'controllers installation; deployers none'),
        withParts(lease('member', 'b', JUST_NOW), 'controllers installation; deployers none'),
        // Versions that do not say what they run.
        lease('member', 'c', JUST_NOW),
      ],
    },
  ],
  'stale-lease': [
    {
      ...given([]),
      leases: [lease('member', 'a', LONG_AGO), lease('member', 'b', JUST_NOW), lease('00', 'b', LONG_AGO)],
    },
    'replica "a" has not renewed it since 2026-01-01T00:00:00Z; 1 other replica of "espalier" runs',
    {
      ...given([]),
      leases: [
        lease('member', 'b', '2026-01-01T00:51:00Z'),
        lease('00', 'b', LONG_AGO),
        lease('01', undefined, LONG_AGO),
      ],
    },
  ],
  'missing-owner': [
    given([installation('app', { phase: 'Succeeded' })], data(ownedBy('uid-before'))),
    'owner Installation "app" with uid uid-before does not exist',
    given([installation('app', { phase: 'Succeeded' })], data(ownedBy('uid-app'))),
  ],
  'leftover-lock': [
    { ...given([installation('app', { phase: 'Succeeded' })]), locks: [lock('installations-gone')] },
    'it locks Installation "app" for pod "landscaper-0", but no such object has its uid',
    {
      ...given([withMeta(installation('app', { phase: 'Succeeded' }), { uid: 'here' })]),
      locks: [lock('installations-here')],
    },
  ],
  'orphaned-export': [
    given([installation('app', { phase: 'Succeeded' })], data(writtenBy('Inst.gone'))),
    'its writer "Inst.gone" does not exist, and it has no owner',
    given([installation('app', { phase: 'Succeeded' })], data(writtenBy('Inst.app')), data({})),
  ],
};

describe('espalier doctor', () => {
  for (const { name } of checks) {
    it(`${name}: reports the problem, and nothing else`, () => {
      const [found, evidence] = cases[name] ?? [];
      if (!found) throw new Error(`no case for check ${name}`);
      expect(diagnose(found).map((one) => [one.check, one.evidence])).to.deep.equal([[name, evidence]]);
    });
    it(`${name}: reports nothing about similar sound objects`, () => {
      const sound = cases[name]?.[2];
      if (!sound) throw new Error(`no case for check ${name}`);
      expect(diagnose(sound)).to.deep.equal([]);
    });
  }

  it('names the root of the tree in the command that starts a job', () => {
    const child = withMeta(installation('db', { phase: 'Progressing', finished: 'r' }), {
      labels: { 'landscaper.gardener.cloud/encompassed-by': 'app' },
    });
    const [finding] = diagnose(given([installation('app', { phase: 'Succeeded' }), child]));
    expect(finding?.command).to.equal(`${selfCommand()} installations reconcile app -n proj`);
  });

  for (const check of ['orphaned-export', 'leftover-lock'])
    it(`${check}: recommends --fix, which reads the object again before it deletes it`, () => {
      const [found] = cases[check] ?? [];
      expect(diagnose(found ?? given([])).map(({ command }) => command)).to.deep.equal([
        `${selfCommand()} doctor -n proj --fix --check ${check}`,
      ]);
    });

  const evidenceOf = (found: Findable, check: string): readonly string[] =>
    diagnose(found)
      .filter((one) => one.check === check)
      .map(({ evidence }) => evidence);

  it('does not compare what runs with a replica that has ended', () => {
    const leases = [
      withParts(lease('member', 'a', JUST_NOW), 'controllers installation; deployers none'),
      withParts(lease('member', 'b', LONG_AGO), 'controllers none; deployers helm'),
    ];
    expect(evidenceOf({ ...given([]), leases }, 'different-parts')).to.deep.equal([]);
  });

  it('reports a shard of a replica that does not run', () => {
    const leases = [
      lease('member', 'b', JUST_NOW),
      lease('member', 'c', JUST_NOW),
      lease('07', 'a', LONG_AGO),
    ];
    expect(evidenceOf({ ...given([]), leases }, 'stale-lease')).to.deep.equal([
      'it is held by replica "a", which does not run; 2 other replicas of "espalier" run',
    ]);
  });

  it('names the target of objects that stay on another cluster', () => {
    const all = leftBehind(1);
    const [one] = all.deployItems.map((each) => ({
      ...each,
      spec: { ...each.spec, target: { name: 'xyz' } },
    }));
    const copy = {
      ...data({ name: 'xyz', labels: { 'data.landscaper.gardener.cloud/key': 'cluster' } }),
      kind: 'Target',
    };
    const risks = (...targets: Obj[]): readonly string[] =>
      diagnose({ ...all, deployItems: one ? [one] : [], data: targets }).map(({ risk }) => risk);
    expect(risks(copy)[0]).to.contain('let target cluster lead to that cluster again');
    expect(risks()[0]).to.contain('let target xyz lead');
  });

  it('reports a requested job of a suspended root once', () => {
    const [one] = requestedAt(LONG_AGO).installations;
    const held = withMeta(one as Installation, {
      annotations: { ...one?.metadata.annotations, 'espalier.dev/suspended': 'true' },
    });
    expect(diagnose(given([held])).map(({ check }) => check)).to.deep.equal(['held-request']);
  });

  describe('reports that no controller works', () => {
    const problem = (more: Partial<Findable>): readonly string[] =>
      evidenceOf({ ...deletedAt('2026-01-01T00:58:00Z'), ...more }, 'controllers-not-running');
    const waits = '; 1 object waits for them: Installation proj/app';
    const HALF_MINUTE_AGO = '2026-01-01T00:59:28Z';

    it('if no replica has renewed its Lease, or the controllers have no ready pod', () => {
      const leases = [lease('member', 'a', LONG_AGO)];
      expect(problem({ leases, controllers: [deployment(0)] })).to.deep.equal([
        `no replica of "espalier" has renewed its Lease since ${LONG_AGO}, and Deployment ls-system/espalier has no ready replica${waits}`,
      ]);
      expect(problem({ controllers: [deployment(0)] })).to.deep.equal([
        `Deployment ls-system/espalier has no ready replica${waits}`,
      ]);
    });

    it('if no replica has a Lease, because all have ended', () => {
      expect(problem({ leases: [lease('00', undefined, LONG_AGO)] })).to.deep.equal([
        `no replica of "espalier" has a Lease${waits}`,
      ]);
    });

    it('within seconds, if a second look finds that Leases are not renewed, although pods are ready', () => {
      const leases = [lease('member', 'a', HALF_MINUTE_AGO)];
      const now = [lease('member', 'a', JUST_NOW)];
      expect(needsSecondLook({ ...given([]), leases })).to.equal(true);
      expect(needsSecondLook({ ...given([]), leases: now })).to.equal(false);
      expect(problem({ leases })).to.deep.equal([]);
      expect(problem({ leases, laterLeases: leases, controllers: [deployment(1)] })).to.deep.equal([
        `no replica of "espalier" has renewed its Lease since ${HALF_MINUTE_AGO}${waits}`,
      ]);
    });

    it('but not if the second look finds another time, whatever the clocks of the machines say', () => {
      const leases = [lease('member', 'a', HALF_MINUTE_AGO)];
      expect(problem({ leases, laterLeases: [lease('member', 'a', '2026-01-01T00:59:34Z')] })).to.deep.equal(
        [],
      );
      const running = [...leases, lease('member', 'b', JUST_NOW)];
      expect(problem({ leases: running, laterLeases: running })).to.deep.equal([]);
    });

    it('but not if a replica runs, or if that is not known', () => {
      for (const more of [
        {},
        { leases: [lease('member', 'a', JUST_NOW)] },
        { leases: [lease('member', 'a', LONG_AGO)], controllers: [deployment(1)] },
      ])
        expect(problem(more)).to.deep.equal([]);
    });
  });

  describe('reports one cause as one finding', () => {
    const checksIn = (found: Findable): readonly (readonly [string, string, number])[] =>
      diagnose(found).map(({ check, object, affects = [] }) => [check, object, affects.length]);
    const deleted = { deletionTimestamp: LONG_AGO, finalizers: [FINALIZER] };

    it('for a fleet that does not run: its Leases, deletions and requested jobs', () => {
      const shards = Array.from({ length: 16 }, (_, i) => lease(String(i).padStart(2, '0'), 'a', LONG_AGO));
      const leases = [lease('member', 'a', LONG_AGO), ...shards];
      const tree = [
        withMeta(installation('app', { phase: 'Deleting' }), deleted),
        withMeta(execution('app', { phase: 'Deleting' }), deleted),
      ] as const;
      expect(checksIn({ ...given([...tree]), leases })).to.deep.equal([
        ['controllers-not-running', 'Lease ls-system/espalier-member-a', 19],
      ]);
      expect(checksIn({ ...requestedAt(LONG_AGO), leases })).to.have.length(1);
    });

    it('for a deployer that does not run: all items of its type', () => {
      const all = waiting();
      const [one] = all.deployItems;
      const items = ['i', 'j', 'k'].map((name) => withMeta(one as DeployItem, { ...deleted, name }));
      const picked = { ...(one as DeployItem), status: { ...one?.status, lastReconcileTime: LONG_AGO } };
      const found = { ...all, deployItems: [...items, withMeta(picked as DeployItem, { name: 'picked' })] };
      expect(checksIn(found)).to.deep.equal([['not-taken-up', 'DeployItem proj/i', 2]]);
      expect(diagnose(found)[0]?.evidence).to.contain(
        'no deployer of type t runs; so wait other items of type ',
      );
    });

    it('for a definition that is being deleted: its objects', () => {
      const found = cases['definition-in-deletion']?.[0] ?? given([]);
      const stuck = withMeta(item('i', { execution: 'app' }), deleted);
      expect(checksIn({ ...found, ...collected(stuck) })).to.deep.equal([
        ['definition-in-deletion', 'CustomResourceDefinition deployitems.landscaper.gardener.cloud', 1],
      ]);
    });

    it('for a tree that is not deleted: everything below the root', () => {
      const root = withMeta(installation('app', { phase: 'Deleting' }), deleted);
      const below = withMeta(execution('app', { phase: 'Deleting' }), {
        ...deleted,
        labels: { 'landscaper.gardener.cloud/encompassed-by': 'app' },
        ...ownedBy('uid-app'),
      });
      expect(checksIn(given([root, below]))).to.deep.equal([['stuck-deletion', 'Installation proj/app', 1]]);
    });

    it('for requested jobs that no controller begins', () => {
      const [one] = requestedAt(LONG_AGO).installations;
      const more = ['b', 'c'].map((name) => withMeta(one as Installation, { name }));
      expect(checksIn(given(more))).to.deep.equal([['job-not-begun', 'Installation proj/b', 1]]);
    });
  });

  it('reports a deletion whose job has failed at once, with the cause', () => {
    const failed = installation('app', { phase: 'DeleteFailed', finished: 'r' });
    const one = withMeta(
      { ...failed, status: { ...failed.status, lastError: { message: 'target is gone' } } } as Installation,
      { deletionTimestamp: '2026-01-01T00:59:58Z', finalizers: [FINALIZER] },
    );
    expect(diagnose(given([one])).map(({ check, evidence }) => [check, evidence])).to.deep.equal([
      [
        'stuck-deletion',
        `deleted at 2026-01-01T00:59:58Z, and still has the finalizers ${FINALIZER}; the last error is: target is gone`,
      ],
    ]);
  });
});
