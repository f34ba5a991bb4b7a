import { expect } from 'chai';
import type { DeployItem } from '../../../src/api/kinds/deployitem.ts';
import type { SyncObject } from '../../../src/api/kinds/syncobject.ts';
import { checks, diagnose } from '../../../src/cli/doctor/checks.ts';
import type { Findable } from '../../../src/cli/doctor/findable.ts';
import type { Deployment } from '../../../src/runtime/core-kinds.ts';
import type { LeaseObject } from '../../../src/runtime/manager/lease.ts';
import type { Obj } from '../../../src/runtime/types.ts';
import { collected, execution, installation, item } from './given.ts';

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
    withMeta(installation('app', { phase: 'DeleteFailed' }), {
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
const LONG_AGO = '2026-01-01T00:00:00Z';
const JUST_NOW = '2026-01-01T00:59:55Z';
const waiting = (finished: string): Findable => {
  const one = item('i', { execution: 'app', phase: 'Init', finished, waits: 'no deployer of type t runs' });
  const conditions = (one.status?.conditions ?? []).map((c) => ({ ...c, reason: 'NotTakenUp' }));
  return given([{ ...one, status: { ...one.status, conditions } }]);
};

/** For each check: objects with the problem, the evidence, and similar objects without it. */
const cases: Readonly<Record<string, readonly [found: Findable, evidence: string, sound: Findable]>> = {
  'phase-without-job': [
    given([execution('app', { phase: 'Progressing', finished: 'r' })]),
    'phase is "Progressing", but jobIDFinished equals jobID "r"',
    given([execution('app', { phase: 'Progressing' }), installation('app', { phase: 'Failed' })]),
  ],
  'not-taken-up': [
    waiting(''),
    'no deployer of type t runs',
    given([item('i', { execution: 'app', phase: 'Init' })]),
  ],
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
    expect(finding?.command).to.equal('espalier installations reconcile app -n proj');
  });

  const evidenceOf = (found: Findable, check: string): readonly string[] =>
    diagnose(found)
      .filter((one) => one.check === check)
      .map(({ evidence }) => evidence);

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

  describe('reports our own finalizer', () => {
    const deployment = (readyReplicas: number): Deployment =>
      ({ metadata: { name: 'espalier', namespace: 'ls-system' }, status: { readyReplicas } }) as Deployment;
    const unserved = (more: Partial<Findable>): readonly string[] =>
      evidenceOf({ ...deletedAt('2026-01-01T00:58:00Z'), ...more }, 'unserved-finalizer');

    it('if no replica has renewed its Lease', () => {
      expect(unserved({ leases: [lease('member', 'a', LONG_AGO)] })).to.deep.equal([
        `it has the finalizer ${FINALIZER}, but no replica of "espalier" has renewed its Lease since ${LONG_AGO}`,
      ]);
    });
    it('if the controllers have no ready pod', () => {
      expect(unserved({ controllers: [deployment(0)] })).to.deep.equal([
        `it has the finalizer ${FINALIZER}, but Deployment ls-system/espalier has no ready replica`,
      ]);
    });
    it('but not if a replica runs, or if that is not known', () => {
      for (const more of [
        {},
        { leases: [lease('member', 'a', JUST_NOW)] },
        { leases: [lease('member', 'a', LONG_AGO)], controllers: [deployment(1)] },
      ])
        expect(unserved(more)).to.deep.equal([]);
    });
    it('on a deploy item that no deployer takes up', () => {
      const {
        deployItems: [one],
      } = waiting('');
      const deleted =
        one && withMeta(one as DeployItem, { deletionTimestamp: LONG_AGO, finalizers: [FINALIZER] });
      expect(evidenceOf(given(deleted ? [deleted] : []), 'unserved-finalizer')).to.deep.equal([
        `it has the finalizer ${FINALIZER}, but no deployer of type t runs`,
      ]);
    });
  });
});
