import { expect } from 'chai';
import type { SyncObject } from '../../../src/api/kinds/syncobject.ts';
import { checks, diagnose, type Findable } from '../../../src/cli/doctor/checks.ts';
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
const deletedAt = (time: string): Findable =>
  given([
    withMeta(installation('app', { phase: 'DeleteFailed' }), { deletionTimestamp: time, finalizers: ['f'] }),
  ]);
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
    'deleted at 2026-01-01T00:00:00Z, and still has the finalizers f',
    deletedAt('2026-01-01T00:59:00Z'),
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
});
